"""`apply` of the plans of a rescue, killed at each call that changes a file: it goes on, or `undo` takes it back.

`tests/disk/faults.py` holds the same of every kind of operation with real kills; here are the plans as the verbs write
them: a new directory, a whole log, a record after a torn batch, renamed directories.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kcheck.disk.apply import apply, undo
from tests.disk.plans import State, state
from tests.oracle.ask import spread
from tests.oracle.scenes import FIXTURES
from tests.replicas import test_recover_metadata, test_recover_quorum, test_recover_quorum_votes, test_recover_topic

_CHANGING = (
    "write", "rename", "replace", "link", "unlink", "mkdir", "rmdir", "ftruncate", "fsync", "utime", "fchmod", "fchown",
    "setxattr", "removexattr",
)  # fmt: skip
_POINTS = 10
"""How many of the calls of a plan are tried without KCHECK_SWEEP."""


class KilledError(BaseException):
    """The process has ended."""


class Calls:
    """The calls that change files; from one of them on, none does anything, as after a kill."""

    def __init__(self, last: int | None = None) -> None:
        self.count, self._last = 0, last

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that counts as one of the calls."""

        def counted(*arguments: Any, **named: Any) -> Any:
            self.count += 1
            if self._last is not None and self.count > self._last:
                raise KilledError
            return function(*arguments, **named)

        return counted


@contextmanager
def counting(calls: Calls) -> Iterator[None]:
    """Count the calls within a block."""
    with pytest.MonkeyPatch.context() as patch:
        for name in filter(lambda name: hasattr(os, name), _CHANGING):
            patch.setattr(os, name, calls(getattr(os, name)))
        yield


def a_copy_for_a_new_controller(folder: Path) -> Path:
    """Write the plan of `recover quorum` where all controllers are lost."""
    nodes = test_recover_quorum.laid_out(folder)
    test_recover_quorum.new_disk(nodes, 201)
    test_recover_quorum.asked(nodes, 201, 3, dead=[1, 2, 3], voter="201@new:9093", out=folder / "out")
    return nodes


def a_copy_for_a_stale_controller(folder: Path) -> Path:
    """Write that where the copy of a broker is newer."""
    nodes = test_recover_quorum.laid_out(folder)
    own = test_recover_quorum.log(nodes, 3)
    own.write_bytes(own.read_bytes()[:-72])
    test_recover_quorum.asked(nodes, 3, 2, dead=[1, 2], out=folder / "out")
    return nodes


def a_record_of_the_voters(folder: Path) -> Path:
    """Write that of a dynamic quorum; the torn batch before the record is cut."""
    nodes = test_recover_quorum.laid_out(folder)
    test_recover_quorum.dynamic(nodes, 3)
    own = test_recover_quorum.log(nodes, 3)
    own.write_bytes(own.read_bytes() + own.read_bytes()[:50])
    test_recover_quorum.asked(nodes, 3, dead=[1, 2], way="voters", out=folder / "out")
    return nodes


def new_metadata(folder: Path) -> Path:
    """Write the plan of `recover metadata`."""
    nodes = test_recover_metadata.laid_out(folder)
    (nodes / "broker-2" / "data1" / f"{test_recover_metadata.TOPIC}-0" / "partition.metadata").unlink()
    test_recover_metadata.asked(nodes, 1, 2, 3, 201, out=folder / "out")
    return nodes


def ids_of_kraft(folder: Path) -> Path:
    """Write that for disks of ZooKeeper: meta.properties of KRaft, and partition.metadata where there is none."""
    test_recover_metadata.of_zookeeper(folder)
    nodes = folder / "nodes"
    for path in nodes.glob("broker-*/data*/*/partition.metadata"):
        path.unlink()
    new = nodes / "broker-201" / "data1"
    shutil.copytree(FIXTURES / "formatted" / "4.3.1" / "no-initial-controllers" / "data1", new)
    own, other = new / "meta.properties", nodes / "broker-1" / "data1" / "meta.properties"
    (cluster,) = re.findall(r"(?m)^cluster\.id=.+$", other.read_text())
    text = re.sub(r"(?m)^cluster\.id=.+$", cluster, own.read_text())
    own.write_text(re.sub(r"(?m)^node\.id=.+$", "node.id=201", text))
    test_recover_metadata.asked(nodes, 1, 2, 3, 201, out=folder / "out")
    return nodes


def votes_of_a_former_quorum(folder: Path) -> Path:
    """Write that for 3.3: quorum-state of each broker moves into the backup."""
    nodes = test_recover_metadata.laid_out(folder)
    for number in (1, 2, 3):
        place = Path(f"broker-{number}") / "data1" / test_recover_metadata.METADATA
        shutil.copytree(test_recover_metadata.QUORUM / place, nodes / place)
    test_recover_metadata.asked(nodes, 1, 2, 3, 201, voter="201", force=True, kafka="3.3", out=folder / "out")
    return nodes


def controllers_of_an_old_state(folder: Path) -> Path:
    """Write the plan of `recover quorum` that moves the metadata of two older controllers aside."""
    nodes = test_recover_quorum.laid_out(folder)
    for number in (1, 2):
        test_recover_quorum_votes.cut(nodes, number, test_recover_quorum_votes.TOPIC_AT)
    test_recover_quorum.asked(nodes, 1, 2, 3, out=folder / "out")
    return nodes


def a_deleted_topic(folder: Path) -> Path:
    """Write the plans of `recover topic`: files, then names."""
    nodes = test_recover_topic.laid_out(folder)
    test_recover_topic.asked(nodes, out=folder / "out")
    return nodes


@pytest.mark.parametrize(
    "made",
    [
        a_copy_for_a_new_controller,
        a_copy_for_a_stale_controller,
        a_record_of_the_voters,
        new_metadata,
        ids_of_kraft,
        votes_of_a_former_quorum,
        controllers_of_an_old_state,
        a_deleted_topic,
    ],
)
def test_a_killed_apply_goes_on_or_is_taken_back(made: Callable[[Path], Path], tmp_path: Path) -> None:
    """Each plan after those before it, killed at every call; then all of them are undone."""
    nodes = made(tmp_path)
    plans = sorted((tmp_path / "out").glob("plan-*.json"))
    assert plans
    start = state(nodes)
    backups = []
    for plan in plans:
        backups.append(str(tmp_path / f"backup-{plan.stem}"))
        before, data = state(nodes), plan.read_bytes()
        with counting(calls := Calls()):
            apply(data, backups[-1])
        after = state(nodes, times=False)
        for at in spread(range(calls.count), _POINTS):
            undo(backups[-1])
            shutil.rmtree(backups[-1])
            assert state(nodes) == before
            killed(data, backups[-1], at, nodes, (before, after))
    for backup in reversed(backups):
        undo(backup)
    assert state(nodes) == start


def killed(data: bytes, backup: str, at: int, nodes: Path, ends: tuple[State, State]) -> None:
    """Kill `apply` after some calls; half of the time undo it first, then apply it again."""
    with counting(Calls(at)), pytest.raises(KilledError):
        apply(data, backup)
    if at % 2 and os.path.exists(f"{backup}/journal.json"):
        undo(backup)
        assert state(nodes) == ends[0], f"undo after call {at}"
    apply(data, backup)
    assert state(nodes, times=False) == ends[1], f"apply again after call {at}"
