"""Truncate a log after its last valid batch, and adjust everything that refers to the removed batches.

The repair removes only an incomplete batch or zeros, if nothing else follows the last valid batch of a segment.
Otherwise it also removes every later segment, as a broker does when it recovers the log. The plan counts the lost
records, and requires `--accept-loss`. Indexes, leader epochs, snapshots and checkpoints follow the new log end.

A recovery in 1.1 and earlier fails on a compressed wrapper that begins below earlier offsets. The repair truncates
before it.
"""

from bisect import bisect_right
from collections.abc import Iterator
from operator import itemgetter

from kcheck.core.replication.epoch_rebuild import rebuild
from kcheck.core.replication.leader_epochs import truncate_from_end
from kcheck.model.entries import EpochEntries, Offset, OffsetEntry
from kcheck.model.finding import Finding
from kcheck.model.java import LONG_MAX
from kcheck.model.names import (
    INDEX_ENDINGS,
    RECOVERY_POINT,
    REPLICATION_OFFSET,
    FileKind,
    log_name,
    parse_file,
    segment_prefix,
)
from kcheck.model.segments import EpochRun
from kcheck.records.batch import HEADER, incomplete_batch
from kcheck.repairs._contract import (
    AsideEdit,
    CutEdit,
    Edit,
    Evidence,
    Image,
    Impact,
    PartitionSite,
    RecoveryCut,
    Refused,
    Repair,
    RepairOutcome,
    RepairScope,
    RepairStep,
    WriteEdit,
)
from kcheck.repairs._entries import with_entries
from kcheck.repairs._epochs import entries_of, write_epochs
from kcheck.repairs._files import SEGMENT_ENDINGS, bases, path_of
from kcheck.words import agree, offset_range, record_count

_TAILS = ("KC143", "KC144")
_OVERLAP = "KC170"


def plan(partition: PartitionSite, findings: tuple[Finding, ...]) -> Iterator[RepairOutcome]:
    """Yield the truncations in log order. One that removes the rest of the log is the last.

    A full disk leaves many incomplete tails. One recovery finds all of them, if each of them is truncated.
    """
    known = bases(partition)
    places = [(place, damaged) for damaged in findings if (place := _place(partition, damaged)) is not None]
    tails = frozenset(place for place, damaged in places if _is_tail(damaged) and place[0] < known[-1])
    ahead = partition.image(tails) if tails else Image()
    foreseen = {(cut.base_offset, cut.position): cut for cut in ahead.cuts if ahead.error is None}
    for place, finding in sorted(places, key=itemgetter(0)):
        if _place(partition, finding) is None:
            continue
        later = known[bisect_right(known, place[0]) :]
        if finding.id == _OVERLAP:
            yield _before_wrapper(partition, finding, place, later)
        elif place in tails and place in foreseen:
            yield _step(partition, finding, ahead, foreseen[place], later)
        else:
            yield _cut(partition, finding, place, later)
        if _place(partition, finding) is not None:
            foreseen = {}  # It was not cut, so the recovery does not get past it.


def _place(partition: PartitionSite, finding: Finding) -> tuple[int, int] | None:
    """Return the base offset and position that a finding names; None if the file no longer reaches that position."""
    name, position = finding.where.file or "", finding.where.position
    if name not in partition.names or not name.endswith(".log") or position is None or position >= partition.size(name):
        return None
    return int(name[:20]), position


def _is_tail(finding: Finding) -> bool:
    """Return whether no batch follows this position in its segment."""
    return finding.id in _TAILS and finding.data.get("beyond") is None


def _cut(partition: PartitionSite, finding: Finding, place: tuple[int, int], later: list[Offset]) -> RepairOutcome:
    image = partition.image()
    first = next((cut for cut in image.cuts if cut.position or cut.size), None)
    if image.error is not None:
        return Refused(finding, f"a recovery of the log fails: {image.error}")
    if first is None or (first.base_offset, first.position) != place:
        at = "nowhere" if first is None else f"at position {first.position} of {log_name(first.base_offset)}"
        name = log_name(place[0])
        return Refused(finding, f"a recovery would truncate the log {at}, not at position {place[1]} of {name}")
    return _step(partition, finding, image, first, later)


def _before_wrapper(
    partition: PartitionSite, finding: Finding, place: tuple[int, int], later: list[Offset]
) -> RepairOutcome:
    """Cut before a wrapper on which a recovery fails, as far as the log before it is valid."""
    if partition.release.splits_segments:
        return Refused(finding, "no broker of this release fails on it")
    base, position = Offset(place[0]), place[1]
    image = partition.image_of_cut(base, position)
    if image.fault is not None:
        return Refused(finding, f"the log before it is not valid: {image.fault}")
    cut = RecoveryCut(base, position, partition.size(log_name(base)), finding.message.partition(": ")[2])
    return _step(partition, finding, image, cut, later)


