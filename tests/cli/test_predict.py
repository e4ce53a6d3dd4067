"""`kcheck predict`, and `kcheck PATH` without a verb: exit codes and what stands where."""

import json
from pathlib import Path

import pytest

from tests.builders import broker, checkpoint, log_dir, partition_dir, partition_metadata, run, write
from tests.cli.command import kcheck


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work where the log dir is, and write one."""
    monkeypatch.chdir(tmp_path)
    path = broker(Path("d"), run(0, 9))
    write(path / "t-0", {f"{0:020d}.timeindex": b""})


def lose() -> None:
    """Let the next start delete the log."""
    write(Path("d"), {"log-start-offset-checkpoint": checkpoint(["t 0 99"])})


def test_exit_codes() -> None:
    """0 where it boots, 1 where records go, unless only worse is to fail; 2 for what makes no sense."""
    assert kcheck("predict", "d").code == 0
    lose()
    assert kcheck("predict", "d").code == 1
    assert kcheck("predict", "d", "--fail-on", "fatal").code == 0
    assert kcheck("predict", "d", "-D", "segment.index.bytes=x").code == 2
    write(Path("d"), {"log-start-offset-checkpoint": b"1\n"})
    done = kcheck("predict", "d", "--fail-on", "fatal")
    assert done.code == 1
    assert "The broker halts if it has no other log dir." in done.out


def test_a_path_without_a_verb() -> None:
    """The verdict, the partition that loses, and the next command come first, then what check finds."""
    lose()
    done = kcheck("d")
    assert done.code == kcheck("check", "d").code
    assert done.out.startswith(
        "Kafka 4.3 (files fit 3.7 and later; --kafka RELEASE to change; 3.7 does not\n    differ)\n\n"
        "d   broker 1: will boot but lose 10 records\n"
        "  t-0 loses 10 records (offsets 0-9), 100 B, 10 of them below the high\n"
        "    watermark: the log start 99 is above the log end 10: the broker deletes\n"
        "    every segment\n"
        "What the cluster expects of broker 1 now is not known: "
    )
    assert done.out.endswith("\nNext:\n  kcheck repair d -o plan.json\n")
    assert "KC211" in done.out
    document = json.loads(kcheck("d", "--format", "json").out)
    assert ["will boot but lose 10 records"] == [row["verdict"] for row in document["predictions"]]
    predicted = json.loads(kcheck("predict", "d", "--format", "json").out)["log_dirs"]
    shown = [partition for row in document["predictions"] for partition in row["partitions"]]
    assert shown == [
        {k: v for k, v in row.items() if k in shown[0]} for start in predicted for row in start["partitions"]
    ]


def test_each_partition_that_suffers_is_named() -> None:
    """Also one whose damage the headers do not show; those that share a reason share a line."""
    log_dir(Path("k"), clean=False)
    for number in range(5):
        partition_dir(Path(f"k/stray-{number}"), [run(0, 9)])
    damaged = Path("k/t-0")
    partition_dir(damaged, [run(0, 9), run(10, 19)])
    write(damaged, {"partition.metadata": partition_metadata()})
    log = damaged / f"{10:020d}.log"
    data = log.read_bytes()
    log.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    first = " ".join(kcheck("k", "--kafka", "4.3").out.partition("\n\n")[2].split())
    assert first.startswith("k broker 1: will boot but lose 10 records and not serve 5 partitions t-0 loses")
    assert "the CRC of the batch at" in first
    assert "stray-0, stray-1, stray-2 and 2 more: stray, partition.metadata is missing" in first


def test_a_word_that_is_no_path_is_no_verb() -> None:
    assert kcheck("nothing-like-this").code == 2


def test_what_was_not_certain_is_said() -> None:
    """Several swaps up to 2.8: their order is that of the file system."""
    log = Path("d/t-0") / f"{0:020d}.log"
    for base in (0, 5):
        (log.parent / f"{base:020d}.log.swap").write_bytes(log.read_bytes())
    assert "Uncertain: the file system decides" in kcheck("predict", "d", "--kafka", "2.8").out
    assert "Uncertain" not in kcheck("predict", "d", "--kafka", "4.3").out
