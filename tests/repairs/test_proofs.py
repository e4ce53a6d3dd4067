"""What is proven by other files: siblings of a log dir or partition, a second copy, another replica."""

import shutil
from pathlib import Path

import pytest

from kcheck.disk.apply import apply
from kcheck.model.plan import Patch, Plan, SetAside, Write
from kcheck.plans.repair import RepairPlan, repair
from tests.builders import (
    broker,
    epochs,
    flip_byte,
    log,
    log_dir,
    message,
    offsets,
    partition_dir,
    partition_metadata,
    write,
)
from tests.builders import (
    readable_run as run,
)
from tests.cases.build import CASES, lay_out
from tests.cli.command import kcheck
from tests.repairs.test_cases import wish, wrong

BROKERS = Path(__file__).parents[2] / "fixtures" / "brokers" / "4.3.1"
LOG = f"t-0/{0:020d}.log"


BATCH_SIZE = len(run(0, 9)[0].data)


def planned(*paths: str, against: list[str] | None = None, accept_loss: bool = False) -> RepairPlan:
    """Return the plan."""
    return repair(list(paths), against or [], wish("4.3"), accept_loss=accept_loss)


def names(plan: Plan) -> list[tuple[str, str]]:
    """Return what is done to which file."""
    return [(type(each).__name__, each.path.rpartition("/")[2]) for each in plan.operations]


def reasons(made: RepairPlan) -> str:
    """Return why nothing is planned."""
    return "; ".join(str(row["why"]) for row in made.report().body["refused"])  # type: ignore[attr-defined]


def damaged(path: Path, *, end: int = 99, high_watermark: int = 100, broker_id: int = 1) -> Path:
    """Write a replica of offsets 0 to `end` whose third batch does not match its CRC."""
    made = broker(path, run(0, end), broker_id=broker_id, high_watermark=high_watermark)
    flip_byte(made / LOG, 3 * BATCH_SIZE - 1)
    return made


def test_a_damaged_replica_is_set_aside_against_a_whole_one(tmp_path: Path) -> None:
    """All of it, with its lines in every checkpoint; the plan tells who has the records."""
    one, two = damaged(tmp_path / "1"), broker(tmp_path / "2", run(0, 119), broker_id=2, high_watermark=100)
    made = planned(f"1={one}", against=[f"2={two}"])
    aside = made.plan.operations[0]
    assert isinstance(aside, SetAside)
    assert aside.directory
    assert aside.why.loses is not None
    assert "of broker 2 has every record up to offset 120" in str(aside.why.loses["held"])
    assert aside.why.loses["leader"] == 2
    warning = "t-0 starts empty. Do not start the broker before broker 2 leads t-0. Otherwise the other replicas delete"
    shown = kcheck("repair", f"1={one}", "--against", f"2={two}", "-o", tmp_path / "plan.json", columns=1000).out
    assert warning in shown
    assert "loses no committed record" not in shown
    shown = kcheck("apply", tmp_path / "plan.json", "--backup", tmp_path / "b", "--yes", columns=1000).out
    assert warning in shown
    assert kcheck("undo", tmp_path / "b").code == 0
    assert ("Write", "replication-offset-checkpoint") in names(made.plan)
    (tmp_path / "backup").mkdir()
    apply(made.plan_bytes(), str(tmp_path / "backup"))
    assert not (one / "t-0").exists()
    assert (one / "replication-offset-checkpoint").read_bytes() == b"0\n0\n"
    assert wrong([str(one)], "4.3") == set()


