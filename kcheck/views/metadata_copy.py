"""The metadata of a cluster, from the KRaft log in a log dir: the newest snapshot, and the log after it."""

from collections.abc import Iterator
from itertools import zip_longest

from kcheck.core.cluster_copies import MetadataCopy
from kcheck.core.cluster_image import FROM_SNAPSHOT, MetadataReplay
from kcheck.disk.read import FilesOf
from kcheck.disk.walk import join
from kcheck.formats import _control_record
from kcheck.formats._messages.records import decoder
from kcheck.formats._record import Record, Unread, read_records
from kcheck.formats.record_batch import CONTROL
from kcheck.model.entries import Batch
from kcheck.model.names import log_name, metadata_snapshots, segment_bases
from kcheck.model.source import Files, Source
from kcheck.model.unreadable import UnreadableError
from kcheck.model.views import LogDirView
from kcheck.rules._identity import KRAFT_VERSION, identity
from kcheck.segments.batches import Walk

BATCH_SIZE_MAX = 64 << 20
"""kcheck reads no larger batches; KRaft writes at most 8 MiB."""
_NO_OP = b"\1\x14"
"""The first bytes of NoOpRecord, which an idle controller writes twice a second."""


def read_copy(path: str, node_id: int | None) -> MetadataCopy | None:
    """Return the copy in a directory `__cluster_metadata-0`; None if damaged, incomplete, or with unknown records."""
    try:
        return _copy(path, node_id)
    except (UnreadableError, ValueError):
        return None


def with_modes(views: tuple[LogDirView, ...]) -> tuple[LogDirView, ...]:
    """Return the log dirs of a broker, with `of_kraft` set by the metadata in them.

    Only the metadata name a broker that migrated from ZooKeeper (3.4 to 3.9): its meta.properties keep version 0.
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
    files = FilesOf(path)
    sizes = files.entries().sizes
    reading, epoch, end = _CopyReader(), 0, 0
    snapshots = metadata_snapshots(sizes)
    if snapshots:
        epoch, end, name = snapshots[-1]
        reading.snapshot(files, name)
    snapshot = end
    bases = segment_bases(sizes)
    for base, following in zip_longest(bases, bases[1:]):
        name = log_name(base)
        if following is not None and following <= snapshot:
            intact = _is_intact(files, name)
        else:
            end, epoch, intact = reading.log(files, name, (base, end, epoch), snapshot)
        if not intact:
            # A start truncates the log there. Other controllers would send the node the rest again.
            if reading.voters != {node_id}:
                raise ValueError(f"{name} is corrupt")
            break
    return MetadataCopy(path, node_id, epoch, max(end, snapshot), snapshot, reading.voters, reading.replay.image())


def _is_intact(files: Files, name: str) -> bool:
    from kcheck.segments.header_columns import HeaderReader  # numpy: loaded only where a start is simulated

    with files.open(name) as source:
        reader = HeaderReader(source, verify=True)
        intact = all(columns.valid is None or bool(columns.valid.all()) for columns in reader)
        return intact and reader.position == source.size


class _CopyReader:
    """Reads one file after another; ValueError for a file that is damaged, incomplete, or of unknown records."""

    def __init__(self) -> None:
        self.replay = MetadataReplay()
        self.voters: frozenset[int] = frozenset()
        self._control = ""
        self._decode = decoder("metadata")

    def snapshot(self, files: Files, name: str) -> None:
        """Read a complete snapshot. Its offsets have no meaning."""
        with files.open(name) as source:
            walk = Walk(source, verify=True)
            for batch in walk:
                self._take(source, batch, FROM_SNAPSHOT, replayed=True)
            if walk.position < source.size or self._control != "SNAPSHOT_FOOTER":
                raise ValueError("the snapshot is incomplete")

    def log(self, files: Files, name: str, before: tuple[int, int, int], snapshot: int) -> tuple[int, int, bool]:
        """Read a segment from the snapshot's offset on; return its end, its last epoch, and whether it is intact.

        `before`: the base offset of the segment, and the end offset and epoch before it.
        """
        base, end, epoch = before
        if base > end:
            raise ValueError(f"offsets are missing before {base}")
        end = base
        with files.open(name) as source:
            walk = Walk(source, verify=True)
            for batch in walk:
                if batch.base_offset != end:
                    raise ValueError(f"offsets are missing before {batch.base_offset}")
                self._take(source, batch, 0, replayed=batch.last_offset >= snapshot)
                end, epoch = batch.last_offset + 1, batch.epoch or 0
            return end, epoch, walk.position == source.size

    def _take(self, source: Source, batch: Batch, offset: int, *, replayed: bool) -> None:
        control = bool(batch.attributes & CONTROL)
        if not replayed and not control:
            return
        for record in _records(source, batch):
            if control:
                control_record = _control_record.parse(record.key, record.value)
                self._control, voters = control_record.name, control_record.fields.get("voters")
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
    data = source.pread(batch.size, batch.position) if batch.size <= BATCH_SIZE_MAX else b""
    if len(data) < batch.size or batch.magic != 2:
        raise ValueError(f"the batch at offset {batch.base_offset} cannot be read")
    for record in read_records(data):
        if isinstance(record, Unread):
            raise ValueError(record.message)  # noqa: TRY004 - damage, not a wrong argument
        yield record
