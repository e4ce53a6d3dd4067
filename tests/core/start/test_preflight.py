"""What speaks against a start."""

from typing import Any

from kcheck.core.start.predictions import LogDirPrediction, PartitionPrediction
from kcheck.core.start.preflight import ReasonKind, reasons_against
from kcheck.core.start.startup import Mode, Outcome
from kcheck.model.entries import Offset
from kcheck.model.loss import LostRecords
from kcheck.model.names import DirectoryState, PartitionDirectory


def partition(outcome: Outcome = Outcome.OK, **fields: Any) -> PartitionPrediction:
    """Return what a start does with t-0."""
    directory = PartitionDirectory("t", 0, DirectoryState.CURRENT, canonical=True)
    return PartitionPrediction(dir="t-0", directory=directory, outcome=outcome, **{"reason": None, **fields})


def start(*partitions: PartitionPrediction, outcome: Outcome = Outcome.OK, **fields: Any) -> LogDirPrediction:
    """Return what a start does with a log dir."""
    given = {"reasons": (), "clean": True, "uncertain": None, **fields}
    return LogDirPrediction(
        path="d", broker_id=1, outcome=outcome, mode=Mode.KRAFT, partitions=partitions, **given
    )  # fmt: skip


def test_what_speaks_against_a_start() -> None:
    lost = partition(Outcome.LOST, lost=LostRecords(Offset(5), Offset(9), 4, 100, 0))
    stray, unknown = partition(Outcome.STRAY), partition(Outcome.UNKNOWN)
    assert [] == [*reasons_against(start(partition(), partition(Outcome.REPAIRED)))]
    assert [(ReasonKind.ABORT, None)] == [*reasons_against(start(outcome=Outcome.ABORT))]
    assert [(ReasonKind.UNKNOWN, None), ("loss", lost), ("stray", stray), ("unknown", unknown)] == [
        *reasons_against(start(lost, stray, unknown, unread=True))
    ]
