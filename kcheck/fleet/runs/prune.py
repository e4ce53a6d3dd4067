"""`kcheck fleet prune`: removes old runs, and what processes that were killed have left."""

from collections.abc import Iterator
from typing import NamedTuple

from kcheck.core.releases.releases import NEWEST_TESTED
from kcheck.disk.output import discard
from kcheck.disk.paths import is_url, join
from kcheck.disk.tree import tree_of
from kcheck.errors import UsageError
from kcheck.fleet.run import open_runs
from kcheck.fleet.run_output import UNFINISHED, is_run, is_written
from kcheck.model.report import Report
from kcheck.model.unreadable import UnreadableError
from kcheck.views.targets import unusable

_ASIDE = ".run="
"""First characters of the names of files that `--resume` continues from."""


class Leftover(NamedTuple):
    """A directory to remove, and why."""

    path: str
    why: str


def prune(out: str, keep: int, *, dry_run: bool, unfinished: bool = False) -> Report:
    """Remove all complete runs but the `keep` newest ones, and leftovers of dead scans.

    A store does not show which scans still run, so there `unfinished` decides. UsageError for a missing directory, or
    for a run instead of the directory of runs. UsageError also for `unfinished` on a disk.
    """
    if unfinished and not is_url(out):
        raise UsageError("--unfinished is for a store, because on a disk kcheck sees which scans still run")
    removed = (*_old(out, keep), *(_incomplete(out) if unfinished else _dead(out)))
    for leftover in () if dry_run else removed:
        discard(leftover.path)
    return Report(
        verb="fleet-prune",
        kafka=NEWEST_TESTED,
        body={
            "path": out,
            "dry_run": dry_run,
            "removed": tuple({"path": leftover.path, "why": leftover.why} for leftover in removed),
        },
        kinds={"removed": "removed"},
    )


def _old(out: str, keep: int) -> Iterator[Leftover]:
    if not tree_of(out).is_directory(out):
        raise unusable(out, f"{out}: not a directory; name the --output-dir directory of scans")
    try:
        runs = open_runs([out])
    except UsageError:
        if is_run(out):
            raise
        return  # No run is there; leftovers may be.
    if any(run.path == out for run in runs):
        raise UsageError(f"{out}: a run; name the directory that contains it")
    newest_first = sorted(runs, key=lambda run: (run.ended or 0, run.path), reverse=True)
    for run in reversed(newest_first[keep:]):
        yield Leftover(run.path, f"older than the {keep} newest runs")


def _incomplete(out: str) -> Iterator[Leftover]:
    """Yield what a store has of runs without manifest, and of failed ones."""
    for name in sorted(tree_of(out).listing(out).directories):
        if name.startswith(_ASIDE):
            yield Leftover(join(out, name), "its scan failed, and was not resumed")
        elif name.startswith("run=") and not is_run(join(out, name)):
            yield Leftover(join(out, name), "it has no manifest")


def _dead(out: str) -> Iterator[Leftover]:
    """Yield the leftovers of killed processes on a disk; a store does not show which scans still run."""
    if is_url(out):
        return
    try:
        names = sorted(tree_of(out).listing(out).directories)
    except UnreadableError as error:
        raise UsageError(f"{out}: {error}") from error
    being_written = (name for name in names if name.startswith(UNFINISHED) and is_written(join(out, name)))
    written = {name.removeprefix(UNFINISHED) for name in being_written}
    for name in names:
        for start, why in ((UNFINISHED, "its scan was killed"), (_ASIDE, "its scan failed, and was not resumed")):
            if name.startswith(start) and name.removeprefix(start) not in written:
                yield Leftover(join(out, name), why)
