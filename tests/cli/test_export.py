"""`kcheck export`: where records go, what stderr and the summary say, exit codes."""

import json
import os
import re
import shutil
import stat
import struct
import subprocess
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from kcheck.exports.left_out import UNWANTED, Omission
from tests.builders import batch_of, fingerprint, flip_byte, log_dir, record, write
from tests.cli.command import KCHECK, ROOT, environment, kcheck, shell
from tests.exports.logs import data, marker, segments
from tests.replicas.test_group_offsets import commit, key
from tests.replicas.test_group_offsets import value as committed

PAGE = (ROOT / "docs" / "export.md").read_text("utf-8")


@pytest.fixture
def broker(tmp_path: Path) -> Path:
    """Write a log dir with two partitions, and the offsets of a group."""
    folder = log_dir(tmp_path / "data")
    segments(folder / "t-0", [data(0), data(2, producer_id=1), marker(4, 1, 0), data(5)])
    segments(folder / "u-1", [data(10)])
    log = commit(0, key("g"), committed(5)) + commit(1, key("other"), committed(1))
    write(folder / "__consumer_offsets-0", {"00000000000000000000.log": log})
    return folder


def summary_of(path: Path) -> dict[str, dict[str, object]]:
    """Return the partitions of a summary by name."""
    document = json.loads(path.read_text())
    assert "kcheck.export/1" == document["schema"]
    return {f"{row['topic']}-{row['partition']}": row for row in document["partitions"]}


def test_records_go_to_stdout_and_the_rest_to_stderr(broker: Path) -> None:
    before = fingerprint(broker)
    done = shell("export", broker)
    assert (0, 8) == (done.code, done.out.count("\n"))
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert [("t", 0, 0), ("u", 1, 11)] == [
        (row["topic"], row["partition"], row["offset"]) for row in (lines[0], lines[-1])
    ]
    said = done.err.splitlines()
    assert f"t-0: 6 records (offsets 0-6) from {broker}/t-0" == said[0]
    assert "  left out: 1 control record (offset 4)" == said[1]
    assert "  of transactions: 2 records; --committed leaves out what was not committed" == said[2]
    assert f"Not exported: {broker}/__consumer_offsets-0: a topic that brokers write; --topic exports it" == said[-1]
    assert before == fingerprint(broker)
    quiet = shell("export", broker, "-q")
    assert (0, done.out, "") == (quiet.code, quiet.out, quiet.err)


def test_a_file_for_each_partition(broker: Path, tmp_path: Path) -> None:
    """Only the user can read them; a second run overwrites none."""
    out, summary = tmp_path / "out", tmp_path / "summary.json"
    arguments = ("export", broker, "--committed", "-o", f"{out}/", "--format", "kcat", "--summary", summary)
    done = kcheck(*arguments)
    assert (0, "") == (done.code, done.out)
    assert ["t-0.kcat", "u-1.kcat"] == sorted(os.listdir(out))
    assert 0o600 == stat.S_IMODE((out / "t-0.kcat").stat().st_mode)
    assert 4 == (out / "t-0.kcat").read_bytes().count(b"\x1e\x1d\x1c\x1f")
    row = summary_of(summary)["t-0"]
    assert (4, 0, 7, f"{out}/t-0.kcat") == (row["records"], row["from"], row["to"], row["file"])
    assert [("control", 1), ("aborted", 2)] == [(left["why"], left["records"]) for left in row["left_out"]]  # type: ignore[attr-defined]
    assert f"\nNext:\n  {row['produce']}\n" in done.err
    assert f"--summary {summary} already exists" in kcheck(*arguments).err
    summary.unlink()
    (out / "t-0.kcat").unlink()
    again = kcheck(*arguments)
    assert (2, f"kcheck: {out}/u-1.kcat already exists\n") == (again.code, again.err)
    assert ["u-1.kcat"] == os.listdir(out)


def test_one_file_for_all(broker: Path, tmp_path: Path) -> None:
    done = kcheck("export", broker, "-o", tmp_path / "all.ndjson")
    assert (0, 8) == (done.code, (tmp_path / "all.ndjson").read_bytes().count(b"\n"))
    assert done.err.endswith(f"Written: {tmp_path}/all.ndjson\n")
    done = kcheck("export", broker, "-o", tmp_path / "all.parquet", "--format", "parquet")
    table = pq.read_table(tmp_path / "all.parquet").to_pylist()
    assert (0, [*range(4), 5, 6, 10, 11]) == (done.code, [row["offset"] for row in table])
    assert b"10" == table[-2]["key"]


