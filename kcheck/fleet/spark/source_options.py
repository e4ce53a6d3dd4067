"""The options of `spark.read.format("kcheck")`, checked before Spark begins."""

import json
from collections.abc import Mapping
from typing import NamedTuple

from kcheck.core.releases.releases import NEWEST_TESTED, release
from kcheck.errors import UsageError
from kcheck.fleet.run_output import run_tables
from kcheck.fleet.scan.identify import ScanOptions
from kcheck.fleet.scan.releases import ReleaseOptions
from kcheck.model.depth import parse_depth
from kcheck.model.evidence import AUTO
from kcheck.model.report import PartitionFilter

_KNOWN = ("depth", "kafka", "path", "storage_options", "table", "time_limit", "topic")


class SourceOptions(NamedTuple):
    """The wanted data, and the options to read it."""

    path: str
    table: str
    how: ScanOptions
    seconds: float
    storage: tuple[tuple[str, object], ...]


def source_options(given: Mapping[str, str]) -> SourceOptions:
    """Return the options of a reader; UsageError if one is unknown or has no meaning."""
    options = {name.lower(): value for name, value in given.items()}
    unknown = sorted(options.keys() - set(_KNOWN))
    if unknown:
        raise UsageError(f"option {unknown[0]} is not known; known are {', '.join(_KNOWN)}")
    path = options.get("path")
    if not path:
        raise UsageError("load(...) needs a layout, a folder of log dirs, an inventory, or a run")
    kafka, topic = options.get("kafka", AUTO), options.get("topic")
    how = ScanOptions(
        parse_depth(options.get("depth", "checkpoints"), "depth"),
        PartitionFilter(topics=() if topic is None else (topic,)),
        release(NEWEST_TESTED if kafka == AUTO else kafka),
        auto=ReleaseOptions() if kafka == AUTO else None,
    )
    return SourceOptions(path, table_of(options), how, _seconds(options), _storage(options))


def table_of(options: Mapping[str, str]) -> str:
    """Return the table that is asked for."""
    table = options.get("table", "findings")
    if table not in run_tables():
        raise UsageError(f"table {table} is not known; known are {', '.join(sorted(run_tables()))}")
    return table


def _seconds(options: Mapping[str, str]) -> float:
    value = options.get("time_limit", "600")
    try:
        seconds = float(value)
    except ValueError:
        seconds = 0
    if not seconds > 0:
        raise UsageError(f"time_limit {value}: a number of seconds above 0 is needed")
    return seconds


def _storage(options: Mapping[str, str]) -> tuple[tuple[str, object], ...]:
    value = options.get("storage_options", "{}")
    try:
        return tuple(json.loads(value).items())
    except (ValueError, AttributeError, RecursionError):
        raise UsageError(f"storage_options {value}: a JSON object is needed") from None
