"""Incidents on real brokers in which a replica out of sync was elected: what kcheck says before the start."""

from pathlib import Path

import pytest

import kcheck
from kcheck.core.election.steps import RecoveryAction, self_elected
from tests.cli.command import kcheck as command
from tests.oracle.incidents.kept import PLACE, unpacked

UNCLEAN = "unclean.leader.election.enable"


def premises(path: Path, metadata: Path) -> list[tuple[str, str]]:
    """Return the reasons against a start that are premises, with their kinds."""
    said = kcheck.preflight(path, metadata=[metadata]).to_dict()
    return [(row["premise"], row["kind"]) for row in said["reasons"]]


def test_a_controller_whose_settings_allow_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Broker 1 of 3.9.2 registered first, without 47 records that broker 2 had; no metadata had the setting."""
    kept = unpacked(PLACE / "3.9.2-kraft-unclean-allowed-z9d.tar.xz", tmp_path / "incident")
    monkeypatch.chdir(kept.folder)
    assert sum(map(len, kept.truth.lost.values())) == 47
    brokers, metadata = ["1=broker-1", "2=broker-2"], [Path("controller/data1")]
    said = kcheck.elect(*brokers, metadata=metadata).to_dict()
    (all_started,) = (row for row in said["scenarios"] if row["name"] == "start-all")
    assert (all_started["lost"]["records"], all_started["lost"]["at_most"]) == (None, 48)
    assert UNCLEAN not in said["verdict"]
    assert premises(Path("broker-1/server.properties"), metadata[0]) == [("P601", "unknown")]
    assert premises(Path("broker-2/server.properties"), metadata[0]) == []

    settings = Path("controller/server.properties")
    settings.rename("controller.properties")
    unseen = kcheck.elect(*brokers, metadata=metadata).to_dict()
    assert unseen["scenarios"][0] == all_started
    unknown = "It is not known if the controllers elect replicas that are not in sync"
    assert f"{unknown} ({UNCLEAN}). If they do, records of orders-0, orders-1" in unseen["verdict"]
    assert premises(Path("broker-1/server.properties"), metadata[0]) == [("P601", "unknown")]
    for named in ({"config": Path("controller.properties")}, {"metadata": [Path("controller.properties")]}):
        assert kcheck.elect(*brokers, **{"metadata": metadata, **named}).to_dict()["verdict"] == said["verdict"]

    text = Path("controller.properties").read_text("utf-8")
    settings.write_text(text.replace(f"{UNCLEAN}=true", f"{UNCLEAN}=false"), "utf-8")
    safe = kcheck.elect(*brokers, metadata=metadata).to_dict()
    assert (safe["scenarios"][0]["lost"]["records"], UNCLEAN in safe["verdict"]) == (0, False)
    assert premises(Path("broker-1/server.properties"), metadata[0]) == []


def test_a_broker_that_an_unclean_leader_cuts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Broker 2 of 4.3.1 was elected while broker 3 was down, which then truncated to 25, below its high watermark."""
    kept = unpacked(PLACE / "4.3.1-kraft-spoil-metadata-log-m1.tar.xz", tmp_path / "incident")
    monkeypatch.chdir(kept.folder)
    assert any(
        "Truncating audit-0 to offset 25 below high watermark 26" in line for line in kept.truth.said["broker-3"]
    )
    metadata = Path("controller/data1")
    waits = [("P850", "unknown")]  # Broker 1 has no replica there.
    for number, expected in ((1, []), (2, waits), (3, [("P602", "loss")])):
        assert premises(Path(f"broker-{number}/server.properties"), metadata) == expected
        named = (f"broker-{number}/server.properties", "--metadata", str(metadata))
        assert {command("predict", *named).code, command(*named).code} == {len(expected)}
    said = kcheck.preflight(Path("broker-3/server.properties"), metadata=[metadata], allow=["P602"]).to_dict()
    assert (said["may_start"], said["reasons"][0]["dir"]) == (True, None)
    assert (
        "starting broker 3 loses its records that broker 2 lacks, at most 26 (offsets 0-25)"
        in said["reasons"][0]["why"]
    )
    found = kcheck.check(Path("broker-3/server.properties"), metadata=[metadata]).to_dict()["findings"]
    assert [("KC254", "error")] == [(row["id"], row["severity"]) for row in found if row["severity"] == "error"]


def test_an_unclean_election_by_the_transactions_of_zookeeper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Brokers of 2.8.2: broker 2 was elected while broker 1 was down, which then cut 45 records."""
    kept = unpacked(PLACE / "2.8.2-zk-nothing-v1.tar.xz", tmp_path / "incident")
    monkeypatch.chdir(kept.folder)
    assert {name: len(lost) for name, lost in kept.truth.lost.items()} == {"orders-1": 40, "orders-2": 5}
    for number, expected in ((1, {"P602"}), (2, {"P850"})):
        said = kcheck.preflight(
            Path(f"broker-{number}/server.properties"), metadata=[Path("zookeeper")], kafka="2.8.2"
        ).to_dict()
        assert {row["premise"] for row in said["reasons"]} == expected
    found = kcheck.check(Path("broker-1/server.properties"), metadata=[Path("zookeeper")], kafka="2.8.2").to_dict()
    (row,) = (row for row in found["findings"] if row["id"] == "KC254" and row["dir"] == "orders-1")
    assert (row["severity"], "became the leader in transaction 0x" in row["message"]) == ("error", True)


def test_recover_starts_no_broker_that_is_elected_without_a_missing_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The real controller elected broker 1 by itself, and 47 records of broker 2 were lost. Its disks come first."""
    kept = unpacked(PLACE / "3.9.2-kraft-unclean-allowed-z9d.tar.xz", tmp_path / "incident")
    monkeypatch.chdir(kept.folder)
    lost = {name for name, offsets in kept.truth.lost.items() if offsets}
    answer = kcheck.recover("1=broker-1", metadata=["controller/data1"], out="plan")
    (bring,) = answer.steps
    assert (bring.kind, bring.brokers) == (RecoveryAction.BRING, (2,))
    forced = [*self_elected(answer.recovery)]
    assert lost <= {row.partition.name for row in forced}
    assert {(row.leader, row.missing) for row in forced} == {(1, (2,))}
    (now,) = kcheck.recovery_progress("plan", "1=broker-1", metadata=["controller/data1"]).steps
    assert now.final is None
    whole = kcheck.recover("1=broker-1", "2=broker-2", metadata=["controller/data1"])
    assert [step.forces for step in whole.steps if step.forces] == []
    assert [step.brokers for step in whole.steps if step.kind is RecoveryAction.START] == [(2,), (1,)]

    settings = Path("controller/server.properties")
    settings.rename("controller.properties")
    (case,) = (
        row for row in kcheck.recover("1=broker-1", metadata=["controller/data1"]).cases if UNCLEAN in row.condition
    )
    assert case.condition == f"{UNCLEAN} is true on a controller"
