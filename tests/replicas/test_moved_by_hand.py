"""Directories that a person moved, exchanged or emptied, in the disks of a real incident.

Three brokers of 4.3.1 and a controller wrote them. Broker 3 has a copy of `solo-1`, whose only replica is on broker 2.
"""

import json
import shlex
import shutil
import subprocess
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

import pytest

import kcheck
from kcheck.core.election.progress import PlanState
from kcheck.core.election.steps import RecoveryAction
from kcheck.core.premises.names import OWN_NAME
from kcheck.model.finding import Finding, Severity
from kcheck.model.premises import JudgedPremise
from kcheck.plans.recover import ClusterRecovery
from tests.cli.command import kcheck as command
from tests.oracle.scenes import FIXTURES

BEFORE = (RecoveryAction.REPAIR, RecoveryAction.PUT_BACK)
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


class Elected(Protocol):
    """An answer with premises."""

    @property
    def premises(self) -> tuple[JudgedPremise, ...]:
        """The premises of the next starts."""


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
    """Carry out the commands of the steps before any start."""
    assert answer.steps[0].kind in BEFORE
    for step, text in zip(answer.steps, answer.texts, strict=True):
        for line in text.commands if step.kind in BEFORE else ():
            if line.startswith("kcheck "):
                words = shlex.split(line)[1:]
                assert command(*words, *(["--yes"] if words[0] == "apply" else [])).code < 2
            else:
                subprocess.run(["/bin/sh", "-c", line], cwd=disks, check=True)


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


def wrong_names(answer: Elected) -> list[str]:
    """Return the sentences about directories with the name of another partition."""
    return [row.sentence for row in answer.premises if row.id == OWN_NAME]


def assert_every_verb_warns() -> list[str]:
    """Every verb that sees the brokers together names the directories; returns their sentences."""
    paths = ["1=broker-1", "2=broker-2", "3=broker-3"]
    elected = kcheck.elect(*paths, metadata=["controller"])
    assert not elected.is_safe
    assert "With this plan" not in elected.verdict
    said = wrong_names(elected)
    assert said
    recovery = recovered()
    assert wrong_names(recovery.election) == said
    assert not any(text.startswith("This plan") for text in recovery.sentences)
    assert {step.kind for step in recovery.steps} <= {RecoveryAction.PUT_BACK}
    shown = kcheck.overview(*paths, metadata=["controller"])
    assert shown.start_of_all is not None
    assert not shown.start_of_all.is_safe
    for answer in (shown, kcheck.predict(*paths, metadata=["controller"])):
        assert wrong_names(answer) == said
    found = kcheck.check(*paths, metadata=["controller"]).collected
    assert {row.id for row in found if any(text in row.message for text in said)} == {"KC315"}
    return said


@pytest.mark.parametrize("topic", ["orders", "state"])
def test_every_verb_sees_exchanged_directories(disks: Path, topic: str) -> None:
    """The last segment of a compacted topic is the same on every replica, too."""
    one, other = f"{topic}-0", f"{topic}-1"
    (first,), (second,) = (disks.glob(f"broker-3/data*/{name}") for name in (one, other))
    held = first.with_name("held")
    first.rename(held)
    second.rename(second.with_name(one))
    held.rename(held.with_name(other))
    assert sorted(assert_every_verb_warns()) == [
        f"{one} has the records of {other} on brokers 1 and 2",
        f"{other} has the records of {one} on brokers 1 and 2",
    ]


def test_a_directory_under_a_number_without_a_partition_gets_its_name_back(disks: Path) -> None:
    """The broker would rename it to -stray and make the partition again, empty."""
    (disks / "broker-3/data1/orders-1").rename(disks / "broker-3/data1/orders-9")
    assert assert_every_verb_warns() == ["orders-9 has the records of orders-1 on brokers 1 and 2"]
    typed(recovered(), disks)
    assert recovered().start_of_all.is_safe


def test_exchanged_directories_of_two_topics(disks: Path) -> None:
    """Both ids exist in the cluster. No id is to change: the names are wrong."""
    exchange(disks / "broker-2/data1/orders-1", disks / "broker-2/data1/payments-0")
    assert_every_verb_warns()
    answer = recovered()
    assert not [row for row in answer.election.refuted if row.id == "P109"]
    typed(answer, disks)
    assert recovered().start_of_all.is_safe


def advised(findings: Iterable[Finding]) -> dict[tuple[str, int | None, str | None], str]:
    """Return what findings advise, by rule and directory."""
    rows = (row for row in findings if row.severity is not Severity.INFO)
    return {(row.id, row.where.broker_id, row.where.dir): row.advice for row in rows}


