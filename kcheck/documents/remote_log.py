"""The part of a partition in remote storage, as JSON and in one line."""

from kcheck.core.tiered.reading import offsets_of
from kcheck.core.tiered.regular_deletion import RegularDeletion
from kcheck.core.tiered.spans import offset_count, within
from kcheck.model.entries import Offset
from kcheck.model.remote_log import Spans
from kcheck.model.report import Row
from kcheck.model.views import PartitionView
from kcheck.words import bare_range, counted, some_of

_MOST = 5


def remote_row(view: PartitionView) -> Row | None:
    """Return the row of the remote part; None without one, or if kcheck did not look for it."""
    if view.remote is None:
        return None
    remote, local_start = view.remote, local_start_of(view)
    copied, is_known = offsets_of(remote.runs), remote.is_known
    return {
        "metadata": str(remote.state),
        "metadata_partition": remote.metadata_partition,
        "metadata_leader": remote.leader,
        "local_start_offset": local_start,
        "remote_end_offset": copied[-1][1] if copied else None,
        "segments": sum(run.segments for run in remote.runs) if is_known else None,
        "size": sum(run.size for run in remote.runs) if is_known else None,
        "offsets": span_rows(copied),
        "unfinished": len(remote.unfinished) if is_known else None,
    }


def span_rows(spans: Spans) -> tuple[Row, ...]:
    """Return ranges of offsets as rows."""
    return tuple({"from": start, "to_exclusive": end} for start, end in spans)


def retention_row(regular: RegularDeletion) -> Row:
    """Return the first pass of retention as a row."""
    return {
        "log_start_at_least": regular.least,
        "log_start_at_most": regular.most,
        "first_expiry_ms": regular.first_ms,
        "last_expiry_ms": regular.last_ms,
        "segments_below_log_start": regular.below,
        "local_start_at_most": regular.local_most,
        "local_first_expiry_ms": regular.local_first_ms,
    }


def remote_words(view: PartitionView) -> str | None:
    """Return how much of a log is local, remote, or in both places; None without a remote part."""
    remote, local_start, end = view.remote, local_start_of(view), view.log_end_offset
    if remote is None or local_start is None or end is None:
        return None
    words = f"local start {local_start}, {counted(end - local_start, 'offset')} local"
    if not remote.is_known:
        return f"{words}, remote segments not known: __remote_log_metadata is {remote.state}"
    copied = within(offsets_of(remote.runs), view.log_start_offset or Offset(0), end)
    in_both = offset_count(within(copied, local_start, end))
    ranges = some_of([bare_range(*span) for span in copied], _MOST) or "none"
    segments = counted(sum(run.segments for run in remote.runs), "remote segment")
    return f"{words}, {offset_count(copied)} in {segments} ({ranges}), {in_both} in both places"


def local_start_of(view: PartitionView) -> Offset | None:
    """Return the base offset of the first local segment; None without one."""
    return view.segments[0].base_offset if view.segments else None
