"""Lets each call that looks at a file fail, in every verb that reads: `python -m tests.disk.read_faults`.

Whatever the file system answers, at whichever call: the command ends by itself, with an answer or a line that says why
there is none; what could not be read is named, and what has nothing to do with it is answered as before. Nothing on
disk changes. `--sample N` takes N of the points.
"""

import argparse
import contextlib
import ctypes
import errno
import io
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from tests.disk.faults import ROOT

SOURCE = Path(__file__).with_name("read_faults.c")
LONGER, SHORTER = -1, -2
ERRORS = (errno.EIO, errno.ESTALE, errno.EACCES, errno.ENOENT)
BROKERS = ROOT / "fixtures" / "brokers" / "4.3.1" / "diverged"


class Command(NamedTuple):
    """A command line; `{b1}` and `{b2}` are brokers, `{b3}` is the first one damaged, `{out}` is a folder for a run.

    `{plan}` is what elect planned for the first two.
    """

    words: tuple[str, ...]

    @property
    def verb(self) -> str:
        """Return what the command is called in a line."""
        return " ".join(word for word in self.words if "{" not in word)


COMMANDS = tuple(
    Command(tuple(line.split()))
    for line in (
        "{b1} --format json",
        "{b3} --format json",
        "inspect {b1} --format json",
        "inspect {b3}/data1/diverged-0/00000000000000000000.log --format json",
        "inspect {b3}/data1/replication-offset-checkpoint --format json",
        "check {b1} --depth checkpoints --format json",
        "check {b3} --depth headers --format json",
        "check {b1} --depth crc --format json",
        "check {b3}/data1/diverged-0 --depth records --format json",
        "predict {b3} --format json",
        "truncation 1={b1} 2={b2} --leader best --format json",
        "end-offset {b1}/data1/behind-0 --epoch 1 --format json",
        "dump {b3}/data1/diverged-0/00000000000000000000.log --records --format json",
        "dump {b1}/data1/behind-0/00000000000000000000.index --format json",
        "repair {b3} --accept-loss --tidy --format json",
        "repair 3={b3} --against 2={b2} --format json",
        "cluster {b1} {b2} --format json",
        "cluster {b2} --changes diverged-0 --format json",
        "predict {b3} --metadata {b2} --format json",
        "truncation 1={b3} 2={b2} --metadata {b1} --format json",
        "elect 1={b1} 2={b2} --format json",
        "elect 1={b3} 2={b2} --metadata {b1} --topic diverged --format json",
        "verify {plan} 1={b1} 2={b2} --format json",
        "fleet scan {b3}/data1 --jobs 1 --quiet --output-dir {out}",
    )
)


_LOCAL = ("{b1}", "{b3}", "check", "predict")
"""How the commands begin whose answers are about one partition at a time."""
_IN_A_PARTITION = 4
"""How many parts the path of a file in a partition has: broker, log dir, partition, file."""


class Point(NamedTuple):
    """Which call of a command fails, and how."""

    command: Command
    at: int
    how: int

    def __str__(self) -> str:
        """Describe it in a line."""
        how = {LONGER: "longer", SHORTER: "shorter"}.get(self.how) or errno.errorcode[self.how]
        return f"kcheck {self.command.verb}: call {self.at}, {how}"


class Answer(NamedTuple):
    """What a command wrote."""

    code: int
    out: str
    err: str


def build(folder: Path) -> Path:
    """Compile the library."""
    made = folder / "read_faults.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-Wall", "-o", str(made), str(SOURCE), "-ldl"], check=True)
    return made


