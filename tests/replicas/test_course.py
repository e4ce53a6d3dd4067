"""What is lost when nothing changes any more, as on real brokers whose preferred replicas got the lead back."""

import json
import re
from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest

import kcheck
from kcheck.core.election.course import Later, LaterLeader
from kcheck.core.election.early_elections import kept_out
from kcheck.core.replication.leader_costs import Amounts
from kcheck.model.cluster import Seat
from kcheck.model.report import PartitionFilter
from kcheck.replicas.elect import ClusterElection, ElectionQuestion
from kcheck.replicas.elect import elect as elect_as_it_lies
from tests.cli.command import kcheck as command
from tests.oracle.clusters import preferred
from tests.oracle.clusters.diverged import values
from tests.oracle.incidents import kept
from tests.oracle.scenes import FIXTURES, unpacked

VERSIONS = (("4.3.1", "controller"), ("3.9.2", "zookeeper"))
Records = set[tuple[object, object]]


def asked(version: str, beside: str, folder: Path, **how: Any) -> ClusterElection:
    """Return what elect says of the recorded cluster."""
    unpacked(f"clusters/{version}/preferred", folder)
    brokers = [f"{number}={folder}/broker-{number}/data1" for number in (1, 2, 3)]
    return kcheck.elect(*brokers, metadata=[folder / beside], kafka=version, **how)


def outcome(version: str) -> dict[str, Any]:
    """Return what the real cluster did when its brokers started in the order of `preferred.ORDER`."""
    said: dict[str, Any] = json.loads((FIXTURES / "clusters" / version / "preferred.json").read_text("utf-8"))
    return said


def lost(said: dict[str, Any], before: list[Path]) -> int:
    """Return how many records some broker had before, and the last leader does not have."""
    had: Records = {(offset, value) for path in before for offset, value in values(path)}
    kept: Records = {(offset, value) for offset, value in said["logs"][str(said["leaders"][-1])]}
    return len(had - kept)


@pytest.mark.parametrize(("version", "beside"), VERSIONS)
def test_what_real_clusters_lost_in_the_end(version: str, beside: str, tmp_path: Path) -> None:
    """Who led first, who leads in the end, and how many records the log of that one lacks."""
    answer, real = asked(version, beside, tmp_path), outcome(version)
    rows = {row.topic: row for row in answer.partitions}
    assert rows.keys() == real.keys() == preferred.TOPICS.keys()
    for topic, row in rows.items():
        assert row.now is not None
        assert row.now.lost_in_the_end is not None
        later = row.now.later
        leaders = [row.now.broker_id, *([] if later is None else [later.broker_id])]
        assert leaders == [*dict.fromkeys(real[topic]["leaders"])]
        before = [tmp_path / f"broker-{number}" / "data1" / f"{topic}-0" for number in (1, 2, 3)]
        assert row.now.lost_in_the_end.records == lost(real[topic], before)
    start_all, plan, *_ = answer.scenarios
    assert (start_all.lost.records, plan.lost.records) == (25, 5)
    assert [(found.partition.topic, found.broker_id) for found in kept_out(answer.partitions)] == [
        ("emptied", 1), ("head", 1), ("hole", 1), ("spread", 1),
    ]  # fmt: skip


def test_why_it_leads(tmp_path: Path) -> None:
    """By which place first, and why another one later; not if the controllers do not balance leaders."""
    answer = asked("4.3.1", "controller", tmp_path)
    rows = {row.topic: row for row in answer.partitions}
    head = rows["head"].now
    assert head is not None
    assert (rows["head"].seat_now, head.later) == (Seat.ELR, LaterLeader(1, Later.PREFERRED))
    assert head.lost != head.lost_in_the_end
    settings = tmp_path / "server.properties"
    settings.write_text("process.roles=controller\nauto.leader.rebalance.enable=false\n", "utf-8")
    brokers = [f"{number}={tmp_path}/broker-{number}/data1" for number in (1, 2, 3)]
    stays = kcheck.elect(*brokers, metadata=[tmp_path / "controller"], kafka="4.3.1", config=settings)
    assert {row.now and row.now.later for row in stays.partitions} == {None}
    assert stays.scenarios[0].lost.records == 5


def test_a_part_of_a_cluster_has_the_order_of_the_cluster(tmp_path: Path) -> None:
    """Which broker starts first depends on all partitions; what is said of a partition, on it alone."""
    answer = asked("4.3.1", "controller", tmp_path, partitions=kcheck.PartitionFilter(topics=("head",)))
    assert answer.verdict.startswith("Start broker 2 first: it is in the ELR (after registration) of head-0. Then")
    assert "of head-0 outside every log dir. It lacks records that no fetch brings back" in answer.verdict


def test_the_plan_moves_directories_aside(tmp_path: Path) -> None:
    """Before the broker starts that would get the lead back."""
    asked("4.3.1", "controller", tmp_path, out=tmp_path / "plan")
    plan = (tmp_path / "plan" / "plan.md").read_text("utf-8")
    titles = re.findall(r"(?m)^## ([1-9].*)", plan)
    aside = "2. Move 4 directories of broker 1 aside: they lack records, and only a complete new copy brings them back"
    assert titles == ["1. Start broker 2", aside, "3. Start broker 1", "4. Start broker 3"]
    assert "This plan: 5 records are lost, all of them committed." in plan


