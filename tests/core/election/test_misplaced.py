"""Directories under the name of another partition, or on a broker without a replica of it."""

from collections.abc import Sequence

from kcheck.core.election.misplaced import HeldLog, Misplaced, OtherLog, other_logs
from kcheck.core.election.misplaced import misplaced as misplaced_of
from kcheck.core.election.plans import Candidate, CopyState, PartitionElection
from kcheck.core.election.recovery_plan import Recovery
from kcheck.core.election.steps import RecoveryAction, RecoveryStep, steps_of
from kcheck.core.replication.leader_costs import Amounts
from kcheck.core.replication.log_names import NamedLog
from kcheck.model.cluster import PartitionRegistration
from kcheck.model.entries import Offset
from kcheck.model.names import TopicPartition
from tests.core.election.test_plans import candidate, election
from tests.core.election.test_recovery_plan import recovery

LOST = Amounts(50, 50, 9)


def _log(broker_id: int, crc: int | None, name: str = "t-0", **how: object) -> Candidate:
    shared = () if crc is None else ((Offset(0), Offset(9), crc, 0),)
    return candidate(broker_id, dir=name, shared=shared, **how)


def _parts(*rows: tuple[Candidate, ...]) -> tuple[PartitionElection, ...]:
    return tuple(election(*row)._replace(partition=at) for at, row in enumerate(rows))


def misplaced(parts: Sequence[PartitionElection]) -> tuple[Misplaced, ...]:
    """Return the directories at a wrong place."""
    copies = [(part, copy) for part in parts for copy in part.candidates if copy.dir is not None]
    held = [
        HeldLog(
            NamedLog(
                copy.broker_id,
                TopicPartition(part.topic, part.partition),
                copy.shared,
                copy.state is CopyState.CURRENT,
            ),
            copy.dir or "",
        )
        for part, copy in copies
    ]
    return misplaced_of(parts, held)


def test_the_names_of_most_directories_are_right() -> None:
    """Broker 2 has exchanged two of them; without a majority no name is proven."""
    rows = _parts((_log(1, 7), _log(2, 8), _log(3, 7)), (_log(1, 8, "t-1"), _log(2, 7, "t-1"), _log(3, 8, "t-1")))
    expected = (Misplaced(2, "t-0", "t-1", 2, "t-1"), Misplaced(2, "t-1", "t-0", 2, "t-0"))
    assert misplaced(rows) == expected
    assert misplaced(_parts((_log(1, 7), _log(2, 8)), (_log(1, 8, "t-1"), _log(2, 7, "t-1")))) == ()


def test_a_second_copy_moves_aside() -> None:
    """The broker has the right log under its name too."""
    rows = _parts((_log(1, 7), _log(2, 8), _log(3, 7)), (_log(1, 8, "t-1"), _log(2, 8, "t-1")))
    assert misplaced(rows) == (Misplaced(2, "t-0", "t-1", 2, "t-1", is_extra=True),)


def test_a_name_without_a_place_stays() -> None:
    """The broker has no replica of the partition."""
    rows = _parts((_log(1, 7), _log(2, 8), _log(3, 7)), (_log(1, 8, "t-1"), _log(4, 8, "t-1")))
    assert misplaced(rows) == ()


def test_a_renamed_directory_fills_the_gap() -> None:
    """The broker would rename it to -stray, and make the partition again, empty."""
    lost, renamed = candidate(3, state=CopyState.MISSING), _log(3, 7, "t-1", state=CopyState.STRAY)
    rows = _parts((_log(1, 7), _log(2, 7), lost), (renamed,))
    assert misplaced(rows) == (Misplaced(3, "t-1", "t-0", 3),)
    assert misplaced(_parts((_log(1, 7), _log(2, 7), _log(3, 7)), (renamed,))) == ()


def _foreign(**how: object) -> Candidate:
    return _log(3, 7, state=CopyState.STRAY, only_here=LOST, **{"covers": True, **how})


def test_a_copy_of_another_broker_goes_to_the_first_replica() -> None:
    """It has all records of the partition, and some that no replica has."""
    (part,) = _parts((_log(2, None, log_end_offset=Offset(0)), _log(1, 7), _foreign()))
    placed = part._replace(registration=PartitionRegistration((1, 2), (1,), directories=("a", "b")))
    assert misplaced([placed]) == (Misplaced(3, "t-0", "t-0", 1, "t-0", 50, "a"),)
    unknown = placed._replace(registration=None)
    assert [row.to_broker for row in misplaced([unknown])] == [2]
    assert misplaced([placed._replace(registration=PartitionRegistration((1, 2, 3), (1,)))]) == ()
    (other,) = _parts((_log(1, 8), _foreign(covers=False)))
    assert misplaced([other]) == ()


def test_a_copy_with_another_first_batch() -> None:
    """A directory of another partition may be the same log. Logs that begin elsewhere cannot be compared."""
    stray = _foreign(covers=False)
    rows = _parts((_log(2, 8), stray), (_log(1, 7, "t-1"), _log(4, None, "t-1")))
    assert list(other_logs(rows)) == [OtherLog("t-0", 3, 2, ((1, "t-1"),))]
    assert list(other_logs(_parts((_log(2, 7), stray)))) == []
    later = stray._replace(shared=((Offset(5), Offset(9), 7, 0),))
    assert list(other_logs(_parts((_log(2, 8), later)))) == []


def test_the_step_comes_alone() -> None:
    """Everything else is asked again once the directories are back."""
    moves = (Misplaced(3, "t-0", "t-0", 1, None, 50),)
    after: Recovery = recovery(misplaced=moves)
    assert steps_of(after) == (RecoveryStep(RecoveryAction.PUT_BACK, (1, 3), misplaced=moves),)
