"""A plan takes the least repair after which the next start is clean."""

from pathlib import Path

from kcheck.core.releases.releases import release
from kcheck.disk.apply import apply
from kcheck.model.plan import SetAside, Write
from kcheck.model.report import PartitionFilter
from kcheck.plans.recover import recover
from kcheck.plans.repair import repair
from kcheck.repairs import Impact
from kcheck.replicas.elect import ElectionQuestion
from kcheck.replicas.leader_plans import Election
from kcheck.replicas.truncation import truncation
from kcheck.survey.rule_runner import all_repairs
from tests.builders import broker, epochs, log_dir, partition_dir, partition_metadata, write
from tests.builders import readable_run as run
from tests.cli.command import kcheck
from tests.repairs.test_cases import wish, wrong
from tests.repairs.test_proofs import BATCH_SIZE, LOG, damaged, names, planned, reasons


def sound(path: Path) -> Path:
    """Return a log dir after everything that is wrong with it is repaired."""
    apply(planned(str(path)).plan_bytes(), f"{path}-backup")
    return path


def without_epochs(path: Path) -> Path:
    """Write a healthy replica of a partition of epochs 0 and 1 that lost its epoch file."""
    made = broker(path, [*run(0, 59), *run(60, 99, epoch=1)], epoch_entries=[(0, 0), (1, 60)], high_watermark=100)
    (sound(made) / "t-0" / "leader-epoch-checkpoint").unlink()
    return made


def replica(path: Path, end: int, broker_id: int) -> Path:
    """Write a healthy replica of the same partition."""
    return broker(
        path, [*run(0, 59), *run(60, end - 1, epoch=1)], broker_id=broker_id, epoch_entries=[(0, 0), (1, 60)],
        high_watermark=100,
    )  # fmt: skip


def best_leader(*paths: str) -> int | None:
    """Return the broker that truncation names."""
    election = Election(leader="best")
    (plan,) = truncation([*paths], election, wanted=PartitionFilter(), release=release("4.3")).plans
    return plan.leader


def test_epochs_are_rewritten_although_another_replica_is_intact(tmp_path: Path) -> None:
    """A few bytes are enough: no copy moves aside."""
    one, two = without_epochs(tmp_path / "1"), replica(tmp_path / "2", 110, 2)
    made = planned(f"1={one}", against=[f"2={two}"])
    assert [("Write", "leader-epoch-checkpoint")] == names(made.plan)
    (step,) = made.chosen
    assert ("KC204", "checkpoint") == (step.finding, step.impact)
    assert step.least
    apply(made.plan_bytes(), str(tmp_path / "backup"))
    assert wrong([str(one)], "4.3") == set()


def test_the_leader_that_is_named_is_the_best_one(tmp_path: Path) -> None:
    """Two others could stand for a damaged replica: the longer one loses nothing by leading."""
    one, two, three = damaged(tmp_path / "1"), tmp_path / "2", tmp_path / "3"
    for path, end, broker_id in ((two, 109, 2), (three, 119, 3)):
        broker(path, run(0, end), broker_id=broker_id, high_watermark=100)
    made = planned(f"1={one}", against=[f"2={two}", f"3={three}"])
    aside = made.plan.operations[0]
    assert isinstance(aside, SetAside)
    assert best_leader(f"2={two}", f"3={three}") == best_leader(f"1={one}", f"2={two}", f"3={three}") == 3
    assert "keep broker 3 as leader" in aside.why.reason
    assert aside.why.loses is not None
    assert ("cluster", 0) == (aside.why.loses["scope"], aside.why.loses["cluster_records"])


def test_no_other_leader_than_the_best_one_is_named(tmp_path: Path) -> None:
    """The longest replica has other records than this one: the shorter one is no proof then."""
    one, two, three = damaged(tmp_path / "1"), tmp_path / "2", tmp_path / "3"
    broker(two, run(0, 99), broker_id=2, high_watermark=100)
    broker(three, run(0, 119), broker_id=3, high_watermark=100)
    (three / LOG).write_bytes((three / LOG).read_bytes()[:-1] + b"!")
    made = planned(f"1={one}", against=[f"2={two}", f"3={three}"])
    best = best_leader(f"2={two}", f"3={three}")
    asides = [each for each in made.plan.operations if isinstance(each, SetAside)]
    assert all(f"keep broker {best} as leader" in each.why.reason for each in asides)
    assert asides or f"kcheck recover has broker {best} lead" in reasons(made)


def test_what_is_lost_without_another_replica_is_of_this_disk(tmp_path: Path) -> None:
    """Nobody knows what the cluster has."""
    made = planned(str(damaged(tmp_path / "1")), accept_loss=True)
    (lost,) = [each.why.loses for each in made.plan.operations if each.why.loses]
    assert ("disk", None) == (lost["scope"], lost["cluster_records"])


