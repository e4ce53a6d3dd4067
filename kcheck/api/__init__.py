"""The public Python API: a function for each command, with its typed result.

Every function takes paths as the command does, and the options that say which Kafka release is modelled and which
partitions are meant. The results are values; `to_dict()` gives the JSON document of the command, and `to_arrow()` its
table where it is one. UsageError: the arguments make no sense.
"""

from kcheck.api.answers import EVERY_PARTITION, Path, release
from kcheck.api.brokers import check, dump, inspect, overview, predict, preflight, repair
from kcheck.api.clusters import cluster, elect, end_offset, truncation, verify
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
    "inspect",
    "overview",
    "predict",
    "preflight",
    "release",
    "repair",
    "search",
    "simulate",
    "truncation",
    "verify",
]
