"""The replicas of a partition, from rows of the table `replicas` of a run."""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from kcheck.core.election.plans import CopyState
from kcheck.core.replication.lineage import Lineage, lineage_of_cache
from kcheck.core.start.startup import Outcome
from kcheck.errors import KcheckError
from kcheck.fleet.scan.replicas import FAULTS, lineage_of_runs
from kcheck.model.entries import Epoch, EpochEntries, EpochEntry, Offset
from kcheck.model.loss import LostRecords
from kcheck.model.names import DirectoryState
from kcheck.model.segments import EpochRun
from kcheck.replicas.candidates import ClusterHere, ReplicaCopy, role_of, with_problem
from kcheck.replicas.replica import NEEDS_READ, ReplicaState
from kcheck.words import partition_name

FIELDS = (
    "broker", "broker_id", "log_dir", "dir", "state", "outcome", "problem", "topic_id", "high_watermark",
    "loaded_log_start", "loaded_log_end", "loaded_high_watermark", "first_segment", "seen_epoch", "cached_epochs",
    "batch_epochs", "lost", "log_faults",
)  # fmt: skip
"""The columns that an election reads, next to the partition."""


def copies_of(
    topic: str, partition: int, rows: Sequence[Mapping[str, Any]], cluster: ClusterHere
) -> tuple[list[ReplicaCopy], frozenset[int]]:
    """Return the directories of a partition after the next starts, and the brokers whose log was not read.

    The contents of an unread log after the next start are not known. It is treated as a log that loads.
    """
    copies, unread = [], set[int]()
    for row in rows:
        if row["broker_id"] not in cluster.brokers:
            continue
        outcome = None if row["outcome"] is None else Outcome(row["outcome"])
        try:
            state = _state(row, topic, partition)
        except (ValueError, TypeError, KeyError) as error:
            raise KcheckError(
                f"{partition_name(topic, partition)}: invalid epochs or loss in the table replicas: {error}"
            ) from error
        role = role_of(DirectoryState(row["state"]), outcome)
        needs_read = state.problem is not None and state.problem.endswith(NEEDS_READ)
        if outcome is Outcome.UNKNOWN and role is CopyState.CURRENT and (state.problem is None or needs_read):
            state = state._replace(problem=None)
            unread.add(row["broker_id"])
        copies.append(
            with_problem(
                ReplicaCopy(state, role, row["dir"], row["high_watermark"]),
                cluster.brokers[row["broker_id"]],
                row["log_dir"],
            )
        )
    return copies, frozenset(unread)


def _state(row: Mapping[str, Any], topic: str, partition: int) -> ReplicaState:
    end, first = row["loaded_log_end"], Offset(row["first_segment"] or 0)
    runs = None if row["batch_epochs"] is None else [EpochRun(*run) for run in json.loads(row["batch_epochs"])]
    cache = _cache(row["cached_epochs"])
    start = Offset(row["loaded_log_start"] or 0)
    if runs is not None:
        lineage: Lineage | None = lineage_of_runs(runs, first, end)
    else:  # What every comparison would derive from the cache again.
        lineage = None if end is None else lineage_of_cache(cache, log_start_offset=start, log_end_offset=end)
    state = ReplicaState(
        broker_id=row["broker_id"],
        topic=topic,
        partition=partition,
        cache=cache,
        log_end_offset=end,
        log_start_offset=start,
        first_segment=first,
        high_watermark=row["loaded_high_watermark"],
        latest_epoch=row["seen_epoch"],
        lineage=lineage,
        lost=None if row["lost"] is None else _lost(json.loads(row["lost"])),
        problem=row["problem"],
        topic_id=row["topic_id"],
        checkpointed=row["high_watermark"],
    )
    faults = row.get("log_faults")
    return state if faults is None else state._replace(**FAULTS.of(faults))


@lru_cache(64)  # Replicas of a partition mostly have the same.
def _cache(text: str) -> EpochEntries:
    return tuple(EpochEntry(Epoch(epoch), Offset(start)) for epoch, start in json.loads(text))


def _lost(loss: Mapping[str, Any]) -> LostRecords:
    return LostRecords(
        loss["from"], loss["to"], loss["records"], loss["bytes"], loss["below_high_watermark"], loss.get("at_least", 0)
    )
