"""KC601 and KC602: committed offsets and open transactions against what coordinators know."""

import pytest

from kcheck.model.coordinators import Coordinated, CoordinatedLog, OpenInLog, TransactionState
from kcheck.model.entries import Offset
from kcheck.model.finding import Finding, Location, Severity
from kcheck.rules.kc601_group_offset_outside_log import RULE as KC601
from kcheck.rules.kc602_transaction_open import RULE as KC602
from tests.rules.build import found_by

T = ("t", 0)
SINCE = 1_800_000_000_000
OPEN = OpenInLog(7, 1, Offset(64), SINCE)
STATE = TransactionState("tx", 7, 1, is_pending=True, partitions=frozenset({T}), started=SINCE + 1000)


def log(
    start: int | None = 120, end: int | None = 200, *, broker: int = 1, replicas: tuple[int, ...] | None = (1,),
    still_open: tuple[OpenInLog, ...] = (),
) -> CoordinatedLog:  # fmt: skip
    """Return a replica of t-0."""
    where = Location(broker_id=broker, log_dir="d", dir="t-0")
    return CoordinatedLog(where, "t", 0, start, end, replicas, still_open)


def view(
    *logs: CoordinatedLog, commits: dict[str, int] | None = None, known: tuple[TransactionState, ...] = (),
    knows_all: bool = False,
) -> Coordinated:  # fmt: skip
    """Return these replicas of t-0 with the offsets that groups committed, and the transactions that are known."""
    return Coordinated(
        logs={T: logs} if logs else {},
        brokers=frozenset(one.where.broker_id for one in logs if one.where.broker_id is not None),
        commits={T: tuple((group, Offset(offset)) for group, offset in (commits or {}).items())},
        transactions={state.producer_id: state for state in known},
        knows_all=knows_all,
    )


@pytest.mark.parametrize(
    ("commits", "messages"),
    [
        ({"g": 120, "h": 200}, []),
        ({"g": 5}, ["group g is at 5 of t-0, its log begins at 120"]),
        ({"h": 500}, ["group h is at 500 of t-0, its log ends at 200"]),
        (
            {"a": 1, "b": 2, "c": 201},
            ["groups a at 1, b at 2 of t-0, its log begins at 120", "group c is at 201 of t-0, its log ends at 200"],
        ),
    ],
)
def test_offsets_outside_the_log(commits: dict[str, int], messages: list[str]) -> None:
    """The log start and the log end themselves are in it."""
    found = found_by(KC601, view(log(), commits=commits))
    assert [(finding.message, finding.severity) for finding in found] == [(m, Severity.WARNING) for m in messages]


def test_the_command() -> None:
    """It names the group if it can hold the name as it is."""
    below, above, odd = (
        found_by(KC601, view(log(), commits=commits))[0] for commits in ({"g": 5}, {"h": 500}, {"a b": 5})
    )
    assert below.advice.endswith("--group g --topic t:0 --reset-offsets --to-offset 120 --execute")
    assert above.advice.endswith("--group h --topic t:0 --reset-offsets --to-offset 200 --execute")
    assert "--group GROUP " in odd.advice
    assert "115 offsets that the farthest group had not read are no longer in the log" in below.effect
    assert "gone" not in above.effect


def test_other_replicas_count() -> None:
    """The lowest log start and the highest log end decide; without all replicas the end is not certain."""
    both = log(), log(100, 600, broker=2, replicas=None)
    assert not found_by(KC601, view(*both, commits={"g": 110, "h": 500}))
    for replicas in (None, (1, 2)):
        (found,) = found_by(KC601, view(log(replicas=replicas), commits={"h": 500}))
        assert found.severity is Severity.INFO
        assert found.message.endswith("; another replica may reach further")


def test_a_log_that_is_not_known() -> None:
    """It can have any offset; nor does anything count for a partition that is not here."""
    assert not found_by(KC601, view(log(), log(None, None, broker=2), commits={"g": 5, "h": 500}))
    assert not found_by(KC601, view(log(None), commits={"g": 5}))
    assert not found_by(KC601, view(log(end=None), commits={"h": 500}))
    assert not found_by(KC601, view(commits={"g": 5}))


def opened(*known: TransactionState, knows_all: bool = True, still_open: tuple[OpenInLog, ...] = (OPEN,)) -> Finding:
    """Return the finding about open transactions of t-0."""
    (found,) = found_by(KC602, view(log(still_open=still_open), known=known, knows_all=knows_all))
    return found


def test_an_open_transaction() -> None:
    """Its coordinator knows its name and when it began."""
    found = opened(STATE)
    assert found.severity is Severity.INFO
    assert found.message == (
        'transaction of producer 7 (epoch 1) open since offset 64, 2027-01-15T08:00:01Z, transactional id "tx"'
    )
    assert found.advice.startswith("Let its producer")
    assert opened(STATE._replace(started=-1)).message.count("08:00:00Z") == 1
    unknown = opened(knows_all=False, still_open=(OPEN._replace(timestamp=None), OPEN))
    assert (unknown.message, unknown.severity) == (
        "transaction of producer 7 (epoch 1) open since offset 64 (and 1 further transaction)", Severity.INFO
    )  # fmt: skip


@pytest.mark.parametrize(
    "known",
    [(), (STATE._replace(is_pending=False),), (STATE._replace(partitions=frozenset({("t", 1)})),)],
    ids=["nothing", "ended", "another partition"],
)
def test_a_transaction_that_hangs(known: tuple[TransactionState, ...]) -> None:
    """No coordinator will end it."""
    found = opened(*known)
    assert found.severity is Severity.WARNING
    assert found.message.endswith("; it hangs, because its coordinator does not have it")
    assert found.advice.endswith("abort --topic t --partition 0 --start-offset 64")


def test_the_replica_that_reaches_furthest_decides() -> None:
    """Another one may lack the marker."""
    behind = log(end=100, broker=2, still_open=(OPEN,))
    assert not found_by(KC602, view(behind, log(end=None, broker=3, still_open=(OPEN,)), log()))
    assert len(found_by(KC602, view(behind))) == 1
