"""What a saved plan expects of a cluster, and what came of it."""

from typing import Any

import pytest

from kcheck.core.election.recovery_plan import PlannedFollower, PlannedPartition, SavedPlan, ServedRange
from kcheck.core.replication.truncation_plans import FollowerPlan, OffsetRange, TruncatedRecords
from kcheck.core.tiered.reading import remote_log
from kcheck.documents.verification import PlanStep, StepKind
from kcheck.model.cluster import BrokerRegistration, PartitionRegistration
from kcheck.model.entries import Epoch, Offset
from kcheck.model.remote_log import MetadataState, Retention, Spans
from kcheck.replicas.plan_steps import PartitionNow, SavedEvidence, broker_steps, partition_steps, verdict
from kcheck.replicas.served_now import ServedNow

PLANNED = PlannedPartition(
    topic="t", partition=0, topic_id="ID", leader=1, log_end_offset=Offset(9), epoch_floor=Epoch(4),
    high_watermark=Offset(7), replicas=(1, 2, 3),
    followers=(PlannedFollower(2, Offset(5), OffsetRange(Offset(5), Offset(8))), PlannedFollower(3, None, None)),
    allowed_unclean=False,
)  # fmt: skip
PLAN = SavedPlan(
    kafka="4.3", order=(1, 2, 3), dead=(), paths=(), saved=None, broker_epochs={1: 10, 2: 20}, partitions=(PLANNED,)
)
REGISTRATION = PartitionRegistration((1, 2, 3), (1, 2, 3), leader=1, leader_epoch=5, last_leader=1)
BROKERS = {number: BrokerRegistration(number, 30, fenced=False) for number in (1, 2, 3)}
LOST = TruncatedRecords(Offset(5), Offset(8), 3, 30, 2, certain=True)


def state(number: int, **how: Any) -> FollowerPlan:
    """Return what a replica would do now."""
    return FollowerPlan(number, Offset(9), None)._replace(**how)


NOW = PartitionNow(
    registration=REGISTRATION, topic_id="ID", ends={1: Offset(9), 2: Offset(9), 3: Offset(9)}, latest_epoch=Epoch(5),
    followers={2: state(2), 3: state(3)}, evidence=SavedEvidence(3, 3, 0, 0), allows_unclean=False,
)  # fmt: skip


def steps(kind: StepKind, now: PartitionNow = NOW, planned: PlannedPartition = PLANNED, **plan: Any) -> list[Any]:
    """Return what is expected and seen of one kind, and whether that is the same."""
    rows = partition_steps(planned, now, PLAN._replace(**plan), BROKERS)
    return [(step.expected, step.seen, step.ok) for step in rows if step.kind is kind]


def registered(**how: Any) -> PartitionNow:
    """Return a partition in another state by the metadata."""
    return NOW._replace(registration=REGISTRATION._replace(**how))


def test_all_as_planned() -> None:
    """Every step is; each names its partition."""
    rows = partition_steps(PLANNED, NOW, PLAN, BROKERS)
    assert {step.ok for step in rows} == {True}
    assert {(step.topic, step.partition) for step in rows} == {("t", 0)}
    assert verdict(rows) == "All 9 steps are as planned."


@pytest.mark.parametrize(
    ("gone", "deleted", "retention", "seen", "ok"),
    [
        ((), (), Retention(), "broker 1 has all of them; the store was not read", True),
        (((0, 5),), (), Retention(), "broker 1 does not serve offsets 0–4: its log starts at 5", False),
        (((5, 7),), (), Retention(), "broker 1 does not serve offsets 5–6: no remote or local segment has them", False),
        (((0, 5),), ((0, 5),), Retention(9, 9), "retention deleted offsets 0–4; broker 1 has the others", True),
        (((0, 5),), ((0, 5),), Retention(9), "? (offsets 0–4 were deleted, by retention or by a leader without", None),
        (((0, 5),), ((0, 2),), Retention(9, 9), "broker 1 does not serve offsets 2–4: its log starts at 5", False),
        (((0, 5),), ((0, 2),), Retention(9), "broker 1 does not serve offsets 0–4: its log starts at 5", False),
    ],
)
def test_remote_storage(gone: Spans, deleted: Spans, retention: Retention, seen: str, ok: bool | None) -> None:
    """What the leader of a log in remote storage lacks is a loss, unless retention deleted it."""
    planned = PLANNED._replace(served=(ServedRange(Epoch(0), Offset(0), Offset(9)),))
    now = ServedNow(1, Offset(5), remote_log(MetadataState.READ), gone, deleted, retention)
    ((expected, words, holds),) = steps(StepKind.REMOTE, NOW._replace(served=now), planned)
    assert expected == "the leader has offsets 0–8, on disk or in remote segments"
    assert words.startswith(seen)
    assert holds is ok


