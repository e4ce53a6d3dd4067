"""A long look: by several processes, stopped by a signal, shown on a terminal, within a span of time, behind others."""

import contextlib
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import time
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ

import pytest

from kcheck.cli.progress import line
from kcheck.survey import segment_scan as deep
from kcheck.survey.coverage import Coverage
from kcheck.verbs import check
from tests.builders import broker, flip_byte, partition_dir, run
from tests.cli.command import KCHECK, drained, environment, kcheck, left_to_nobody, shell

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
"""The test runner has threads where kcheck has none."""

BROKERS = Path(__file__).parents[2] / "fixtures" / "brokers"
HUGE = 4 << 40
"""Bytes of a file with a hole, in which zeros are read for longer than any test lasts."""


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    """Write a log dir with a small partition that has an error, and a huge one, with one byte at its end."""
    path = broker(tmp_path / "data", run(0, 99), partition="a-0")
    flip_byte(path / "a-0" / "00000000000000000000.log", 8)
    partition_dir(path / "t-0", [run(0, 9)])
    with (path / "t-0" / "00000000000000000000.log").open("r+b") as file:
        file.seek(HUGE - 1)
        file.write(b"x")
    return path


def children(process: int) -> list[int]:
    """Return the processes that this one has started."""
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def await_reading(process: int, *, jobs: int = 1) -> None:
    """Wait until the huge segment is being read, and some time more, in which another process reads the small one."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        for each in children(process) if jobs > 1 else (process,):
            for descriptor in Path(f"/proc/{each}/fd").glob("*"):
                with contextlib.suppress(OSError):
                    # While the tail of the log is looked for, it is open too, but nothing is read there for long.
                    if descriptor.readlink().parent.name == "t-0":
                        time.sleep(1.5 if jobs > 1 else 0.5)
                        return
        time.sleep(0.05)
    pytest.fail("it never read the segment")


def stopped(number: int, jobs: int, *arguments: str | Path) -> tuple[int, str, str, float]:
    """Return how kcheck ends after a signal in its midst, and how long that takes; no process is left."""
    command = [*KCHECK, "check", *map(str, arguments), "--jobs", str(jobs)]
    with (
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
            text=True,
            start_new_session=True,
        ) as process,
        left_to_nobody(process),
    ):
        await_reading(process.pid, jobs=jobs)
        workers = children(process.pid)
        assert bool(workers) == (jobs > 1)
        begin = time.monotonic()
        os.killpg(process.pid, number)  # as a terminal does
        out, err = process.communicate(timeout=60)
        seconds = time.monotonic() - begin
    assert not [worker for worker in workers if Path(f"/proc/{worker}").exists()]
    return process.returncode, out, err, seconds


@pytest.mark.sample(2)
@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize("depth", ["headers", "crc"])
def test_control_c_tells_what_was_found_up_to_there(endless: Path, jobs: int, depth: str) -> None:
    """In the midst of a huge segment, at once; the JSON is whole."""
    code, out, err, seconds = stopped(signal.SIGINT, jobs, endless, "--depth", depth, "--format", "json")
    found = json.loads(out)
    assert (130, True) == (code, found["interrupted"])
    assert "Traceback" not in err
    assert seconds < 10
    assert {"done": {"log_dirs": 0, "partitions": 1, "bytes": 1000}, "planned": {"log_dirs": 1, "partitions": 2,
            "bytes": HUGE + 1000}} == found["coverage"]  # fmt: skip
    assert "KC142" in {row["id"] for row in found["findings"]}
    assert 1 == found["checked"]["segments"]


@pytest.mark.parametrize("jobs", [1, 3])
def test_text_says_that_it_was_stopped(endless: Path, jobs: int) -> None:
    code, out, _, _ = stopped(signal.SIGINT, jobs, endless)
    assert (130, True) == (code, "KC142" in out)
    assert "interrupted after 0 of 1 log dir / 1 of 2 partitions / 1000 B of 4.0 TiB\n" in out


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_termination_is_quiet(endless: Path, jobs: int) -> None:
    code, out, err, seconds = stopped(signal.SIGTERM, jobs, endless)
    assert (128 + signal.SIGTERM, "", "") == (code, out, err)
    assert seconds < 10


def test_what_ends_by_itself_was_not_interrupted(tmp_path: Path) -> None:
    """At the depth of the checkpoints too, where no segment is read from its start."""
    path = broker(tmp_path / "data", run(0, 99), partition="a-0")
    done = kcheck("check", path, "--depth", "checkpoints", "--format", "json", "--jobs", "2")
    assert (0, False) == (done.code, "interrupted" in json.loads(done.out))


@pytest.mark.sample(2)
@pytest.mark.parametrize("scene", ["2.8.2/killed", "4.3.1/stopped", "4.3.1/twice"])
@pytest.mark.parametrize("style", ["text", "json"])
def test_any_number_of_processes_gives_the_same_bytes(scene: str, style: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all brokers of a scene, their comparison included."""
    paths = sorted((BROKERS / scene).glob("broker-*"))
    alone = kcheck("check", *paths, "--depth", "crc", "--format", style)
    monkeypatch.setattr(check, "WORTH_SIZE", 0)
    for jobs in ("2", "5"):
        several = kcheck("check", *paths, "--depth", "crc", "--format", style, "--jobs", jobs)
        assert (alone.code, alone.out) == (several.code, several.out)


