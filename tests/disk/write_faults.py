"""Lets calls that write fail, in every command that writes results: `python -m tests.disk.write_faults`.

Whichever call fails: the command ends with a line that names the result and the error of the system. Each result is
whole, or as it was before; nothing else is left, and the same command works once the disk does. `--all` takes every
call, otherwise the first, the middle and the last one of each command. `apply` and `undo`: `tests.disk.faults`.
"""

import argparse
import ctypes
import errno
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from tests.disk.faults import ROOT, build

COMMANDS = (
    "{b1} -o {old}",
    "check {b1} -o {old}",
    "check {b1} --format json -o {new}",
    "check {b1} --format csv -o {old}",
    "check {b1} --format parquet -o {old}",
    "elect 1={b1} 2={b2} --output-dir {new} --save-lost {out}/lost",
    "elect 1={b1} 2={b2} --output-dir {empty}",
    "recover 1={b1} 2={b2} --output-dir {new}",
    "recover 1={b1} 2={b2} --output-dir {empty}",
    "recover metadata 1={m}-1 2={m}-2 3={m}-3 201={m}-201 --output-dir {new}",
    "recover metadata {zk} --zookeeper --kafka 2.8 --output-dir {new}",
    "recover topic voted 1={t}-1 2={t}-2 3={t}-3 --output-dir {new}",
    "recover quorum 3={q}-3 --dead 1 --dead 2 --output-dir {new}",
    "recover quorum 3={q}-3 --dead 1 --dead 2 --output-dir {empty}",
    "recover quorum 3={s}-3 --dead 1 --dead 2 --output-dir {new}",
    "export {b1} --topic diverged -o {new} --summary {out}/summary",
    "export {b1} --topic diverged -o {empty}",
    "export {b1} --topic diverged --format parquet -o {new}",
    "capture {b1} --pseudonyms {out}/key -o {new}.kcheck",
    "capture {b1} --with-server-log {logs}/server.log -o {new}.kcheck",
    "repair {bad} -o {old}",
    "simulate write kip-966 --output-dir {new}",
    "simulate write kip-966 --output-dir {empty}",
    "fleet scan {b1} --ignore KC505 --jobs 1 --quiet --run r --output-dir {new} --prometheus {out}/metrics",
    "fleet scan {b1} --ignore KC505 --jobs 2 --server-logs {logs}/server.log --quiet --run r --output-dir {new}",
    "fleet report {runs} --html {out}/page --prometheus {old}",
    "tiered {tiered}/broker-1 --store {tiered}/store --orphans {old} --rebuild {new}",
    "manual {new}",
    "demo --no-pause --dir {new}",
)
"""`{old}` is a file of yesterday, `{empty}` an empty folder, `{new}` is not there; all are in `{out}`, with a key."""
YESTERDAY = b"yesterday"
_IN_WORKER = 40
"""Number of calls of a process that a command with --jobs 2 starts, at most; it goes on counting from its parent's."""
State = dict[str, bytes]
"""The files below a folder, by path."""


class Point(NamedTuple):
    """Which call of a command fails, and how."""

    command: str
    at: int
    how: int
    sticky: bool

    def __str__(self) -> str:
        """Describe it in a line."""
        return f"kcheck {self.command}: call {self.at}, {errno.errorcode[self.how]}{' from then on' * self.sticky}"