def test_a_replica_that_proves_too_little_sets_nothing_aside(tmp_path: Path) -> None:
    """It ends too early, starts too late, differs, is damaged itself, is of another topic or of the same broker."""
    one = damaged(tmp_path / "1")
    short = broker(tmp_path / "short", run(0, 89), broker_id=2, high_watermark=80)
    assert "offsets below 100 are committed" in reasons(planned(f"1={one}", against=[f"2={short}"]))
    late = broker(tmp_path / "late", run(10, 99), broker_id=2)
    (late / "t-0" / f"{0:020d}.log").unlink(missing_ok=True)
    assert "starts at offset 10" in reasons(planned(f"1={one}", against=[f"2={late}"]))
    other = broker(tmp_path / "other", run(0, 99, value=b"y"), broker_id=2)
    assert "other records at the same offsets" in reasons(planned(f"1={one}", against=[f"2={other}"]))
    for useless in (
        damaged(tmp_path / "bad", broker_id=2),
        write_id(broker(tmp_path / "id", run(0, 99), broker_id=2), "c3U3OEVBNTcwNTJENDM2Qg"),
    ):
        assert "only with --accept-loss" in reasons(planned(f"1={one}", against=[f"2={useless}"]))


def write_id(path: Path, topic_id: str) -> Path:
    """Give a partition another topic id."""
    write(path / "t-0", {"partition.metadata": partition_metadata(topic_id)})
    return path


@pytest.mark.parametrize(
    "name",
    [
        "kc148-batch-record-count/more",
        "kc163-record-framing/length",
        "kc164-record-offset/twice",
        "kc165-record-timestamp/lower",
        "kc166-batch-compression/gzip",
        "kc168-control-batch/type",
        "kc169-message-set/value",
        "kc183-sequence-repeated/repeated",
        "kc221-segments-overlap/copied",
        "kc222-segments-missing/removed",
    ],
)
def test_what_was_written_wrong_is_fetched_again_where_it_was_written_right(name: str, tmp_path: Path) -> None:
    """A batch that is wrong under a right CRC, or segments that overlap or are missing; but not against its like."""
    case = CASES / name
    for broker_id, source in enumerate((case, case.parent / "clean", case, case), 1):
        path = tmp_path / str(broker_id)
        lay_out(source, path)
        (path / "meta.properties").unlink(missing_ok=True)
        (partition,) = (each.name for each in path.iterdir() if each.is_dir())
        write(path, {"replication-offset-checkpoint": offsets({partition: 20})})
    made = planned(f"1={tmp_path / '1'}", against=[f"2={tmp_path / '2'}"])
    assert [("SetAside", partition), ("Write", "replication-offset-checkpoint")] == names(made.plan)[:2]
    apply(made.plan_bytes(), str(tmp_path / "backup"))
    assert wrong([str(tmp_path / "1")], "4.3") == set()
    alike = planned(f"3={tmp_path / '3'}", against=[f"4={tmp_path / '4'}"])
    assert not any(isinstance(each, SetAside) for each in alike.plan.operations)
    assert "compare with an intact replica (--against)" in reasons(alike)


def test_without_a_high_watermark_nothing_is_known_to_be_committed(tmp_path: Path) -> None:
    """A replica that is the longer one may still lack what was acknowledged."""
    one, two = damaged(tmp_path / "1"), broker(tmp_path / "2", run(0, 99), broker_id=2)
    for path in (one, two):
        (path / "replication-offset-checkpoint").unlink()
    assert "without a high watermark" in reasons(planned(f"1={one}", against=[f"2={two}"]))


def test_a_topic_id_comes_from_every_other_partition(tmp_path: Path) -> None:
    """They agree, or nothing is written; nor where there is no other."""
    one = broker(tmp_path / "1", run(0, 9))
    partition_dir(one / "t-1", [run(0, 9)])
    made = planned(str(one))
    (found,) = [each for each in made.plan.operations if each.path.endswith("partition.metadata")]
    assert isinstance(found, Write)
    assert partition_metadata() == found.content
    partition_dir(one / "t-2", [run(0, 9)])
    write(one / "t-2", {"partition.metadata": partition_metadata("c3U3OEVBNTcwNTJENDM2Qg")})
    assert "2 topic ids for t in partitions and cluster metadata" in reasons(planned(str(one)))
    partition_dir(one / "u-0", [run(0, 9)])
    assert "no other partition of u and no cluster metadata here" in reasons(planned(str(one)))


