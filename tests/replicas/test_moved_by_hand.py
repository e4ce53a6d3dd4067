"""Directories that a person moved, exchanged or emptied, in the disks of a real incident.

Three brokers of 4.3.1 and a controller wrote them. Broker 3 has a copy of `solo-1`, whose only replica is on broker 2.
"""

import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

import kcheck
from kcheck.core.election.steps import RecoveryAction
from kcheck.plans.recover import ClusterRecovery
from tests.oracle.scenes import FIXTURES

WHERE = FIXTURES / "incidents" / "plans" / "directories-moved.tar.xz"


@pytest.fixture
def disks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder with the disks, without the directories that keep brokers from starting."""
    with tarfile.open(WHERE) as tar:
        tar.extractall(tmp_path, filter="data")
    shutil.rmtree(tmp_path / "broker-1/data1/state-1")
    shutil.rmtree(tmp_path / "broker-2/data1/orders-2.bak")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def recovered() -> ClusterRecovery:
    """Return the recovery of the folder."""
    return kcheck.recover("1=broker-1", "2=broker-2", "3=broker-3", metadata=["controller"])


def exchange(one: Path, other: Path) -> None:
    """Let two directories have each other's name."""
    held = one.with_name("held")
    one.rename(held)
    other.rename(one)
    held.rename(other)


def test_a_copy_with_the_same_batches_needs_no_step(disks: Path) -> None:
    """The served replica has every record of it."""
    assert disks.is_dir()
    answer = recovered()
    assert answer.start_of_all.is_safe
    assert [(row.partition.name, row.broker_id, row.holders) for row in answer.kept_elsewhere] == [("solo-1", 3, (2,))]


def test_a_copy_of_another_log_is_no_copy(disks: Path) -> None:
    """`solo-0` and `solo-1` have the same epochs and offsets, and other batches: one topic, two partitions."""
    exchange(disks / "broker-1/data/solo-0", disks / "broker-2/data/solo-1")
    answer = recovered()
    assert not answer.kept_elsewhere
    assert not answer.start_of_all.is_safe
    lost = answer.scenario("plan").lost
    assert (lost.records, lost.committed) == (50, 50)


def test_the_mark_of_the_assigned_broker_counts_without_its_directory(disks: Path) -> None:
    """The broker had acknowledged 50 records of the directory that now lies on another broker."""
    (disks / "broker-1/data/solo-0").rename(disks / "broker-2/data1/solo-0")
    lost = recovered().scenario("plan").lost
    assert (lost.records, lost.committed) == (50, 50)


@pytest.mark.parametrize(("kept", "lost"), [(0, 50), (20, 30)])
def test_the_records_of_a_copy_are_lost_once(disks: Path, kept: int, lost: int) -> None:
    """The high watermark names the offsets that the copy has: these are the same records."""
    log = disks / "broker-2/data/solo-1/00000000000000000000.log"
    if kept:
        log.write_bytes(log.read_bytes()[: log.stat().st_size * kept // 50 + 8])
    else:
        log.unlink()
    amounts = recovered().scenario("plan").lost
    assert (amounts.records, amounts.committed) == (lost, lost)


def typed(answer: ClusterRecovery, disks: Path) -> None:
    """Carry out the commands of the first step."""
    assert answer.steps[0].kind is RecoveryAction.PUT_BACK
    for command in answer.texts[0].commands:
        subprocess.run(["/bin/sh", "-c", command], cwd=disks, check=True)


def test_exchanged_directories_of_a_broker_get_their_names_back(disks: Path) -> None:
    """Most replicas show which log has which name; no good directory moves aside."""
    exchange(disks / "broker-2/data1/orders-1", disks / "broker-2/data1/orders-2")
    answer = recovered()
    assert [(row.dir, row.holds, row.replaces) for row in answer.recovery.misplaced] == [
        ("orders-1", "orders-2", "orders-2"),
        ("orders-2", "orders-1", "orders-1"),
    ]
    assert len(answer.steps) == 1
    assert not any(text.startswith("This plan") for text in answer.sentences)
    typed(answer, disks)
    assert recovered().start_of_all.is_safe


def test_a_moved_directory_goes_back_to_its_broker(disks: Path) -> None:
    """The log dir is the one that the metadata names."""
    (disks / "broker-1/data/solo-0").rename(disks / "broker-2/data1/solo-0")
    typed(recovered(), disks)
    assert (disks / "broker-1/data/solo-0").is_dir()
    assert recovered().start_of_all.is_safe


def test_a_complete_copy_replaces_an_emptied_replica(disks: Path) -> None:
    """The copy has every record of the replica, and some that the replica has no more."""
    (disks / "broker-2/data/solo-1/00000000000000000000.log").unlink()
    answer = recovered()
    typed(answer, disks)
    assert (disks / "DIR/aside/broker-2/solo-1").is_dir()
    assert recovered().start_of_all.is_safe


def test_two_copies_without_a_majority_are_told_apart(disks: Path) -> None:
    """Both brokers may have the wrong name; the sentence names the log that is the same."""
    exchange(disks / "broker-1/data/solo-0", disks / "broker-2/data/solo-1")
    answer = recovered()
    assert not answer.recovery.misplaced
    assert answer.sentences[-1] == (
        "Broker 2 has other records of solo-1 than broker 3. The same records as on broker 3 are on broker 1 in"
        " solo-0. Nothing here shows which copy is right."
    )