def main() -> int:
    """Run this program again with the library in front of the C library."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--all", action="store_true")
    arguments.add_argument("--command", default="")
    asked = arguments.parse_args()
    if "LD_PRELOAD" in os.environ:
        return _sweep(asked.command, is_whole=asked.all)
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "LD_PRELOAD": str(build(Path(folder))), "TMPDIR": folder}
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        command = [sys.executable, "-m", "tests.disk.write_faults", *sys.argv[1:]]
        return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def _sweep(wanted: str, *, is_whole: bool) -> int:
    ends: Counter[str] = Counter()
    problems: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(Path(folder))
        for command in COMMANDS:
            if command.startswith(wanted):
                for point in trial.points(command, is_whole=is_whole):
                    end, problem = trial.run(point)
                    ends[end] += 1
                    problems += [f"{point}: {problem}"] if problem else []
    print(f"{ends.total()} points: {', '.join(f'{count} {end}' for end, count in sorted(ends.items()))}")
    print(*problems, sep="\n")
    return bool(problems)


class Trial:
    """What the commands read, and what a command writes when nothing fails."""

    def __init__(self, folder: Path) -> None:
        """Copy the directories that are read."""
        from tests.cli.command import kcheck
        from tests.fleets import forged
        from tests.replicas import test_recover_metadata, test_recover_quorum, test_recover_topic
        from tests.tiered_states import AIVEN, state

        self._ask = kcheck
        self._library = ctypes.CDLL(None)
        self._library.fault_arm.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_int)
        self._library.fault_only_writes()
        fixtures = ROOT / "fixtures"
        brokers = fixtures / "brokers" / "4.3.1" / "diverged"
        tiered = state(AIVEN, ".", folder / "tiered")
        for lost in (tiered / "broker-1").glob("__remote_log_metadata-*"):
            shutil.rmtree(lost)
        self.out = folder / "out"
        self._places = {
            **{name: f"{self.out}/{name}" for name in ("old", "new", "empty")},
            "out": str(self.out),
            "b1": str(shutil.copytree(brokers / "broker-1", folder / "b1")),
            "b2": str(shutil.copytree(brokers / "broker-2", folder / "b2")),
            "bad": str(shutil.copytree(fixtures / "cases/kc211-log-start-above-log-end/above/before", folder / "bad")),
            "tiered": str(tiered),
            "runs": str(folder / "runs"),
            "logs": str(folder / "logs"),
        }
        (folder / "logs").mkdir()
        shutil.copy(fixtures / "logs" / "4.3.1" / "server.log", folder / "logs")
        (folder / "z").mkdir()
        self._places["zk"] = " ".join(test_recover_metadata.of_zookeeper(folder / "z"))
        for name, module in zip("mqt", (test_recover_metadata, test_recover_quorum, test_recover_topic), strict=True):
            (folder / name).mkdir()
            self._places[name] = f"{module.laid_out(folder / name)}/broker"
        (folder / "s").mkdir()
        voted = test_recover_quorum.laid_out(folder / "s")
        test_recover_quorum.dynamic(voted, 3)
        self._places["s"] = f"{voted}/broker"
        forged(folder / "runs", "a")
        self._whole: State = {}
        self._code = 0
        self._key = folder / "key"
        self._undisturbed("capture {b1} --pseudonyms {out}/key -o {new}.kcheck")
        shutil.copy(self.out / "key", self._key)

    def points(self, command: str, *, is_whole: bool) -> list[Point]:
        """Run a command undisturbed, which also imports everything; return the calls that are to fail."""
        self._undisturbed(command)
        self._prepare()
        self._library.fault_arm(1 << 40, 1, 0)
        self._run(command)
        count = self._library.fault_disarm() + (_IN_WORKER if "--jobs 2" in command else 0)
        self._whole = self._state()
        assert count, command
        full, broken = (errno.ENOSPC, True), (errno.EIO, False)
        if not is_whole:
            sample = {(0, *full), (count // 2, *full), (count // 2, *broken), (count - 1, *broken)}
            return [Point(command, *point) for point in sorted(sample)]
        return [Point(command, at, *way) for at in range(count) for way in (full, broken, (errno.ENOSPC, False))]

    def run(self, point: Point) -> tuple[str, str]:
        """Let a call fail; return how the command ended, and what is wrong with that."""
        before = self._prepare()
        self._library.fault_arm(point.at, point.how, int(point.sticky))
        try:
            code, out, err = self._run(point.command)
        finally:
            self._library.fault_disarm()
        return f"exit {code}", self._problem(point, code, out + err, before)

    def _problem(self, point: Point, code: int, said: str, before: State) -> str:
        state = self._state()
        for word in ("Traceback", "a bug in kcheck"):
            if word in said:
                return said[said.index(word) :][:400]
        names = {*_results(state), *_results(before)}
        mixed = [name for name in names if not (_part(state, name) == _part(before, name) or self._has(state, name))]
        if mixed:
            return f"exit {code}, neither whole nor as before: {mixed}: {sorted(state)[:9]}"
        if code == self._code:
            return "" if self._has(state, *_results(self._whole)) else f"exit {code}, but results are missing"
        if code not in (2, 3):
            return f"exit {code}: {said[-300:]}"
        if os.strerror(point.how).lower() not in said.lower() or str(self.out) not in said:
            return f"exit {code}, without the error or the name: {said[-300:]}"
        if state != before:  # a result was published: the command says that it exists
            return ""
        again, _, err = self._run(point.command)
        is_whole = again == self._code and self._has(self._state(), *_results(self._whole))
        return "" if is_whole else f"again: exit {again}: {err}"

    def _has(self, state: State, *names: str) -> bool:
        for name in names:
            found, whole = _part(state, name), _part(self._whole, name)
            if found.keys() != whole.keys() or not all(_is_whole(found[path], whole[path]) for path in found):
                return False
        return True

    def _undisturbed(self, command: str) -> None:
        self._prepare()
        self._code, _, err = self._run(command)
        assert self._code in (0, 1), (command, err)

    def _prepare(self) -> State:
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir()
        (self.out / "old").write_bytes(YESTERDAY)
        (self.out / "empty").mkdir()
        if self._key.exists():
            shutil.copy(self._key, self.out / "key")
        return self._state()

    def _run(self, command: str) -> tuple[int, str, str]:
        from kcheck.cli.demo import STEPS

        with mock.patch("kcheck.cli.demo.STEPS", STEPS[:2]):
            done = self._ask(*command.format_map(self._places).split())
        return done.code, done.out, done.err

    def _state(self) -> State:
        files = (path for path in self.out.rglob("*") if path.is_file())
        return {str(path.relative_to(self.out)): path.read_bytes() for path in files}


def _results(state: State) -> set[str]:
    return {path.partition("/")[0] for path in state}


def _part(state: State, name: str) -> State:
    return {path: data for path, data in state.items() if path.partition("/")[0] == name}


def _is_whole(data: bytes, whole: bytes) -> bool:
    """Whether a file is what another run has written, but for times."""
    length = len(whole)
    return data == whole or (data[-1:] == whole[-1:] and abs(len(data) - length) <= min(64, length // 4))


if __name__ == "__main__":
    sys.exit(main())