def test_no_finding_advises_to_adopt_or_copy_an_exchanged_directory(disks: Path) -> None:
    """Each rule saw one disk, and advised `--adopt` or another leader for the records of another topic."""
    exchange(disks / "broker-2/data1/orders-1", disks / "broker-2/data1/payments-0")
    paths = ["1=broker-1", "2=broker-2", "3=broker-3"]
    rows = advised(kcheck.overview(*paths, metadata=["controller"]).collected)
    wrong = [(rule, 2, name) for rule in ("KC235", "KC303") for name in ("orders-1", "payments-0")]
    wrong += [("KC212", 2, "orders-1"), ("KC213", 2, "orders-1"), ("KC315", 2, "orders-1")]
    assert {rows[place] for place in wrong} == {"Follow kcheck recover: step 1 puts this directory back."}
    alone = advised(kcheck.check(*paths, metadata=["controller"]).collected)
    words = (
        "Change nothing before each directory has the right name. kcheck recover with the log dirs of all brokers has"
        " the commands for proven names."
    )
    assert {alone[place] for place in wrong if place[0] != "KC315"} == {words}
    of_one = advised(kcheck.check("2=broker-2", metadata=["controller"]).collected)
    assert "Change neither before." in of_one["KC235", 2, "orders-1"]


def test_only_another_replica_proves_that_an_id_is_wrong(disks: Path) -> None:
    """Batches of another broker show if the records or the id in partition.metadata are of another topic."""
    one, other = (disks / "broker-2/data1" / name for name in ("orders-1", "payments-0"))
    exchange(one, other)
    asked = {"metadata": ["controller"], "adopt": True, "kafka": "4.3", "against": ["1=broker-1"]}
    assert not [row for row in kcheck.repair("2=broker-2", **asked).chosen if row.finding == "KC235"]
    exchange(one, other)
    shutil.copyfile(other / "partition.metadata", one / "partition.metadata")
    (step,) = (row for row in kcheck.repair("2=broker-2", **asked).chosen if row.finding == "KC235")
    assert step.reason.startswith("name the id that the cluster gave orders")
    alone = kcheck.repair("2=broker-2", **{**asked, "against": []})
    assert "so the name of the directory may be wrong" in " ".join(row.why for row in alone.not_planned)


def test_a_plan_that_waits_names_no_leader(disks: Path) -> None:
    """The directories of both brokers may have the wrong name."""
    for name in ("orders-1", "orders-2"):
        (path,) = disks.glob(f"broker-3/data*/{name}")
        shutil.rmtree(path)
    exchange(disks / "broker-2/data1/orders-1", disks / "broker-2/data1/orders-2")
    shown = kcheck.overview("1=broker-1", "2=broker-2", "3=broker-3", metadata=["controller"])
    rows = advised(shown.collected)
    assert rows["KC402", 2, "orders-1"] == (
        "Follow kcheck recover, which compares no leaders before each directory is in the right place."
    )
    assert rows["KC401", 2, "orders-1"].startswith("Change nothing before each directory has the right name.")
    assert not [text for text in rows.values() if "leads" in text or "re-replicate" in text]


@pytest.mark.parametrize("is_exchanged", [True, False])
def test_elect_orders_no_start_before_directories_are_back(disks: Path, tmp_path: Path, *, is_exchanged: bool) -> None:
    """No file invites a start, and no field names an order; `--next` and `verify` still know the brokers."""
    if is_exchanged:
        exchange(disks / "broker-2/data1/orders-1", disks / "broker-2/data1/payments-0")
    else:
        (disks / "broker-1/data/solo-0").rename(disks / "broker-2/data1/solo-0")
    paths = ["1=broker-1", "2=broker-2", "3=broker-3"]
    for verb in (kcheck.elect, kcheck.recover):
        out = tmp_path / verb.__name__
        answer = verb(*paths, metadata=["controller"], out=out)
        assert not {"start-order.txt", "election.json"}.intersection(path.name for path in out.iterdir())
        plan = json.loads((out / "election-plan.json").read_text())
        assert (plan["start_order"], sorted(plan["able_to_start"])) == ([], [1, 2, 3])
        assert "Start broker" not in answer.to_dict()["verdict"]
    elected = kcheck.elect(*paths, metadata=["controller"])
    assert (elected.to_dict()["start_order"], elected.to_dict()["start_order_proven"]) == ([], False)
    known = {row.name for row in elected.scenarios if row.lost.upper_records is not None}
    assert known <= {"start-all"} or not is_exchanged
    assert "ask again" in elected.verdict
    assert not elected.is_safe
    progress = kcheck.recovery_progress(tmp_path / "recover", *paths, metadata=["controller"])
    assert progress.state is PlanState.NEXT


