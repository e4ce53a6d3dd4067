"""What speaks against a start, in words."""

import pytest

from kcheck.core.election.election import ELR_FEATURE
from kcheck.core.releases.releases import release
from kcheck.core.start.predictions import LogDirPrediction
from kcheck.core.start.preflight import ReasonKind
from kcheck.core.start.startup import Outcome
from kcheck.documents.preflight import PreflightReason, cluster_reasons, premise_reasons, start_reasons
from kcheck.formats.clean_shutdown import CleanShutdown
from kcheck.model.cluster import NO_LEADER, BrokerRegistration, ClusterImage, PartitionRegistration, TopicImage
from kcheck.model.entries import Offset
from kcheck.model.finding import Location
from kcheck.model.loss import LostRecords
from kcheck.model.parsed import Parsed
from kcheck.model.premises import JudgedPremise, PremiseStatus
from kcheck.model.views import FileView, LogDirView
from tests.core.start.test_preflight import partition, start


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
        ("loss", "4 records (offsets 5-8) lost: cut")
    ]
    assert kinds(start(partition(Outcome.LOST, lost=lost)))[0][1] == "4 records (offsets 5-8) lost"


def marked(epoch: int) -> LogDirView:
    """Return a log dir whose clean shutdown marker holds a broker epoch."""
    where, marker = Location(log_dir="d"), ".kafka_cleanshutdown"
    value = Parsed(CleanShutdown(0, epoch))
    return LogDirView(where=where, files={marker: FileView("clean-shutdown", marker, where, 1, value)})


def test_the_reasons_of_the_metadata() -> None:
    """Of many partitions the first are named, and who can lead them."""
    unclean, left = [start(clean=False)], PartitionRegistration((1, 2), (), elr=(1,), leader=NO_LEADER)

    def reasons(broker_id: int | None, *partitions: PartitionRegistration) -> list[str]:
        topic = TopicImage("t", "T", dict(enumerate(partitions)))
        brokers = {1: BrokerRegistration(1, 7, fenced=True)}
        image = ClusterImage({"t": topic}, brokers=brokers, features={ELR_FEATURE: 1})
        return [row.why for row in cluster_reasons(image, broker_id, unclean, release("4.3"))]

    leaves = "its last shutdown was not clean, so it leaves the ELR of"
    assert reasons(1, *[left] * 5) == [
        f"{leaves} t-0, t-1, t-2 and 2 more: no replica leads there until an unclean election is run"
    ]
    assert reasons(1, left._replace(last_known_elr=(2,))) == [
        f"{leaves} t-0: no replica leads there until broker 2 is back, or an unclean election is run"
    ]
    assert reasons(2, left) == reasons(None, left) == []
    (old,) = cluster_reasons(
        ClusterImage(
            {"t": TopicImage("t", "T", {0: left})}, brokers={1: BrokerRegistration(1, 7, fenced=True)},
            features={ELR_FEATURE: 1},
        ),
        1, [start(view=marked(6))], release("4.3"),
    )  # fmt: skip
    assert old.why.startswith("its last clean shutdown was in broker epoch 6, the cluster knows 7, so it leaves the")


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
    ] == [*premise_reasons(premises)]


def test_premises_about_log_dirs_that_go_offline() -> None:
    """The start of a log dir says that it goes offline; what holds for the broker is a reason; a note is none."""
    premises = (
        judged(PremiseStatus.REFUTED, "P402")._replace(log_dir="d2"),
        judged(PremiseStatus.REFUTED, "P404"),
        judged(PremiseStatus.NOT_SEEN, "P405"),
    )
    assert [PreflightReason(ReasonKind.OFFLINE, "P404 says", premise="P404")] == [*premise_reasons(premises)]
