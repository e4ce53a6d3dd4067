"""The public Python API: a function for each command, with its typed result.

In: paths as the command takes them, and options for the Kafka release and the partitions. Out: values; `to_dict()`
gives the JSON document of the command, and `to_arrow()` its table where the answer is one table. UsageError: the
arguments make no sense.

- `brokers`: What do the files of a broker contain, what is wrong, what happens when it starts, and what repairs it?
- `clusters`: Where do followers truncate, who should lead, and what does the cluster metadata contain?
- `histories`: What happens in a history of one partition, and which history breaks a promise?
- `answers`: For which release is an answer, and which parts does every answer have?
"""

from kcheck.api.answers import EVERY_PARTITION, Path, release
from kcheck.api.brokers import check, dump, export, inspect, overview, predict, preflight, repair
from kcheck.api.clusters import (
    cluster,
    elect,
    end_offset,
    recover,
    recover_metadata,
    recover_quorum,
    recover_topic,
    recovery_progress,
    tiered,
    truncation,
    verify,
)
from kcheck.api.histories import search, simulate
from kcheck.model.report import PartitionFilter

__all__ = [
    "EVERY_PARTITION",
    "PartitionFilter",
    "Path",
    "check",
    "cluster",
    "dump",
    "elect",
    "end_offset",
    "export",
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
    "search",
    "simulate",
    "tiered",
    "truncation",
    "verify",
]
