"""What a finding says of the next start is what `predict` says of it: on fixtures, cases and random damage."""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.start.claims import ClaimedStart
from kcheck.core.start.predictions import LogDirPrediction, PartitionPrediction
from kcheck.core.start.startup import Outcome
from kcheck.model.depth import Depth
from kcheck.model.finding import Finding
from kcheck.model.names import parse_file
from kcheck.model.release import Release
from kcheck.model.report import PartitionFilter
from kcheck.verbs.check import check
from kcheck.verbs.next_starts import start_options
from kcheck.verbs.predict import predict
from tests.cases.build import FOUND, shared_copy, toml
from tests.damage import cases
from tests.oracle.ask import IS_WHOLE, generated
from tests.startup.test_unchanged import log_dirs

BROKERS = Path(__file__).parents[2] / "fixtures" / "brokers"
SEED = os.environ.get("KCHECK_SEED", "next starts")
RELEASES = ("4.3.1", "3.9.2", "3.2.3", "2.8.2", "1.1.1")
DAMAGED_COUNT = generated(100)
"""For each release."""
DEPTHS = (Depth.CHECKPOINTS, Depth.HEADERS, Depth.RECORDS)

Starts = tuple[LogDirPrediction, PartitionPrediction]
Agrees = Callable[[re.Match[str], Finding, Starts], bool]


def aborts(_: re.Match[str], __: Finding, starts: Starts) -> bool:
    """Whether the broker does not start."""
    return Outcome.ABORT in (starts[0].outcome, starts[1].outcome)


def fails(_: re.Match[str], __: Finding, starts: Starts) -> bool:
    """Whether the broker does not start, or loses the log dir."""
    return not {Outcome.ABORT, Outcome.OFFLINE}.isdisjoint((starts[0].outcome, starts[1].outcome))


def cut_at(match: re.Match[str], _: Finding, starts: Starts) -> bool:
    """Whether the start cuts the log at the offset."""
    log = starts[1].log
    return log is not None and any(cut.end_offset == int(match[1]) for cut in log.cuts)


def ends_at(match: re.Match[str], _: Finding, starts: Starts) -> bool:
    """Whether the log ends at the offset after the start."""
    return starts[1].log is not None and starts[1].log.log_end_offset == int(match[1])


def wiped(match: re.Match[str], _: Finding, starts: Starts) -> bool:
    """Whether nothing of the log is left, and it begins again at the offset."""
    log = starts[1].log
    return log is not None and log.log_start_offset == log.log_end_offset == int(match[1])


def without_epochs(_: re.Match[str], __: Finding, starts: Starts) -> bool:
    """Whether the replica knows no epoch after the start."""
    return starts[1].log is None or not starts[1].log.leader_epochs


def loads(_: re.Match[str], __: Finding, starts: Starts) -> bool:
    """Whether the start loads the log."""
    return starts[1].log is not None


def loses(match: re.Match[str], _: Finding, starts: Starts) -> bool:
    """Whether the start loses as many records."""
    lost = starts[1].lost
    return lost is not None and (lost.records is None or lost.records == int(match[1]))


def untouched(_: re.Match[str], finding: Finding, starts: Starts) -> bool:
    """Whether the start removes nothing from the segment."""
    base = parse_file(finding.where.file or "").offset
    return starts[1].log is None or not any(cut.base_offset == base for cut in starts[1].log.cuts)


WORDS: tuple[tuple[str, Agrees], ...] = (
    (r"(?<!partition it )does not start(?! when| if|, or starts)", aborts),
    (r"(?:fails|stops) at its next start", fails),
    (r"takes (?:the|this) log dir offline(?! when|: it cannot remove)", fails),
    (r"truncates the log to offset (\d+)", cut_at),
    (r"[Tt]he log then ends at offset (\d+)", ends_at),
    (r"DELETE EVERY SEGMENT .* at offset (\d+)", wiped),
    (r"TRUNCATE THE WHOLE LOG|truncates to its high watermark", without_epochs),
    (r"RENAME THE DIRECTORY", lambda _, __, starts: starts[1].outcome is Outcome.STRAY),
    (r"drops \d+ epochs? when it loads|deletes them", loads),
    (r"lowers it to (\d+)", ends_at),
    (r"rebuilds (?:it at|all of)", loads),
    (r"loses (\d+) records?", loses),
    (r"does not check|keeps them and appends", untouched),
)
"""What the words of an effect claim."""
CONDITIONAL = ("After an unclean shutdown",)


def contradictions(folder: Path, kafka: Release, depth: Depth) -> Iterator[str]:
    """Yield what findings claim of the next start of the log dirs in a folder, and the prediction lacks."""
    arguments, wanted = [str(folder)], PartitionFilter()
    findings = check(arguments, depth=depth, as_kind=None, wanted=wanted, release=kafka).collected
    starts = {
        (start.path, partition.dir): (start, partition)
        for start in predict(arguments, start_options(arguments, wanted, kafka)).log_dirs
        for partition in start.partitions
    }
    named = {(finding.where.log_dir, finding.where.dir) for finding in findings}
    for finding in findings:
        key = (finding.where.log_dir or "", finding.where.dir or "")
        if key not in starts or starts[key][1].outcome is Outcome.UNKNOWN:
            continue
        start = starts[key]
        claims = ClaimedStart(start[1])
        yield from (
            f"{finding.id} {claim}: {finding} {start[1]}" for claim in finding.claims if not claims.holds(claim)
        )
        for pattern, agrees in WORDS:
            match = re.search(pattern, finding.effect)
            if match and not finding.effect.startswith(CONDITIONAL) and not agrees(match, finding, start):
                yield f"{finding.id} {finding.effect!r}: {start[1].outcome} {start[1].reason} {start[1].log}"
    for key, (_, partition) in starts.items():
        if partition.lost is not None and not partition.reason and key not in named:
            yield f"{key} loses {partition.lost}, and nothing says why"


@pytest.mark.sample(4)
@pytest.mark.parametrize("version", sorted(path.name for path in BROKERS.iterdir() if path.is_dir()))
def test_real_brokers(version: str) -> None:
    """Of each release."""
    kafka = release(version)
    assert not [said for path in log_dirs(BROKERS / version) for said in contradictions(path, kafka, Depth.HEADERS)]


@pytest.mark.parametrize("depth", DEPTHS)
def test_cases(depth: Depth) -> None:
    """Of each rule, by the release of the case."""
    found = []
    for case in FOUND if IS_WHOLE else FOUND[DEPTHS.index(depth) :: 9]:
        for version in toml(case)["kafka"]:
            for path in log_dirs(shared_copy(case)):
                said = contradictions(path, release(version), depth)
                found += [f"{case.parent.name}/{case.name}: {text}" for text in said]
    assert not found


@pytest.mark.sample(2)
@pytest.mark.parametrize("version", RELEASES)
def test_random_damage(version: str, tmp_path: Path) -> None:
    """Whatever a disk, a file system or an operator did."""
    kafka, found = release(version), []
    for number, case in enumerate(cases(SEED, DAMAGED_COUNT, tmp_path, version)):
        for path in case.dirs:
            depth = DEPTHS[number % len(DEPTHS)]
            found += [f"{case.name} {case.what} {depth}: {said}" for said in contradictions(path, kafka, depth)]
    assert not found
