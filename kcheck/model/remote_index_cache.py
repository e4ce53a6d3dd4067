"""The directory `remote-log-index-cache`: the indexes of remote segments that a broker has fetched (RemoteIndexCache).

Three files belong to a segment: `<start offset>_<segment id>` with `.index`, `.timeindex` and `.txnindex`. Everything
in the directory can be fetched again.
"""

from typing import NamedTuple

from kcheck.model.entries import Offset


class CachedIndexes(NamedTuple):
    """The indexes of a remote segment. Their names do not say of which partition it is."""

    start_offset: Offset | None
    """The first offset of the segment; None if the name has no number there."""
    segment_id: str
    """The id of the remote segment, which the records of `__remote_log_metadata` name too."""
    offset_index: int | None
    """The size of its offset index in bytes; None if it is not there."""
    time_index: int | None
    """The size of its time index."""
    transaction_index: int | None
    """The size of its transaction index; 0 for a segment without aborted transactions."""


class RemoteIndexCache(NamedTuple):
    """The content of the directory, by the names and sizes of its files."""

    files: int = 0
    """Number of its regular files."""
    size: int = 0
    """Their size in bytes."""
    segments: int = 0
    """Number of remote segments that have all three files."""
    incomplete: int = 0
    """Number of segments with fewer files. A broker deletes their files when it starts."""
    leftovers: int = 0
    """Number of files that end with `.tmp` or `.deleted`. Brokers of 4.1 and later delete them when they start."""
    refused: tuple[str, ...] = ()
    """The first of the names with which a broker with remote storage does not start, sorted."""
    refused_count: int = 0
    """Number of these names."""
    indexed: tuple[CachedIndexes, ...] = ()
    """The first remote segments of which files are here, by offset and id."""
