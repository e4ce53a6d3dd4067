"""Reads the cluster metadata from the KRaft log in a log dir: the newest snapshot and the log after it."""

from collections.abc import Iterator
from itertools import zip_longest

from kcheck.core.cluster_copies import MetadataCopy
from kcheck.core.cluster_image import FROM_SNAPSHOT, MetadataReplay
from kcheck.disk.read import Source, UnreadableError, opened, pread
from kcheck.disk.walk import file_sizes, join
from kcheck.formats import _control_record
from kcheck.formats._messages.records import decoder
from kcheck.formats._record import Record, Unread, read_records
from kcheck.formats.record_batch import CONTROL
from kcheck.model.entries import Batch
from kcheck.model.names import log_name, metadata_snapshots, segment_bases
from kcheck.model.views import LogDirView
from kcheck.rules._identity import KRAFT_VERSION, identity
from kcheck.segments.batches import Walk

BATCH_SIZE_MAX = 64 << 20
"""Larger batches are not read; KRaft writes at most 8 MiB."""
_NO_OP = b"\1\x14"
"""The first bytes of the no-op record that an idle controller writes twice a second."""


def read_copy(path: str, node_id: int | None) -> MetadataCopy | None:
    """Return the content of a `__cluster_metadata-0`; None if it is corrupt, incomplete, or has unknown records."""
    try:
        return _copy(path, node_id)
    except (UnreadableError, ValueError):
        return None


def with_modes(views: tuple[LogDirView, ...]) -> tuple[LogDirView, ...]:
    """Return the log dirs of a broker with the mode that their cluster metadata shows, if no other file shows it.

    That is a broker migrated from ZooKeeper (3.4 to 3.9): its meta.properties keep the old version.
    """
    return tuple(view._replace(of_kraft=_is_of_kraft(view)) for view in views)


def _is_of_kraft(view: LogDirView) -> bool:
    own_identity, node_id = identity(view), view.where.broker_id
    if own_identity is None or own_identity.version >= KRAFT_VERSION:
        return view.of_kraft
    names = (partition.where.dir or "" for partition in view.partitions if partition.is_metadata_log)
    copies = (read_copy(join(view.where.log_dir or "", name), node_id) for name in names)
    return any(copy is not None and node_id in copy.image.brokers for copy in copies)


def _copy(path: str, node_id: int | None) -> MetadataCopy:
    sizes = file_sizes(path)
    reading, epoch, end = _CopyReader(), 0, 0
    snapshots = metadata_snapshots(sizes)
    if snapshots:
        epoch, end, name = snapshots[-1]
        reading.snapshot(join(path, name))
    snapshot = end
    bases = segment_bases(sizes)
    for base, following in zip_longest(bases, bases[1:]):
        name = log_name(base)
        if following is not None and following <= snapshot:
            intact = _is_intact(join(path, name))
        else:
            end, epoch, intact = reading.log(join(path, name), (base, end, epoch), snapshot)
        if not intact:
            # A start truncates the log there; the node fetches the rest from other controllers.
            if reading.voters != {node_id}:
                raise ValueError(f"{name} is corrupt")
            break
    return MetadataCopy(path, node_id, epoch, max(end, snapshot), snapshot, reading.voters, reading.replay.image())


def _is_intact(path: str) -> bool:
    from kcheck.segments.header_columns import HeaderReader  # imports numpy: only to simulate a start

    with opened(path) as (source, size):
        reader = HeaderReader(source, size, verify=True)
        intact = all(columns.valid is None or bool(columns.valid.all()) for columns in reader)
        return intact and reader.position == size


class _CopyReader:
    """Reads one file after another; ValueError for corrupt, incomplete or unknown content."""

    def __init__(self) -> None:
        self.replay = MetadataReplay()
        self.voters: frozenset[int] = frozenset()
        self._control = ""
        self._decode = decoder("metadata")

    def snapshot(self, path: str) -> None:
        """Read a complete snapshot; its offsets have no meaning."""
        with opened(path) as (source, size):
            walk = Walk(source, size, verify=True)
            for batch in walk:
                self._take(source, batch, FROM_SNAPSHOT, replayed=True)
            if walk.position < size or self._control != "SNAPSHOT_FOOTER":
                raise ValueError("the snapshot is incomplete")

    def log(self, path: str, before: tuple[int, int, int], snapshot: int) -> tuple[int, int, bool]:
        """Read a segment from the snapshot's offset on; return its end, its last epoch, and whether it is complete.

        `before`: the base offset of the segment, and the end and epoch read so far.
        """
        base, end, epoch = before
        if base > end:
            raise ValueError(f"offsets are missing before {base}")
        end = base
        with opened(path) as (source, size):
            walk = Walk(source, size, verify=True)
            for batch in walk:
                if batch.base_offset != end:
                    raise ValueError(f"offsets are missing before {batch.base_offset}")
                self._take(source, batch, 0, replayed=batch.last_offset >= snapshot)
                end, epoch = batch.last_offset + 1, batch.epoch or 0
            return end, epoch, walk.position == size

    def _take(self, source: Source, batch: Batch, offset: int, *, replayed: bool) -> None:
        control = bool(batch.attributes & CONTROL)
        if not replayed and not control:
            return
        for record in _records(source, batch):
            if control:
                said = _control_record.parse(record.key, record.value)
                self._control, voters = said.name, said.fields.get("voters")
                if isinstance(voters, tuple):
                    self.voters = frozenset(voter["voter_id"] for voter in voters)
            else:
                self._message(bytes(record.value or b""), offset if offset < 0 else record.offset)

    def _message(self, value: bytes, offset: int) -> None:
        if value.startswith(_NO_OP):
            return
        message = self._decode(None, value).value
        if message is None or message.data is None or message.name is None:
            raise ValueError(f"unreadable record at offset {offset}")
        self.replay.take(message.name, message.data, offset)


def _records(source: Source, batch: Batch) -> Iterator[Record]:
    data = pread(source, batch.size, batch.position) if batch.size <= BATCH_SIZE_MAX else b""
    if len(data) < batch.size or batch.magic != 2:
        raise ValueError(f"batch at offset {batch.base_offset} not read")
    for record in read_records(data):
        if isinstance(record, Unread):
            raise ValueError(record.message)  # noqa: TRY004 - corrupt data, not a wrong type in kcheck
        yield record
