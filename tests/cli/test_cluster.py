"""`kcheck cluster` as a shell runs it."""

import json
from pathlib import Path

import pytest

from tests.builders import write
from tests.cli.command import kcheck
from tests.record_bytes import batch_of, record
from tests.test_brokers import BROKERS

STOPPED = BROKERS / "4.3.1" / "stopped" / "broker-3"
METADATA = "__cluster_metadata-0"
TOPIC_ID = bytes(15) + b"\7"


def test_health_comes_first() -> None:
    done = kcheck("cluster", STOPPED, columns=120)
    lines = done.out.splitlines()
    assert (done.code, done.err) == (0, "")
    assert lines[0].startswith("Kafka 4.3")
    assert lines[lines.index("", 2) + 1].startswith("every broker is stopped")


def test_a_topic() -> None:
    shown = json.loads(kcheck("cluster", STOPPED, "--topic", "plain", "--format", "json").out)
    assert {row["topic"] for row in shown["partitions"]} == {"plain"}


@pytest.mark.parametrize(
    "options", [("--at", "-1"), ("--at", "9999"), ("--at", "0xg"), ("--fetchers", "0"), ("--changes", "plain")]
)
def test_wrong_arguments(options: tuple[str, str]) -> None:
    done = kcheck("cluster", STOPPED, *options)
    assert (done.code, done.out) == (2, "")
    assert options[0] in done.err


def test_a_zxid_is_hexadecimal_or_decimal() -> None:
    one, other = (kcheck("cluster", BROKERS.parent / "zookeeper" / "3.9.2", "--at", zxid) for zxid in ("0x30", "48"))
    assert one == other
    assert "up to transaction 0x30" in " ".join(one.out.split())


def test_no_metadata(tmp_path: Path) -> None:
    done = kcheck("cluster", write(tmp_path / "d", {"meta.properties": b"version=1\n"}))
    assert done.code == 2
    assert f"no cluster metadata in {tmp_path}/d" in done.err


def test_names_from_the_disk_are_escaped(tmp_path: Path) -> None:
    """A topic whose name would clear the screen."""
    name = b"\x1b[2Jx"
    topic = b"\1\2\0" + bytes([len(name) + 1]) + name + TOPIC_ID + b"\0"
    replica = b"\2" + (1).to_bytes(4, "big")
    partition = (
        b"\1\3\0" + bytes(4) + TOPIC_ID + replica + replica + b"\1\1" + (1).to_bytes(4, "big") + bytes(8) + b"\0"
    )
    log = batch_of(record(0, None, topic) + record(1, None, partition), 2)
    write(tmp_path / METADATA, {f"{0:020d}.log": log})
    done = kcheck("cluster", tmp_path / METADATA, "--all")
    assert "\x1b" not in done.out
    assert "\\x1b[2Jx-0" in done.out


def test_a_cluster_without_anything(tmp_path: Path) -> None:
    """A log of one record that says nothing."""
    write(tmp_path / METADATA, {f"{0:020d}.log": batch_of(record(0, None, b"\1\x14\0\0"), 1)})
    done = kcheck("cluster", tmp_path / METADATA)
    assert done.code == 0
    assert "healthy when this metadata was written: 0 partitions" in done.out
    assert "The metadata does not show the logs. kcheck recover compares the disks of all brokers." in " ".join(
        done.out.split()
    )
    assert "no broker fetches" in kcheck("cluster", tmp_path / METADATA, "--fetchers", "1").out