def test_a_little_starts_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That would take longer than it saves."""
    monkeypatch.setattr("kcheck.jobs.workers._start", lambda _: pytest.fail("a process"))
    assert 0 == kcheck("check", broker(tmp_path / "data", run(0, 99)), "--jobs", "4").code


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_process_that_dies_is_3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its segment is told, the rest is looked at."""
    path = broker(tmp_path / "data", run(0, 99), partition="a-0")
    partition_dir(path / "b-0", [run(0, 99), run(100, 199), run(200, 299)])
    flip_byte(path / "b-0" / f"{200:020}.log", 8)
    real = deep.SegmentScan._task

    def deadly(self: object, *arguments: object) -> object:
        task = real(self, *arguments)
        return task._replace(run=die) if (task.where.dir, task.where.file) == ("b-0", f"{100:020}.log") else task

    monkeypatch.setattr(deep.SegmentScan, "_task", deadly)
    monkeypatch.setattr(check, "WORTH_SIZE", 0)
    done = kcheck("check", path, "--jobs", "2", "--format", "json")
    found = {row["id"]: row for row in json.loads(done.out)["findings"]}
    assert (3, f"{100:020}.log") == (done.code, found["KC000"]["file"])
    assert "kcheck failed here: the worker process died: SIGKILL" == found["KC000"]["message"]
    assert f"{200:020}.log" == found["KC142"]["file"]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_bug_in_one_segment_is_3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: str) -> None:
    path = broker(tmp_path / "data", run(0, 99))

    def fails(*arguments: object, **more: object) -> object:
        raise RuntimeError(f"boom {arguments[3]} {more['verify']}")

    monkeypatch.setattr("kcheck.survey.segment_scan.read_segment", fails)
    monkeypatch.setattr(check, "WORTH_SIZE", 0)
    done = kcheck("check", path, "--jobs", jobs, "--format", "json")
    assert (3, "kcheck failed here: RuntimeError: boom 0 False") == (
        done.code, next(row["message"] for row in json.loads(done.out)["findings"] if row["id"] == "KC000"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--jobs", "0"), "--jobs 0: must be from 1 to 256"),
        (("--jobs", "-1"), "--jobs -1"),
        (("--jobs", "257"), "--jobs 257"),
        (("--jobs", "two"), "two"),
        (("--since", "yesterday"), "--since: invalid time 'yesterday'"),
        (("--until", ""), "--until: invalid time ''"),
        (("--since", "9" * 5000), "9'; for example"),
        (("--until", "2025-13-01"), "--until: invalid time '2025-13-01'"),
        (("--since", "2025-01-02", "--until", "2025-01-01"), "--since 2025-01-02 is later than --until 2025-01-01"),
    ],
)
def test_what_makes_no_sense_is_2(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    done = kcheck("check", broker(tmp_path / "data", run(0, 9)), *options)
    assert (2, "") == (done.code, done.out)
    assert said in done.err


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("2023-11-14T22:13:20", "1700000000000"),
        ("2023-11-14T22:13:20Z", "1700000000000"),
        ("2023-11-15T00:13:20+02:00", "1700000000000"),
        ("2023-11-14 22:13:20.0015", "1700000000001"),
        ("2023-11-14", "1699920000000"),
        ("1969-12-31T23:59:59", "-1000"),
        ("9" * 30, "9" * 30),
    ],
)
def test_times(text: str, same: str) -> None:
    from kcheck.cli.long_commands import parse_span

    assert (int(same), None) == parse_span(text, None)
    assert (None, int(same)) == parse_span(None, text)


