"""`python -m tests.oracle.incidents.hunt --seed N --seconds S [BASE...]`: hunts false green answers, without brokers.

Damages the disks of clusters of which every acknowledged record is known, and asks preflight and elect. Where these
are green, it reads the logs of the leaders that elect names, and prints the records that are not there.
A BASE is a folder `base-...` that `python -m tests.oracle.incidents --dir` leaves. Without one, the clusters of
`fixtures/incidents` are damaged.
"""

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import NamedTuple

import kcheck
from tests.oracle.incidents import asked, lab
from tests.oracle.incidents.asked import GREEN
from tests.oracle.incidents.damages.checkpoints import LOG_START
from tests.oracle.incidents.damages.site import lines_of
from tests.oracle.incidents.damages.table import Kind
from tests.oracle.incidents.kept import paths, unpacked
from tests.oracle.incidents.shapes import Shape
from tests.oracle.incidents.workload import Known

NOT_OF_RECORDS = frozenset((25, 52, 53))
"""The kinds that change no record and no place: owners, releases and settings. Real brokers judge these."""

_ONE = ("1 brokers",)
NOT_PROVABLE = {
    "exchange-in-topic": (_ONE, "No file in a directory names the number of its partition."),
    "live-copy": (_ONE, "The copy of a broker that ran is what a kill at that time leaves."),
    "live-copies": ((), "The copies of all brokers are what a loss of power at that time leaves."),
    "snapshot-of-moments": (_ONE, "The copy of a log dir that was in use is what a kill at that time leaves."),
    "old-generation": (("2.", "zk"), "Brokers write no topic id there, and each topic begins with the same epochs."),
}
"""Kinds whose loss no file shows in some clusters, with all words of their shape, and the reason."""


class Base(NamedTuple):
    """The disks of a cluster, and each record that it acknowledged."""

    folder: Path
    """Holds them as `now`; beside these are older copies, if there are any."""
    shape: Shape
    known: Known


class Hunted(NamedTuple):
    """A damage, and the answers about it."""

    seed: str
    base: str
    shape: Shape
    kinds: tuple[str, ...]
    what: tuple[str, ...]
    green: tuple[str, ...]
    """The verbs that were green: elect, and preflight of all brokers."""
    lost: tuple[str, ...]
    """The records that are not where these answers have them, by partition."""

    @property
    def is_false(self) -> bool:
        """True if a green answer was wrong, though files could show it.

        A preflight sees one broker. Where elect sees more, and is not green, nobody was misled.
        """
        rows = (NOT_PROVABLE[kind] for kind in self.kinds if kind in NOT_PROVABLE)
        is_open = any(all(word in str(self.shape) for word in words) for words, _ in rows)
        return bool(self.lost) and not is_open and ("elect" in self.green or self.shape.brokers == 1)


def of_lab(folder: Path) -> Base:
    """Return the cluster in a folder that `lab.several` has named."""
    name = folder.name.removeprefix("base-")
    release, mode = name.split("-")[-3:-1]
    return Base(folder, *lab.base(name, release, mode, folder))


def recorded(place: Path) -> Iterator[Base]:
    """Unpack the clusters of `fixtures/incidents` to which nothing was done."""
    for packed in paths():
        if "-nothing-" in packed.name:
            kept = unpacked(packed, place / packed.name.removesuffix(".tar.xz") / "now")
            assert kept.known is not None
            yield Base(kept.folder.parent, kept.shape, kept.known)


def values(directory: Path, partition: str) -> dict[int, str]:
    """Return the values that a leader serves, by their offsets; of each segment alone, as a fetch reads it."""
    found: dict[int, str] = {}
    starts = (line.rpartition(" ") for line in lines_of(directory.parent / LOG_START))
    line = " ".join(partition.rsplit("-", 1))
    start = next((int(offset) for name, _, offset in starts if name == line and offset.isdecimal()), 0)
    with tempfile.TemporaryDirectory() as place:
        for segment in (*directory.glob("*.log.swap"), *directory.glob("*.log")):
            name = segment.name.removesuffix(".swap")  # The broker ends the swap.
            alone = Path(place) / segment.name / partition
            alone.mkdir(parents=True)
            shutil.copyfile(segment, alone / name)
            for log in kcheck.export(str(alone)).logs:
                for record in log.records():
                    if record.offset >= start:
                        found[record.offset] = (record.value or b"").decode("utf-8", "replace").rstrip("x")
    return found


