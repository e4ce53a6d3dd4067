"""Tells remote segments that retention may have deleted from segments deleted by something else."""

from kcheck.core.tiered.spans import merged
from kcheck.model.entries import Offset
from kcheck.model.remote_log import RemoteLog, RemoteSegment, Retention, SegmentState, Spans

_GOING = (SegmentState.DELETE_STARTED, SegmentState.DELETE_FINISHED)


def deleted_by_retention(log: RemoteLog, retention: Retention, left: int) -> Spans:
    """Return the offsets of deleted segments that retention may have deleted.

    `left` are the bytes that the log still has. By time a segment goes once its newest record is as old as
    `retention.ms`. By size it goes only while at least `retention.bytes` are left without it (RemoteLogRetentionHandler
    in RemoteLogManager 3.6 to 4.3.1).
    """
    by_size = retention.bytes is None or 0 <= retention.bytes <= left
    spans: list[tuple[Offset, Offset]] = []
    for row in log.segments:
        start, end = row.start_offset, row.end_offset
        if row.state in _GOING and start is not None and end is not None and (by_size or _is_old(row, retention.ms)):
            spans.append((start, end))
    return merged(spans)


def _is_old(segment: RemoteSegment, retention_ms: int | None) -> bool:
    """Return whether retention could delete a segment at its deletion time, by the age of its newest record."""
    newest = segment.newest_ms
    return retention_ms is None or newest is None or 0 <= retention_ms <= segment.last_ms - newest