def test_a_topic_id_comes_from_the_cluster_metadata(tmp_path: Path) -> None:
    """They are in the same log dir; they know the topic though no other partition of it does."""
    shutil.copytree(BROKERS / "tiered" / "broker-1" / "data1", tmp_path / "1")
    metadata = tmp_path / "1" / "whole-0" / "partition.metadata"
    before = metadata.read_bytes()
    metadata.write_bytes(b"damaged")
    made = planned(str(tmp_path / "1"))
    (found,) = [each for each in made.plan.operations if each.path.endswith("partition.metadata")]
    assert isinstance(found, Write)
    assert before == found.content
    assert found.why.evidence is not None
    assert found.why.evidence["file"] == str(tmp_path / "1" / "__cluster_metadata-0")


def test_epochs_of_a_log_of_old_messages(tmp_path: Path) -> None:
    """Their batches name no epoch: the lines of the file that lie in the log stay, and the other partitions go on."""
    one = log_dir(tmp_path / "1", high_watermark={"t-0": 1, "t-1": 10}, recovery_point={"t-0": 1, "t-1": 10})
    partition_dir(one / "t-0", [[message(0)]])
    write(one / "t-0", {"leader-epoch-checkpoint": epochs((0, 0), (9, 99999))})
    partition_dir(one / "t-1", [run(0, 9)])
    write(one / "t-1", {"leader-epoch-checkpoint": epochs()})
    made = planned(str(one))
    assert "bug in kcheck" not in str(made.collected)
    (found,) = [each for each in made.plan.operations if each.path.endswith("t-1/leader-epoch-checkpoint")]
    assert isinstance(found, Write)


def test_meta_properties_come_from_the_other_log_dirs_of_the_broker(tmp_path: Path) -> None:
    """Without directory.id; which belong together only the user can say."""
    one = broker(tmp_path / "d1", run(0, 9))
    two = broker(tmp_path / "d2", run(0, 9), partition="u-0")
    mine = (two / "meta.properties").read_bytes()
    write(two, {"meta.properties": mine + b"directory.id=MkU3OEVBNTcwNTJENDM2Qg\n"})
    write(one, {"meta.properties": bytes(len(mine))})
    assert "name all of them as BROKER=PATH" in reasons(planned(str(one), str(two)))
    made = planned(f"1={one}", f"1={two}")
    (found,) = [each for each in made.plan.operations if each.path.endswith("meta.properties")]
    assert isinstance(found, Write)
    assert sorted(mine.splitlines()) == sorted(found.content.splitlines())
    three = broker(tmp_path / "d3", run(0, 9), partition="v-0")
    write(three, {"meta.properties": mine.replace(b"c1uster", b"other11")})
    assert "name different brokers" in reasons(planned(f"1={one}", f"1={two}", f"1={three}"))


def test_meta_properties_that_are_missing_come_from_the_other_log_dirs(tmp_path: Path) -> None:
    """Where server.properties names the log dirs; one that says something else may be another broker's."""
    one, two = broker(tmp_path / "d1", run(0, 9)), broker(tmp_path / "d2", run(0, 9), partition="u-0")
    mine = (one / "meta.properties").read_bytes()
    settings = tmp_path / "server.properties"
    settings.write_text(f"node.id=1\nprocess.roles=broker\nlog.dirs={one},{two}\n")
    (one / "meta.properties").unlink()
    made = planned(str(settings))
    (found,) = [each for each in made.plan.operations if each.path.endswith("meta.properties")]
    assert isinstance(found, Write)
    assert f"does not start: {one} has no readable meta.properties" in (found.why.broker_now or "")
    assert sorted(mine.splitlines()) == sorted(found.content.splitlines())
    write(one, {"meta.properties": mine.replace(b"c1uster", b"other11")})
    assert "do not show whose disk this is" in reasons(planned(str(settings)))


