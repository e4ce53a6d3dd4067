"""`fleet scan --server-logs`: the messages of matching logs are rows, and what they prove is believed."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from kcheck.errors import KcheckError, UsageError
from kcheck.fleet.scan import broker_logs
from kcheck.fleet.scan.broker_logs import FleetLog, in_tasks, read_logs
from kcheck.fleet.scan.releases import ReleaseOptions
from kcheck.verbs.explain_log import explain_log, messages_of
from tests.builders import log_dir, partition_dir, run
from tests.fleet.scan.test_local_engine import scanned

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

LOG = Path(__file__).parents[3] / "fixtures" / "logs" / "4.3.1" / "server.log"
START = "[2026-11-24 {}:00:00,000] INFO [KafkaServer id={}] started (kafka.server.KafkaServer)\n"
VERSION = "[2026-11-24 {}:00:00,000] INFO Kafka version: {} (org.apache.kafka.common.utils.AppInfoParser)\n"


def fleet(folder: Path, *brokers: int) -> str:
    """Make log dirs of brokers, with nothing that tells their release; return the layout."""
    for number in brokers:
        path = folder / "mnt" / "c" / f"b{number}" / "d"
        log_dir(path, broker_id=number, recovery_point={"t-0": 10}, high_watermark={"t-0": 10})
        partition_dir(path / "t-0", [run(0, 9)])
    return str(folder / "mnt" / "{cluster}" / "{broker}" / "{log_dir}")


def log_of(path: Path, *, broker: int, version: str, hour: str = "01", more: str = "") -> Path:
    """Write the log of a broker."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(VERSION.format(hour, version) + START.format(hour, broker) + more)
    return path


def test_rows_are_those_of_explain(tmp_path: Path) -> None:
    """In the order of brokers, then of time, whatever the files are called and how many tasks there are."""
    old = tmp_path / "logs" / "1" / "server.log.1.gz"
    old.parent.mkdir(parents=True)
    old.write_bytes(gzip.compress(LOG.read_bytes()))
    log_of(tmp_path / "logs" / "1" / "server.log", broker=1, version="4.3.1", hour="02")
    log_of(tmp_path / "logs" / "0" / "server.log", broker=0, version="4.2.0")
    root = fleet(tmp_path, 0, 1)
    for jobs in (1, 2):
        logs = (str(tmp_path / "logs" / "*" / "server.log*"),)
        _, rows = scanned(tmp_path, root, logs=logs, jobs=jobs, name=f"j{jobs}")
        files = [*dict.fromkeys((row["cluster"], row["broker"], Path(row["file"]).name) for row in rows["log_events"])]
        assert files == [("c", "b0", "server.log"), ("c", "b1", "server.log.1.gz"), ("c", "b1", "server.log")]
        own = [row for row in rows["log_events"] if row["file"] == str(old)]
        body: Any = explain_log([str(old)], [], [], kafka="auto", since=None).report().body
        expected = [
            {**row, "values": json.dumps(row["values"]), "findings": json.dumps(row["findings"])}
            for row in body["lines"]
        ]
        assert all(row.pop("candidates") == () for row in expected)
        assert expected == [{name: row[name] for name in expected[0]} for row in own]


def test_a_log_proves_the_release_of_its_broker(tmp_path: Path) -> None:
    """By the names in both layouts, or by the id in the log; the last start counts, and a log of nobody does not."""
    root = fleet(tmp_path, 1, 2, 3)
    logs = tmp_path / "logs"
    log_of(logs / "b1" / "server.log.1", broker=1, version="3.7.0", hour="01")
    log_of(logs / "b1" / "server.log", broker=1, version="3.8.1", hour="02")
    log_of(logs / "pod-x" / "server.log", broker=2, version="3.9.0")
    log_of(logs / "pod-y" / "server.log", broker=9, version="3.9.0")
    _, rows = scanned(tmp_path, root, logs=(str(logs / "{broker}" / "server.log*"),), auto=ReleaseOptions())
    kafka = {row["broker"]: (row["kafka"], row["kafka_from"]) for row in rows["log_dirs"]}
    assert ("3.8", "3.9") == (kafka["b1"][0], kafka["b2"][0])
    assert "broker's log" in str(kafka["b1"][1])
    assert "3.9" != kafka["b3"][0]
    brokers = {(row["cluster"], row["broker"], row["broker_id"]) for row in rows["log_events"]}
    assert {("c", "b1", 1), ("c", "b2", 2), (None, "pod-y", 9)} == brokers


