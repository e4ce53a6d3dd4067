"""Shared by the rules on segments (findings about corrupt batches and index entries, and their effects)."""

from collections.abc import Callable

from kcheck.core.start.segments import LOG_SIZE_MAX, seen_log_size
from kcheck.model.entries import Offset
from kcheck.model.finding import Claim, Claimed, Effect, Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import BatchFault, End, EntryFault, FaultyBatch, FaultyEntry, IndexView, SegmentView
from kcheck.rules._contract import Rule
from kcheck.rules._words import DATA_MAX, and_further, kafka
from kcheck.words import capital, counted, offset_range

COMPARE = "Compare the log end offset with the other replicas, if there are any."
KEEP_A_COPY = "Stop the broker and copy the partition directory to a place outside every log dir."
REFETCH = (
    "If another replica is in sync, stop the broker and move this directory outside every log dir. The broker then "
    "re-replicates it."
)

_AFTER_CLEAN = "after a clean one it does not check the segment"


def oversized_log(size: int, release: Release) -> tuple[Severity, str] | None:
    """Return the reaction of a broker to a `.log` above the size limit; None if it is not above."""
    if size <= LOG_SIZE_MAX:
        return None
    size_seen = seen_log_size(size, release)
    if size_seen is None:
        return Severity.FATAL, f"{kafka(release)} does not start, now or later."
    return Severity.ERROR, f"{kafka(release)} reads it as a file of {size_seen} bytes."


def has_faulty_batches(view: SegmentView) -> bool:
    """Return whether a batch has a fault."""
    return bool(view.counts)


def ends_early(view: SegmentView) -> bool:
    """Return whether the batches end before the file does."""
    return view.end is not End.WHOLE


def has_faulty_entries(view: SegmentView) -> bool:
    """Return whether an index has an entry with a fault, or ends inside an entry."""
    offsets, times = view.offset_index, view.time_index
    faulty_offsets = offsets is not None and bool(offsets.counts or offsets.torn)
    return faulty_offsets or (times is not None and bool(times.counts or times.torn))


def has_faulty_records(view: SegmentView) -> bool:
    """Return whether a batch has a fault inside; False where no records were read."""
    return view.records is not None and bool(view.records.counts)


def is_undamaged(view: SegmentView) -> bool:
    """Return whether no batch, record or index entry has a fault, and the last batch ends with the file."""
    return not (has_faulty_batches(view) or ends_early(view) or has_faulty_entries(view) or has_faulty_records(view))


def lacks_index(view: SegmentView) -> bool:
    """Return whether the offset index or the time index was not read."""
    return view.offset_index is None or view.time_index is None


