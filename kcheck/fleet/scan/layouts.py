"""Layouts are paths with `{...}` for a name of a fleet and `*` for any text. Finds the matching paths on disk."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

from kcheck.disk.paths import join
from kcheck.disk.tree import tree_of
from kcheck.errors import UsageError
from kcheck.fleet.run_output import is_run
from kcheck.jobs.workers import Task, Workers
from kcheck.model.finding import Finding, Location
from kcheck.model.names import BUNDLE_SUFFIX, LOST_FOUND
from kcheck.model.unreadable import UnreadableError
from kcheck.rules import kc001_unreadable

T = TypeVar("T")

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_NO_PLACEHOLDER = re.compile(r"[{}]")


class PathLayout(NamedTuple):
    """The directory in which a layout begins, and a regular expression for each name below it."""

    start: str
    patterns: tuple[str, ...]


class Disks:
    """Reads from disks that may not answer; failures become findings."""

    def __init__(self, workers: Workers, findings: list[Finding]) -> None:
        self._workers, self._findings = workers, findings

    def ask(self, read: Callable[[str], T | Finding], paths: Sequence[str]) -> list[T | None]:
        """Return the result of `read` for each path; None if it fails."""
        tasks = ((path, (Task(partial(read, path), Location(log_dir=path), 0),)) for path in paths)
        answers = [answer for _, (answer,) in self._workers.run(tasks)]
        self._findings.extend(answer for answer in answers if isinstance(answer, Finding))
        return [None if isinstance(answer, Finding) else answer for answer in answers]


def layout_of(path: str, names: Sequence[str]) -> PathLayout:
    """Return the layout that a path has; UsageError if it names something else than `names`, or one of them twice."""
    at = min((at for at in map(path.find, "{*") if at >= 0), default=len(path))
    start, _, first = path[:at].rpartition("/")
    parts = [part for part in (first + path[at:]).split("/") if part not in ("", ".")]
    named = [name for part in parts for name in _PLACEHOLDER.findall(part)]
    for name in named:
        if name not in names:
            raise UsageError(f"{path}: {{{name}}}: not one of {', '.join(f'{{{n}}}' for n in names)}")
    if len(set(named)) < len(named):
        raise UsageError(f"{path}: it has the same name twice")
    patterns = []
    for part in parts:
        pieces = _PLACEHOLDER.split(part)
        if len(pieces) > 3 or part == ".." or any(map(_NO_PLACEHOLDER.search, pieces[::2])):
            raise UsageError(f"{path}: {part} is not understood; a name in a path has one {{...}} at most")
        words = [f"(?P<{piece}>.+)" if number % 2 else _any_text(piece) for number, piece in enumerate(pieces)]
        patterns.append("".join(words))
    return PathLayout(start or ("/" if path.startswith("/") else "."), tuple(patterns))


def _any_text(piece: str) -> str:
    return ".*".join(map(re.escape, piece.split("*")))


def _is_link(path: str) -> bool:
    return tree_of(path).is_link(path)


def matching_directories(layout: PathLayout, disks: Disks) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield the directories that a layout matches, each with the names in it; no link."""
    level = _levels(layout, disks, files=False)
    links = disks.ask(_is_link, [path for path, _ in level])
    yield from (match for match, link in zip(level, links, strict=True) if link is False)


def matching_files(layout: PathLayout, disks: Disks) -> list[tuple[str, Mapping[str, str]]]:
    """Return the matches of a layout that are not directories, each with the names in it; links to files too."""
    return _levels(layout, disks, files=True)


def _levels(layout: PathLayout, disks: Disks, *, files: bool) -> list[tuple[str, Mapping[str, str]]]:
    """Return the matches, level by level, so that a directory that does not answer hides no other."""
    level: list[tuple[str, Mapping[str, str]]] = [(layout.start, {})]
    for depth, pattern in enumerate(layout.patterns):
        of_files = files and depth == len(layout.patterns) - 1
        below = partial(_below, pattern, follow=depth == 0, files=of_files)
        answers = disks.ask(below, [folder for folder, _ in level])
        level = [
            (path, {**values, **more})
            for (_, values), matches in zip(level, answers, strict=True)
            for path, more in matches or ()
        ]
    return level


def _below(
    pattern: str, folder: str, *, follow: bool, files: bool
) -> tuple[tuple[str, Mapping[str, str]], ...] | Finding:
    """Return the directories, or other entries, in a folder that match a pattern, with their placeholders' values.

    A bundle counts as its directory if the pattern looks for bundles. Hidden names and lost+found are skipped. Links
    are resolved one by one, later. So a mount that does not answer costs only its own log dir. A run of kcheck has no
    log dirs.
    """
    if not follow and tree_of(folder).is_link(folder):
        return ()
    try:
        listing = tree_of(folder).listing(folder)
    except UnreadableError as error:
        return kc001_unreadable.finding(Location(log_dir=folder), error.why)
    names: Iterable[str] = listing.directories
    if files:
        names = sorted((*listing.files, *listing.others))
    elif pattern.endswith(re.escape(BUNDLE_SUFFIX)):
        names = sorted((*listing.directories, *listing.files))
    hidden = not pattern.startswith(re.escape("."))
    matched = (
        (name, re.fullmatch(pattern, name, re.DOTALL))
        for name in names
        if name != LOST_FOUND and not (name.startswith("run=") and is_run(join(folder, name)))
    )
    return tuple(
        (join(folder, name), match.groupdict()) for name, match in matched if match and not (hidden and name[0] == ".")
    )
