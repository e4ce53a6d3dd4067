"""`kcheck elect` of brokers that a repair without loss makes able: it comes first, and the answer is for what follows.

Real brokers left the directories (fixtures/README.md); tests/oracle/clusters/test_first_repairs.py lets them go on.
"""

import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kcheck
from kcheck.core.election.plans import is_safe
from kcheck.handouts.repair_steps import commands
from kcheck.plans import repair
from kcheck.replicas.elect import ClusterElection, ElectionQuestion
from kcheck.replicas.elect import elect as elect_as_it_lies
from tests.cli.command import kcheck as command
from tests.oracle.scenes import FIXTURES, unpacked

METADATA = ("--metadata", "controller")
BROKERS = [f"{number}=broker-{number}" for number in (1, 2, 3)]
OUTRUN = FIXTURES / "clusters" / "4.3.1" / "outrun"


@pytest.fixture(scope="module")
def power_loss(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpacked("clusters/4.3.1/power-loss", tmp_path_factory.mktemp("power-loss"))


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpacked("clusters/4.3.1/directories-moved", tmp_path_factory.mktemp("moved"))


def _elected(monkeypatch: pytest.MonkeyPatch, folder: Path, *arguments: str, **how: Any) -> ClusterElection:
    monkeypatch.chdir(folder)
    return kcheck.elect(*(arguments or BROKERS), metadata=["controller"], **how)


def _costs(answer: ClusterElection) -> dict[str, tuple[int | None, int | None]]:
    return {row.name: (row.lost.records, row.offline_partitions) for row in answer.scenarios}


def test_a_broker_with_one_zeroed_file_takes_part(power_loss: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """14 bytes keep broker 3 from starting, which has 20 committed records of orders-0 that no other broker has."""
    answer = _elected(monkeypatch, power_loss)
    (first,) = answer.repairs
    assert first[:4] == (3, ("3=broker-3", "--partition", "orders-0", *METADATA), 1, 14)
    assert first.why.startswith("it does not start: the log dir with the metadata log, broker-3/data1, fails: orders-0")
    costs = _costs(answer)
    assert (costs["best"], costs["start-all"], costs["start-all-unrepaired"]) == ((0, 0), (64, 0), (0, 14))
    assert answer.verdict.startswith(
        "First repair broker 3 (1 step, 14 bytes): then, under the best leaders, nothing is lost. Without that, 20"
        " records are lost, all of them committed; 14 partitions get no leader without an unclean election. Start"
    )
    assert costs["plan"] == (0, 0)  # each partition is elected while the broker that has all of it is alone
    assert (answer.gaps, {*answer.starts}, answer.is_safe, is_safe(answer.partitions)) == ((), {1, 2, 3}, False, True)


def test_directories_in_the_way_are_moved_first(moved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy in both log dirs, and a name that no broker reads: all is led then. Of a stray nothing untrue is said."""
    monkeypatch.chdir(moved)
    shown = command("elect", *BROKERS, *METADATA)
    text = " ".join(shown.out.split())
    assert (
        "First repair brokers 1 and 2 (1 step each): then, under the best leaders, every partition has a leader, and"
        " nothing is lost. Without that, 3 partitions have no replica that can lead."
    ) in text
    assert "solo-1" not in text  # broker 2 has all that the stray of broker 3 has
    lines = [line.strip() for line in shown.out.splitlines()]
    assert [line for line in lines if line.startswith("kcheck ") and "..." not in line] == [
        "kcheck repair 1=broker-1 --partition state-1 --metadata controller -o broker-1.json",
        "kcheck apply broker-1.json --backup broker-1.backup",
        "kcheck repair 2=broker-2 --metadata controller -o broker-2.json",
        "kcheck apply broker-2.json --backup broker-2.backup",
        "kcheck elect 1=broker-1 2=broker-2 3=broker-3 --metadata controller --output-dir DIR",
    ]
    assert shown.code == 1


@pytest.mark.parametrize("scene", ["power_loss", "moved"])
def test_the_answer_is_the_one_after_the_repair(
    scene: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once the commands of plan.md are typed: the same leaders and losses, and no repair. The saved records, too."""
    shutil.copytree(request.getfixturevalue(scene), tmp_path, dirs_exist_ok=True)
    before = _elected(monkeypatch, tmp_path, out=tmp_path / "plan", save_lost=tmp_path / "saved")
    page = (tmp_path / "plan" / "plan.md").read_text("utf-8")
    assert all("\n".join(commands(repair)) in page for repair in before.repairs)
    assert len(before.repairs) == len(_repaired(before))
    after = _elected(monkeypatch, tmp_path, save_lost=tmp_path / "again")
    assert after.repairs == ()
    assert [row.leaders for row in before.partitions] == [row.leaders for row in after.partitions]
    costs = _costs(before)
    del costs["start-all-unrepaired"]
    assert costs == _costs(after)
    assert after.verdict in before.verdict
    assert [row.records._replace(path=None, more=()) for row in before.saved] == [
        row.records._replace(path=None, more=()) for row in after.saved
    ]


def _repaired(answer: ClusterElection) -> list[str]:
    """Type the commands of the repairs that come first; return the directories of the backups."""
    typed = [shlex.split(line)[1:] for repair in answer.repairs for line in commands(repair)]
    for verb, *words in typed:
        assert command(verb, *words, *(["--yes"] if verb == "apply" else ["--fail-on", "fatal"])).code == 0
    return [words[-1] for verb, *words in typed if verb == "apply"]


def _unreadable(folder: Path) -> str:
    (folder / "broker-1" / "data2" / "recovery-point-offset-checkpoint").write_text("x\n")
    return "its log dir broker-1/data2 goes offline: recovery-point-offset-checkpoint cannot be read"


def _same_id(folder: Path) -> str:
    shutil.copy(folder / "broker-1" / "data1" / "meta.properties", folder / "broker-1" / "data2")
    return "it does not start: broker-1/data1 and broker-1/data2 have the same directory.id"


def _beyond_the_end(folder: Path) -> str:
    (log,) = folder.glob("broker-1/data*/orders-0")
    (log.parent / "log-start-offset-checkpoint").write_text("0\n1\norders 0 9999\n")
    return "its start loses 455 records of orders-0"


@pytest.mark.parametrize("damage", [_unreadable, _same_id, _beyond_the_end])
def test_other_damage_that_a_repair_mends(
    damage: Callable[[Path], str], moved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log dir that goes offline, one that belongs to no broker, and a checkpoint that empties a log at the start."""
    shutil.copytree(moved, tmp_path, dirs_exist_ok=True)
    shutil.rmtree(tmp_path / "broker-1" / "data2" / "state-1")
    shutil.rmtree(tmp_path / "broker-2" / "data2" / "orders-2.bak")
    why = damage(tmp_path)
    before = _elected(monkeypatch, tmp_path, out=tmp_path / "plan")
    (first,) = before.repairs
    assert (first.broker_id, first.why.startswith(why)) == (1, True)
    assert _repaired(before) == ["broker-1.backup"]
    after = _elected(monkeypatch, tmp_path)
    assert (after.repairs, [row.leaders for row in after.partitions]) == (
        (),
        [row.leaders for row in before.partitions],
    )


def test_no_repair_of_files_lets_a_disk_of_another_cluster_start(
    moved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Broker 1 stays out though its plan would mend a file; that of broker 2 is named all the same."""
    shutil.copytree(moved, tmp_path, dirs_exist_ok=True)
    for path in tmp_path.glob("broker-1/data*/meta.properties"):
        text = re.sub(r"(?m)^cluster\.id=.*$", "cluster.id=AAAAAAAAQACAAAAAAAAAAA", path.read_text("utf-8"))
        path.write_text(text, "utf-8")
    answer = _elected(monkeypatch, tmp_path)
    assert [first.broker_id for first in answer.repairs] == [2]
    assert [gap.broker_id for gap in answer.gaps] == [1]


def test_the_copy_that_is_offline_is_saved(power_loss: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its last 20 records are those that brokers 1 and 2 lack."""
    answer = _elected(monkeypatch, power_loss, save_lost=tmp_path / "saved")
    (saved,) = (row for row in answer.saved if (row.topic, row.partition, row.broker_id) == ("orders", 0, 3))
    assert (saved.records.start, saved.records.end, saved.records.records) == (495, 515, 20)


def test_the_commands_name_one_broker(moved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of several brokers is no argument of a repair of one of them. The release goes along, no filter does."""
    for number in (1, 2, 3):
        shutil.copytree(moved / f"broker-{number}", tmp_path / "all" / f"broker-{number}")
    shutil.copytree(moved / "controller", tmp_path / "controller")
    answer = _elected(monkeypatch, tmp_path, "all", kafka="4.3", partitions=kcheck.PartitionFilter(topics=("s*",)))
    log_dirs = [[f"{number}=all/broker-{number}/data{place}" for place in (1, 2)] for number in (1, 2)]
    assert [first.arguments for first in answer.repairs] == [
        (*log_dirs[0], "--partition", "state-1", *METADATA, "--kafka", "4.3"),
        (*log_dirs[1], *METADATA, "--kafka", "4.3"),
    ]


def test_a_moved_directory_is_a_candidate_still(moved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its records are no less at hand than before: here all replicas have lost what the copy has."""
    shutil.copytree(moved, tmp_path, dirs_exist_ok=True)
    for number in (1, 2, 3):
        for log in tmp_path.glob(f"broker-{number}/data*/orders-2/*.log"):
            log.write_bytes(b"")
    answer = _elected(monkeypatch, tmp_path, partitions=kcheck.PartitionFilter(partitions=("orders-2",)))
    (partition,) = answer.partitions
    (aside,) = (row for row in partition.candidates if row.state == "aside")
    assert (aside.broker_id, aside.dir) == (2, "broker-2/data2/orders-2.bak")
    assert aside.only_here is not None
    assert aside.only_here.records == 455


def test_a_cut_that_a_repair_saves_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One byte of a header is wrong, and the CRC leaves one value for it: the start would cut all 35 records."""
    shutil.copytree(OUTRUN, tmp_path, dirs_exist_ok=True)
    (tmp_path / "broker-1" / "data1" / ".kafka_cleanshutdown").unlink(missing_ok=True)
    log = tmp_path / "broker-1" / "data1" / "orders-0" / f"{0:020}.log"
    data = bytearray(log.read_bytes())
    data[16] = 0x80  # the magic of the first batch
    log.write_bytes(data)
    monkeypatch.chdir(tmp_path)
    answer = kcheck.elect(*BROKERS)
    (first,) = answer.repairs
    assert (first.broker_id, first.bytes) == (1, 1)
    assert first.why == "its start loses at least 15 records of orders-0"
    assert (_costs(answer)["best"][0], answer.partitions[0].best) == (0, 1)


def test_repair_is_not_asked_about_a_torn_or_corrupt_end(
    power_loss: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No repair helps there without a loss, and it would read the whole log."""
    shutil.copytree(power_loss, tmp_path, dirs_exist_ok=True)
    epochs = (tmp_path / broker / "data1/orders-0/leader-epoch-checkpoint" for broker in ("broker-2", "broker-3"))
    shutil.copy(*epochs)

    def never(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(repair, "repair", never)
    answer = _elected(monkeypatch, tmp_path)
    starts = [row for start in answer.predicted.values() for row in start.partitions if row.lost is not None]
    assert (answer.repairs, bool(starts)) == ((), True)


def test_nothing_to_repair_is_as_before(power_loss: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Torn tails, and a broker whose epochs and log are gone: `kcheck repair` has nothing to offer without a loss."""
    shutil.copytree(power_loss, tmp_path, dirs_exist_ok=True)
    (tmp_path / "broker-3" / "data1" / "no partition").symlink_to(tmp_path / "controller")
    monkeypatch.chdir(tmp_path)
    release = kcheck.release(paths=BROKERS)
    lies = elect_as_it_lies(
        BROKERS, ElectionQuestion(metadata=("controller",)), wanted=kcheck.PartitionFilter(), release=release
    )
    answer = _elected(monkeypatch, tmp_path)
    assert (answer.repairs, answer.partitions, answer.verdict) == ((), lies.partitions, lies.verdict)
    assert [gap.broker_id for gap in answer.gaps] == [3]


def test_what_only_an_unloaded_replica_may_have_is_not_said_to_be_gone(
    moved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Broker 2, which has solo-1, does not start, and no plan helps: the stray is all that loads."""
    shutil.copytree(moved, tmp_path, dirs_exist_ok=True)
    (tmp_path / "broker-2" / "data1" / "no partition").symlink_to(tmp_path / "controller")
    monkeypatch.chdir(tmp_path)
    text = " ".join(command("elect", *BROKERS, *METADATA, "--output-dir", "plan").out.split())
    words = "Broker 3 has 50 records of solo-1 that no replica here that loads has"
    assert words in text
    assert words in (tmp_path / "plan" / "plan.md").read_text("utf-8")


def _broken(tmp_path: Path, change: Callable[[bytes], bytes]) -> Path:
    """Return the disks of brokers that stopped cleanly, with a change in the last batch of plain-0 on broker 1."""
    shutil.copytree(FIXTURES / "brokers" / "4.3.1" / "stopped", tmp_path / "disks")
    log = tmp_path / "disks" / "broker-1" / "data2" / "plain-0" / f"{0:020}.log"
    log.write_bytes(change(log.read_bytes()))
    return tmp_path / "disks"


def test_another_replica_proves_what_may_move_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Broker 1 does not start for one corrupt replica, of which broker 2 has every record."""
    monkeypatch.chdir(_broken(tmp_path, lambda data: data[:723] + bytes(100) + data[823:]))
    answer = kcheck.recover(*BROKERS)
    (repair,) = answer.election.repairs
    others = ("--against", "2=broker-2", "--against", "3=broker-3")
    assert repair.arguments == ("1=broker-1", *others, "--partition", "plain-0")
    assert (repair.discards, answer.sentences[2]) == (None, "This plan: nothing is lost.")
    assert command(*shlex.split(answer.texts[0].commands[0])[1:]).code == 0
    assert Path("broker-1.json").exists()


def test_a_repair_that_discards_less_than_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log without its last byte would end at 0; the other replicas have it, and without them it is cut before."""
    monkeypatch.chdir(_broken(tmp_path, lambda data: data[:-1]))
    assert not any(repair.discards for repair in kcheck.recover(*BROKERS).election.repairs)
    shutil.rmtree("broker-2/data1/plain-0", ignore_errors=True)
    for path in [*Path().glob("broker-[23]/data*/plain-0")]:
        shutil.rmtree(path)
    answer = kcheck.recover(*BROKERS)
    (repair,) = answer.election.repairs
    assert repair.arguments == ("1=broker-1", "--accept-loss", "--partition", "plain-0")
    assert repair.discards == "6 records (offsets 34-39), 165 bytes, 6 below the high watermark of plain-0"
    assert f"Not counted: the repair of broker 1 discards {repair.discards}, which the broker would discard too." in (
        answer.sentences
    )
    assert not answer.start_of_all.is_safe


def test_a_combined_node_is_repaired_before_it_starts(tmp_path: Path) -> None:
    """It is the only controller. A step 0 would start it, and the failed start removes .kafka_cleanshutdown."""
    shutil.copytree(FIXTURES / "brokers" / "4.3.1" / "coordinators" / "broker-1", tmp_path / "broker-1")
    (tmp_path / "broker-1" / "data1" / "orders-2.bak").mkdir()
    answer = kcheck.recover(f"1={tmp_path}/broker-1")
    assert answer.nodes_first is None
    assert [(row.title.partition(":")[0], row.needs) for row in answer.texts] == [
        ("Broker 1 cannot start until it is repaired", "broker 1 is stopped"),
        ("Start broker 1", "no other node of the cluster runs"),
    ]
    assert "Start broker 1 first: it is the controller." in answer.election.verdict


def test_failed_starts_are_part_of_starting_everything(moved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the file that the failed starts of brokers 1 and 2 remove, controllers of 4.3.1 take them out."""
    monkeypatch.chdir(moved)
    answer = kcheck.recover(*BROKERS, metadata=["controller"])
    at = answer.sentences.index("Starting everything now: 3 partitions get no leader.")
    assert answer.sentences[at + 1] == (
        "The failed starts of brokers 1 and 2 remove .kafka_cleanshutdown. Then log recovery runs, and their places in"
        " ISR and ELR are lost."
    )
    assert answer.start_of_all.sentences == answer.sentences
