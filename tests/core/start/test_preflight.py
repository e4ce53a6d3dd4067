"""What speaks against a start."""

from typing import Any

import pytest

from kcheck.core.start.predictions import LogDirPrediction, PartitionPrediction
from kcheck.core.start.preflight import PreflightReason, ReasonKind, empty_replicas, leaves_elr, reasons_against
from kcheck.core.start.startup import Mode, Outcome
from kcheck.formats.clean_shutdown import CleanShutdown
from kcheck.model.cluster import BrokerRegistration, ClusterImage, PartitionRegistration, TopicImage
from kcheck.model.entries import Offset
from kcheck.model.finding import Location
from kcheck.model.loss import LostRecords
from kcheck.model.names import DirectoryState, PartitionDirectory
from kcheck.model.parsed import Parsed
from kcheck.model.views import FileView, LogDirView

MARKER = ".kafka_cleanshutdown"


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


def kinds(prediction: LogDirPrediction) -> list[tuple[str, str]]:
    """Return the reasons against a start."""
    return [(reason.kind, reason.why) for reason in reasons_against(prediction)]


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


def marked(epoch: int | None) -> LogDirView:
    """Return a log dir whose clean shutdown marker holds a broker epoch."""
    where = Location(log_dir="d")
    value = CleanShutdown(0, epoch) if epoch is not None else CleanShutdown(None, None)
    return LogDirView(where=where, files={MARKER: FileView("clean-shutdown", MARKER, where, 1, Parsed(value))})


def cluster(*elrs: tuple[int, ...], isr: tuple[int, ...] = ()) -> ClusterImage:
    """Return a cluster with broker 1, and a partition for each ELR."""
    partitions = {number: PartitionRegistration((1, 2), isr, elr=elr) for number, elr in enumerate(elrs)}
    return ClusterImage({"t": TopicImage("t", None, partitions)}, brokers={1: BrokerRegistration(1, 7, fenced=True)})


def test_an_unclean_broker_leaves_the_elr() -> None:
    """Its shutdown was unclean, or its marker is of another registration, or a log dir has none."""
    why = "its last shutdown was not clean, so it leaves the ELR of t-0, 1 of which then have no replica in sync"
    for unclean in (
        start(clean=False),
        start(view=marked(6)),
        start(view=marked(None)),
        start(view=LogDirView(Location())),
    ):
        assert leaves_elr(cluster((1,)), 1, [start(view=marked(7)), unclean]) == PreflightReason(ReasonKind.ELR, why)


def test_a_clean_broker_stays_in_the_elr() -> None:
    assert leaves_elr(cluster((1,)), 1, [start(view=marked(7))]) is None


def test_who_is_in_no_elr_loses_none() -> None:
    """Nor does a broker that is not registered, or not known."""
    unclean = [start(clean=False)]
    assert leaves_elr(cluster((2,)), 1, unclean) is None
    assert leaves_elr(cluster((9,)), 9, unclean) is None
    assert leaves_elr(cluster((1,)), None, unclean) is None


def test_of_many_partitions_the_first_are_named() -> None:
    reason = leaves_elr(cluster(*[(1,)] * 5, isr=(2,)), 1, [start(clean=False)])
    assert reason is not None
    assert reason.why.endswith("the ELR of t-0, t-1, t-2 and 2 more")


def test_replicas_that_may_lead_have_no_directory() -> None:
    """Nothing is said if a log dir cannot be read, or if the replica is not in sync."""
    in_elr, in_isr = PartitionRegistration((1, 2), (), elr=(1,)), PartitionRegistration((1, 2), (1, 2))
    last, other = PartitionRegistration((1, 2), (), last_known_elr=(1,)), PartitionRegistration((1, 2), (2,))
    image = ClusterImage({"t": TopicImage("t", None, dict(enumerate((in_elr, in_isr, last, other))))})
    here = start(partition(Outcome.OK))
    assert here.partitions[0].dir == "t-0"
    reason = empty_replicas(image, 1, [here])
    assert reason is not None
    assert (reason.kind, reason.why[:43]) == (ReasonKind.LOSS, "t-1, t-2 may lead by the metadata, but no d")
    assert empty_replicas(image, 1, [here, start(unread=True)]) is None
    assert empty_replicas(cluster((2,)), 1, [start()]) is None
