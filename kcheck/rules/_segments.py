"""What the rules on a segment share: which batches and entries are faulty, and what the next start makes of it."""

from collections.abc import Callable

from kcheck.core.segments import LOG_SIZE_MAX, seen_log_size
from kcheck.model.entries import Offset
from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import BatchFault, End, EntryFault, FaultyBatch, FaultyEntry, IndexView, SegmentView
from kcheck.rules._contract import Rule
from kcheck.rules._partition import offset_range
from kcheck.rules._words import DATA_MAX, and_further, counted, kafka

COMPARE = "Compare the log end with the other replicas."
KEEP_A_COPY = "Stop the broker and keep a copy of the partition directory outside of every log dir."
REFETCH = (
    "If another replica is in sync, move this directory out of the log dir with the broker stopped, and let the broker "
    "fetch it anew."
)


def made_of_size(size: int, release: Release) -> tuple[Severity, str] | None:
    """Return what a broker makes of a `.log` that has more bytes than one may have, None if it has not."""
    if size <= LOG_SIZE_MAX:
        return None
    seen = seen_log_size(size, release)
    if seen is None:
        return Severity.FATAL, f"{kafka(release)} does not start, now or later."
    return Severity.ERROR, f"{kafka(release)} takes it for a file of {seen} bytes."


def has_faulty_batches(view: SegmentView) -> bool:
    """Whether a batch has a fault."""
    return bool(view.counts)


def ends_early(view: SegmentView) -> bool:
    """Whether the batches end before the file does."""
    return view.end is not End.WHOLE


def has_faulty_entries(view: SegmentView) -> bool:
    """Whether an index has an entry with a fault, or ends inside an entry."""
    offsets, times = view.offset_index, view.time_index
    faulty_offsets = offsets is not None and bool(offsets.counts or offsets.torn)
    return faulty_offsets or (times is not None and bool(times.counts or times.torn))


def has_faulty_records(view: SegmentView) -> bool:
    """Whether a batch has a fault inside; False where no records were read."""
    return view.records is not None and bool(view.records.counts)


def lacks_index(view: SegmentView) -> bool:
    """Whether the offset index or the time index was not read."""
    return view.offset_index is None or view.time_index is None


def batches_finding(
    rule: Rule,
    view: SegmentView,
    faults: tuple[BatchFault, ...],
    saying: Callable[[FaultyBatch], str],
    *,
    effect: str,
    advice: str,
) -> list[Finding]:
    """Return the one finding about the batches with these faults, none where there are none."""
    found = [batch for batch in view.faults if batch.fault in faults]
    if not found:
        return []
    first = min(found, key=lambda batch: batch.position)
    count = sum(view.counts.get(fault, 0) for fault in faults)
    return [
        rule.finding(
            view.where._replace(position=first.position),
            f"position {first.position}: {saying(first)}{and_further(count, 'batch', 'batches')}",
            effect=effect,
            advice=advice,
            data={"count": count, "batches": tuple(_row(batch) for batch in found[:DATA_MAX])},
        )
    ]


def _row(batch: FaultyBatch) -> dict[str, object]:
    return {
        "fault": str(batch.fault),
        "position": batch.position,
        "size": batch.size,
        "magic": batch.magic,
        "base_offset": batch.base_offset,
        "last_offset": batch.last_offset,
        "leader_epoch": batch.epoch,
        "records": batch.record_count,
        "before": batch.before,
    }


def cut_or_unnoticed(view: SegmentView, release: Release, unnoticed: str, end: Offset | None = None) -> str:
    """Return what becomes of a segment that a recovery cuts, at `end` if that is not where any release cuts it."""
    end = recovered_end(view) if end is None else end
    cut = f"cuts the log at offset {end} and deletes every segment behind this one"
    if view.scanned is None:
        return f"After an unclean stop {kafka(release)} {cut}; after a clean one it does not look: {unnoticed}."
    if view.scanned:
        return f"{kafka(release)} reads this segment at its next start, because the stop was unclean: it {cut}."
    return f"{kafka(release)} does not read this segment at its next start: {unnoticed}."


def recovered_end(view: SegmentView) -> Offset:
    """Return where a recovery of the segment ends its batches: LogSegment.recover cuts at the first wrong CRC."""
    return next((batch.base_offset for batch in view.faults if batch.fault is BatchFault.CRC), view.end_offset)


def beyond_in_words(view: SegmentView) -> str:
    """Return what stands whole behind the end of valid data."""
    if view.beyond is None:
        return ""
    there = view.beyond
    held = offset_range(there.base_offset, there.last_offset + 1)
    batches = counted(there.batches, "whole batch", "whole batches")
    return f"; behind it, from position {there.position}, {batches} with {held}"