def test_remote_storage_that_is_not_known() -> None:
    """Without the leader's log or the metadata partition; lost metadata are a loss."""
    planned = PLANNED._replace(served=(ServedRange(Epoch(0), Offset(0), Offset(9)),))
    now = ServedNow(None, Offset(0), remote_log(MetadataState.NOT_GIVEN), ((0, 9),), (), Retention())
    lost = now._replace(remote=remote_log(MetadataState.SHORT))
    rows = [steps(StepKind.REMOTE, NOW._replace(served=row), planned)[0][1:] for row in (None, now, lost)]
    assert rows == [
        ("? (no readable log of the leader is here)", None),
        ("? (its partition of __remote_log_metadata is not given)", None),
        ("it does not serve offsets 0–8: __remote_log_metadata is short", False),
    ]
    assert verdict(partition_steps(planned, NOW._replace(served=lost), PLAN, BROKERS)).endswith("the plan has them.")


def test_starts() -> None:
    """A start gives a broker another epoch."""
    brokers = {1: BROKERS[1], 2: BROKERS[2]._replace(epoch=20), 3: BROKERS[3]}
    assert [step.ok for step in broker_steps(PLAN, brokers)] == [True, False, None]
    assert [step.ok for step in broker_steps(PLAN, {})] == [None, None, None]


@pytest.mark.parametrize(
    ("now", "seen", "ok"),
    [
        (NOW, "broker 1 leads", True),
        (registered(leader=2), "broker 2 leads", False),
        (registered(leader=-1), "broker 1 led last", True),
        (registered(leader=-1, last_leader=None), "it has no leader", False),
        (NOW._replace(registration=None), "? (the partition is not in the given metadata)", None),
    ],
)
def test_leader(now: PartitionNow, seen: str, ok: bool | None) -> None:
    """By the metadata; the last one if no broker runs."""
    assert steps(StepKind.LEADER, now) == [("broker 1 leads", seen, ok)]


def test_the_preferred_replica_may_lead_again() -> None:
    """The course of the plan: the first leader, or the one that gets the lead back."""
    planned = PLANNED._replace(later=2)
    now = registered(leader=2)
    assert steps(StepKind.LEADER, now, planned) == [("broker 1 leads, or broker 2 again", "broker 2 leads", True)]
    assert [ok for *_, ok in steps(StepKind.TRUNCATION, now, planned)] == [True, True]
    assert steps(StepKind.LEADER, registered(leader=3), planned)[0][2] is False


def test_topic() -> None:
    """A topic that was made again is another one, and nothing else of it is compared."""
    for now in (NOW._replace(topic_id="NEW"), NOW._replace(is_deleted=True)):
        assert [(step.kind, step.ok) for step in partition_steps(PLANNED, now, PLAN, BROKERS)] == [("topic", False)]
    unknown = PLANNED._replace(topic_id=None)
    assert steps(StepKind.TOPIC, NOW._replace(is_deleted=True), unknown)[0][0] == "the topic is still there"