def test_offsets_of_a_group(broker: Path, tmp_path: Path) -> None:
    """The new offset is the number of exported records below the old one: two were aborted, a marker is no record."""
    done = kcheck("export", broker, "--committed", "-o", f"{tmp_path}/out/", "--reset-file", "g")
    assert (0, b"t,0,2\n") == (done.code, (tmp_path / "out" / "reset-offsets.csv").read_bytes())
    assert "  group g: offset 5 becomes 2 in an empty partition" in done.err
    assert f"--group g --reset-offsets --from-file {tmp_path}/out/reset-offsets.csv --execute" in done.err
    done = kcheck("export", broker / "t-0", "-o", tmp_path / "x", "--reset-file", "g")
    assert (0, b"t,0,4\n") == (done.code, (tmp_path / "x.reset-offsets.csv").read_bytes())


def test_offsets_of_another_log_dir(broker: Path, tmp_path: Path) -> None:
    """`--offsets` names it; without all of its records newer offsets may exist."""
    path = segments(tmp_path / "moved" / "t-0", [data(0)])
    arguments = ("export", path, "-o", tmp_path / "x", "--reset-file", "other")
    done = kcheck(*arguments)
    assert (2, True) == (
        done.code,
        "group other: no committed offset of these partitions in the given" in done.err,
    )
    with (broker / "__consumer_offsets-0" / "00000000000000000000.log").open("ab") as log:
        log.write(data(2).data[:-1])
    done = kcheck(*arguments, "--offsets", broker)
    assert (0, b"t,0,1\n") == (done.code, (tmp_path / "x.reset-offsets.csv").read_bytes())
    assert "Not all of __consumer_offsets could be read, so group other may have newer offsets." in done.err


def test_damage_is_1_and_is_told(broker: Path) -> None:
    flip_byte(broker / "u-1" / "00000000000000000010.log", -1)
    done = shell("export", broker)
    assert (1, 6) == (done.code, done.out.count("\n"))
    assert "  left out: 2 records damaged (offsets 10-11)" in done.err
    assert "position 0" in done.err


def test_a_record_that_does_not_fit_is_1(tmp_path: Path) -> None:
    path = segments(
        tmp_path / "t-0", [batch_of(0, record(0, key=b"k", value=b"\xff"), record(1, key=b"a", value=b"b"))]
    )
    done = kcheck("export", path, "--format", "console", "-o", tmp_path / "out")
    assert (1, b"\x1a\x1ea\x1fb\n") == (done.code, (tmp_path / "out").read_bytes())
    assert "  left out: 1 record not possible in this format: it is not UTF-8 (offset 0)" in done.err


def test_what_cannot_be_read_is_3(broker: Path) -> None:
    os.mkfifo(broker / "u-1" / "00000000000000000020.log")
    done = shell("export", broker)
    assert (3, 8) == (done.code, done.out.count("\n"))
    assert f"Not read: {broker}/u-1/00000000000000000020.log: " in done.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--format", "xml"), "--format xml: not one of ndjson, kcat, console, parquet"),
        (("--format", "parquet"), "--format parquet needs -o FILE or -o DIR"),
        (("--format", "kcat"), "--format kcat names no partition; choose one of t-0, u-1, or use -o DIR"),
        (("--topic", "x*"), "no partition matches"),
        (("--from", "3", "--to", "2"), "--from 3 --to 2: no offset is between them"),
        (("-o", "{}/out"), "choose a directory outside of every log dir"),
        (("-o", "{}/t-0/"), "choose a directory outside of every log dir"),
        (("--summary", "{}/x.json"), "choose a file outside"),
        (("--reset-file", "g"), "--reset-file needs -o FILE or -o DIR"),
    ],
)
def test_wrong_arguments_are_2(broker: Path, words: tuple[str, ...], message: str) -> None:
    before = fingerprint(broker)
    done = kcheck("export", broker, *(word.format(broker) for word in words))
    assert (2, "") == (done.code, done.out)
    assert message in done.err
    assert before == fingerprint(broker)