def batches_finding(
    rule: Rule,
    view: SegmentView,
    faults: tuple[BatchFault, ...],
    message: Callable[[FaultyBatch], str],
    *,
    effect: str | Effect,
    advice: str,
) -> list[Finding]:
    """Return one finding about the batches with these faults; an empty list without any."""
    batches = [batch for batch in view.faults if batch.fault in faults]
    if not batches:
        return []
    first = min(batches, key=lambda batch: batch.position)
    count = sum(view.counts.get(fault, 0) for fault in faults)
    return [
        rule.finding(
            view.where._replace(position=first.position),
            f"position {first.position}: {message(first)}{and_further(count, 'batch')}",
            effect=effect,
            advice=advice,
            data={"count": count, "batches": tuple(_row(batch) for batch in batches[:DATA_MAX])},
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


def cut_or_unnoticed(view: SegmentView, release: Release, unnoticed: str, end: Offset | None = None) -> str | Effect:
    """Return the effect on a segment that recovery truncates; `end` is given if it is not the usual offset."""
    end = recovered_end(view) if end is None else end
    cut = f"truncates the log to offset {end} and deletes every later segment"
    if view.scanned is None:
        return f"After an unclean shutdown {kafka(release)} {cut}; {_AFTER_CLEAN}. {capital(unnoticed)}."
    if view.scanned:
        words = f"{kafka(release)} recovers this segment when it starts, because the shutdown was unclean. It {cut}."
        return cuts(words, end)
    return keeps(f"{kafka(release)} does not check this segment when it starts. {capital(unnoticed)}.", view)


def cuts(words: str, end: Offset) -> Effect:
    """Return an effect that claims a truncation of the log at an offset by the next start."""
    return Effect(words, (Claim(Claimed.CUTS, end),))


def keeps(words: str, view: SegmentView) -> Effect:
    """Return an effect that says that the next start leaves the `.log` of a segment as it is."""
    return Effect(words, (Claim(Claimed.KEEPS, view.base_offset),))


def recovered_end(view: SegmentView) -> Offset:
    """Return the end offset after recovery of the segment; LogSegment.recover truncates at the first wrong CRC."""
    return next((batch.base_offset for batch in view.faults if batch.fault is BatchFault.CRC), view.end_offset)


def batches_after_damage(view: SegmentView) -> str:
    """Return how many complete batches follow the end of valid data; empty if none does."""
    if view.beyond is None:
        return ""
    beyond = view.beyond
    offsets = offset_range(beyond.base_offset, beyond.last_offset + 1)
    batches = counted(beyond.batches, "complete batch")
    return f"; after it, from position {beyond.position}, {batches} with {offsets}"


def beyond_row(view: SegmentView) -> dict[str, object] | None:
    """Return the batches after the corruption as values for scripts."""
    return None if view.beyond is None else view.beyond._asdict()


def entries_finding(
    rule: Rule,
    view: SegmentView,
    index: IndexView | None,
    faults: tuple[EntryFault, ...],
    message: Callable[[FaultyEntry], str],
    *,
    slot_size: int,
    unnoticed: str,
    release: Release,
) -> list[Finding]:
    """Return one finding about the entries with these faults; an empty list without any.

    It is a warning if the next start reads the segment and so rebuilds its indexes.
    """
    entries = [] if index is None else [entry for entry in index.faults if entry.fault in faults]
    if index is None or not entries:
        return []
    count = sum(index.counts.get(fault, 0) for fault in faults)
    position = entries[0].number * slot_size
    severity, also = Severity.ERROR, ""
    if rebuilt(view, release):
        severity = Severity.INFO if view.scanned and _left_by_truncation(view, index) else Severity.WARNING
        if severity is Severity.INFO:
            also = " Truncation leaves such entries in the index of the active segment."
    return [
        rule.finding(
            index.where._replace(position=position),
            f"entry {entries[0].number} {message(entries[0])}{and_further(count, 'entry')}",
            effect=rebuilt_or_unnoticed(view, release, unnoticed, also),
            advice=REBUILD,
            severity=severity,
            data={"count": count, "entries": tuple(entry._asdict() for entry in entries[:DATA_MAX])},
        )
    ]


def _left_by_truncation(view: SegmentView, index: IndexView) -> bool:
    """Return whether a truncation of the log can have left the corrupt entries.

    These are then all entries up to the last, in the active segment. AbstractIndex.truncateToEntries (0.10.2 to 4.3.1)
    removes entries but keeps their bytes; later ones overwrite some.
    """
    if not view.active or not index.room:
        return False
    if EntryFault.ORDER in index.counts:
        return index.counts[EntryFault.ORDER] == 1
    numbers = sorted({entry.number for entry in index.faults})
    reaches_end = numbers[-1] == index.entries - 1 or sum(index.counts.values()) > len(index.faults)
    return reaches_end and numbers[-1] - numbers[0] + 1 == len(numbers)


REBUILD = (
    "Stop the broker, and check that every batch of the .log is intact (kcheck check --depth crc). Then move both "
    "indexes of the segment outside every log dir. The broker rebuilds them. With a batch that is not intact, never "
    "remove an index, because the broker would truncate the log there."
)


def rebuilt(view: SegmentView, release: Release) -> bool:
    """Return whether the next start surely rebuilds the indexes of a segment, as it recovers the segment.

    2.2 and earlier also do so if OffsetIndex.sanityCheck or TimeIndex.sanityCheck fails. The index then has bytes after
    its last slot, or zeros in that slot. In an `.index` zeros are not a valid offset in 1.1 and earlier.
    """
    offsets, times = view.offset_index, view.time_index
    torn = any(index is not None and index.torn for index in (offsets, times))
    zeros = offsets is not None and offsets.room > 0 and not release.splits_segments
    before = times is not None and times.room > 0 and times.entries > 0
    return view.scanned is True or (release.checks_indexes and (torn or zeros or before))


def rebuilt_or_unnoticed(view: SegmentView, release: Release, unnoticed: str, also: str = "") -> str | Effect:
    """Return the effect of a wrong index; `also` follows the words for a rebuild."""
    rebuilds = (Claim(Claimed.REBUILDS, view.base_offset),)
    if not view.scanned and rebuilt(view, release):
        words = f"{kafka(release)} finds a wrong index of this segment when it starts, and rebuilds all of its indexes."
        return Effect(words + also, rebuilds)
    if view.scanned is None:
        return f"After an unclean shutdown {kafka(release)} rebuilds it; {_AFTER_CLEAN}. {capital(unnoticed)}."
    if view.scanned:
        words = f"{kafka(release)} rebuilds it when it starts, because the shutdown was unclean."
        return Effect(words + also, rebuilds)
    return keeps(f"{kafka(release)} does not check it when it starts, and {unnoticed}.", view)


def closed(view: SegmentView) -> bool:
    """Return whether a broker has closed the segment and trimmed its indexes, by rolling or a clean shutdown."""
    return not view.active or view.scanned is False


def torn_finding(rule: Rule, view: SegmentView, index: IndexView | None, release: Release) -> list[Finding]:
    """Return the finding about bytes after the last complete entry of an index."""
    if index is None or not index.torn:
        return []
    return [
        rule.finding(
            index.where._replace(position=index.size - index.torn),
            f"position {index.size - index.torn}: {counted(index.torn, 'byte')} after the last complete entry",
            effect=rebuilt_or_unnoticed(view, release, "it ignores these bytes"),
            advice=REBUILD,
            severity=Severity.WARNING,
            data={"torn": index.torn, "size": index.size},
        )
    ]