def main() -> int:
    """Run this program again with the library in front of the C library."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--sample", type=int, default=0)
    arguments.add_argument("--seed", default="0")
    asked = arguments.parse_args()
    if "LD_PRELOAD" in os.environ:
        return _sweep(asked.sample, asked.seed)
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "LD_PRELOAD": str(build(Path(folder))), "TMPDIR": folder}
        command = [sys.executable, "-m", "tests.disk.read_faults", *sys.argv[1:]]
        return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def _sweep(sample: int, seed: str) -> int:
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(Path(folder))
        points = [point for command in COMMANDS for point in trial.points(command)]
        if sample:
            points = random.Random(seed).sample(points, min(sample, len(points)))
        ends: Counter[str] = Counter()
        problems: list[str] = []
        for point in points:
            end, problem = trial.run(point)
            ends[end] += 1
            if problem:
                problems.append(f"{point} ({trial.call()}): {problem}")
        trial.expect_unchanged()
    print(f"{len(points)} points, seed {seed}: {', '.join(f'{count} {end}' for end, count in sorted(ends.items()))}")
    print(*problems, sep="\n")
    return bool(problems)


class Trial:
    """Two brokers, and what each command says of them when nothing fails."""

    def __init__(self, folder: Path) -> None:
        """Copy the brokers."""
        self._library = ctypes.CDLL(None)
        self._library.fault_arm.argtypes = (ctypes.c_char_p, ctypes.c_long, ctypes.c_int)
        self._library.fault_kinds.restype = self._library.fault_name.restype = ctypes.c_char_p
        self._folder, self._brokers = folder, folder / "brokers"
        shutil.copytree(BROKERS, self._brokers)
        _damage(self._brokers / "broker-1", self._brokers / "broker-3")
        self._run(Command(("elect", "1={b1}", "2={b2}", "--save-lost", "{plan}/saved", "--output-dir", "{plan}")))
        self._before = self._state()
        self._undisturbed: dict[Command, Answer] = {}

    def call(self) -> str:
        """Return the call that failed last."""
        name: bytes = self._library.fault_name()
        return name.decode(errors="replace")

    def points(self, command: Command) -> list[Point]:
        """Return every way in which a call of a command can fail."""
        self._run(command)  # also imports everything
        self._library.fault_arm(os.fsencode(self._brokers), 1 << 40, 0)
        self._undisturbed[command] = self._run(command)
        count = self._library.fault_disarm()
        kinds = self._library.fault_kinds()[:count].decode()
        sizes: Mapping[str, tuple[int, ...]] = {"s": (LONGER, SHORTER), "r": (SHORTER,), "o": ()}
        return [Point(command, at, how) for at, kind in enumerate(kinds) for how in (*ERRORS, *sizes[kind])]

    def run(self, point: Point) -> tuple[str, str | None]:
        """Let a call fail; return how the command ended, and what is wrong with that."""
        self._library.fault_arm(os.fsencode(self._brokers), point.at, point.how)
        try:
            answer = self._run(point.command)
        finally:
            self._library.fault_disarm()
        return f"exit {answer.code}", self._problem(point, answer)

    def _problem(self, point: Point, answer: Answer) -> str | None:
        told = answer.out + answer.err
        for word in ("Traceback", "a bug in kcheck", "KC000"):
            if word in told:
                return told[told.index(word) :][:400]
        if answer.code not in (0, 1, 2, 3):
            return f"exit {answer.code}"
        undisturbed = self._undisturbed[point.command]
        if point.command.words[0] in _LOCAL and answer.out.startswith("{"):
            missing = _rows(undisturbed.out, self.call()) - _rows(answer.out, self.call())
            if missing:
                return f"not said of other partitions: {min(missing)[:300]}"
        if answer[:2] == undisturbed[:2] or point.how in (errno.ENOENT, LONGER, SHORTER):
            return None
        if answer.code < 2:
            return f"another answer, exit {answer.code}: {_difference(undisturbed.out, answer.out)}"
        if "KC001" not in told and os.strerror(point.how) not in told:
            return f"exit {answer.code}, without a reason: {told[-300:]}"
        return None

    def _run(self, command: Command) -> Answer:
        from kcheck.cli.app import main

        out, err = io.StringIO(), io.StringIO()
        places = {f"b{number}": self._brokers / f"broker-{number}" for number in "123"}
        places |= {name: self._folder / name for name in ("out", "plan")}
        words = [word.format_map(places) for word in command.words]
        shutil.rmtree(places["out"], ignore_errors=True)
        code: Any = 0
        with (
            mock.patch("sys.argv", ["kcheck", *words]),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            try:
                main()
            except SystemExit as error:
                code = error.code
        if command.words[0] != "fleet":
            return Answer(code or 0, out.getvalue(), err.getvalue())
        return Answer(code or 0, _findings(places["out"]), err.getvalue())

    def _state(self) -> dict[str, tuple[int, bytes]]:
        return {
            str(path): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
            for path in sorted(self._brokers.rglob("*"))
        }

    def expect_unchanged(self) -> None:
        """Every file is what it was."""
        assert self._state() == self._before


def _damage(broker: Path, copy: Path) -> None:
    """Copy a broker, and hurt a batch, an index, a checkpoint and the epochs of the copy."""
    shutil.copytree(broker, copy)
    partition = copy / "data1" / "diverged-0"
    log = partition / f"{0:020d}.log"
    log.write_bytes(log.read_bytes()[:-700] + bytes(100) + log.read_bytes()[-600:])
    (partition / f"{0:020d}.index").write_bytes(b"damaged")
    (copy / "data1" / "recovery-point-offset-checkpoint").write_bytes(b"0\nx\n")
    (copy / "data1" / "emptied-0" / "leader-epoch-checkpoint").unlink()


def _rows(document: str, call: str) -> set[str]:
    """Return what a document says of the partitions that a failing call has nothing to do with.

    A call for no partition may concern each of them, and so does the metadata of the cluster.
    """
    parts = call.partition("/")[2].split("/")
    if len(parts) < _IN_A_PARTITION or parts[2] == "__cluster_metadata-0":
        return set()
    value = json.loads(document)
    rows = [
        *value["findings"],
        *(row for key in ("predictions", "log_dirs") for each in value.get(key, ()) for row in each["partitions"]),
    ]
    return {json.dumps(row) for row in rows if row["dir"] not in (None, parts[2])}


def _findings(folder: Path) -> str:
    """Return the findings of a run."""
    import pyarrow.parquet as pq

    tables = [pq.read_table(path, partitioning=None) for path in sorted(folder.glob("run=*/findings/*.parquet"))]
    return "\n".join(str(row) for table in tables for row in table.to_pylist())


def _difference(before: str, after: str) -> str:
    """Return the first lines that differ."""
    lines = zip(before.splitlines(), after.splitlines(), strict=False)
    for old, new in lines:
        if old != new:
            same = next((at for at, two in enumerate(zip(old, new, strict=False)) if two[0] != two[1]), len(old))
            at = max(same - 20, 0)
            return f"{old[at : at + 100]!r} became {new[at : at + 100]!r}"
    return "one ends before the other"


if __name__ == "__main__":
    sys.exit(main())