def test_raw_bytes_go_to_no_terminal(broker: Path) -> None:
    """They may hold what a terminal obeys."""
    leader, follower = os.openpty()
    command = [*KCHECK, "export", str(broker / "t-0"), "--format", "console"]
    done = subprocess.run(command, env=environment(), stdout=follower, stderr=subprocess.PIPE, check=False)
    os.close(leader)
    os.close(follower)
    assert (2, True) == (done.returncode, b"use -o FILE, or a pipe" in done.stderr)


def test_a_closed_pipe_is_no_error(broker: Path) -> None:
    segments(broker / "w-0", [data(at, value=b"x" * 60_000) for at in range(0, 40, 2)])
    command = [*KCHECK, "export", str(broker / "w-0")]
    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr is not None
        assert (b"", 0) == (process.stderr.read(), process.wait())


def test_a_hostile_name_is_escaped(tmp_path: Path) -> None:
    path = segments(tmp_path / "a\x1b[31m\udcff\n-0", [data(0)])
    done = shell("export", path, "--summary", tmp_path / "s.json")
    assert (0, "a\x1b[31m\\udcff\n", 0) == (
        done.code,
        json.loads(done.out.splitlines()[0])["topic"],
        done.err.count("\x1b"),
    )
    assert 1 == len(summary_of(tmp_path / "s.json"))


def test_the_page_shows_what_stderr_says() -> None:
    """Below its first example."""
    command, *_ = re.findall(r"^\$ kcheck (.*)$", PAGE, re.MULTILINE)
    _, said, *_ = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    assert said == shell(*command.split(), cwd=ROOT).err


def test_the_page_shows_the_commands(tmp_path: Path) -> None:
    """To the letter, but for the names of files."""
    path = segments(tmp_path / "orders-0", [data(0)])
    group = log_dir(tmp_path / "data")
    key_of = struct.pack(">hh2sh6si", 1, 2, b"g1", 6, b"orders", 0)
    write(group / "__consumer_offsets-0", {"00000000000000000000.log": commit(0, key_of, committed(1))})
    for style in ("kcat", "console"):
        where = ("-o", f"{tmp_path}/out/", "--reset-file", "g1", "--offsets", group)
        said = kcheck("export", path, "--format", style, *where).err.replace(f"{tmp_path}/out/", "")
        commands = re.findall(r"^  (k\S+ .*)$", said, re.MULTILINE)
        assert 2 == len(commands)
        assert all(f"\n{command}\n" in PAGE for command in commands)
        (tmp_path / "out" / "reset-offsets.csv").unlink()


def test_the_page_names_every_reason() -> None:
    """With the exit code that it has."""
    rows = dict(re.findall(r"^\| `([a-z-]+)` \| .* \| ([01]) \|$", PAGE, re.MULTILINE))
    assert {str(why): str(int(why in UNWANTED)) for why in Omission} == rows


def test_what_a_repair_cut_comes_out_of_its_backup(tmp_path: Path) -> None:
    """The records behind the damaged batch, which no broker would read again."""
    case = ROOT / "fixtures" / "cases" / "kc141-batch-crc" / "flipped-bit" / "before"
    folder, plan, backup = tmp_path / "data", tmp_path / "plan.json", tmp_path / "backup"
    shutil.copytree(case, folder)
    whole = shell("export", folder, "--partition", "segments-0")
    assert 0 == kcheck("repair", folder, "-o", plan, "--accept-loss").code
    assert 0 == kcheck("apply", plan, "--backup", backup, "--yes").code
    kept, cut = shell("export", folder, "--partition", "segments-0"), shell("export", backup)
    assert whole.out == kept.out + cut.out
    assert "20 records damaged (offsets 20-39)" in cut.err


def test_a_full_disk_is_said(broker: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        command = [*KCHECK, "export", str(broker)]
        done = subprocess.run(command, env=environment(), stdout=full, stderr=subprocess.PIPE, check=False)
    assert (2, b"kcheck: cannot write to stdout: no space left on device\n") == (done.returncode, done.stderr)


def test_a_bundle_has_no_records(broker: Path, tmp_path: Path) -> None:
    """It was made to leave them at home."""
    assert 0 == kcheck("capture", broker, "-o", tmp_path / "ticket.kcheck").code
    done = kcheck("export", tmp_path / "ticket.kcheck")
    assert (2, True) == (done.code, "a bundle has no records" in done.err)