def test_a_leader_that_is_no_longer_a_replica() -> None:
    """Somebody reassigned the partition: the log end of its leader counts, the old one is not looked at."""
    moved = registered(replicas=(2, 4), leader=2)
    assert steps(StepKind.LEADER, moved)[0][1:] == ("? (broker 2 leads; broker 1 is no longer a replica)", None)
    assert steps(StepKind.LOG_END, moved) == [("log end of broker 2 9 or above", "log end 9", True)]
    assert steps(StepKind.TRUNCATION, moved)[1][1:] == ("? (it is no longer a replica)", None)


@pytest.mark.parametrize(
    ("now", "ok"),
    [
        (registered(leader_epoch=4), False),
        (registered(leader_epoch=None), True),
        (NOW._replace(registration=None, latest_epoch=None), None),
    ],
)
def test_leader_epoch(now: PartitionNow, ok: bool | None) -> None:
    """By the metadata, else by the logs."""
    assert [row[2] for row in steps(StepKind.EPOCH, now)] == [ok]


def test_a_replica_that_cannot_follow() -> None:
    """It differs from its leader, as planned, and is not in sync; the plan is wrong if it follows all the same."""
    apart = PLANNED._replace(followers=(PlannedFollower(3, None, None, follows=False),))
    differs = NOW._replace(followers={3: state(3, diverges_silently_at=Offset(4))})
    expected = "broker 3 cannot follow: its log differs from the leader's"
    assert [row[2] for row in steps(StepKind.TRUNCATION, differs, apart)] == [True]
    assert [row[::2] for row in steps(StepKind.TRUNCATION, NOW, apart)] == [(expected, False)]
    assert [row[2] for row in steps(StepKind.TRUNCATION, NOW._replace(followers={}), apart)] == [None]
    alone = registered(isr=(1, 2))
    words = "every replica in sync but 3, which cannot follow"
    assert steps(StepKind.ISR, alone, apart) == [(words, "ISR 1,2", True)]
    assert steps(StepKind.ISR, alone) == [("every replica in sync", "ISR 1,2", False)]
    assert steps(StepKind.ISR, NOW, apart) == [("every replica in sync", "ISR 1,2,3", True)]


def test_log_end() -> None:
    """The leader's log may grow, not shrink."""
    ends: list[Offset | None] = [Offset(8), Offset(9), Offset(90), None]
    assert [steps(StepKind.LOG_END, NOW._replace(ends={1: end}))[0][2] for end in ends] == [False, True, True, None]
    assert steps(StepKind.LOG_END, planned=PLANNED._replace(log_end_offset=None)) == [
        ("log end of broker 1 ?", "log end 9", None)
    ]


@pytest.mark.parametrize(
    ("now", "seen", "ok"),
    [
        (NOW, "its log is the leader's up to 9", True),
        (NOW._replace(followers={2: state(2, lost=LOST)}), "offsets 5–7 are not the leader's", False),
        (
            NOW._replace(followers={2: state(2, diverges_silently_at=Offset(6))}),
            "its log differs from the leader's from 6 on", False,
        ),
        (
            NOW._replace(followers={2: state(2, lost=LOST._replace(certain=False))}),
            "? (the files do not show whether offsets 5–7 are the leader's)", None,
        ),
        (NOW._replace(followers={2: state(2, problem="damaged")}), "? (damaged)", None),
        (NOW._replace(followers={}), "? (no log of it is here)", None),
        (registered(leader=2), "it leads", False),
    ],
)  # fmt: skip
def test_follower(now: PartitionNow, seen: str, ok: bool | None) -> None:
    """Nothing of its own is left."""
    assert steps(StepKind.TRUNCATION, now)[0] == ("broker 2 truncates to 5 and follows", seen, ok)