def test_an_id_of_two_clusters_is_no_broker(tmp_path: Path) -> None:
    """The layout has to say which cluster a log is of."""
    for name in ("east", "west"):
        log_dir(tmp_path / "mnt" / name / "d", broker_id=1, cluster_id=name, high_watermark={})
    log_of(tmp_path / "logs" / "east" / "server.log", broker=1, version="2.6.1")
    root = str(tmp_path / "mnt" / "{cluster}" / "{log_dir}")
    owners: tuple[tuple[str, str | None], ...] = (("*", None), ("{cluster}", "east"))
    for names, cluster in owners:
        logs = (str(tmp_path / "logs" / names / "server.log"),)
        _, rows = scanned(tmp_path, root, logs=logs, name=f"of-{cluster}")
        assert {(cluster, "1")} == {(row["cluster"], row["broker"]) for row in rows["log_events"]}


def test_what_cannot_be_read_is_a_finding(tmp_path: Path) -> None:
    """A pipe, bytes that are no text, gzip data that end early; the other logs are read, links too."""
    root, logs = fleet(tmp_path, 1), tmp_path / "logs"
    log_of(logs / "a.log", broker=1, version="4.3.1")
    (logs / "b.log").symlink_to("a.log")
    (logs / "c.log").symlink_to("nowhere")
    (logs / "d.log").write_bytes(bytes(100))
    (logs / "e.log").write_bytes(gzip.compress(LOG.read_bytes())[:-20])
    report, rows = scanned(tmp_path, root, logs=(str(logs / "{broker}.log"),))
    assert report.unfinished
    names = [Path(row["file"]).name for row in rows["findings"] if row["id"] == "KC001"]
    assert ["c.log", "d.log", "e.log"] == names
    assert {"a.log", "e.log"} == {Path(row["file"]).name for row in rows["log_events"]}


def test_a_log_that_takes_too_long_hides_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails together is read one by one."""
    root, logs = fleet(tmp_path, 1), tmp_path / "logs"
    for name in ("a", "b", "c"):
        log_of(logs / f"{name}.log", broker=1, version="4.3.1")

    def of(log: Any, collected: Any) -> Any:
        assert not log.path.endswith("b.log")
        return messages_of(log, collected)

    monkeypatch.setattr(broker_logs, "messages_of", of)
    _, rows = scanned(tmp_path, root, logs=(str(logs / "*.log"),))
    assert [("KC000", str(logs / "b.log"))] == [(row["id"], row["file"]) for row in rows["findings"] if row["file"]]
    assert {"a.log", "c.log"} == {Path(row["file"]).name for row in rows["log_events"]}


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("{0}/none*", "no file matches"),
        ("{0}/none", "no file matches"),
        ("{0}/{{broker}}/{{log_dir}}", "{log_dir}: not one of {cluster}, {broker}"),
        ("{0}/nowhere/{{broker}}", ": not a directory"),
    ],
)
def test_a_pattern_without_a_log_is_a_mistake(pattern: str, said: str, tmp_path: Path) -> None:
    """Nothing is scanned then."""
    root = fleet(tmp_path, 1)
    with pytest.raises(UsageError, match=said.replace("{", r"\{")):
        scanned(tmp_path, root, logs=(pattern.format(tmp_path),))


def test_a_disk_that_refuses_ends_the_run() -> None:
    """With one line, not with a finding about the log."""
    with pytest.raises(KcheckError, match="cannot"):
        [*broker_logs.written(_Here(), [(FleetLog(str(LOG)),)], "/dev/null/x", {})]


class _Here:
    def run(self, groups: Any) -> Any:
        return ((key, [task.run() for task in tasks]) for key, tasks in groups)


def test_small_logs_share_a_task() -> None:
    """Large ones have one of their own."""
    sizes = (1, 64 << 20, 1, 1)
    groups = [*in_tasks(FleetLog(str(at), size=size) for at, size in enumerate(sizes))]
    assert [["0"], ["1"], ["2", "3"]] == [[log.path for log in group] for group in groups]
    assert [64, 36] == [len(group) for group in in_tasks([FleetLog("a")] * 100)]


def test_files_are_written_as_rows_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is that of a batch."""
    monkeypatch.setattr(broker_logs, "_BATCH_COUNT", 7)
    rows = read_logs([FleetLog(str(LOG), broker="1")], str(tmp_path / "x"), {})
    assert not isinstance(rows, str)
    assert [53] == [part.rows for part in rows.parts]
