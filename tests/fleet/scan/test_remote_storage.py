"""The tables of remote storage in a scan of a fleet, of clusters that real brokers of 4.3.1 left."""

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from kcheck.fleet.scan.local_engine import scan
from kcheck.verbs.tiered import tiered
from tests.cli.command import document
from tests.cli.command import kcheck as command
from tests.fleet.scan.test_local_engine import tables
from tests.fleet.spark.test_engine import asked
from tests.tiered_states import GAP, KILLED, LOST, OBJECTS, OLD_LEADER, REFUSED, state

Rows = dict[str, list[dict[str, Any]]]


def scanned(out: Path, *roots: Path, **how: Any) -> Rows:
    """Return the tables of a scan."""
    scan([str(root) for root in roots], asked(out, "one", **how))
    return tables(out / "run=one")


def test_replicas_that_must_not_lead(tmp_path: Path) -> None:
    """A preferred election deleted offsets 0 to 23; check of the directories says the same."""
    of = state(OLD_LEADER, "4-back", tmp_path)
    rows = scanned(tmp_path / "out", *(of / name for name in ("broker-1", "broker-2", "controller")))
    bad = [row for row in rows["tiered_partitions"] if row["must_not_lead"]]
    assert [(row["broker_id"], row["topic"], row["lost_if_leads"], row["deleted_if_leads"]) for row in bad] == [
        (1, "uncl", 24, 8)
    ]
    assert [(row["id"], row["dir"]) for row in rows["findings"] if row["severity"] == "error"] == [("KC411", "uncl-0")]
    assert Counter((row["topic"], row["lineage"], row["state"]) for row in rows["remote_segments"]) == {
        ("empty", "older", "delete-finished"): 4, ("empty", "current", "copy-finished"): 3,
        ("uncl", "current", "copy-finished"): 9, ("uncl", "older", "copy-finished"): 3,
        ("wipe", "current", "copy-finished"): 4,
    }  # fmt: skip
    assert rows["remote_objects"] == []


def test_the_page_names_replicas_that_must_not_lead(tmp_path: Path) -> None:
    """First the one that loses most; with the command that says who should lead instead."""
    of, out = state(OLD_LEADER, "4-back", tmp_path), tmp_path / "out"
    scanned(out, *(of / name for name in ("broker-1", "broker-2", "controller")))
    body = document("fleet", "report", out / "run=one")
    (row,) = body["remote"]
    assert (body["remote_count"], row["broker_id"], row["topic"], row["lost_if_leads"]) == (1, 1, "uncl", 24)
    assert (row["must_not_lead"], row["deleted_if_leads"], row["gap_from"]) == (True, 8, None)
    assert row["command"].startswith("kcheck elect --from ")
    shown = command("fleet", "report", out / "run=one", "--html", tmp_path / "page.html")
    assert "lose or hide remote records if they lead" in shown.out
    page = (tmp_path / "page.html").read_text()
    assert "<div>must not lead</div>" in page
    assert 'href="#remote-h"' in page


@pytest.mark.parametrize("at_once", [7, 1000])
def test_objects_of_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    """Every object is of a finished segment; one more file is none of Kafka, and one segment has no record."""
    monkeypatch.setattr("kcheck.fleet.scan.remote_storage._OBJECT_COUNT", at_once)
    of = state(OLD_LEADER, "4-back", tmp_path)
    (of / "store/other").write_bytes(b"x")
    orphan = of / f"store/t-0-{'A' * 22}/{0:020d}-{'B' * 22}.log"
    orphan.parent.mkdir()
    orphan.write_bytes(b"x")
    roots = [of / name for name in ("broker-1", "broker-2", "controller")]
    rows = scanned(tmp_path / "out", *roots, store=str(of / "store"))
    found = Counter(row["verdict"] for row in rows["remote_objects"])
    assert found == {"used": 95, "other": 1, "not-known": 1}  # Written after the scan began: too young for an orphan.
    assert sum(row["remote_bytes"] or 0 for row in rows["remote_segments"]) == sum(
        row["bytes"] for row in rows["remote_objects"] if row["verdict"] == "used"
    )


def test_lost_metadata_is_seen(tmp_path: Path) -> None:
    """The directories of __remote_log_metadata are removed; the cluster's metadata still has the topic."""
    of = state(LOST, "1b-dirs-removed", tmp_path)
    rows = scanned(tmp_path / "out", of / "broker-1")
    assert sorted((row["id"], row["dir"]) for row in rows["findings"] if row["severity"] == "fatal") == [
        ("KC245", "m-0"), ("KC245", "n-0"),
    ]  # fmt: skip
    assert [(row["metadata"], row["lost_if_leads"]) for row in rows["tiered_partitions"]] == [("missing", 20)] * 2


