"""What a run says of the premises of the next starts: tables, report, elections, exit codes."""

import json
import shutil
from pathlib import Path
from typing import Any, cast

import pytest

from kcheck.errors import KcheckError
from kcheck.fleet.not_known import not_known
from kcheck.fleet.run import FleetRun, open_run
from kcheck.fleet.runs import premises
from kcheck.fleet.runs.premises import open_premises
from tests.cli.command import kcheck
from tests.fleet.runs.test_report import reported
from tests.fleets import START, forged
from tests.test_brokers import BROKERS

STOPPED = BROKERS / "4.3.1" / "stopped"
PREMISE: dict[str, Any] = {
    "cluster": "c", "broker": "1", "broker_id": 1, "id": "P701", "status": "refuted",
    "sentence": "/d is a copy from before", "evidence": '[{"path": "/d/x", "says": "epoch 1"}]',
}  # fmt: skip


def directory_id(path: Path) -> str:
    """Return the line of a meta.properties that has the directory id."""
    return next(line for line in path.read_text().splitlines() if line.startswith("directory.id="))


def test_a_cloned_disk_in_a_fleet(tmp_path: Path) -> None:
    """The run, its report and its elections say the sentence of predict, and end with exit code 3."""
    fleet = tmp_path / "fleet"
    for name in ("broker-1", "broker-2", "broker-3"):
        shutil.copytree(STOPPED / name, fleet / name)
    meta = fleet / "broker-1" / "data2" / "meta.properties"
    clone = directory_id(fleet / "broker-2" / "data1" / "meta.properties")
    meta.write_text(meta.read_text().replace(directory_id(meta), clone))
    told = json.loads(kcheck("predict", fleet / "broker-1", fleet / "broker-3", "--format", "json").out)
    (sentence,) = {row["sentence"] for row in told["premises"] if row["status"] == "refuted" and row["id"] == "P106"}
    out = tmp_path / "out"
    assert kcheck("fleet", "scan", f"{fleet}/{{broker}}/{{log_dir}}", "--output-dir", out).code == 3
    run = open_run(str(out))
    rows: list[dict[str, Any]] = [
        row for batch in run.batches("premises", ("broker", "id", "status", "sentence")) for row in batch.to_pylist()
    ]
    refuted = {"broker": "broker-1", "id": "P106", "status": "refuted", "sentence": sentence}
    assert refuted in rows
    assert {row["broker"] for row in rows} == {"broker-1", "broker-2", "broker-3"}
    report = kcheck("fleet", "report", out, "--html", tmp_path / "r.html")
    assert report.code == 3  # The registered log dir is missing.
    assert f"it will not boot again: {sentence}." in " ".join(report.out.split())
    assert "is registered by broker 2" in (tmp_path / "r.html").read_text()
    election = json.loads(kcheck("elect", "--from", out, "--format", "json").out)
    assert (1, sentence) in {(gap["broker_id"], gap["why"]) for gap in election["gaps"]}
    assert ("P106", sentence) in {(row["id"], row["sentence"]) for row in election["premises"]}


def test_a_premise_without_which_a_broker_loses(tmp_path: Path) -> None:
    """It is an action of its own: the broker starts."""
    found = reported(forged(tmp_path, predictions=[START], premises=[PREMISE, {**PREMISE, "status": "proven"}]))
    (action,) = found["actions"]
    assert action["kind"] == "premise-refuted"
    assert action["what"].startswith("Do not restart broker 1 of c yet: /d is a copy from before. Find the newest disk")
    assert (1, ["P701"]) == (found["premises_refuted"], [row["id"] for row in found["premises"]])


