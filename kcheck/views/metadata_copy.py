"""The metadata of a cluster, from the KRaft log of one node (a snapshot, and the log after it)."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import zip_longest
from typing import NamedTuple

from kcheck.core.cluster.copies import MetadataCopy, RaftEpoch
from kcheck.core.cluster.metadata_replay import KRAFT_VERSION as KRAFT_VERSION_FEATURE
from kcheck.core.cluster.metadata_replay import Fields, MetadataReplay
from kcheck.core.start.identity import KRAFT_VERSION, identity
from kcheck.disk.directory import Directory
from kcheck.disk.paths import split
from kcheck.disk.tree import Tree
from kcheck.formats import quorum_state
from kcheck.model.cluster import FROM_SNAPSHOT, MetadataProblem, QuorumState, Voter, voters_in
from kcheck.model.entries import Batch, Offset
from kcheck.model.java import LONG_MAX
from kcheck.model.names import FileKind, log_name, metadata_snapshots, segment_bases
from kcheck.model.source import Source
from kcheck.model.unreadable import UnreadableError
from kcheck.model.views import LogDirView
from kcheck.records import control_record
from kcheck.records.batch import CONTROL
from kcheck.records.record import Record, Unread, read_records
from kcheck.schemas.records import decoder
from kcheck.segments.batches import Walk
from kcheck.views.metadata_paths import identity_of

BATCH_SIZE_MAX = 64 << 20
"""kcheck reads no larger batches; KRaft writes at most 8 MiB."""
_NO_OP = b"\1\x14"
"""The first bytes of NoOpRecord, which an idle controller writes twice a second."""
_SMALL_SIZE_MAX = 1 << 20

Observe = Callable[[MetadataReplay, str, Fields, int, int], None]
"""Takes the replay after a record, and the record (its name, fields, offset and timestamp)."""

CopyIn = Callable[[LogDirView, str], MetadataCopy | None]
"""Returns the `complete_copy` in a directory of a log dir, by its name."""


class Extent(NamedTuple):
    """The part of a log that is replayed."""

    until: int | None = None
    """The last offset; None for all."""
    whole: bool = False
    """True if the replay begins as early as the files allow; else with the newest snapshot that serves."""
    torn: bool = False
    """True if a corrupt snapshot counts up to its last valid batch, where no intact file replaces the rest."""


EVERYTHING = Extent()


def read_copy(
    tree: Tree,
    path: str,
    node_id: int | None,
    extent: Extent = EVERYTHING,
    observe: Observe | None = None,
    only: str | None = None,
) -> MetadataCopy:
    """Return the copy in a directory `__cluster_metadata-0`; what is wrong with it is among its problems.

    `only` is the one file of it that is read. UnreadableError if the directory cannot be listed.
    """
    files = tree.directory(path)
    names = files.entries().sizes.keys() if only is None else {only}
    copy = _CopyReader(path, files, frozenset(names), extent, observe).copy(node_id)
    return copy._replace(directory_id=identity_of(tree, split(path)[0]).directory_id)


def complete_copy(tree: Tree, path: str, node_id: int | None) -> MetadataCopy | None:
    """Return the copy in a directory; None if it is corrupt, incomplete, or has unknown records."""
    try:
        copy = read_copy(tree, path, node_id)
    except UnreadableError:
        return None
    return copy if copy.decides else None


def with_modes(views: tuple[LogDirView, ...], copy_in: CopyIn) -> tuple[LogDirView, ...]:
    """Return the log dirs of a broker, with `of_kraft` set by the metadata in them.

    Only the metadata names a broker that migrated from ZooKeeper (3.4 to 3.9): its meta.properties keep version 0.
    """
    return tuple(view._replace(of_kraft=_is_of_kraft(view, copy_in)) for view in views)


def _is_of_kraft(view: LogDirView, copy_in: CopyIn) -> bool:
    own_identity, node_id = identity(view), view.where.broker_id
    if own_identity is None or own_identity.version >= KRAFT_VERSION:
        return view.of_kraft
    names = (partition.where.dir or "" for partition in view.partitions if partition.is_metadata_log)
    copies = (copy_in(view, name) for name in names)
    return any(copy is not None and copy.image.runs_kraft(node_id) for copy in copies)


class _CopyReader:
    """Reads the files of a copy one after another."""

    def __init__(
        self, path: str, files: Directory, names: frozenset[str], extent: Extent, observe: Observe | None
    ) -> None:
        self._path, self._files, self._names, self._observe = path, files, names, observe
        self._last, self._whole = LONG_MAX if extent.until is None else extent.until, extent.whole
        self._torn, self._lacks_base = extent.torn, False
        self._corrupt: list[tuple[int, str]] = []
        self._decode = decoder("metadata")
        self._problems: list[MetadataProblem] = []
        self._cut: MetadataProblem | None = None
        self._is_cut_at_end = False
        self._begin()

    def _begin(self) -> None:
        """Forget what was replayed."""
        observe = self._observe
        self._replay = MetadataReplay(None if observe is None else lambda *record: observe(self._replay, *record))
        self._voters: frozenset[int] = frozenset()
        self._voter_set: tuple[Voter, ...] = ()
        self._kraft_version: int | None = None
        self._leader: int | None = None
        self._control = ""
        self._epochs: list[RaftEpoch] = []
        self._timestamp: int | None = None
        self._written: dict[int, int] = {}

    def copy(self, node_id: int | None) -> MetadataCopy:
        """Read everything."""
        snapshot, epoch = self._snapshot()
        end, epoch = self._log(snapshot, epoch)
        elected = self._elected()
        image, replay_problems = self._replay.image(), self._replay.problems
        image = image._replace(controller=self._leader)
        if self._kraft_version is not None:
            image = image._replace(features={**image.features, KRAFT_VERSION_FEATURE: self._kraft_version})
        return MetadataCopy(
            path=self._path,
            node_id=node_id,
            epoch=epoch,
            end=end,
            snapshot=snapshot,
            voters=self._voters or frozenset(() if elected is None else elected.voters or ()),
            image=image,
            voter_set=self._voter_set,
            epochs=tuple(self._epochs),
            leader=self._leader,
            elected=elected,
            timestamp=self._timestamp,
            written=self._written,
            fenced_at=self._replay.fenced_at,
            cut=self._cut,
            is_cut_at_end=self._is_cut_at_end,
            in_transaction=self._replay.in_transaction,
            corrupt_snapshots=tuple(name for _, name in self._corrupt),
            lacks_base=self._lacks_base or any(place > end for place, _ in self._corrupt),
            problems=(*self._problems, *(self._at(problem.offset, problem.why) for problem in replay_problems)),
        )

    def _elected(self) -> QuorumState | None:
        if FileKind.QUORUM_STATE not in self._names:
            return None
        try:
            parsed = quorum_state.parse(self._files.read_whole(FileKind.QUORUM_STATE, _SMALL_SIZE_MAX))
        except UnreadableError:
            return None
        return parsed.value

    def _snapshot(self) -> tuple[int, int]:
        """Replay the snapshot to begin with; return its end and epoch, zeros without one."""
        bases = segment_bases(self._names)
        first = bases[0] if bases else 0
        served = [
            (epoch, end, name) for epoch, end, name in metadata_snapshots(self._names) if first <= end <= self._last + 1
        ]
        if self._whole and first == 0 and bases:
            served = [snapshot for snapshot in served if snapshot[1] == 0]
        for epoch, end, name in served if self._whole else reversed(served):
            try:
                self._replay_snapshot(name, has_state=end > 0)
            except (UnreadableError, ValueError) as error:
                self._problems.append(MetadataProblem(name, str(error)))
                self._corrupt.append((end, name))
                self._begin()
                continue
            return end, epoch
        self._lacks_base = first > 0
        if self._torn and self._corrupt and (first > 0 or not bases):
            self._lacks_base = True
            epoch, end, name = served[-1]
            with suppress(UnreadableError, ValueError):
                self._replay_snapshot(name, has_state=end > 0)
            return end, epoch
        if first > 0:
            self._problems.append(MetadataProblem(log_name(first), f"no snapshot covers the offsets before {first}"))
        return 0, 0

    def _replay_snapshot(self, name: str, *, has_state: bool) -> None:
        """Read a snapshot; ValueError if it is incomplete.

        Its own offsets have no meaning. The snapshot of offset 0 only has the formatting records of the node.
        """
        with self._files.open(name) as source:
            walk = Walk(source, verify=True)
            for batch in walk:
                if has_state or batch.attributes & CONTROL:
                    self._take(source, batch, FROM_SNAPSHOT)
            if walk.position < source.size or self._control != "SNAPSHOT_FOOTER":
                raise ValueError("the snapshot is incomplete")

    def _log(self, snapshot: int, epoch: int) -> tuple[int, int]:
        """Replay the log from the snapshot on; return its end, and its last epoch."""
        end = snapshot
        bases = segment_bases(self._names)
        for base, following in zip_longest(bases, bases[1:]):
            if base > self._last:
                break
            name = log_name(base)
            try:
                if following is not None and following <= snapshot:
                    intact = self._skip(name)
                elif base > end:
                    self._problems.append(MetadataProblem(name, f"offsets are missing before {base}"))
                    break
                else:
                    end, epoch, intact = self._segment(name, (base, end, epoch), snapshot)
            except (UnreadableError, ValueError) as error:
                self._problems.append(MetadataProblem(name, str(error)))
                break
            if not intact:
                self._cut = MetadataProblem(name, f"no valid batch begins at offset {end}")
                self._is_cut_at_end = following is None and self._ends_at(name, base, end)
                break
        return max(end, snapshot), epoch

    def _skip(self, name: str) -> bool:
        """Note the epochs of a segment that the snapshot covers; return whether it is intact."""
        from kcheck.segments.header_columns import HeaderReader  # numpy: loaded only for such a segment

        with self._files.open(name) as source:
            reader = HeaderReader(source, verify=True)
            intact = True
            for columns in reader:
                intact = intact and (columns.valid is None or bool(columns.valid.all()))
                for index in (0, *(1 + (columns.epoch[1:] != columns.epoch[:-1]).nonzero()[0])):
                    self._note_epoch(
                        int(columns.epoch[index]), int(columns.base_offset[index]), int(columns.crc[index])
                    )
            return intact and reader.position == source.size

    def _note_epoch(self, epoch: int, offset: int, crc: int) -> None:
        """Note the epoch of a batch, also below the snapshot, where a copy of another node may end."""
        if not self._epochs or self._epochs[-1].epoch != epoch:
            self._epochs.append(RaftEpoch(epoch, offset, crc))

    def _segment(self, name: str, before: tuple[int, int, int], snapshot: int) -> tuple[int, int, bool]:
        """Replay a segment from the snapshot's offset on; return its end, its last epoch, and whether it is intact.

        `before`: the base offset of the segment, and the end offset and epoch before it.
        """
        base, end, epoch = before
        end, last = base, self._last
        with self._files.open(name) as source:
            walk = Walk(source, verify=True)
            for batch in walk:
                if batch.base_offset > last:
                    return end, epoch, True
                if batch.base_offset != end:
                    raise ValueError(f"offsets are missing before {batch.base_offset}")
                if batch.last_offset >= snapshot or batch.attributes & CONTROL:
                    self._take(source, batch, None, from_offset=snapshot)
                end, epoch = min(batch.last_offset, last) + 1, batch.epoch or 0
                self._note_epoch(epoch, batch.base_offset, batch.crc)
                self._timestamp = batch.max_timestamp
                self._written[epoch] = batch.max_timestamp or 0
            return end, epoch, walk.position == source.size

    def _ends_at(self, name: str, base: int, end: int) -> bool:
        """Return whether no complete batch follows the corruption that begins at an offset of the last segment."""
        from kcheck.segments.batches_after_damage import intact_batches  # numpy: loaded only for a damaged log

        with self._files.open(name) as source:
            walk = Walk(source, verify=True)
            for _ in walk:
                pass
            later = intact_batches(source, walk.position, source.size, base=Offset(base), after=Offset(end - 1))
        return later is None

    def _take(self, source: Source, batch: Batch, offset: int | None, from_offset: int = 0) -> None:
        """Replay the records of a batch; `offset` replaces their offsets, None keeps them."""
        for record in _records(source, batch):
            if batch.attributes & CONTROL:
                self._take_control(record)
            elif offset is not None:
                self._message(record, offset)
            elif from_offset <= record.offset <= self._last:
                self._message(record, record.offset)

    def _take_control(self, record: Record) -> None:
        control = control_record.parse(record.key, record.value)
        self._control, voters = control.name, control.fields.get("voters")
        if isinstance(voters, tuple):
            self._voters = frozenset(voter["voter_id"] for voter in voters)
            self._voter_set = voters_in(control.fields) or self._voter_set
        leader, version = control.fields.get("leader_id"), control.fields.get("k_raft_version")
        if isinstance(leader, int):
            self._leader = leader
        if isinstance(version, int):
            self._kraft_version = version

    def _message(self, record: Record, offset: int) -> None:
        value = bytes(record.value or b"")
        if value.startswith(_NO_OP):
            return
        message = self._decode(None, value).value
        assert message is not None
        if message.data is None or message.name is None:
            self._replay.problem(offset, f"the record cannot be read: {message.problem}")
        else:
            self._replay.take(message.name, message.data, offset, record.timestamp or 0)

    def _at(self, offset: int, why: str) -> MetadataProblem:
        return MetadataProblem("the snapshot" if offset == FROM_SNAPSHOT else f"offset {offset}", why)


def _records(source: Source, batch: Batch) -> Iterator[Record]:
    data = source.pread(batch.size, batch.position) if batch.size <= BATCH_SIZE_MAX else b""
    if len(data) < batch.size or batch.magic != 2:
        raise ValueError(f"the batch at offset {batch.base_offset} cannot be read")
    for record in read_records(data):
        if isinstance(record, Unread):
            raise ValueError(record.message)  # noqa: TRY004 - damage, not a wrong argument
        yield record
