"""Records that no loss counts: the words for no loss, and the partitions at risk."""

from kcheck.core.election.at_risk import AtRisk, at_risk, without_copy
from kcheck.core.election.plans import BrokerGap, CopyState, is_safe, lean
from kcheck.core.election.recovery_plan import BrokerLogDir
from kcheck.documents.uncounted import (
    NO_ELECTION,
    NOTHING,
    NOTHING_HERE,
    in_sync_words,
    missing_words,
    nothing_words,
    premise_words,
    risk_words,
    risked,
    sought_words,
    uncounted_words,
)
from kcheck.model.cluster import PartitionRegistration
from kcheck.model.premises import JudgedPremise, PremiseStatus
from tests.core.election.test_plans import candidate, election

OLD = JudgedPremise("P701", PremiseStatus.REFUTED, "an old copy", 2)
UNREGISTERED = election(candidate(2), isr=None)
ONLY = election(candidate(2), isr=(2,))
SHARED = election(candidate(1), candidate(2))._replace(topic="shared")
_LED = PartitionRegistration((1, 2), (), last_leader=2)
LED = SHARED._replace(topic="led", registration=_LED)
PARTITIONS = (UNREGISTERED, ONLY, SHARED, LED)


def test_no_loss_has_words_for_what_it_is_about() -> None:
    """A missing disk and records that no broker serves are no proof that nothing is lost."""
    assert [NOTHING, NOTHING_HERE, NO_ELECTION, NO_ELECTION] == [
        nothing_words(uncounted, unserved, ())
        for uncounted, unserved in (((), ()), ((1,), ()), ((), (1,)), ((1,), (1,)))
    ]


def test_partitions_need_the_disk_of_their_only_broker_or_last_leader() -> None:
    assert AtRisk((ONLY,), (LED,)) == at_risk(2, PARTITIONS)
    assert AtRisk((), ()) == at_risk(9, PARTITIONS)
    leads = LED._replace(registration=_LED._replace(leader=1, last_leader=None))
    assert AtRisk((), (leads,)) == at_risk(1, [leads])


def test_an_old_disk_comes_first_with_the_partitions_at_risk() -> None:
    """An old copy is certain, a disk that may be one is not."""
    (certain,) = premise_words([OLD, OLD], PARTITIONS)
    assert certain == (
        "First find the newest disk of broker 2: an old copy. Records that only that disk has are not counted."
        " Without that disk the records of t-0 there are lost for good, because no other replica exists. led-0 can lose"
        " records, because broker 2 led it last. Read kcheck help old-copy."
    )
    (lost,) = premise_words([OLD], PARTITIONS, [2])
    assert lost == certain.replace("First find", "Without").replace("are not counted", "are lost, and not counted")
    (said,) = premise_words([OLD._replace(status=PremiseStatus.NOT_SEEN)], [ONLY, ONLY])
    assert said.endswith(
        "Without that disk t-0, t-0 can lose records, because no other replica exists. Read kcheck help old-copy."
    )
    (alone,) = premise_words([OLD._replace(broker_id=None)], [ONLY])
    assert alone.startswith("Not counted: an old copy. First: Find the newest disk")
    (named,) = premise_words([OLD._replace(id="P861", sentence="broker 2 led t-0 last")], [ONLY])
    assert named.startswith("Not counted: broker 2 led t-0 last. First: ")


def test_a_disk_that_may_have_the_only_records_is_sought() -> None:
    """A broker that is given up has none. A replica of each partition elsewhere needs no other disk."""
    gaps = [BrokerGap(1, 2, None), BrokerGap(2, 3, None), BrokerGap(4, 1, "given up")]
    words = {2: "Find the disks of broker 2, and name 2=PATH"}
    assert words == sought_words(gaps, [], PARTITIONS, incomplete_ok=False)
    assert {} == sought_words(gaps, [], PARTITIONS, incomplete_ok=True)
    fails = [BrokerGap(2, 3, "its log dir is missing")]
    assert {2: "Make broker 2 able to start: its log dir is missing"} == sought_words(
        fails, [], PARTITIONS, incomplete_ok=True
    )
    old = [OLD, OLD._replace(broker_id=None), OLD._replace(id="P999", broker_id=7)]
    old.append(OLD._replace(status=PremiseStatus.NOT_SEEN, broker_id=8))
    assert {2: "Find the newest disk of broker 2"} == sought_words([], old, PARTITIONS, incomplete_ok=False)
    assert {} == sought_words([], old, PARTITIONS, incomplete_ok=False, without_newest=[2])