def _step(
    partition: PartitionSite, finding: Finding, image: Image, cut: RecoveryCut, later: list[Offset]
) -> RepairStep:
    name = log_name(cut.base_offset)
    what = f"valid batches end here: {cut.why}{_named(partition, name, cut.position)}"
    evidence = (Evidence(path_of(partition, name), cut.position, crc_verified=True, what=what),)
    if later and _is_tail(finding):
        reason = f"truncate {name} after its last valid batch; the later segments stay{_gap(finding, later[0])}"
        return RepairStep(finding, tuple(_segment(partition, image, cut)), reason, evidence)
    reason = f"truncate the log before its first corrupt batch, at offset {image.log_end_offset}"
    return RepairStep(finding, tuple(_edits(partition, image, cut, later)), reason, evidence)


def _named(partition: PartitionSite, name: str, position: int) -> str:
    """Return which records the header of an incomplete batch names."""
    remaining = partition.size(name) - position
    batch = incomplete_batch(
        partition.bytes_at(name, position, HEADER.size), remaining=remaining, low=0, high=LONG_MAX
    )  # fmt: skip
    if batch is None:
        return ""
    offsets = offset_range(batch.base_offset, batch.last_offset + 1)
    return f"; its header names {record_count(batch.record_count)} ({offsets})"


def _gap(finding: Finding, next_base: Offset) -> str:
    """Return which offsets are missing between the last valid batch and the next segment; empty if none are."""
    end = finding.data.get("end_offset")
    if not isinstance(end, int) or next_base <= end:
        return ""
    stay = agree(next_base - end, "stays", "stay")
    return f", and {offset_range(end, next_base)} {stay} missing before them (KC222)"


def _segment(partition: PartitionSite, image: Image, cut: RecoveryCut) -> Iterator[Edit]:
    """Yield the truncation, and the indexes of the rest of the segment."""
    prefix = segment_prefix(cut.base_offset)
    yield CutEdit(path_of(partition, f"{prefix}.log"), cut.position)
    for ending in INDEX_ENDINGS:
        built = image.files.get(prefix + ending)
        if built is not None and built != partition.read(prefix + ending):
            yield WriteEdit(path_of(partition, prefix + ending), built)


def _edits(partition: PartitionSite, image: Image, cut: RecoveryCut, later: list[Offset]) -> Iterator[Edit]:
    """Yield the truncation, and the edits for the new log end."""
    end = image.log_end_offset
    yield from _segment(partition, image, cut)
    gone = {segment_prefix(base) + ending for base in later for ending in SEGMENT_ENDINGS} & partition.names
    for name in partition.names:
        file = parse_file(name)
        if file.kind is FileKind.PRODUCER_SNAPSHOT and not file.suffix and (file.offset or 0) > end:
            gone.add(name)
    yield from (AsideEdit(path_of(partition, name)) for name in sorted(gone))
    left = {
        name
        for name in partition.names - gone
        if name.endswith(".snapshot") and name[:20] > segment_prefix(bases(partition)[0])
    }
    if not left:
        # Without any, a broker forgets every producer after a clean stop: this one is what its recovery writes.
        snapshots = sorted(name for name in image.files if name.endswith(".snapshot"))
        yield from (WriteEdit(path_of(partition, name), image.files[name]) for name in snapshots)
    epochs = entries_of(partition)
    kept = _left(image, truncate_from_end(epochs, Offset(end + 1)))
    if kept != epochs:
        yield write_epochs(partition, kept)
    yield from _checkpoints(partition, end)


def _left(image: Image, stated: EpochEntries) -> EpochEntries:
    """Return the epochs of a truncated log, from its batches, and further ones from the file.

    An epoch that starts at the log end comes from an election without records. A log start above the new end had raised
    the first.
    """
    ends = [*(entry.start_offset for entry in image.leader_epochs[1:]), image.log_end_offset]
    runs = (EpochRun(*entry, Offset(end - 1)) for entry, end in zip(image.leader_epochs, ends, strict=False))
    rebuilt = rebuild(runs, stated, log_end=image.log_end_offset)
    assert rebuilt is not None  # A recovery takes down epochs that rise.
    return rebuilt.entries


def _checkpoints(partition: PartitionSite, end: Offset) -> Iterator[Edit]:
    """Yield the checkpoints with an entry above the log end, lowered, or without it."""

    def lowered(name: str, entry: OffsetEntry) -> OffsetEntry | None:
        if entry.offset <= end:
            return entry
        return entry._replace(offset=end) if name in (RECOVERY_POINT, REPLICATION_OFFSET) else None

    return with_entries(partition, lowered)


REPAIR = Repair(
    name="cut-log",
    rank=50,
    scope=RepairScope.PARTITION,
    rules=("KC141", "KC142", *_TAILS, _OVERLAP),
    plan=plan,
    impact=Impact.CUT,
    page=__doc__,
)
