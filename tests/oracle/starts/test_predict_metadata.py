"""`kcheck predict` says of the log of KRaft what Kafka's class makes of it: KafkaMetadataLog, from 4.3 KafkaRaftLog.

Compared are its offsets, and every file that stands there afterwards, byte for byte. `KCHECK_SWEEP` multiplies the
damaged logs and takes more releases, `KCHECK_SEED` damages others.
"""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.start.predictions import Content, PartitionPrediction
from kcheck.core.start.startup import Mode, Outcome, Settings
from kcheck.disk.local import LOCAL
from kcheck.model.names import CLUSTER_METADATA, DirectoryState, FileKind, PartitionDirectory
from kcheck.startup.inputs import Context, LoadInputs
from kcheck.startup.log_manager import directory_load_of
from kcheck.startup.partition import start_partition
from tests.damage import IN_PARTITIONS
from tests.oracle.ask import IS_WHOLE, SEED, SWEEP, Ask, sampled

pytestmark = pytest.mark.oracle

BROKERS = Path(__file__).parents[3] / "fixtures" / "brokers"
NAME = f"{CLUSTER_METADATA}-0"
VERSIONS = sampled(("3.0.2", "3.2.3", "3.3.2", "3.7.2", "3.9.2", "4.0.2", "4.2.1", "4.3.1"))
COUNT = 60 if IS_WHOLE else 25
BLOCKED = (
    "x.checkpoint", f"{10:020d}-{1:010d}.checkpoint.part", f"{10:020d}-{1:010d}-17.checkpoint.deleted",
    "partition.metadata.tmp", "partition.metadata",
)  # fmt: skip
"""Names of files in whose place a directory ends the start."""
HEAD_SIZE = 1 << 16
"""So much of each file is compared, beside its size."""


def _log(random: Random, folder: Path) -> str:
    """Copy a log of KRaft, and damage it; return what was done."""
    source = random.choice(sorted(BROKERS.glob(f"*/*/*/*/{NAME}")))
    path = folder / NAME
    shutil.copytree(source, path)
    (path / FileKind.QUORUM_STATE).unlink(missing_ok=True)  # another class reads it: test_quorum_state.py
    done = [str(source.relative_to(BROKERS))]
    for _ in range(random.choice((0, 1, 1, 2))):
        damage = random.choice((random.choice(IN_PARTITIONS), _snapshot, _content, _directory))
        done.append(damage(random, folder) or "nothing")
    return "; ".join(done)


def _snapshot(random: Random, folder: Path) -> str:
    """Put a snapshot there that is missing, or take one away."""
    path = folder / NAME
    there = sorted(path.glob("*.checkpoint"))
    if there and random.random() < 0.3:
        gone = random.choice(there)
        gone.rename(path / f"{gone.name}{random.choice(('.deleted', '.x'))}")
        return f"{gone.name} renamed"
    offset, epoch = random.choice((0, 1, 20, 51, 70, 500, 2000)), random.choice((0, 1, 2, 9))
    name = f"{offset:020d}-{epoch:010d}.checkpoint{random.choice(('', '', '', '.deleted'))}"
    if random.random() < 0.3:
        name = random.choice(
            (f"{name[:31]}-17.checkpoint.part", f"{name[:31]} (1).checkpoint", f"x{name}", "x.checkpoint")
        )
    (path / name).write_bytes(b"")
    return f"{name} made"


def _content(random: Random, folder: Path) -> str | None:
    """Flip a bit of the newest snapshot, cut it, or put something behind its end."""
    newest = max((folder / NAME).glob("*.checkpoint"), key=lambda path: path.name, default=None)
    data = b"" if newest is None else newest.read_bytes()
    if newest is None or not data:
        return None
    at = random.randrange(len(data))
    flipped = data[:at] + bytes((data[at] ^ 1 << random.randrange(8),)) + data[at + 1 :]
    cut = data[: random.choice((at, random.randrange(20)))]
    newest.write_bytes(random.choice((flipped, flipped, cut, data + bytes(random.randrange(40)))))
    return f"{newest.name} changed at {at}"


def _directory(random: Random, folder: Path) -> str:
    """Put a directory where a file belongs."""
    path = folder / NAME / random.choice(BLOCKED)
    if path.is_file():
        path.unlink()
    path.mkdir(exist_ok=True)
    if random.random() < 0.5:
        (path / "x").touch()
    return f"{path.name} is a directory"


def predicted(path: Path, version: str) -> PartitionPrediction:
    """Return what is predicted of a log."""
    directory = PartitionDirectory(CLUSTER_METADATA, 0, DirectoryState.CURRENT, canonical=True)
    context = Context(Settings(), Mode.KRAFT, release(version))
    directory_load = directory_load_of(NAME, directory, LoadInputs(clean=False), context)
    assert directory_load is not None
    return start_partition(LOCAL.directory(str(path)), NAME, directory, *directory_load)


def _differences(found: PartitionPrediction, told: dict[str, Any], path: Path, kept: Path) -> Iterator[str]:
    outcome = "ends the start" if found.outcome in (Outcome.ABORT, Outcome.OFFLINE) else "is loaded"
    if (outcome == "ends the start") != ("exception" in told):
        yield f"it {outcome} ({found.reason}), but {told}"
    elif found.log is not None:
        if list(found.log[:3]) != list(told.values()):
            yield f"offsets {found.log[:3]}, but {told} ({found.reason})"
        files = {each.name: each for each in path.iterdir() if not each.is_dir()}
        predicted = found.after.keys() - {FileKind.QUORUM_STATE}  # another class writes it
        for name in sorted(files.keys() ^ predicted):
            yield f"{name} is{'' if name in files else ' not'} there, but that is not predicted"
        for name in sorted(files.keys() & predicted):
            size, content = files[name].stat().st_size, found.after[name]
            if (size, _head(files[name])) != (content.size, _predicted_head(kept, content)):
                yield f"{name} is another file of {size}, not {content.size} bytes"


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(HEAD_SIZE)


def _predicted_head(kept: Path, content: Content) -> bytes:
    data = content.data
    if content.file is not None:
        data = (kept / content.file).read_bytes()[content.begin :][: content.filled]
    return data.ljust(min(content.size, HEAD_SIZE), b"\0")[:HEAD_SIZE]


@pytest.mark.parametrize("version", VERSIONS)
def test_metadata_logs(version: str, ask: Ask, tmp_path: Path) -> None:
    """What is predicted is what happens."""
    named, found, copies = [], [], []
    for number in range(COUNT * SWEEP):
        folder = tmp_path / str(number)
        folder.mkdir()
        named.append(f"{number}: {_log(Random(f'{SEED}/{number} {version}'), folder)}")
        copies.append(tmp_path / f"{number}-kept" / NAME)
        shutil.copytree(folder, copies[-1].parent)
        found.append(predicted(copies[-1], version))
    paths = [tmp_path / str(number) / NAME for number in range(len(named))]
    told = ask(version, "MetadataLog.java", paths)
    wrong = [
        f"{name}: " + "\n    ".join(differences)
        for name, prediction, answer, path, kept in zip(named, found, told, paths, copies, strict=True)
        if (differences := list(_differences(prediction, json.loads(answer), path, kept)))
    ]
    assert not wrong, f"{len(wrong)} of {len(named)} predictions differ, KCHECK_SEED={SEED}:\n" + "\n".join(wrong[:10])