def test_given_up_brokers_and_log_dirs_name_their_partitions() -> None:
    gone = SHARED._replace(candidates=(candidate(2, state=CopyState.MISSING),))
    gaps = [BrokerGap(2, 3, "given up"), BrokerGap(3, 1, None), BrokerGap(4, 1, "it is damaged")]
    without = [BrokerLogDir(2, "/data1"), BrokerLogDir(5, "/data2")]
    assert (gone,) == without_copy(2, (ONLY, gone))
    risk = "Without its disks the records of t-0 there are lost for good, because no other replica exists."
    assert [
        f"Data that only broker 2 has is lost, and not counted. {risk}",
        "Data that only broker 3 has is not counted; the steps go on without that data.",
        "Broker 4 should not start: it is damaged. Solve that first, and ask again.",
        "Data that only broker 4 has is not counted; the steps go on without that data.",
        "Data that only /data1 has is lost, and not counted. Broker 2 had shared-0 there.",
        "Data that only /data2 has is lost, and not counted.",
    ] == [*uncounted_words(gaps, (), (ONLY, gone), without=without, has_steps=True)]


def test_a_partition_without_the_logs_of_its_replicas_in_sync_may_have_lost_any_number() -> None:
    """A replica that was not in sync has no more than it fetched. Every member of the ISR, else of the ELR, counts."""
    gone = election(candidate(1), candidate(2, state=CopyState.MISSING), isr=(2,))
    other = gone._replace(topic="other", registration=PartitionRegistration((1, 2), (), elr=(2,)))
    assert ((2,), (2,)) == (gone.lost_in_sync, other.lost_in_sync)
    assert NOTHING_HERE == nothing_words((), (), [ONLY, gone])
    assert NOTHING == nothing_words((), (), [ONLY])
    assert [
        "Broker 2 alone was in sync in t-0, other-0, and has no log there. Records that only it had are not counted."
    ] == [*in_sync_words([gone, other, ONLY])]
    assert not is_safe([gone])
    assert lean(gone).lost_in_sync == (2,)
    for safe in (
        election(candidate(1), candidate(2, state=CopyState.MISSING), isr=(1, 2)),
        election(candidate(1), candidate(2), isr=(2,)),
        election(candidate(2, state=CopyState.MISSING), isr=(2,)),
        election(candidate(1), candidate(2, state=CopyState.MISSING), isr=None),
        election(candidate(1), isr=(2,)),
    ):
        assert safe.lost_in_sync == ()


def test_a_plan_names_what_the_disks_of_given_up_brokers_would_have() -> None:
    risk = "Without the disks of broker 2 the records of t-0 there are lost for good, because no other replica exists."
    assert [risk] == [*missing_words((), (2,), (ONLY,))]


def test_a_partition_without_metadata_may_have_records_elsewhere() -> None:
    """Nobody knows who led it last, or which other brokers have replicas."""
    assert [NOTHING_HERE, NOTHING, NO_ELECTION] == [
        nothing_words((), (), [UNREGISTERED]), nothing_words((), (), [SHARED]), nothing_words((), (1,), [UNREGISTERED]),
    ]  # fmt: skip


def test_an_only_replica_that_waits_for_its_broker_is_offline() -> None:
    """Its directory is here. Without one, or as an old copy, its records can be lost."""
    bare = ONLY._replace(topic="bare", candidates=())
    waits = [*risk_words(2, [ONLY, bare], is_gone=False, waits=True)]
    assert waits == [
        "t-0 is offline until broker 2 starts.",
        "Without its disks bare-0 can lose records, because no other replica exists.",
    ]
    (gone,) = risk_words(2, [ONLY], is_gone=False)
    assert gone.startswith("Without its disks t-0 can lose records")


def test_the_partitions_that_can_lose_records_are_no_safe_ones() -> None:
    """The only replica, and the last leader, of a broker that is not here, or that has an old disk."""
    gaps = [BrokerGap(2, 3, None)]
    assert (
        {"t-0", "led-0"} == risked(gaps, [], PARTITIONS) == risked([], [OLD, OLD._replace(broker_id=None)], PARTITIONS)
    )
    assert frozenset() == risked([], [OLD._replace(id="P861")], PARTITIONS)
    missing = LED._replace(candidates=(candidate(2)._replace(state=CopyState.MISSING),))
    assert {"led-0"} == risked([], [], [missing, ONLY], [BrokerLogDir(2, "d")])
