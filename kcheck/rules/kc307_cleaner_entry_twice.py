"""The cleaner files of two log dirs list the same partition, and all compaction of the broker stops.

What is wrong: cleaner-offset-checkpoint of each log dir lists the compacted partitions of that log dir. Two of them
list one partition. Usually a broker of 2.6 and earlier moved it between log dirs and left the old line.

What the broker does:

- 4.1 and later join the files of all log dirs. They fail on the duplicate partition, even with equal values ("Duplicate
  key"). Every cleaner thread dies at its first pass, with no other sign. Compacted topics, first of all
  __consumer_offsets, grow until the disk is full.
- In 4.0 and earlier the last file that it reads wins. If that is the old line, the broker cleans from the wrong offset.
  It cleans the log again, or never again compacts the keys below.

What to do: Stop the broker and keep copies of the files outside every log dir. Remove the line from the file whose log
dir has no directory of the partition. Lower the count in line 2 by one. Removing a line is always safe.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.names import CLEANER_OFFSET
from kcheck.model.release import Release
from kcheck.model.views import LogDirView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._entries import escaped_name, line_of, offset_entries, on_line, readable
from kcheck.rules._partition import served
from kcheck.rules._words import DATA_MAX, and_further, kafka
from kcheck.words import listed

Listed = list[tuple[LogDirView, int, int]]
"""The places that list a partition (log dir, index of the entry, offset)."""


def check(views: tuple[LogDirView, ...], release: Release) -> Iterable[Finding]:
    """Find the partitions in the cleaner files of several log dirs."""
    listings: dict[tuple[str, int], Listed] = {}
    for view in views:
        file = view.files.get(CLEANER_OFFSET)
        if file is None or not readable(file):
            continue
        last = {(entry.topic, entry.partition): (i, entry.offset) for i, entry in enumerate(offset_entries(file))}
        for key, (index, offset) in last.items():
            listings.setdefault(key, []).append((view, index, offset))
    twice: dict[str, dict[tuple[str, int], Listed]] = {}
    for key, places in sorted(listings.items()):
        if len(places) > 1:
            twice.setdefault(str(_left_over(key, places)[0].where.log_dir), {})[key] = places
    for _, of_one in sorted(twice.items()):
        yield _finding(of_one, release)


def _finding(twice: dict[tuple[str, int], Listed], release: Release) -> Finding:
    key, listed_in = next(iter(twice.items()))
    left_over = _left_over(key, listed_in)
    places = listed(f"{offset} in {view.where.log_dir}" for view, _, offset in listed_in)
    differs = any(len({offset for _, _, offset in items}) > 1 for items in twice.values())
    dies = release.cleaner_dies_of_duplicates
    return RULE.finding(
        on_line(left_over[0].files[CLEANER_OFFSET], left_over[1]),
        f"{escaped_name(*key)} is in the {CLEANER_OFFSET} of {len(listed_in)} log dirs: {places}"
        + and_further(len(twice), "partition"),
        effect=f"{kafka(release)} loses every cleaner thread at the first cleaning pass. Compaction stops on all log "
        "dirs, with no other sign."
        if dies
        else f"{kafka(release)} uses the value that it reads last"
        + (", which may be the wrong one." if differs else "; the values are equal."),
        advice=f"Stop the broker, remove the line from the {CLEANER_OFFSET} of the log dir that does not hold the "
        "partition, and lower the count in line 2 by one.",
        severity=Severity.ERROR if dies else Severity.WARNING if differs else Severity.INFO,
        data={"partitions": tuple(_row(key, items) for key, items in list(twice.items())[:DATA_MAX])},
    )


def _row(key: tuple[str, int], listed_in: Listed) -> dict[str, object]:
    places = ({"log_dir": view.where.log_dir, "line": line_of(index), "offset": o} for view, index, o in listed_in)
    return {"topic": key[0], "partition": key[1], "listed": tuple(places)}


def _left_over(key: tuple[str, int], places: Listed) -> tuple[LogDirView, int, int]:
    """Return the line to remove. Its log dir has no directory of the partition, or a deleted one."""
    return next((item for item in places if not _has(item[0], key)), places[1])


def _has(view: LogDirView, key: tuple[str, int]) -> bool:
    return any((partition.topic, partition.partition) == key for partition in view.partitions if served(partition))


RULE = Rule(severity=Severity.ERROR, scope=Scope.BROKER, check=check)
