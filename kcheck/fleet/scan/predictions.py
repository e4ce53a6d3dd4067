"""Predicts the next start of a partition directory of a fleet, and of a log dir, as columns and rows."""

import json
from collections.abc import Sequence
from itertools import islice
from math import inf
from typing import Any

from kcheck.core.premises.facts import LogFacts
from kcheck.core.start.predictions import LogDirPrediction, PartitionPrediction
from kcheck.core.start.startup import NEXT_START_RANKS, Outcome, segments_from
from kcheck.documents.predict import loss_row, partition_row
from kcheck.documents.strays import stray_outcome
from kcheck.fleet.scan.log_values import SeldomValues
from kcheck.model.loss import LostRecords
from kcheck.model.names import (
    DirectoryState,
    PartitionDirectory,
    TopicPartition,
    log_name,
    segment_bases,
)
from kcheck.model.release import Release
from kcheck.model.report import Column
from kcheck.model.source import Files
from kcheck.model.unreadable import UnreadableError
from kcheck.model.views import PartitionView
from kcheck.startup.inputs import Context, LoadInputs
from kcheck.startup.log_manager import directory_load_of, is_metadata_log
from kcheck.startup.unchanged import unchanged_prediction
from kcheck.tables import DIRECTORY, KAFKA_DIFFERS, LOG_DIR, predictions
from kcheck.verbs.prediction import OUTCOME

_SHORT = 64 << 20
"""Size in bytes that a log of KRaft seldom exceeds. A broker reads this log whenever it starts."""
_OF_START = predictions.TABLE.columns[len(DIRECTORY) :]
_NAMED = len(DIRECTORY) - len(LOG_DIR)
"""The values of a JSON row that name the directory; the columns of the table follow."""
_JSON = tuple(column.name for column in _OF_START if column.type == "json")
START = (
    *(column._replace(name=f"start_{column.name}") for column in (*_OF_START, KAFKA_DIFFERS)),
    Column("start_whole", "json", "All records of a directory that no broker serves."),
    Column("start_queued", "bool", "True if its log dir is offline as soon as the broker runs."),
    Column(
        "start_touched", "string", "The reason why the broker continues to read the log, or to rename its directory."
    ),
    Column("start_loaded", "bool", "True if it loads the log of a replica."),
    Column("start_epoch", "int64", "The newest leader epoch of that log, if the broker serves it."),
    Column("start_closed_at", "int64", "The end of that log at the last clean shutdown."),
    Column(
        "start_faults",
        "json",
        "The facts of that log that premises need, such as gaps, dates that are too old, a closed end and "
        "corrupt batches.",
    ),
)
"""The next start in a row of a directory, with the table's columns, and the facts for its log dir."""
_OUTCOME_AT = predictions.TABLE.names[2:].index("outcome")
_ENCODE = json.JSONEncoder().encode
_IN_COLUMNS = {"partition", "log_dir", "topic_id", "start", "end", "epoch", "closed_at"}
_OF_CLUSTER = {"remote", "remote_report", "regular", "lower", "other_name"}
"""The facts of a log that only other log dirs show."""
_FACTS = SeldomValues(LogFacts, [name for name in LogFacts._fields if name not in _IN_COLUMNS | _OF_CLUSTER])
_OUTCOMES = {str(outcome): outcome for outcome in Outcome}
LIGHT = (
    "start_outcome", "start_reason", "start_lost", "start_scan_bytes", "start_queued", "start_touched", "start_loaded",
    "start_log_start_offset", "start_log_end_offset", "start_epoch", "start_closed_at", "start_faults",
)  # fmt: skip
"""The columns that decide what a directory does to its log dir."""


def predicted(
    directory: PartitionDirectory, view: PartitionView, stored: LoadInputs, context: Context,
    *, complete: bool, reads: bool,
) -> PartitionPrediction | None:  # fmt: skip
    """Return the prediction of a directory; None if the broker does not load this name.

    `complete` is true if the view was read without errors. Without `reads` no log is read from its beginning. After an
    unclean shutdown only the bytes that the broker reads are known then. The records of a new stray are not counted.
    """
    disk, name = view.disk, view.where.dir or ""
    assert disk is not None
    directory_load = directory_load_of(name, directory, stored, context)
    if directory_load is None:
        return None
    stored, context = directory_load
    if stored.clean:
        prediction = unchanged_prediction(disk, name, directory, view, stored, context) if complete else None
        if prediction is not None:
            return prediction
    elif not reads:
        unread = _unread(disk, name, directory, view if complete else None, stored, context)
        if unread.scan_bytes > _SHORT or not is_metadata_log(name, directory, context.release):
            return unread
    from kcheck.startup.partition import start_partition  # numpy: worth its import where a start is simulated

    return start_partition(disk, name, directory, stored, context, counts=reads)