@pytest.mark.parametrize(
    ("evidence", "rows"),
    [
        (SavedEvidence(3, 3, 0, 0), [("3 are lost", True), ("0 are missing", True)]),
        (SavedEvidence(3, 1, 2, 1), [
            ("1 are lost; 2 are back", False), ("2 are missing, 1 of them acknowledged", False),
        ]),
        (SavedEvidence(3, 3, 2, None), [("3 are lost", True), ("2 are missing, ? of them acknowledged", False)]),
        (SavedEvidence(None, None, None, None), [("? (the saved records cannot be read)", None)] * 2),
        (SavedEvidence(5, None, None, None), [("? (no readable log of the leader is here)", None)] * 2),
        (None, [("? (the plan's saved records are missing; elect --save-lost keeps them)", None)]),
    ],
)  # fmt: skip
def test_saved_records(evidence: SavedEvidence | None, rows: list[tuple[str, bool | None]]) -> None:
    """Those that the plan gives up are gone, the others are there."""
    assert [(seen, ok) for _, seen, ok in steps(StepKind.RECORDS, NOW._replace(evidence=evidence))] == rows


def test_saved_records_of_a_plan_without_loss() -> None:
    """Only those that it keeps matter."""
    safe = PLANNED._replace(followers=())
    assert [row[0] for row in steps(StepKind.RECORDS, planned=safe)] == [
        "every other saved record is in the leader's log"
    ]
    assert steps(StepKind.RECORDS, NOW._replace(evidence=None), safe) == []
    later = NOW._replace(evidence=SavedEvidence(3, 3, 0, 0, Offset(7)))
    since = " (from offset 7 on: the leader deleted or compacted those below)"
    assert [row[0] for row in steps(StepKind.RECORDS, later, safe)] == [
        f"every other saved record is in the leader's log{since}"
    ]


def test_replicas() -> None:
    """As many as before, without those on brokers that are given up; or those of restore.json."""
    two = registered(replicas=(1, 2))
    assert steps(StepKind.REPLICAS, two) == [("3 replicas", "replicas 1,2", False)]
    assert steps(StepKind.REPLICAS, two, dead=(3,)) == [("2 replicas", "replicas 1,2", True)]
    assert steps(StepKind.REPLICAS, two._replace(full=(2, 3))) == [
        ("replicas 2,3 (restore.json)", "replicas 1,2", False)
    ]
    assert steps(StepKind.REPLICAS, NOW._replace(registration=None))[0][2] is None
    assert steps(StepKind.REPLICAS, planned=PLANNED._replace(replicas=())) == []


def test_in_sync() -> None:
    """A replica of a broker that is stopped may be in sync once it runs."""
    assert steps(StepKind.ISR, registered(isr=(1, 2))) == [("every replica in sync", "ISR 1,2", False)]
    assert steps(StepKind.ISR, registered(isr=(1, 2)), dead=(3,))[0][2] is True
    assert steps(StepKind.ISR, registered(replicas=(1, 9), isr=(1,)))[0][1:] == ("ISR 1; 9 stopped", None)
    assert steps(StepKind.ISR, registered(replicas=(1, 9), isr=()))[0][1:] == ("ISR -; 9 stopped", False)
    assert steps(StepKind.ISR, NOW._replace(registration=None)) == []


def test_what_is_left_to_do() -> None:
    """Stray directories, and unclean elections that were not allowed before."""
    assert steps(StepKind.STRAY, NOW._replace(strays=((3, "/d/t-0.x-stray"),))) == [
        ("no stray directory", "/d/t-0.x-stray", False)
    ]
    allowed = NOW._replace(allows_unclean=True)
    before = (True, False, None)
    rows = [steps(StepKind.CONFIG, allowed, PLANNED._replace(allowed_unclean=was)) for was in before]
    assert [[row[2] for row in shown] for shown in rows] == [[], [False], [None]]


def test_verdict() -> None:
    """What differs first; then what is not known."""
    good, bad, unknown = (PlanStep(StepKind.LEADER, "a", "b", ok) for ok in (True, False, None))
    lost = good._replace(kind=StepKind.RECORDS, ok=False)
    assert verdict([]) == "The plan has no step for these partitions."
    assert verdict([good, unknown]) == "Nothing differs from the plan. 1 of 2 steps are not known."
    assert verdict([good, bad]) == "1 of 2 steps are not as planned."
    assert verdict([lost, unknown]) == (
        "1 of 2 steps are not as planned. Records are not where the plan has them. 1 of 2 steps are not known."
    )