def test_a_run_orders_no_start_under_wrong_names(disks: Path) -> None:
    """A scan with every batch sees the names. Its elections, plan and recovery then wait for the disks."""
    exchange(disks / "broker-2/data1/orders-1", disks / "broker-2/data1/payments-0")
    command("fleet", "scan", "{broker}/{log_dir}", "--depth", "crc", "--output-dir", "out", "--run", "r")
    refused = command("elect", "--from", "out", "--output-dir", "plan")
    assert "a directory has, or may have, the name of another partition or topic" in " ".join(refused.err.split())
    assert not Path("plan").exists()
    done = command("elect", "--from", "out", "--format", "json")
    answer = json.loads(done.out)
    assert (done.code, answer["start_order"], answer["start_order_proven"]) == (1, [], False)
    assert "kcheck compares no leaders under wrong names" in answer["verdict"]
    assert "Start broker" not in answer["verdict"]
    screen = command("recover", "--from", "out", columns=1000).out
    assert "a directory has, or may have, the name of another partition or topic" in screen
    assert "This plan" not in screen
    assert "Start broker" not in screen


def test_a_partition_of_one_replica_gets_its_name_back(disks: Path) -> None:
    """With 2.8.2 a broker truncated such a log as the leader of the other topic said, and 102 records were lost."""
    exchange(disks / "broker-1/data/solo-0", disks / "broker-1/data1/orders-1")
    assert sorted(assert_every_verb_warns()) == [
        "orders-1 has other records than on brokers 2 and 3; after an exchange, the right name is solo-0",
        "solo-0 has the records of orders-1 on brokers 2 and 3",
    ]
    typed(recovered(), disks)
    assert recovered().start_of_all.is_safe


def test_nothing_starts_with_the_ids_of_two_topics(disks: Path) -> None:
    """Each directory has the id of the other topic. No other broker shows if the names or the ids are wrong."""
    for path in disks.glob("broker-[13]/data*/[op]*-[01]"):
        shutil.rmtree(path)
    exchange(disks / "broker-2/data1/orders-1", disks / "broker-2/data1/payments-0")
    (disks / "broker-2/data1/payments-0").rename(disks / "broker-2/data1/payments-1.held")
    (disks / "broker-2/data/payments-1").rename(disks / "broker-2/data1/payments-0")
    (disks / "broker-2/data1/payments-1.held").rename(disks / "broker-2/data/payments-1")
    answer = recovered()
    assert {row.id for row in answer.election.refuted} >= {"P109"}
    assert answer.steps == ()
    assert [] == [text for text in answer.sentences if "kcheck recover" in text or text.startswith("This plan")]


def test_a_second_copy_of_a_directory_moves_aside(disks: Path) -> None:
    """Somebody copied a directory over another one."""
    shutil.rmtree(disks / "broker-2/data1/orders-2")
    shutil.copytree(disks / "broker-2/data1/orders-1", disks / "broker-2/data1/orders-2")
    assert assert_every_verb_warns() == ["orders-2 has the records of orders-1 on brokers 1 and 3"]
    typed(recovered(), disks)
    assert not (disks / "broker-2/data1/orders-2").exists()


@pytest.mark.parametrize(
    "place",
    ["broker-2/solo-1", "broker-2/data/solo-1.0123456789abcdef0123456789abcdef-{}", "broker-2/data1/solo-1.bak"],
)
@pytest.mark.parametrize("state", ["stray", "delete"])
def test_the_only_copy_goes_back_to_its_own_broker(disks: Path, place: str, state: str) -> None:
    """Its broker would begin with an empty log, wherever the directory is."""
    (disks / "broker-2/data/solo-1").rename(disks / place.format(state))
    shutil.rmtree(disks / "broker-3/data/solo-1")
    answer = recovered()
    typed(answer, disks)
    assert recovered().start_of_all.is_safe