def test_one_of_two_log_dirs_gets_an_id_of_its_own(tmp_path: Path) -> None:
    """If they have no partition in common: one that has may be a copy."""
    one, two = broker(tmp_path / "d1", run(0, 9)), broker(tmp_path / "d2", run(0, 9), partition="u-0")
    mine = (one / "meta.properties").read_bytes()
    for path in (one, two):
        write(path, {"meta.properties": mine + b"directory.id=MkU3OEVBNTcwNTJENDM2Qg\n"})
    (found,) = [each for each in planned(str(one), str(two)).plan.operations if each.path.endswith("meta.properties")]
    assert isinstance(found, Write)
    assert found.path.endswith("/d2/meta.properties")
    assert sorted(mine.splitlines()) == sorted(found.content.splitlines())
    partition_dir(two / "t-0", [run(0, 9)])
    assert "t-0 is in both log dirs" in reasons(planned(str(one), str(two)))


def test_the_shorter_of_two_copies_goes(tmp_path: Path) -> None:
    """If every batch of it stands in the other one; otherwise nobody knows."""
    one, two = broker(tmp_path / "d1", run(0, 49)), broker(tmp_path / "d2", run(0, 99))
    made = planned(str(one), str(two))
    aside = made.plan.operations[0]
    assert isinstance(aside, SetAside)
    assert aside.path == str(one.resolve() / "t-0")
    assert "holds every batch" in str((aside.why.loses or {}).get("held"))
    write(one / "t-0", {f"{0:020d}.log": log([*run(0, 39), *run(40, 49, value=b"y")])})
    assert "each of the two directories holds something" in reasons(planned(str(one), str(two)))


def test_a_batch_that_fits_in_more_than_one_place_stays(tmp_path: Path) -> None:
    """The last batch has no neighbour behind it; in the middle the base offset can be proven."""
    one = broker(tmp_path / "1", run(0, 99), epoch_entries=((0, 0),))
    data = bytearray((one / LOG).read_bytes())
    data[5 * BATCH_SIZE : 5 * BATCH_SIZE + 8] = (20).to_bytes(8, "big")
    (one / LOG).write_bytes(data)
    (patch,) = [each for each in planned(str(one)).plan.operations if each.path.endswith(".log")]
    assert "to 50: no other value fits" in patch.why.reason
    data = bytearray(log(run(0, 99)))
    data[9 * BATCH_SIZE : 9 * BATCH_SIZE + 8] = (20).to_bytes(8, "big")
    (one / LOG).write_bytes(data)
    assert "leave more than one base offset" in reasons(planned(str(one)))


def test_an_epoch_is_that_of_both_neighbours(tmp_path: Path) -> None:
    """One that is too high makes every later batch look wrong: it is the one before the first of them."""
    one = broker(tmp_path / "1", run(0, 99, epoch=4), epoch_entries=((4, 0),))
    data = bytearray((one / LOG).read_bytes())
    data[5 * BATCH_SIZE + 12 : 5 * BATCH_SIZE + 16] = (9).to_bytes(4, "big")
    (one / LOG).write_bytes(data)
    made = planned(str(one))
    assert [("Patch", f"{0:020d}.log")] == [each for each in names(made.plan) if each[1].endswith(".log")]
    (tmp_path / "backup").mkdir()
    apply(made.plan_bytes(), str(tmp_path / "backup"))
    assert log(run(0, 99, epoch=4)) == (one / LOG).read_bytes()
    assert epochs((4, 0)) == (one / "t-0" / "leader-epoch-checkpoint").read_bytes()


def test_a_file_is_patched_and_cut_at_once(tmp_path: Path) -> None:
    """What is patched behind the cut goes with it."""
    one = broker(tmp_path / "1", run(0, 99, epoch=4), epoch_entries=((4, 0),), high_watermark=70)
    data = bytearray((one / LOG).read_bytes())
    for batch in (2, 5, 9):
        data[batch * BATCH_SIZE + 12 : batch * BATCH_SIZE + 16] = (1).to_bytes(4, "big")
    data[8 * BATCH_SIZE - 1] ^= 1
    (one / LOG).write_bytes(data)
    made = planned(str(one), accept_loss=True)
    (patch,) = [each for each in made.plan.operations if each.path.endswith(".log")]
    assert isinstance(patch, Patch)
    assert [batch * BATCH_SIZE + 12 for batch in (2, 5)] == [each.position for each in patch.changes]
    apply(made.plan_bytes(), str(tmp_path / "backup"))
    assert log(run(0, 69, epoch=4)) == (one / LOG).read_bytes()
    assert set() == wrong([str(one)], "4.3")