def test_a_span_of_time_is_counted() -> None:
    folder = BROKERS / "4.3.1" / "stopped" / "broker-1"
    done = kcheck("check", folder, "--since", "2100-01-01")
    assert re.search(r"skipped [1-9][0-9]* segments? outside --since and --until\n", done.out)
    assert "not read" not in kcheck("check", folder, "--since", "0").out


def test_the_nice_are_behind_all_others(tmp_path: Path) -> None:
    """CPU and disk; those that it starts inherit it."""
    path = broker(tmp_path / "data", run(0, 9))
    code = (
        "import ctypes, os, sys\n"
        "from kcheck.cli.priority import lower\n"
        "assert lower() is None\n"
        "get = {'x86_64': 252, 'aarch64': 31}.get(os.uname().machine)\n"
        "assert get is None or ctypes.CDLL(None).syscall(get, 1, 0) == 3 << 13\n"
        "assert os.nice(0) == 19\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=environment())
    done = shell("check", path, "--nice", "--quiet")
    assert (0, "") == (done.code, done.err)


def test_where_the_disk_knows_no_priority_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = broker(tmp_path / "data", run(0, 9))
    monkeypatch.setattr(os, "nice", lambda _: 0)
    monkeypatch.setattr("kcheck.cli.priority._IOPRIO_SET", {})
    done = kcheck("check", path, "--nice")
    assert (0, "kcheck: cannot lower the I/O priority on this system") == (
        done.code,
        done.err.split(";")[0],
    )
    assert "" == kcheck("check", path, "--nice", "--quiet").err


def on_a_terminal(*arguments: str | Path, seconds: float, term: str = "xterm") -> str:
    """Return what kcheck writes to a terminal of 60 columns as its stderr, up to ^C after some seconds."""
    leader, follower = pty.openpty()
    ioctl(follower, TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
    command = [*KCHECK, "check", *map(str, arguments)]
    with (
        subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=follower, env=environment(TERM=term)) as process,
        left_to_nobody(process),
    ):
        os.close(follower)
        if seconds:
            await_reading(process.pid, jobs=2 if "--jobs" in command else 1)
            time.sleep(seconds)
            process.send_signal(signal.SIGINT)
        shown = drained(leader)
    os.close(leader)
    return shown.decode()


def test_a_terminal_shows_the_progress(endless: Path) -> None:
    """One line, again and again, no wider than the terminal, gone at the end."""
    shown = on_a_terminal(endless, "--jobs", "2", seconds=1.0)
    lines = [part for part in shown.split("\r") if part.strip()]
    assert len(lines) > 3
    assert re.fullmatch(r"1000 B of 4\.0 TiB  \d+ B/s  [0-9:]+ left.*", lines[-1])
    assert all(len(part) < 60 for part in lines)
    assert re.search(r"\r +\r$", shown)


@pytest.mark.parametrize("option", ["--no-progress", "--quiet"])
def test_a_terminal_shows_nothing_to_who_wants_nothing(endless: Path, option: str) -> None:
    shown = on_a_terminal(endless, option, seconds=0.5)
    assert "" == shown.strip()


def test_a_terminal_that_cannot_redraw_a_line_shows_nothing(endless: Path) -> None:
    """Neither does the end of the command write control characters there."""
    assert "" == on_a_terminal(endless, "--progress", seconds=0.5, term="dumb")


def test_a_pipe_never_shows_it(endless: Path) -> None:
    _, _, err, _ = stopped(signal.SIGINT, 2, endless, "--progress")
    assert "" == err


def test_what_the_line_says() -> None:
    """How much of how much, how fast, how long still, and where; as much of it as there is room for."""
    coverage = Coverage()
    coverage.planned["partitions"], coverage.partitions, coverage.at = 900, 40, "orders-\x1b[2J\u4e16-0"
    assert r"40 of 900 partitions  orders-\x1b[2J\u4e16-0" == line(coverage, 1, 80)
    coverage.planned["bytes"] = 9 << 30
    assert r"0 B of 9.0 GiB  0 B/s  ? left  orders-\x1b[2J\u4e16-0" == line(coverage, 1, 80)
    coverage.bytes = 1 << 30
    assert r"1.0 GiB of 9.0 GiB  102 MiB/s  1:20 left  orders-..." == line(coverage, 10, 53)
    assert "1.0 GiB of 9.0 GiB  1.0 MiB/s  2:16:32 left" == line(coverage, 1024, 50)
    assert "1.0 GiB of 9" == line(coverage, 1024, 13)