def test_what_checkpoints_say_of_logs_that_no_disk_has(tmp_path: Path) -> None:
    """Records below the high watermark of a log that is gone were committed; of a compacted topic no more than these.

    A copy that no broker serves has that high watermark too.
    """
    unpacked("clusters/4.3.1/preferred", tmp_path)
    brokers = [tmp_path / f"broker-{number}" / "data1" for number in (1, 2, 3)]
    for path in brokers:
        rmtree(path / "late-0")
    metadata = [tmp_path / "controller"]
    answer = kcheck.elect(*brokers, metadata=metadata, kafka="4.3.1")
    assert "late-0 starts empty: no disk here has its log." in answer.verdict
    (late,) = (row for row in answer.partitions if row.topic == "late")
    assert late.now is not None
    assert late.now.lost == Amounts(None, None, None, at_most=37, committed_at_most=37)
    for path in brokers:
        rmtree(path / "emptied-0")
        (path / "head-0").rename(path / f"head-0.{'0' * 32}-stray")
    answer = kcheck.elect(*brokers, metadata=metadata, kafka="4.3.1")
    assert "emptied-0, late-0 start empty: no disk here has their log." in answer.verdict
    assert [repair.why for repair in answer.repairs] == ["no broker serves head-0, and this one has a copy"] * len(
        brokers
    )
    question = ElectionQuestion(metadata=(str(metadata[0]),))
    answer = elect_as_it_lies([*map(str, brokers)], question, wanted=PartitionFilter(), release=kcheck.release("4.3.1"))
    assert "head-0 starts empty: no broker here serves its log." in answer.verdict
    (head,) = (row for row in answer.partitions if row.topic == "head")
    assert head.now is not None
    assert head.now.lost is not None
    assert head.now.lost[:2] == (30, 30)
    assert not answer.is_safe
    for path in brokers:
        for file in (path / f"head-0.{'0' * 32}-stray").iterdir():
            file.unlink()
    answer = kcheck.elect(*brokers, metadata=metadata, kafka="4.3.1")
    (head,) = (row for row in answer.partitions if row.topic == "head")
    assert head.lost_planned is not None
    assert head.lost_planned.at_most  # What its checkpoint still names: the strays are empty.


def test_truncation_counts_what_the_leader_lacks(tmp_path: Path) -> None:
    """No follower truncates, but consumers lose the records of the segment that was removed."""
    unpacked("clusters/4.3.1/preferred", tmp_path)
    brokers = [f"{number}={tmp_path}/broker-{number}/data1" for number in (1, 2, 3)]
    done = command("truncation", *brokers, "--leader", "1", "--topic", "hole")
    assert "LOST under leader 1: 10 records are lost, all of them committed; its log has no segment" in words(done.out)
    assert "no replica truncates" in words(command("truncation", *brokers, "--leader", "2", "--topic", "hole").out)


def test_nodes_that_are_the_controllers_start_together() -> None:
    """All three were killed at once: two of them elect a controller."""
    folder = FIXTURES / "clusters" / "4.3.1" / "quorum"
    answer = kcheck.elect(*(f"{number}={folder}/broker-{number}" for number in (1, 2, 3)))
    assert (answer.order.together, answer.order.brokers) == ((1, 2), (1, 2, 3))
    assert answer.verdict.startswith("Start brokers 1 and 2 together: they are controllers")


def words(text: str) -> str:
    """Return a text in one line."""
    return " ".join(text.split())


def test_with_zookeeper_the_lead_comes_back_only_beyond_a_percentage(tmp_path: Path) -> None:
    """Brokers 1, 2 and 3 of 3.9.2 started in this order with leader.imbalance.per.broker.percentage=80.

    Broker 1 led 5 of the 6 partitions of broker 2, which got them back, and 3 of the 4 of broker 3, which did not.
    """
    folder = kept.unpacked(kept.PLACE / "3.9.2-zk-other-epochs-z9b.tar.xz", tmp_path / "incident").folder
    brokers = [f"{number}={folder}/broker-{number}" for number in (1, 2, 3)]

    def given_back(percentage: int) -> dict[int, set[str]]:
        settings = tmp_path / "controller.conf"
        settings.write_text(f"leader.imbalance.per.broker.percentage={percentage}\n")
        answer = kcheck.elect(*brokers, metadata=[folder / "zookeeper"], kafka="3.9.2", config=settings)
        later = {f"{row.topic}-{row.partition}": row.now and row.now.later for row in answer.partitions}
        return {
            number: {name for name, of in later.items() if of is not None and of.broker_id == number}
            for number in (2, 3)
        }

    of_3 = {"__transaction_state-0", "audit-0", "orders-2"}
    of_2 = {"__consumer_offsets-0", "audit-1", "orders-0", "orders-1"}  # pay-0 does not follow here: a forged file.
    assert given_back(80) == {2: of_2, 3: set()}
    assert given_back(10) == {2: of_2, 3: of_3}