@pytest.mark.parametrize(
    ("source", "kept", "is_safe"),
    [
        ("broker-2/data1/orders-1", True, True),
        ("broker-2/data1/orders-1", False, True),
        ("broker-2/data1/orders-2", True, False),
    ],
)
def test_a_deleted_directory_costs_only_what_no_replica_has(
    disks: Path, source: str, *, kept: bool, is_safe: bool
) -> None:
    """A broker leaves it after a reassignment, and the replicas have every batch. Batches of another log are lost."""
    shutil.copytree(disks / source, disks / f"broker-2/data/orders-1.{'0' * 32}-delete")
    if not kept:
        shutil.rmtree(disks / "broker-2/data1/orders-1")
    answer = recovered()
    assert (answer.scenario("plan").lost.records == 0) is is_safe
    elected = kcheck.elect("1=broker-1", "2=broker-2", "3=broker-3", metadata=["controller"])
    assert elected.is_safe is is_safe
    assert bool(elected.unserved) is not is_safe
    said = " ".join((*answer.sentences, elected.verdict))
    assert "Not counted" not in said
    assert ("nothing is lost" in said) is is_safe
    brokers = "brokers 1, 2 and 3" if kept else "brokers 1 and 3"
    assert (f"No step is needed: {brokers} together have the same 455 records." in said) is is_safe
    assert (RecoveryAction.SET_ASIDE in {step.kind for step in answer.steps}) is not is_safe


@pytest.mark.parametrize("wrong", ["data", "data1"])
def test_a_directory_id_that_is_there_twice_gets_the_registered_one(disks: Path, wrong: str) -> None:
    """With a new id no leader would be known for the partitions of the log dir, and one needed an unclean election."""
    file = disks / "broker-2" / wrong / "meta.properties"
    before = [row.rpartition(" ")[0] for row in sorted(file.read_text().splitlines())]
    other = {"data": "data1", "data1": "data"}[wrong]
    shutil.copyfile(disks / "broker-2" / other / "meta.properties", file)
    answer = recovered()
    assert [step.kind for step in answer.steps] == [RecoveryAction.REPAIR, *[RecoveryAction.START] * 3]
    typed(answer, disks)
    assert [row.rpartition(" ")[0] for row in sorted(file.read_text().splitlines())] == before
    assert recovered().start_of_all.is_safe


def test_a_number_that_the_topic_does_not_have(disks: Path) -> None:
    """No other replica has these batches, so the right name is not proven."""
    (disks / "broker-2/data/solo-1").rename(disks / "broker-2/data/solo-2")
    shutil.rmtree(disks / "broker-3/data/solo-1")
    (said,) = assert_every_verb_warns()
    assert said == (
        "solo-2 is no partition of the cluster, and broker 2 has no directory of solo-1. Not known: these records may"
        " be there under a wrong name"
    )
    assert recovered().steps == ()


def test_bytes_after_the_last_batch_are_repaired_first(disks: Path) -> None:
    """The broker stopped cleanly, so its start would keep them, and append after them."""
    log = max((disks / "broker-2/data1/orders-1").glob("*.log"))
    log.write_bytes(log.read_bytes()[:-9])
    answer = recovered()
    assert [step.kind for step in answer.steps][:2] == [RecoveryAction.REPAIR, RecoveryAction.START]
    assert not any("kcheck repair" in text for text in answer.sentences)
    assert answer.scenario("plan").lost.records == 0
    assert {row.id for row in answer.election.refuted} <= {"P306"}


def test_nothing_starts_before_a_disk_is_sought(disks: Path) -> None:
    """The steps for a lost disk are a case."""
    assert disks.is_dir()
    answer = kcheck.recover("1=broker-1", "2=broker-2", metadata=["controller"])
    assert [step.kind for step in answer.steps] == [RecoveryAction.BRING]
    assert RecoveryAction.START in {step.kind for step in answer.case_plans[0].steps}
    assert not any(text.startswith("This plan") for text in answer.sentences)


def test_every_leader_of_the_plan_is_on_the_screen(disks: Path) -> None:
    """The table has only partitions that can lose records."""
    assert disks.is_dir()
    screen = command("recover", "1=broker-1", "2=broker-2", "3=broker-3", "--metadata", "controller", columns=1000).out
    assert "By this plan broker 1 leads solo-0" in screen


def test_two_replicas_prove_no_name(disks: Path) -> None:
    """One of both brokers has exchanged the directories."""
    for name in ("orders-1", "orders-2"):
        (path,) = disks.glob(f"broker-3/data*/{name}")
        shutil.rmtree(path)
    exchange(disks / "broker-2/data1/orders-1", disks / "broker-2/data1/orders-2")
    said = sorted(assert_every_verb_warns())
    assert said[0] == (
        "orders-1 has the records of orders-2 on broker 1. Not known: which name is right, orders-1 or orders-2"
    )
    assert len(said) == 4
    assert recovered().steps == ()


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