def _unread(
    disk: Files,
    name: str,
    directory: PartitionDirectory,
    view: PartitionView | None,
    stored: LoadInputs,
    context: Context,
) -> PartitionPrediction:
    """Return only how much of a directory a broker reads after an unclean shutdown, and whether it is a stray."""
    try:
        logs = (
            _log_sizes(disk) if view is None else {int(segment.base_offset): segment.size for segment in view.segments}
        )
    except UnreadableError as error:
        return PartitionPrediction(name, directory, Outcome.UNKNOWN, str(error), unread=error.why)
    size = sum(logs[base] for base in segments_from(sorted(logs), stored.recovery_point, release=context.release))
    detector, topic_id = context.stray_detector, None if view is None else view.topic_id
    stray = None
    if detector is not None and topic_id is not None and directory.state is DirectoryState.CURRENT:
        stray = stray_outcome(detector, topic_id, directory.partition, context.release)
    if stray is None:
        stray = Outcome.UNKNOWN, "the broker reads all its segments when it starts", None
    outcome, reason, uncertain = stray
    return PartitionPrediction(name, directory, outcome, reason, scan_bytes=size, uncertain=uncertain)


def _log_sizes(disk: Files) -> dict[int, int]:
    sizes = disk.entries().sizes
    return {base: sizes[log_name(base)] for base in segment_bases(sizes)}


def worse_start(
    ours: tuple[Release, PartitionPrediction | None], theirs: tuple[Release, PartitionPrediction | None]
) -> tuple[PartitionPrediction | None, str | None]:
    """Return the worse of the starts of a directory under two releases; name the other release if they differ."""
    (kafka, start), (other_kafka, other) = ours, theirs
    if start == other or _decisive(start) == _decisive(other):
        return start, None
    return (other, kafka.name) if _badness(other) > _badness(start) else (start, other_kafka.name)


def _decisive(start: PartitionPrediction | None) -> list[object] | None:
    row = None if start is None else partition_row(start)
    return None if row is None else [row[name] for name in OUTCOME]


def _badness(start: PartitionPrediction | None) -> tuple[float, ...]:
    """Return a sort key by outcome, then by lost records, with the worst start last."""
    if start is None:
        return (0,)
    rank = len(NEXT_START_RANKS) - NEXT_START_RANKS[start.outcome] if start.outcome in NEXT_START_RANKS else 1
    lost = 0 if start.lost is None else start.lost.records
    return rank, inf if lost is None else lost


def start_row(prediction: PartitionPrediction | None, log: LogFacts | None, differs: str | None) -> tuple[object, ...]:
    """Return the columns of START."""
    if prediction is None:
        return (None,) * len(START)
    row = partition_row(prediction)
    row |= {name: _ENCODE(row[name]) for name in _JSON if row[name] is not None}
    whole = None if prediction.whole is None else _ENCODE(loss_row(prediction.whole))
    own: tuple[object, ...] = (whole, prediction.fails_later, prediction.later_use, log is not None)
    of_log = (None,) * 3 if log is None else (log.epoch, log.closed_at, _FACTS.text(log))
    return (*islice(row.values(), _NAMED, None), differs, *own, *of_log)


def light_start(name: str, directory: PartitionDirectory, row: Sequence[Any]) -> PartitionPrediction | None:
    """Return of a prediction what its log dir needs, from its columns of LIGHT."""
    outcome, reason, lost, scan_bytes, fails_later, later_use, *_ = row
    if outcome is None:
        return None
    loss = None if lost is None else json.loads(lost)
    of_lost = (
        None
        if loss is None
        else LostRecords(loss["from"], loss["to"], loss["records"], 0, None, loss.get("at_least", 0))
    )
    return PartitionPrediction(
        name,
        directory,
        _OUTCOMES[outcome],
        reason,
        lost=of_lost,
        scan_bytes=scan_bytes,
        fails_later=fails_later,
        later_use=later_use,
    )


def light_log(log_dir: str, directory: PartitionDirectory, topic_id: str | None, row: Sequence[Any]) -> LogFacts | None:
    """Return the facts of a log for premises, from its columns of LIGHT and the id in its partition.metadata."""
    is_loaded, start, end, epoch, closed_at, faults = row[-6:]
    if not is_loaded:
        return None
    partition = TopicPartition(directory.topic, directory.partition)
    log = LogFacts(partition, log_dir, topic_id=topic_id, start=start, end=end, epoch=epoch, closed_at=closed_at)
    return log if faults is None else log._replace(**_FACTS.of(faults))


def worse_row(
    ours: tuple[Release, LogDirPrediction], theirs: tuple[Release, LogDirPrediction]
) -> tuple[tuple[object, ...], str | None]:
    """Return the worse row of a log dir under two releases; name the other release if they differ."""
    (kafka, start), (other_kafka, other) = ours, theirs
    row, other_row = log_dir_row(start), log_dir_row(other)
    rank, other_rank = (NEXT_START_RANKS[Outcome(str(one[_OUTCOME_AT]))] for one in (row, other_row))
    if rank == other_rank:
        return row, None
    return (row, other_kafka.name) if rank < other_rank else (other_row, kafka.name)


def log_dir_row(start: LogDirPrediction) -> tuple[object, ...]:
    """Return the columns of the row of a log dir after its path."""
    unknown = start.unread or any(partition.outcome is Outcome.UNKNOWN for partition in start.partitions)
    outcome = Outcome.UNKNOWN if unknown and start.outcome is Outcome.OK else start.outcome
    own = {
        "outcome": str(outcome),
        "reason": ": ".join((start.verdict, *start.reasons[:1])),
        "uncertain": start.uncertain,
        "scan_bytes": sum(partition.scan_bytes for partition in start.partitions),
    }
    return tuple(own.get(name) for name in predictions.TABLE.names[2:])