def test_many_premises_and_a_damaged_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A report lists the first, and counts all; what is damaged is an error."""
    monkeypatch.setattr(premises, "SHOWN_COUNT", 1)
    run = forged(tmp_path, predictions=[START], premises=[PREMISE, PREMISE])
    found = reported(run)
    assert (2, 1) == (found["premises_refuted"], len(found["premises"]))
    assert [1, 1] == [len(premise.evidence) for premise in open_premises(open_run(str(run)), "c")]
    bad = forged(tmp_path, "bad", premises=[{**PREMISE, "evidence": "["}])
    with pytest.raises(KcheckError, match="invalid evidence of a premise"):
        open_premises(open_run(str(bad)), "c")


def test_why_a_broker_will_not_boot(tmp_path: Path) -> None:
    """The reason of the log dir; that of an offline one if none aborts."""
    rows = [{**START, "log_dir": "/e", "outcome": "offline", "reason": "will go offline: a disk"}]
    (start,) = reported(forged(tmp_path, "one", predictions=[START, *rows]))["broker_starts"]
    assert start["why"] == "a disk"
    rows.append({**START, "outcome": "abort", "reason": "will not boot: a file: of root"})
    found = reported(forged(tmp_path, "two", predictions=rows))
    assert [found["broker_starts"][0]["why"], found["brokers"][0]["why"]] == ["a file: of root"] * 2
    assert "Do not stop broker 1 of c: it will not boot again: a file: of root." == found["actions"][0]["what"]


def test_a_log_dir_of_zookeeper_that_nothing_names(tmp_path: Path) -> None:
    """The scan says that it would not see it, and so does the report; next to its settings it is a finding."""
    zookeeper = BROKERS / "2.8.2" / "stopped"
    fleet = tmp_path / "fleet"
    for name in ("broker-1", "broker-2"):
        shutil.copytree(zookeeper / name, fleet / name)
    out = tmp_path / "out"
    words = ["fleet", "scan", f"{fleet}/{{broker}}/{{log_dir}}", "--output-dir", out, "--format", "json"]
    scan = kcheck(*words, "--run", "r")
    (row,) = json.loads(scan.out)["not_known"]
    assert row.startswith("not known (P303): what the cluster expects of broker 1 is not known, because its metadata")
    assert "No server.properties is next to its log dirs, so the scan does not see if one of them is missing" in row
    assert row.endswith("name kcheck recover --metadata with ZooKeeper's data directory. The same for 1 more node")
    report = kcheck("fleet", "report", out / "run=r", "--html", tmp_path / "r.html")
    assert "not known (P303): what the cluster expects of broker 1" in " ".join(report.out.split())
    assert "not known (P303): what the cluster expects of broker 1" in (tmp_path / "r.html").read_text()
    assert json.loads(kcheck("fleet", "report", out / "run=r", "--format", "json").out)["not_known"] == [row]
    paths = ",".join(str(path) for path in sorted(fleet.glob("broker-1/*")) if path.is_dir())
    (fleet / "broker-1" / "server.properties").write_text(f"broker.id=1\nlog.dirs={paths},{fleet}/broker-1/gone\n")
    with_settings = kcheck(*words, "--run", "s")
    assert with_settings.code == 3
    assert "No server.properties" not in json.loads(with_settings.out)["not_known"][0]


def test_unseen_facts_of_many_brokers_are_said_once() -> None:
    """What only the host shows is not among them, nor a premise of another kcheck."""
    rows: list[dict[str, Any]] = [
        {"id": "P303", "status": "not-seen", "sentence": "a", "provide": "b"},
        {"id": "P401", "status": "not-seen", "sentence": "host", "provide": "preflight"},
        {"id": "P999", "status": "not-seen", "sentence": "new", "provide": "c"},
        {"id": "P303", "status": "proven", "sentence": "d", "provide": None},
    ]
    assert not_known(cast("FleetRun", _Rows(rows))) == ("not known (P303): a; name b",)
    more = [{**rows[0], "sentence": str(number)} for number in range(3)]
    assert not_known(cast("FleetRun", _Rows(more))) == ("not known (P303): 0; name b. The same for 2 more nodes",)
    clusters = [
        {"cluster": name, "voters": "[100]", "copy_ends": f"[[{number}, 1, 9]]"}
        for name, number in (("a", 1), ("b", 100))
    ]
    (said,) = not_known(cast("FleetRun", _Rows([], *clusters)))
    assert "not known: the newest metadata of a; name the log dirs of controllers in ROOT" == said


class _Rows:
    """The tables `premises` and `clusters` of a run."""

    def __init__(self, rows: list[dict[str, Any]], *clusters: dict[str, Any]) -> None:
        self._tables = {"premises": rows, "clusters": clusters}

    def values(self, table: str, columns: tuple[str, ...]) -> list[tuple[Any, ...]]:
        return [tuple(row[name] for name in columns) for row in self._tables[table]]
