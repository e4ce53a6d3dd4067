"""A directory has the name of a file of Kafka's: what the LogManager of a release makes of it, and `kcheck predict`.

By itself some directories and releases, with `KCHECK_SWEEP` all of them, after a clean stop and an unclean one, empty
and with a file in it.
"""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from kcheck.core.start.startup import Outcome
from tests.builders import epochs, log_dir, meta_properties, partition_dir, partition_metadata, run, write
from tests.oracle.ask import spread
from tests.oracle.boot import Job
from tests.oracle.jars import numbers
from tests.oracle.starts.test_predict import judge, predicted

pytestmark = pytest.mark.oracle

ALL = (
    "0.11.0.3", "1.0.2", "1.1.1", "2.0.1", "2.2.2", "2.3.1", "2.4.1", "2.7.2", "2.8.2", "3.0.2", "3.2.3", "3.3.2",
    "3.6.2", "3.7.2", "3.8.1", "3.9.2", "4.0.2", "4.1.2", "4.3.1",
)  # fmt: skip
VERSIONS = ALL
ENDINGS = (".log", ".index", ".timeindex", ".txnindex")
BASES = (0, 100, 200)
END = 300
MARKER = ".kafka_cleanshutdown"
INDEX_SIZE = {"segment.index.bytes": 1024}


def name_of(offset: int, ending: str) -> str:
    """Return the path of a file of the partition."""
    return f"t-0/{offset:020d}{ending}"


IN_PLACE = (
    *(name_of(base, ending) for base in BASES for ending in (*ENDINGS, ".snapshot")),
    name_of(END, ".snapshot"), "t-0/leader-epoch-checkpoint", "t-0/leader-epoch-checkpoint.tmp",
    "t-0/partition.metadata",
)  # fmt: skip
"""Names of files that a start can open."""
BESIDE = (
    name_of(50, ".snapshot"), "t-0/100.log", "t-0/100.index", "t-0/notes", "t-0/notes.log", "t-0/notes.snapshot",
    "t-0/notes.deleted", "t-0/notes.log.swap", "t-0/partition.metadata.tmp", name_of(100, ".snapshot.deleted"),
    *(name_of(offset, ending) for offset in (150, END) for ending in ENDINGS),
    *(name_of(100, ending + suffix) for ending in ENDINGS for suffix in (".deleted", ".cleaned", ".swap")),
)  # fmt: skip
"""Names that a start passes over."""
AT_TOP = (
    "recovery-point-offset-checkpoint", "replication-offset-checkpoint", "log-start-offset-checkpoint",
    "cleaner-offset-checkpoint", "meta.properties", MARKER, "recovery-point-offset-checkpoint.tmp",
)  # fmt: skip


def made(path: Path, name: str, version: str, *, clean: bool, empty: bool) -> Path:
    """Write a log of three segments, the last two of them not flushed, with a directory of this name."""
    log_dir(path, clean=clean, recovery_point={"t-0": END if clean else 150})
    write(path, {"meta.properties": meta_properties(1, version=int(numbers(version) >= (3, 3)))})
    partition_dir(path / "t-0", [run(base, base + 99) for base in BASES])
    indexes = {f"{base:020d}.txnindex": b"" for base in BASES}
    small = {"partition.metadata": partition_metadata(), "leader-epoch-checkpoint": epochs((0, 0))}
    write(path / "t-0", {**indexes, **small})
    place = path / name
    if place.is_file():
        place.unlink()
    place.mkdir()
    if not empty:
        (place / "inside").write_bytes(b"x")
    return path


def cases(folder: Path, names: Sequence[str], version: str) -> Iterator[tuple[str, Job]]:
    """Yield each name with a log dir for every way of stopping and filling."""
    for name in names:
        for empty in (True, False):
            for clean in (True, False):
                what = f"{name} clean={clean} empty={empty}"
                path = made(folder / what.replace("/", "_"), name, version, clean=clean and name != MARKER, empty=empty)
                yield what, Job((path,), config=INDEX_SIZE)


@pytest.mark.parametrize("version", spread(VERSIONS, 2))
def test_directories_in_the_place_of_files(version: str, tmp_path: Path) -> None:
    """Each outcome is that of the LogManager: aborts, log dirs that go offline, segments that are left out."""
    names = (*spread(IN_PLACE, 9), *spread(BESIDE, 4), *spread(AT_TOP, 2))
    named = list(cases(tmp_path, names, version))
    judge(version, [job for _, job in named], [name for name, _ in named])


@pytest.mark.parametrize("version", spread(VERSIONS, 2))
def test_what_becomes_of_them(version: str, tmp_path: Path) -> None:
    """What is predicted of them, release by release: the table that docs/predict.md shows."""
    told = {what: predicted(job, version)[0].outcome for what, job in cases(tmp_path, IN_PLACE, version)}
    failure = Outcome.OFFLINE if numbers(version) >= (1,) else Outcome.ABORT
    old = numbers(version) < (2, 3)
    for clean in (True, False):
        outcome = {name: told[f"{name} clean={clean} empty=True"] for name in IN_PLACE}
        assert outcome == {name: told[f"{name} clean={clean} empty=False"] for name in IN_PLACE}
        assert [outcome[name_of(base, ".txnindex")] for base in BASES] == [failure] * 3
        assert outcome[name_of(200, ".index")] == failure
        assert (outcome[name_of(0, ".timeindex")] == failure) is old
    epochs_fail = Outcome.OFFLINE if numbers(version) >= (3, 2, 1) else Outcome.ABORT
    assert outcome["t-0/leader-epoch-checkpoint"] == epochs_fail


IN_LOOPS = (name_of(100, ".log"), name_of(200, ".index"), name_of(END, ".snapshot"), *IN_PLACE[-3:], "t-0/notes")
AT_TOP_OF_LOOPS = (*AT_TOP[:4], MARKER)


LINKS = (
    *((version, AT_TOP_OF_LOOPS, "gone") for version in ("0.11.0.3", "1.1.1", "2.8.2", "4.3.1")),
    *((version, AT_TOP_OF_LOOPS, None) for version in ("0.10.2.2", "0.11.0.3", "1.1.1")),
    *((version, (*IN_LOOPS, *AT_TOP_OF_LOOPS), None) for version in ("2.8.2", "3.9.2", "4.3.1")),
)


@pytest.mark.parametrize(("version", "names", "target"), spread(LINKS, 1))
def test_links_that_lead_nowhere(version: str, names: Sequence[str], target: str | None, tmp_path: Path) -> None:
    """File.exists and isFile are false for them; to open the file fails, and to create it if it leads to itself."""
    named = []
    for what, job in cases(tmp_path, names, version):
        place = job.dirs[0] / what.partition(" ")[0]
        shutil.rmtree(place)
        place.symlink_to(target or place.name)
        named.append((what, job))
    judge(version, [job for _, job in named], [name for name, _ in named])
