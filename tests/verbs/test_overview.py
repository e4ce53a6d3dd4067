"""What `kcheck PATH` says of several brokers: what starting all of them costs."""

import shutil
import tarfile
from pathlib import Path

import kcheck
from kcheck.model.finding import Severity
from tests.cli.command import kcheck as command
from tests.oracle import scenes
from tests.oracle.incidents.kept import PLACE, unpacked
from tests.replicas.incident_plans import PACKED
from tests.test_brokers import BROKERS

DIVERGED = BROKERS / "4.3.1" / "diverged"


def test_the_first_line_says_what_starting_all_costs() -> None:
    """The exit code is the worse one, and the next command has the paths of the user."""
    shown = command("1=" + str(DIVERGED / "broker-1"), "2=" + str(DIVERGED / "broker-2"), columns=200)
    lines = shown.out.splitlines()
    assert "Starting everything now: 34 records are lost, none of them committed." == lines[2]
    assert "This plan: 34 records are lost, none of them committed." == lines[3]
    assert f"  kcheck recover 1={DIVERGED}/broker-1 2={DIVERGED}/broker-2" == lines[-1]
    assert 1 == shown.code


def test_records_that_all_starts_lose_are_bad(tmp_path: Path) -> None:
    """Even if the best leaders lose none; the metadata that the user names goes into the next command."""
    for name in ("broker-1", "broker-2"):
        shutil.copytree(DIVERGED / name, tmp_path / name)
    shutil.rmtree(tmp_path / "broker-2" / "data1" / "behind-0")
    answer = kcheck.overview(tmp_path, metadata=[DIVERGED / "broker-2"])
    elected = kcheck.elect(tmp_path, metadata=[DIVERGED / "broker-2"])
    assert answer.start_of_all is not None
    assert (False, False) == (elected.is_safe, answer.start_of_all.is_safe)
    document = answer.to_dict()
    assert f"kcheck recover {tmp_path} --metadata {DIVERGED}/broker-2" == document["next"]
    assert (2, False) == (document["start_all"]["brokers"], document["start_all"]["safe"])
    assert 1 == command(tmp_path, "--metadata", DIVERGED / "broker-2").code


def test_findings_advise_what_the_plan_does(tmp_path: Path) -> None:
    """Which broker repairs what, who leads, and what is moved aside: the disks of other brokers decide."""
    scenes.unpacked("clusters/4.3.1/power-loss", tmp_path)
    answer = kcheck.overview(*(f"{number}={tmp_path}/broker-{number}" for number in (1, 2, 3)), metadata=[tmp_path])
    advice = {(row.id, row.where.broker_id, row.where.dir): row.advice for row in answer.collected}
    assert advice["KC101", 3, "orders-0"] == "Follow kcheck recover: step 1 repairs it."
    led = "Follow kcheck recover: broker 3 leads, and this replica fetches what it lacks."
    assert advice["KC407", 1, "orders-0"] == advice["KC144", 2, "orders-0"] == led
    planned = [row for row in answer.collected if row.advice.startswith("Follow kcheck recover: ")]
    assert Severity.INFO not in {row.severity for row in planned}


def test_findings_advise_to_move_aside_what_no_fetch_brings_back(tmp_path: Path) -> None:
    with tarfile.open(PACKED["files-removed"]) as tar:
        tar.extractall(tmp_path, filter="data")
    answer = kcheck.overview(
        *(f"{number}={tmp_path}/broker-{number}" for number in (1, 2, 3)), metadata=[tmp_path / "controller"]
    )
    advice = {(row.id, row.where.dir): row.advice for row in answer.collected if row.where.broker_id == 1}
    aside = "Follow kcheck recover: step 3 moves this directory aside."
    assert advice["KC222", "orders-1"] == advice["KC222", "orders-2"] == advice["KC203", "orders-3"] == aside


def test_one_broker_has_no_such_line(tmp_path: Path) -> None:
    """Nor have log dirs of which one does not say whose it is: each is looked at alone."""
    assert kcheck.overview(DIVERGED / "broker-1").start_of_all is None
    assert (
        kcheck.overview(*(DIVERGED / f"broker-{number}" / "data1" / "behind-0" for number in (1, 2))).start_of_all
        is None
    )
    shutil.copytree(DIVERGED, tmp_path / "all")
    assert kcheck.overview(tmp_path / "all").start_of_all is not None
    other = shutil.copytree(DIVERGED / "broker-2" / "data1", tmp_path / "all" / "data3")
    (other / "meta.properties").unlink()
    assert kcheck.overview(tmp_path / "all").start_of_all is None
    without = kcheck.overview(BROKERS / "2.4.1" / "stopped").start_of_all
    assert without is not None
    assert "Without metadata it is not known which leader Kafka elects." == without.sentences[0]
    assert without.is_safe


def test_who_registers_first_leads_with_an_emptied_log(tmp_path: Path) -> None:
    """Of brokers that start at once, real ones cut 42 records: broker 1 was first, in sync, and had lost its log."""
    unpacked(PLACE / "2.8.2-zk-empty-partition-m1.tar.xz", tmp_path)
    brokers = [f"{number}={tmp_path}/broker-{number}" for number in (1, 2, 3)]
    more = ("--metadata", tmp_path / "zookeeper", "--kafka", "2.8.2")
    shown = command(*brokers, *more, columns=200)
    assert "Starting everything now: at most 42 records are lost, all of them committed." in shown.out.splitlines()
    assert 1 == shown.code
    shown = command("elect", *brokers, *more, "--partition", "orders-2", columns=200)
    assert "If all start, broker 3 leads (in the ISR), or broker 1 or 2 if it registers first: at most 42" in shown.out
    assert 0 == shown.code  # With its plan, broker 2 starts first.


def test_the_verbs_of_one_broker_agree(tmp_path: Path) -> None:
    """They say that it should not start, and end with the same command, which names the other brokers."""
    with tarfile.open(PACKED["stray-directories"]) as tar:
        tar.extractall(tmp_path, filter="data")
    folder = tmp_path / "broker-1"
    why = "solo-0 would start empty, because no directory is here and no other broker has a replica"
    for verb, verdict in (
        ((), "should not start: "),
        (("predict",), "should not start: "),
        (("preflight",), "  loss P302 "),
    ):
        named = folder / "server.properties" if verb == ("preflight",) else folder
        lines = command(*verb, named, "--metadata", tmp_path / "controller", columns=200).out.splitlines()
        assert f"{verdict}{why}" in lines[2:4], verb
        assert f"  kcheck recover {named} 2=PATH 3=PATH --metadata {tmp_path / 'controller'}" == lines[-1], verb


def test_missing_directories_are_not_called_intact(tmp_path: Path) -> None:
    """Without their disks nothing is found, but the screen does not say so, and names them."""
    with tarfile.open(PACKED["internal-topics-removed"]) as tar:
        tar.extractall(tmp_path, filter="data")
    shown = command(tmp_path / "broker-1", columns=200)
    assert "No problems found" not in shown.out
    assert f"  kcheck recover {tmp_path / 'broker-1'} 2=PATH 3=PATH --metadata PATH" == shown.out.splitlines()[-1]
    assert 0 == shown.code
    cost = command("recover", tmp_path, columns=200).out
    assert "Groups whose offsets are lost start again where auto.offset.reset says." in cost
    assert "read_committed consumers stop at them." in cost