def beyond_row(view: SegmentView) -> dict[str, object] | None:
    """Return the same as values."""
    return None if view.beyond is None else view.beyond._asdict()


def entries_finding(
    rule: Rule,
    view: SegmentView,
    index: IndexView | None,
    faults: tuple[EntryFault, ...],
    saying: Callable[[FaultyEntry], str],
    *,
    slot_size: int,
    unnoticed: str,
    release: Release,
) -> list[Finding]:
    """Return the one finding about the entries with these faults, none where there are none.

    A start that reads the segment makes its indexes anew: then it is a warning.
    """
    found = [] if index is None else [entry for entry in index.faults if entry.fault in faults]
    if index is None or not found:
        return []
    count = sum(index.counts.get(fault, 0) for fault in faults)
    position = found[0].number * slot_size
    effect, severity = rebuilt_or_unnoticed(view, release, unnoticed), Severity.ERROR
    if rebuilt(view, release):
        severity = Severity.INFO if view.scanned and _left_behind(view, index) else Severity.WARNING
        if severity is Severity.INFO:
            effect += " A truncation leaves such entries in the file of the active segment."
    return [
        rule.finding(
            index.where._replace(position=position),
            f"entry {found[0].number} {saying(found[0])}{and_further(count, 'entry', 'entries')}",
            effect=effect,
            advice=REBUILD,
            severity=severity,
            data={"count": count, "entries": tuple(entry._asdict() for entry in found[:DATA_MAX])},
        )
    ]


def _left_behind(view: SegmentView, index: IndexView) -> bool:
    """Whether faulty entries can be what a truncation of the log left: all up to the last one, in the active segment.

    AbstractIndex.truncateToEntries (0.10.2 to 4.3.1) forgets entries and leaves their bytes; later ones overwrite some.
    """
    if not view.active or not index.room:
        return False
    if EntryFault.ORDER in index.counts:
        return index.counts[EntryFault.ORDER] == 1
    numbers = sorted({entry.number for entry in index.faults})
    reaches_end = numbers[-1] == index.entries - 1 or sum(index.counts.values()) > len(index.faults)
    return reaches_end and numbers[-1] - numbers[0] + 1 == len(numbers)


REBUILD = (
    "Let the broker rebuild it: stop the broker, make sure that every batch of the .log is whole (kcheck check --depth "
    "crc), move both indexes of the segment aside, out of the log dir, and start it. While the .log has a batch that "
    "is not whole, never remove an index: the broker would cut the log there."
)


def rebuilt(view: SegmentView, release: Release) -> bool:
    """Whether the next start is known to make the indexes of a segment anew, because it recovers the segment.

    Up to 2.2 also where it finds one of them wrong by itself (OffsetIndex.sanityCheck, TimeIndex.sanityCheck): it has
    bytes behind its last slot, or this holds zeros. Those of an `.index` are no offset up to 1.1.
    """
    offsets, times = view.offset_index, view.time_index
    torn = any(index is not None and index.torn for index in (offsets, times))
    zeros = offsets is not None and offsets.room > 0 and not release.splits_segments
    before = times is not None and times.room > 0 and times.entries > 0
    return view.scanned is True or (release.checks_indexes and (torn or zeros or before))


def rebuilt_or_unnoticed(view: SegmentView, release: Release, unnoticed: str) -> str:
    """Return what becomes of a wrong index."""
    if not view.scanned and rebuilt(view, release):
        return f"{kafka(release)} finds an index of this segment wrong at its next start, and rebuilds all of them."
    if view.scanned is None:
        return f"After an unclean stop {kafka(release)} rebuilds it; after a clean one it does not look: {unnoticed}."
    if view.scanned:
        return f"{kafka(release)} rebuilds it at its next start, because the stop was unclean."
    return f"{kafka(release)} does not check it at its next start: {unnoticed}."


def closed(view: SegmentView) -> bool:
    """Whether a broker has closed the segment, and cut and ended its indexes: it rolled, or it stopped cleanly."""
    return not view.active or view.scanned is False


def torn_finding(rule: Rule, view: SegmentView, index: IndexView | None, release: Release) -> list[Finding]:
    """Return the finding about bytes behind the last whole slot of an index."""
    if index is None or not index.torn:
        return []
    return [
        rule.finding(
            index.where._replace(position=index.size - index.torn),
            f"position {index.size - index.torn}: {counted(index.torn, 'byte')} behind the last whole entry",
            effect=rebuilt_or_unnoticed(view, release, "it takes no notice of these bytes"),
            advice=REBUILD,
            severity=Severity.WARNING,
            data={"torn": index.torn, "size": index.size},
        )
    ]
