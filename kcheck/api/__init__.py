"""The public Python API, with a function for each command and its typed result.

In: paths as the command takes them, and options for the Kafka release and the partitions. Out: values. `to_dict()`
gives the JSON document of the command, and `to_arrow()` its table if the answer is one table. A wrong argument raises
UsageError.

- `brokers`: What do the files of a broker contain, what is wrong, what happens when it starts, and what repairs it?
- `clusters`: Where do followers truncate, who should lead, and what does the cluster metadata contain?
- `meanings`: Which rules are there, and what do rules, messages and logs of brokers mean?
- `runs`: What do runs of fleet scans show?
- `changes`: How is a bundle written, a plan applied, and a plan undone?
- `histories`: What happens in a history of one partition, and which history breaks a promise?
- `argument_errors`: How does an error name an argument, where the command names an option?
- `commands`: Which command does a call mean?
- `answers`: For which release is an answer, and which parts does every answer have?
"""

from kcheck.api.answers import Path, release
from kcheck.api.brokers import check, dump, export, inspect, overview, predict, preflight, repair
from kcheck.api.changes import apply, undo, write_bundle
from kcheck.api.clusters import (
    cluster,
    elect,
    end_offset,
    recover,
    recover_metadata,
    recover_quorum,
    recover_topic,
    recovery_progress,
    rescue_progress,
    tiered,
    truncation,
    verify,
)
from kcheck.api.histories import search, simulate
from kcheck.api.meanings import all_rules, explain
from kcheck.api.runs import fleet_diff, fleet_report, fleet_trend
from kcheck.model.report import EVERY_PARTITION, PartitionFilter

__all__ = [
    "EVERY_PARTITION",
    "PartitionFilter",
    "Path",
    "all_rules",
    "apply",
    "check",
    "cluster",
    "dump",
    "elect",
    "end_offset",
    "explain",
    "export",
    "fleet_diff",
    "fleet_report",
    "fleet_trend",
    "inspect",
    "overview",
    "predict",
    "preflight",
    "recover",
    "recover_metadata",
    "recover_quorum",
    "recover_topic",
    "recovery_progress",
    "release",
    "repair",
    "rescue_progress",
    "search",
    "simulate",
    "tiered",
    "truncation",
    "undo",
    "verify",
    "write_bundle",
]
