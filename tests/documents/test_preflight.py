"""What speaks against a start, in words."""

import pytest

from kcheck.core.start.predictions import LogDirPrediction
from kcheck.core.start.preflight import ReasonKind
from kcheck.core.start.startup import Outcome
from kcheck.documents.preflight import PreflightReason, cluster_reasons, premise_reasons, start_reasons
from kcheck.model.entries import Offset
from kcheck.model.loss import LostRecords
from kcheck.model.premises import JudgedPremise, PremiseStatus
from tests.core.start.test_preflight import cluster, marked, partition, start


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
    (elr,) = cluster_reasons(image, 1, unclean, has_elr=True)
    assert elr == PreflightReason(
        ReasonKind.ELR, "its last shutdown was not clean, so it leaves the ELR of t-0, t-1, t-2 and 2 more"
    )
    (old,) = cluster_reasons(image, 1, [start(view=marked(6))], has_elr=True)
    assert old.why.startswith("its last clean shutdown was in broker epoch 6, the cluster knows 7, so it leaves the")
    (alone,) = cluster_reasons(cluster((1,)), 1, unclean, has_elr=True)
    assert alone.why.endswith("the ELR of t-0, 1 of which then have no replica in sync")
    assert [] == [*cluster_reasons(image, 1, unclean, has_elr=False)]


def judged(status: PremiseStatus, premise: str, provide: str | None = None) -> JudgedPremise:
    """Return a premise of broker 1."""
    return JudgedPremise(premise, status, f"{premise} says", 1, provide=provide)


def test_premises_that_do_not_hold_are_reasons() -> None:
    """Without some the broker does not start; without others it starts and loses; what was not seen is not known."""
    premises = (
        judged(PremiseStatus.PROVEN, "P101"),
        judged(PremiseStatus.REFUTED, "P102"),
        judged(PremiseStatus.REFUTED, "P701"),
        judged(PremiseStatus.NOT_SEEN, "P303", "--metadata"),
    )
    assert [
        PreflightReason(ReasonKind.ABORT, "P102 says", premise="P102"),
        PreflightReason(ReasonKind.LOSS, "P701 says", premise="P701"),
        PreflightReason(ReasonKind.UNKNOWN, "P303 says; name --metadata", premise="P303"),
    ] == [*premise_reasons(premises, ends_start=frozenset({"P101", "P102"}), takes_offline=frozenset())]


def test_premises_about_log_dirs_that_go_offline() -> None:
    """The start of a log dir says that it goes offline; what holds for the broker is a reason; a note is none."""
    premises = (
        judged(PremiseStatus.REFUTED, "P402")._replace(log_dir="d2"),
        judged(PremiseStatus.REFUTED, "P404"),
        judged(PremiseStatus.NOT_SEEN, "P405"),
    )
    assert [PreflightReason(ReasonKind.OFFLINE, "P404 says", premise="P404")] == [
        *premise_reasons(premises, ends_start=frozenset({"P405"}), takes_offline=frozenset({"P402", "P404"}))
    ]
