"""What speaks against a start."""

from typing import Any

from kcheck.core.start.predictions import LogDirPrediction, PartitionPrediction
from kcheck.core.start.preflight import ElrExit, ReasonKind, elr_exit, reasons_against
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


def test_what_speaks_against_a_start() -> None:
    lost = partition(Outcome.LOST, lost=LostRecords(Offset(5), Offset(9), 4, 100, 0))
    stray, unknown = partition(Outcome.STRAY), partition(Outcome.UNKNOWN)
    assert [] == [*reasons_against(start(partition(), partition(Outcome.REPAIRED)))]
    assert [(ReasonKind.ABORT, None)] == [*reasons_against(start(outcome=Outcome.ABORT))]
    assert [(ReasonKind.UNKNOWN, None), ("loss", lost), ("stray", stray), ("unknown", unknown)] == [
        *reasons_against(start(lost, stray, unknown, unread=True))
    ]


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
    for unclean in (
        start(clean=False),
        start(view=marked(6)),
        start(view=marked(None)),
        start(view=LogDirView(Location())),
    ):
        left = elr_exit(cluster((1,)), 1, [start(view=marked(7)), unclean])
        assert left is not None
        assert left._replace(epochs=None) == ElrExit((("t", 0),), 1)


def test_a_clean_shutdown_of_another_broker_epoch() -> None:
    """The disks are a copy from before, or the broker has started with others since."""
    assert elr_exit(cluster((1,)), 1, [start(view=marked(6))]) == ElrExit((("t", 0),), 1, (6, 7))


def test_a_clean_broker_stays_in_the_elr() -> None:
    assert elr_exit(cluster((1,)), 1, [start(view=marked(7))]) is None


def test_who_is_in_no_elr_loses_none() -> None:
    """Nor does a broker that is not registered, or not known."""
    unclean = [start(clean=False)]
    assert elr_exit(cluster((2,)), 1, unclean) is None
    assert elr_exit(cluster((9,)), 9, unclean) is None
    assert elr_exit(cluster((1,)), None, unclean) is None
    assert elr_exit(cluster((1,), (1, 2), isr=(2,)), 1, unclean) == ElrExit((("t", 0), ("t", 1)), 0)