def with_settings(of: Path, remote: str = "true") -> list[str]:
    """Write the server.properties of each broker next to its log dir, and return its log dirs and its controller's."""
    folders = sorted((*of.glob("broker-*"), *of.glob("controller")))
    for folder in folders:
        own = of / f"{folder.name}-node"
        own.mkdir()
        folder.rename(own / "data")
        (own / "server.properties").write_text(f"log.dirs={own}/data\nremote.log.storage.system.enable={remote}\n")
    return [str(of / f"{folder.name}-node" / "data") for folder in folders]


@pytest.mark.parametrize(
    ("incident", "name", "remote"),
    [
        (KILLED, "4-joined", "true"), (OLD_LEADER, "4-back", "true"), (LOST, "1b-dirs-removed", "true"),
        (REFUSED, "1-failing", "true"), (GAP, "3-gap", "true"), (OBJECTS, "1-stopped", "false"),
    ],
)  # fmt: skip
def test_premises_about_remote_storage_are_judged_as_on_disks(
    incident: str, name: str, remote: str, tmp_path: Path
) -> None:
    """A run had none of them. Its elections were green while the store refused deletes, or with remote storage off."""
    of = state(incident, name, tmp_path)
    disks, out = with_settings(of, remote), tmp_path / "out"
    rows = scanned(out, of)
    ids = {"P319", "P811", "P812", "P813", "P821", "P822", "P823"}
    found = {(row["id"], row["broker_id"], row["status"], row["sentence"]) for row in rows["premises"]}
    wanted = document("predict", *disks)["premises"]
    expected = {(row["id"], row["broker_id"], row["status"], row["sentence"]) for row in wanted}
    assert {row for row in found if row[0] in ids} == {row for row in expected if row[0] in ids}
    refuted = {row[0] for row in found if row[2] == "refuted"} & ids
    assert refuted
    if refuted & {"P319", "P821"}:
        for verb in ("elect", "recover"):
            answer = command(verb, "--from", out / "run=one")
            assert (answer.code, "nothing is lost" in answer.out, "Not counted" in answer.out) == (1, False, True)


def test_replicas_whose_metadata_is_elsewhere(tmp_path: Path) -> None:
    """Another broker has the partitions of __remote_log_metadata: no replica may be called safe, nor the page green."""
    of, out = state(OLD_LEADER, "4-back", tmp_path), tmp_path / "out"
    for folder in (of / "broker-1").glob("__remote_log_metadata-*"):
        shutil.rmtree(folder)
    rows = scanned(out, of / "broker-1", of / "controller")
    known = {(row["metadata"], row["must_not_lead"], row["lost_if_leads"]) for row in rows["tiered_partitions"]}
    assert known == {("not-given", None, None)}
    body = document("fleet", "report", out / "run=one")
    assert body["remote_count"] == len(rows["tiered_partitions"])
    command("fleet", "report", out / "run=one", "--html", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "<div>not known</div>" in page
    assert "Every replica may lead" not in page


def test_deletions_by_retention(tmp_path: Path) -> None:
    """The columns are those of `kcheck tiered`: the next pass of retention takes 20-24."""
    of = state(REFUSED, "1-failing", tmp_path)
    rows = scanned(tmp_path / "out", of / "broker-1")
    names = (
        "log_start_at_least", "log_start_at_most", "first_expiry_ms", "last_expiry_ms", "segments_below_log_start",
        "local_start_at_most", "local_first_expiry_ms",
    )  # fmt: skip
    found = {row["topic"]: {name: row[name] for name in names} for row in rows["tiered_partitions"]}
    said = document("tiered", str(of / "broker-1"))["replicas"]
    assert found == {row["topic"]: row["retention"] for row in said}
    assert (found["more"]["log_start_at_least"], found["more"]["log_start_at_most"]) == (25, 25)


def test_log_dirs_that_are_gone_are_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their remote part is not read a second time, and the run says so."""
    of = state(OLD_LEADER, "4-back", tmp_path)

    def removed(*args: Any, **how: Any) -> Any:
        shutil.rmtree(of)
        return tiered(*args, **how)

    monkeypatch.setattr("kcheck.fleet.scan.remote_storage.tiered", removed)
    rows = scanned(tmp_path / "out", of / "broker-1", of / "broker-2", store=str(tmp_path))
    (found,) = (row for row in rows["findings"] if row["id"] == "KC000")
    assert found["message"].startswith("kcheck failed here: remote storage was not read")
    assert rows["tiered_partitions"] == []