def lost(
    folder: Path, known: Known, leaders: Mapping[str, Mapping[str, int | None]], *, promotes: bool = False
) -> Iterator[str]:
    """Yield the acknowledged records that the leaders of partitions do not have, in words.

    With KRaft (3.7.1 to 4.3.1) a broker `promotes` a -future directory that stands alone.
    """
    for partition, records in known.records.items():
        leader = leaders.get(partition, {}).get("clean")
        if leader is None:
            yield f"{partition} has no leader"
            continue
        names = (partition, f"{partition}.*-future") if promotes else (partition,)
        places = (path for name in names for path in (folder / f"broker-{leader}").glob(f"data*/{name}"))
        place = next(filter(Path.is_dir, places), None)
        served = {} if place is None else values(place, partition)
        gone = [offset for offset, value in records.items() if served.get(offset) != value]
        if gone:
            yield f"{partition} on {leader}: {len(gone)} of {len(records)}, {gone[0]}-{gone[-1]}"


def hunted(seed: str, base: Base, folder: Path, kinds: tuple[Kind, ...] | None = None) -> Hunted | None:
    """Damage a cluster and compare the answers; None where the damage finds nothing, or is not of records."""
    random, of = Random(seed), base.shape
    kinds = kinds or lab.choose(random, of)
    if not NOT_OF_RECORDS.isdisjoint(kind.number for kind in kinds):
        return None
    what = lab.damaged(random, of, base.folder, folder, kinds)
    if what is None:
        return None
    brokers = [name for name in of.nodes if name.startswith("broker-") and (folder / name).is_dir()]
    seen = asked.words(folder, of, "controller" if of.beside is None else "")
    elect = asked.elect(folder, ["elect", *(f"{name.removeprefix('broker-')}={name}" for name in brokers), *seen])
    flights = (
        asked.preflight(folder, name, ["preflight", f"{name}/server.properties", *asked.words(folder, of, name)])
        for name in brokers
    )
    green = ["elect"] * (elect.colour == GREEN) + ["preflight"] * all(row.colour == GREEN for row in flights)
    leaders = elect.says.get("elects", {})
    gone = lost(folder, base.known, leaders, promotes=of.mode == "kraft") if green else ()
    return Hunted(seed, base.folder.name, of, tuple(kind.name for kind in kinds), what, tuple(green), tuple(gone))


def hunt(seed: str, bases: list[Base], place: Path, seeds: Iterable[int]) -> Iterator[Hunted]:
    """Damage one of the clusters for each of the seeds; the disks stay where an answer was wrong."""
    for number in seeds:
        name = f"{seed}-{number}"
        row = hunted(name, Random(name).choice(bases), place / name)
        if row is None or not row.lost:
            shutil.rmtree(place / name, ignore_errors=True)
        if row is not None:
            yield row


def _until(end: float) -> Iterator[int]:
    number = 0
    while time.monotonic() < end:
        yield (number := number + 1)


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", default="0")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--dir", type=Path, default=None)
    parser.add_argument("base", nargs="*", type=Path)
    of = parser.parse_args()
    place = of.dir or Path(tempfile.mkdtemp())
    bases = [of_lab(folder) for folder in of.base] or [*recorded(place / "bases")]
    count = green = false = 0
    for row in hunt(of.seed, bases, place, _until(time.monotonic() + of.seconds)):
        count, green, false = count + 1, green + bool(row.green), false + row.is_false
        if row.lost:
            told = "FALSE GREEN" if row.is_false else "not provable"
            print(f"{told} {','.join(row.green)}: {row.seed} of {row.base}: {'; '.join(row.what)}", flush=True)
            print(*(f"    {words}" for words in row.lost), sep="\n", flush=True)
    print(f"{count} damages, {green} with green answers, {false} of these wrong; disks in {place}")
    sys.exit(bool(false))


if __name__ == "__main__":
    main()
