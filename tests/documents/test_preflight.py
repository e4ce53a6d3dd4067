"""What speaks against a start, in words."""

import pytest

from kcheck.core.start.predictions import LogDirPrediction
from kcheck.core.start.preflight import ReasonKind
from kcheck.core.start.startup import Outcome
from kcheck.documents.preflight import PreflightReason, cluster_reasons, start_reasons
from kcheck.model.entries import Offset
from kcheck.model.loss import LostRecords
from tests.core.start.test_preflight import cluster, partition, start


def kinds(prediction: LogDirPrediction) -> list[tuple[str, str]]:
    """Return the reasons against a start."""
    return [(reason.kind, reason.why) for reason in start_reasons(prediction)]


def test_nothing_speaks_against_a_good_start() -> None:
    assert kinds(start(partition(), partition(Outcome.REPAIRED), partition(Outcome.DELETED))) in (
        [],
        [("stray", "deleted")],
    )
    assert kinds(start(partition(), partition(Outcome.REPAIRED))) == []


@pytest.mark.parametrize(
    ("prediction", "expected"),
    [
        (start(outcome=Outcome.ABORT, reasons=("a", "b")), ("abort", "a")),
        (start(outcome=Outcome.OFFLINE, reasons=("a",)), ("offline", "a")),
        (start(outcome=Outcome.UNKNOWN, uncertain="u"), ("unknown", "u")),
        (start(unread=True), ("unknown", "kcheck cannot read all of it")),
        (start(partition(Outcome.UNKNOWN)), ("unknown", "its log was not read")),
        (start(partition(Outcome.UNKNOWN, uncertain="u")), ("unknown", "u")),
        (start(partition(Outcome.STRAY, reason="r")), ("stray", "r")),
        (start(partition(Outcome.STRAY, reason="r", uncertain="u")), ("stray", "r (u)")),
    ],
)
def test_what_speaks_against_a_start(prediction: LogDirPrediction, expected: tuple[str, str]) -> None:
    assert kinds(prediction) == [expected]


def test_lost_records_are_named() -> None:
    lost = LostRecords(Offset(5), Offset(9), 4, 100, 0)
    assert kinds(start(partition(Outcome.LOST, lost=lost, reason="cut"))) == [
        ("loss", "4 records (offsets 5 to 8) lost: cut")
    ]
    assert kinds(start(partition(Outcome.LOST, lost=lost)))[0][1] == "4 records (offsets 5 to 8) lost"


def test_the_reasons_of_the_metadata() -> None:
    """Of many partitions the first are named."""
    unclean, image = [start(clean=False)], cluster(*[(1,)] * 5, isr=(2,))
    (empty, elr) = cluster_reasons(image, 1, unclean, has_elr=True)
    assert empty == PreflightReason(
        ReasonKind.LOSS,
        "t-0, t-1, t-2 and 2 more may lead by the metadata, but no directory is here: the broker makes them again,"
        " empty, and the other replicas would delete their records; start those first",
    )
    assert elr == PreflightReason(
        ReasonKind.ELR, "its last shutdown was not clean, so it leaves the ELR of t-0, t-1, t-2 and 2 more"
    )
    (_, alone) = cluster_reasons(cluster((1,)), 1, unclean, has_elr=True)
    assert alone.why.endswith("the ELR of t-0, 1 of which then have no replica in sync")
    assert [empty] == [*cluster_reasons(image, 1, unclean, has_elr=False)]
