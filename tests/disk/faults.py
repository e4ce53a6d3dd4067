"""Ends `apply` and `undo` at each call that touches a file, or lets the call fail: `python -m tests.disk.faults`.

Wherever it ends: every file is old or new, nothing else; `apply` again leads to the end, `undo` back to the beginning,
modes and times included. An error that says that nothing is changed is right. `--sample N` takes N of the points.
`--rescues` takes the plans of `recover metadata`, `recover topic` and `recover quorum` too.
"""

import argparse
import ctypes
import errno
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from tests.disk.rescue_plans import Scene

ROOT = Path(__file__).parents[2]
SOURCE = Path(__file__).with_name("faults.c")
KILL, TEAR = -1, -2
ERRORS = (errno.ENOSPC, errno.EIO, errno.EROFS, errno.EACCES)
STICKY = (errno.ENOSPC, errno.EIO, errno.EROFS)
KILLED = 137
MARK = "user.kcheck.times"


class Point(NamedTuple):
    """Where a verb is stopped: at which call, by which errno or how, and whether the disk stays broken."""

    verb: str
    at: int
    how: int
    sticky: bool

    def __str__(self) -> str:
        """Describe it in a line."""
        name = {KILL: "killed", TEAR: "killed in a write"}.get(self.how) or errno.errorcode[self.how]
        return f"{self.verb}, call {self.at}, {name}{' from then on' if self.sticky else ''}"


def build(folder: Path) -> Path:
    """Compile the library."""
    made = folder / "faults.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-Wall", "-o", str(made), str(SOURCE), "-ldl"], check=True)
    return made