def test_old_messages_are_batches_too(tmp_path: Path) -> None:
    """Of magic 1, without epochs: a copy that holds others does not go."""
    one, two = broker(tmp_path / "d1", run(0, 9)), broker(tmp_path / "d2", run(0, 9))
    for path, value in ((one, b"one"), (two, b"two")):
        write(path / "t-0", {f"{0:020d}.log": log([message(0, value), message(1, value)])})
    assert "each of the two directories holds something" in reasons(planned(str(one), str(two)))


def test_a_damaged_copy_does_not_go(tmp_path: Path) -> None:
    """What stands behind the damage may be nowhere else."""
    one, two = damaged(tmp_path / "d1"), broker(tmp_path / "d2", run(0, 99))
    assert "each of the two directories holds something" in reasons(planned(str(one), str(two)))


def test_a_repair_that_would_let_the_start_discard_records_is_refused(tmp_path: Path) -> None:
    """A recovery point above the log end keeps an unclean start from a damaged segment; without it the log is cut."""
    one = log_dir(tmp_path / "1", clean=False, recovery_point={"t-0": 500}, high_watermark={"t-0": 200}, log_start={})
    partition_dir(one / "t-0", [run(0, 99), run(100, 199)])
    write(one / "t-0", {"partition.metadata": partition_metadata()})
    flip_byte(one / LOG, 3 * BATCH_SIZE - 1)
    made = planned(str(one))
    assert "the next start would then discard 180 records" in reasons(made)
    assert not [each for each in made.plan.operations if each.path.endswith("recovery-point-offset-checkpoint")]
    accepted = planned(str(one), accept_loss=True)
    assert [each for each in accepted.plan.operations if each.path.endswith("recovery-point-offset-checkpoint")]


def test_lines_of_a_partition_stay_for_its_other_directory(tmp_path: Path) -> None:
    """`t-0` and `t-00` are one partition in one log dir: the lines of the checkpoints stay."""
    one = broker(tmp_path / "1", run(0, 99))
    partition_dir(one / "t-00", [run(0, 49)])
    made = planned(str(one))
    assert [str(one.resolve() / "t-00")] == [each.path for each in made.plan.operations if isinstance(each, SetAside)]
    assert not [each for each in made.plan.operations if each.path.endswith("-offset-checkpoint")]


def test_a_header_put_right_counts_where_the_start_splits_its_segment(tmp_path: Path) -> None:
    """The second batch does not fit into the segment of the first, whose epoch was flipped: a broker splits it."""
    behind = 1 << 31
    one = log_dir(tmp_path / "1", clean=False, recovery_point={"t-0": 0}, high_watermark={"t-0": 0}, log_start={})
    partition_dir(one / "t-0", [[*run(0, 9), *run(behind, behind + 9, epoch=1)]], index_every=None)
    write(one / "t-0", {"partition.metadata": partition_metadata()})
    flip_byte(one / LOG, 15)
    made = planned(str(one))
    assert [type(each) for each in made.plan.operations] == [Patch]
    (found,) = made.starts[0].partitions
    assert found.log is not None
    assert found.log.leader_epochs == ((0, 0), (1, behind))


def test_two_nodes_with_one_node_id_are_left_alone(tmp_path: Path) -> None:
    """Each has the metadata log: neither is a copy that a broker left behind."""
    lay_out(CASES / "kc501-node-id-twice" / "two-brokers", tmp_path / "b")
    made = planned(*(str(tmp_path / "b" / f"broker-{number}" / "data1") for number in (1, 2)))
    assert not [each for each in made.plan.operations if isinstance(each, SetAside)]
    assert "both log dirs hold the metadata log" in reasons(made)