def test_what_the_broker_removes_itself_is_planned_with_tidy_alone(tmp_path: Path) -> None:
    """`.deleted` files and notes change nothing."""
    one = sound(broker(tmp_path / "1", run(0, 99)))
    write(one / "t-0", {f"{0:020d}.log.deleted": b"x", "notes.txt": b"y"})
    made = planned(str(one))
    assert made.plan.operations == ()
    assert made.not_planned == ()
    assert ["KC225", "KC226"] == sorted(row.finding for row in made.healed)
    shown = kcheck("repair", one, "--kafka", "4.3")
    assert (shown.code, shown.out.splitlines()[2]) == (0, "Plan: nothing to do")
    assert "the broker repairs this when it starts; --tidy plans it too" in shown.out
    assert "2 operations" in kcheck("repair", "--tidy", one).out
    tidy = repair([str(one)], [], wish("4.3"), accept_loss=False, tidy=True)
    assert 2 == len(tidy.plan.operations)
    assert tidy.healed == ()


def test_of_several_steps_only_those_that_matter_stay(tmp_path: Path) -> None:
    """A stray file beside missing epochs; the epochs of an unclean stop are rebuilt by the broker."""
    one = without_epochs(tmp_path / "1")
    write(one / "t-0", {f"x{number}.bak": b"" for number in range(5)})
    assert [("Write", "leader-epoch-checkpoint")] == names(planned(str(one)).plan)
    (one / ".kafka_cleanshutdown").unlink()
    (one / "recovery-point-offset-checkpoint").unlink()
    assert planned(str(one)).plan.operations == ()


def test_a_cut_in_the_middle_tells_the_gap_it_leaves(tmp_path: Path) -> None:
    """The check finds KC222 afterwards, as the plan said."""
    one = log_dir(tmp_path / "1", high_watermark={"t-0": 200}, recovery_point={"t-0": 200})
    partition_dir(one / "t-0", [run(0, 99), run(100, 199)])
    write(one / "t-0", {"leader-epoch-checkpoint": epochs((0, 0)), "partition.metadata": partition_metadata()})
    data = (one / LOG).read_bytes()
    (one / LOG).write_bytes(data[: len(data) - BATCH_SIZE // 2])
    made = planned(str(one), accept_loss=True)
    (step,) = [step for step in made.chosen if step.impact == "cut"]
    assert "the later segments stay, and offsets 90-99 stay missing before them (KC222)" in step.reason
    cut = next(each for each in made.plan.operations if each.path.endswith(LOG))
    assert "its header names 10 records (offsets 90-99)" in str(cut.why.evidence)
    apply(made.plan_bytes(), str(tmp_path / "backup"))
    assert {"KC222"} == {rule for rule, *_ in wrong([str(one)], "4.3")}


def test_every_repair_has_its_rank() -> None:
    """Only a cut discards records; only a proof moves a copy aside."""
    ranks = {repair.name: repair.impact for repair in all_repairs()}
    assert {"cut-log"} == {name for name, impact in ranks.items() if impact is Impact.CUT}
    assert {"move-aside-duplicates", "move-aside-futures", "set-aside-partitions"} == {
        name for name, impact in ranks.items() if impact is Impact.ASIDE
    }


def test_one_checkpoint_is_written_once_for_many_cuts(tmp_path: Path) -> None:
    """Each cut lowers the line of its partition; the plan holds one file, and names some of the reasons."""
    partitions = {f"t-{number}": 100 for number in range(9)}
    one = log_dir(tmp_path / "1", high_watermark=partitions, recovery_point={})
    for name in partitions:
        partition_dir(one / name, [run(0, 99)])
        write(one / name, {"leader-epoch-checkpoint": epochs((0, 0))})
        path = one / name / f"{0:020d}.log"
        path.write_bytes(path.read_bytes()[:-1] + b"!")
    made = planned(str(one), accept_loss=True)
    (written,) = [each for each in made.plan.operations if each.path.endswith("replication-offset-checkpoint")]
    assert isinstance(written, Write)
    assert 9 == written.content.count(b" 90\n")
    assert len(written.why.reason) < 500


def test_a_replica_that_recover_has_lead_is_not_moved_aside(tmp_path: Path) -> None:
    """10 records of it cannot be read, none of them committed; the other replica lacks its last 30."""
    one = damaged(tmp_path / "1", end=149, high_watermark=10)
    two = broker(tmp_path / "2", run(0, 119), broker_id=2, high_watermark=10)
    made = planned(f"1={one}", against=[f"2={two}"])
    answer = recover([f"1={one}", f"2={two}"], ElectionQuestion(), wanted=PartitionFilter(), release=release("4.3"))
    assert [row.planned for row in answer.election.partitions] == [1]
    assert not any(isinstance(each, SetAside) for each in made.plan.operations)
    assert "kcheck recover has broker 1 lead, not" in reasons(made)