def main() -> int:
    """Run this program again with the library in front of the C library."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--sample", type=int, default=0)
    arguments.add_argument("--seed", default="0")
    arguments.add_argument("--rescues", action="store_true")
    asked = arguments.parse_args()
    if "LD_PRELOAD" in os.environ:
        return _sweep(asked.sample, asked.seed, with_rescues=asked.rescues)
    # The disk itself is not what is tried here, and a real one takes its time for every fsync.
    fast = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=fast) as folder:
        environment = {**os.environ, "LD_PRELOAD": str(build(Path(folder))), "TMPDIR": folder}
        command = [sys.executable, "-m", "tests.disk.faults", *sys.argv[1:]]
        return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def _sweep(sample: int, seed: str, *, with_rescues: bool) -> int:
    from tests.disk.rescue_plans import RESCUES

    library = ctypes.CDLL(None)
    library.fault_arm.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_int)
    for scene in (every_operation, *(RESCUES if with_rescues else ())):
        _sweep_of(scene, library, sample, seed)
    return 0


def every_operation(folder: Path) -> tuple[bytes, tuple[Path, ...]]:
    """Make two log dirs, and a plan with every kind of operation."""
    from tests.disk import plans

    dirs = plans.make(folder)
    return plans.bytes_of(plans.plan_of(*dirs)), dirs


def _sweep_of(scene: "Scene", library: ctypes.CDLL, sample: int, seed: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(Path(folder), library, scene)
        points = [
            Point(verb, at, how, sticky)
            for verb in ("apply", "undo")
            for how, sticky in [
                (KILL, False),
                (TEAR, False),
                *((e, False) for e in ERRORS),
                *((e, True) for e in STICKY),
            ]
            for at in range(trial.calls(verb))
        ]
        if sample:
            points = random.Random(seed).sample(points, sample)
        ends = Counter(trial.run(point) for point in points)
    told = ", ".join(f"{count} {end}" for end, count in sorted(ends.items()))
    print(f"{len(points)} points of {scene.__name__}, seed {seed}: {told}", flush=True)


class Trial:
    """Log dirs, and their content before and after."""

    def __init__(self, folder: Path, library: ctypes.CDLL, scene: "Scene") -> None:
        """Create them, apply and undo once; this also imports everything."""
        from tests.disk import plans

        self._library = library
        self._state = plans.state
        self._origin, self._here = folder / "origin", folder / "here"
        self._backup = self._here / "backup"
        self._here.mkdir()
        self._plan, self._dirs = scene(self._here)
        _copy(self._here, self._origin)
        self._before, self._before_untimed = self._now(), self._now(times=False)
        self._reset()
        self._do("apply")
        self._after = self._now(times=False)
        self._do("undo")
        self._expect_before("an undisturbed run")

    def calls(self, verb: str) -> int:
        """Return how many calls a run without faults makes."""
        self._prepare(verb)
        self._library.fault_arm(1 << 40, KILL, 0)
        self._do(verb)
        return int(self._library.fault_disarm())

    def run(self, point: Point) -> str:
        """Stop at a point and continue from there; return how it ended."""
        self._prepare(point.verb)
        end = self._stopped(point)
        now = self._now(times=False)
        mixed = [path for path in {*now, *self._before, *self._after} if not self._is_old_or_new(path, now.get(path))]
        assert not mixed, f"{point}: neither old nor new: {mixed}"
        if end.endswith("nothing is changed") and point.verb == "apply":
            self._expect_before(str(point), temporary=point.sticky, marked=True)
        elif end.endswith("nothing is changed"):
            unmarked = {path: _unmarked(facts) for path, facts in now.items()}
            if point.sticky:  # such a disk keeps a `.lock` that has no name yet
                unmarked = {path: facts for path, facts in unmarked.items() if not path.endswith("/.kcheck-lock")}
            assert unmarked in (self._after, self._before_untimed), f"{point}: something is changed"
        else:
            assert point.verb == "undo" or point.sticky or "something" not in end, f"{point}: not taken back"
        if point.at % 2 or not (self._backup / "journal.json").exists():
            self._do("apply")
            assert self._now(times=False) == self._after, f"{point}: apply again does not finish"
            assert self._do("apply") == 0, f"{point}: applying once more changes something"
        self._do("undo")
        self._expect_before(str(point))
        return end

    def _is_old_or_new(self, path: str, found: object) -> bool:
        if Path(path).name.startswith(".kcheck-"):
            return True
        return _unmarked(found) in (self._before_untimed.get(path), self._after.get(path))

    def _prepare(self, verb: str) -> None:
        self._reset()
        if verb == "undo":
            self._do("apply")

    def _reset(self) -> None:
        shutil.rmtree(self._here, ignore_errors=True)
        _copy(self._origin, self._here)

    def _now(self, *, times: bool = True) -> dict[str, tuple[object, ...]]:
        return dict(self._state(*self._dirs, times=times))

    def _expect_before(self, what: str, *, temporary: bool = False, marked: bool = False) -> None:
        found = {path: _unmarked(facts, self._before.get(path)) for path, facts in self._now().items()}
        if not marked:
            assert found == self._now(), f"{what}: a log dir has a mark"
        if temporary:  # a disk that stays broken keeps what was written beside the files, and that names their folder
            found = {path: each for path, each in found.items() if ".kcheck-" not in path and each[4] is not None}
            assert found == {path: each for path, each in self._before.items() if each[4] is not None}, what
        else:
            assert found == self._before, f"{what}: not as before"

    def _do(self, verb: str) -> int:
        from kcheck.disk.apply import apply, undo

        done = apply(self._plan, str(self._backup)) if verb == "apply" else undo(str(self._backup))
        return len(done.changed)

    def _stopped(self, point: Point) -> str:
        """Run a verb up to a point in its own process."""
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            end = self._ended(point)
            os.write(writer, end.encode())
            os._exit(0)
        os.close(writer)
        status = os.waitpid(child, 0)[1]
        with os.fdopen(reader) as stream:
            told = stream.read()
        code = os.waitstatus_to_exitcode(status)
        assert code in (0, KILLED), f"{point}: ended with {code}"
        return told if code == 0 else "killed"

    def _ended(self, point: Point) -> str:
        from kcheck.errors import ApplyError, KcheckError

        self._library.fault_arm(point.at, point.how, int(point.sticky))
        try:
            self._do(point.verb)
            end = "done"
        except ApplyError as error:
            end = f"ApplyError, {'something is changed' if error.changed else 'nothing is changed'}"
        except KcheckError as error:
            end = f"{type(error).__name__}, nothing is changed"
        finally:
            self._library.fault_disarm()
        return end


def _unmarked(facts: Any, before: Any = None) -> Any:
    """Return the facts about a log dir without the mark that kcheck leaves until its times are restored."""
    if facts is None or MARK not in facts[-1]:
        return facts
    times = facts[3] if before is None else before[3]
    return (*facts[:3], times, facts[4], {name: value for name, value in facts[-1].items() if name != MARK})


def _copy(source: Path, target: Path) -> None:
    shutil.copytree(source, target)


if __name__ == "__main__":
    sys.exit(main())
