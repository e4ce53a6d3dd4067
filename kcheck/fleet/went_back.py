"""The replicas of a run that are older than in an earlier run, by their log ends and log starts."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any, NamedTuple

from kcheck.fleet.lost import NumberedTopic, side_by_side
from kcheck.fleet.run import BrokerKey, FleetRun, data_of, name_order
from kcheck.model.finding import Location
from kcheck.model.lost import WentBack
from kcheck.model.names import DirectoryState, ids_differ

RULE = "KC508"
"""The rule about older replicas."""
_COLUMNS = (
    "cluster", "broker", "broker_id", "log_dir", "dir", "topic", "partition", "state", "topic_id", "log_start_offset",
    "log_end_offset",
)  # fmt: skip
_LogsOfBroker = dict[NumberedTopic, "_LogOfRun"]


class _LogOfRun(NamedTuple):
    """The log of a replica in a run."""

    where: Location
    topic_id: str | None
    start: int
    end: int
    source: str
    """The run that saw this end."""


def went_back(before: FleetRun, after: FleetRun) -> Iterator[tuple[BrokerKey, WentBack]]:
    """Yield the replicas of `after` that are older than in `before`, by broker.

    A replica keeps its identity in another log dir of its broker, but not with another topic id.
    """
    known = _still_back(before)
    pairs = side_by_side(_by_broker(before), _by_broker(after), dict)
    found = [(place, row) for place, was, now in pairs for row in _older({**was, **known.get(place, {})}, now)]
    yield from sorted(found, key=lambda row: (*map(name_order, row[0]), row[1].where.topic, row[1].where.partition))


def _older(was: _LogsOfBroker, now: _LogsOfBroker) -> Iterator[WentBack]:
    for partition, log in now.items():
        before = was.get(partition)
        if before is None or ids_differ(before.topic_id, log.topic_id):
            continue
        if log.end < before.end or log.start < before.start:
            yield WentBack(log.where, before.source, log.start, log.end, before.start, before.end, log.topic_id)


def _by_broker(run: FleetRun) -> Iterator[tuple[BrokerKey, _LogsOfBroker]]:
    rows = run.values("partitions", _COLUMNS)
    for place, group in groupby(rows, key=lambda row: row[:2]):
        logs: _LogsOfBroker = {}
        for _, _, broker_id, log_dir, directory, topic, number, state, topic_id, start, end in group:
            if state == DirectoryState.CURRENT and topic is not None and None not in (start, end):
                where = Location(broker_id, log_dir, directory, topic=topic, partition=number)
                log = _LogOfRun(where, topic_id, start, end, run.name)
                known = logs.get((topic, number))
                logs[topic, number] = log if known is None or known.end < end else known
        yield (place[0], place[1]), logs


def _still_back(before: FleetRun) -> dict[BrokerKey, _LogsOfBroker]:
    """Return the logs that had already ended later in runs before the earlier run."""
    logs: dict[BrokerKey, _LogsOfBroker] = {}
    columns = ("cluster", "broker", "topic", "partition", "id", "data")
    for cluster, broker, topic, number, rule, text in before.values("findings", columns):
        data: Any = data_of(text) if rule == RULE else None
        if isinstance(data, dict):
            log = _LogOfRun(
                Location(), data["topic_id"], data["was_log_start_offset"], data["was_log_end_offset"], data["source"]
            )
            logs.setdefault((cluster, broker), {})[topic, number] = log
    return logs
