"""The remote segments that the records of one partition of `__remote_log_metadata` describe."""

from array import array
from binascii import a2b_base64
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from kcheck.model.entries import Epoch, EpochEntries, EpochEntry, Offset
from kcheck.model.mapped import Mapped
from kcheck.model.remote_log import RemoteSegment, SegmentState

_UNKNOWN = -1
_STATES = frozenset(SegmentState)
_OFFSET_MAX = 1 << 62
RemoteLogKey = tuple[str, int]
"""Topic id and partition."""


class SegmentFold:
    """The segments of one metadata partition, in columns of about 250 bytes a segment.

    The later record of a segment id wins (RemotePartitionMetadataStore, RemoteLogMetadataCache 3.6 to 4.3.1).
    """

    def __init__(self) -> None:
        """Start before the first record."""
        self.last_ms: int = _UNKNOWN
        self.unreadable: int = 0
        """The number of records that could not be decoded."""
        self.names: dict[RemoteLogKey, str] = {}
        """The topic of each remote log."""
        self.ids: dict[str, int] = {}
        """The segments of all logs, each with its place among them."""
        self._columns = _SegmentColumns(self.ids)

    def take(self, fields: Mapping[str, Any] | None) -> None:
        """Add the decoded value of a record, in offset order; None for an unreadable one."""
        if fields is None:
            self.unreadable += 1
            return
        segment_id = fields.get("remoteLogSegmentId")
        if segment_id is None:
            return  # The record of a deleted partition, or of a snapshot file.
        if not _is_valid(fields):
            self.unreadable += 1
            return
        where = segment_id["topicIdPartition"]
        key = (where["id"], where["partition"])
        self.names.setdefault(key, where["name"])
        self.last_ms = max(self.last_ms, fields["eventTimestampMs"])
        self._columns.take(key, segment_id["id"], fields)

    def logs(self) -> Mapping[RemoteLogKey, Sequence[RemoteSegment]]:
        """Return the segments of each remote log, by first offset."""
        return self._columns.logs()


def _is_valid(fields: Mapping[str, Any]) -> bool:
    """Return whether a broker can have written the values."""
    start, end = fields.get("startOffset", 0), fields.get("endOffset", 0)
    return fields["remoteLogSegmentState"] in _STATES and 0 <= start <= end < _OFFSET_MAX


class _SegmentRow(NamedTuple):
    """The values of a segment that do not change with its state."""

    start: int
    end: int
    size: int
    epochs: int
    broker: int
    newest_ms: int


_NO_ROW = _SegmentRow(_UNKNOWN, _UNKNOWN, _UNKNOWN, 0, _UNKNOWN, _UNKNOWN)
_WIDTH = len(_NO_ROW)


class _SegmentColumns:
    """The segments of the remote logs of one metadata partition."""

    def __init__(self, places: dict[str, int]) -> None:
        self._at = places
        self._others: dict[tuple[int, str], int] = {}
        self._logs: dict[RemoteLogKey, int] = {}
        self._ids: list[str] = []
        self._log_of = array("i")
        self._rows = array("q")
        self._times = array("q")
        self._states, self._deletions = bytearray(), array("i")
        self._finished, self._aborted = bytearray(), bytearray()
        self._telling: set[int] = set()
        """The brokers that write which segments have no transaction index (4.0 and later)."""
        self._custom: dict[int, bytes] = {}
        self._epochs: list[EpochEntries] = [()]
        self._known_epochs: dict[EpochEntries, int] = {(): 0}

    def take(self, key: RemoteLogKey, segment_id: str, fields: Mapping[str, Any]) -> None:
        state, time = fields["remoteLogSegmentState"], fields["eventTimestampMs"]
        row = self._row(fields) if "segmentSizeInBytes" in fields else None
        log = self._logs.setdefault(key, len(self._logs))
        at = self._place(log, segment_id)
        if at == len(self._ids):
            self._ids.append(segment_id)
            self._log_of.append(log)
            self._rows.extend(row or _NO_ROW)
            self._times.extend((time, time))
            self._states.append(state)
            self._deletions.append(0)
            self._finished.append(0)
            self._aborted.append(0)
        elif row is not None:
            self._rows[at * _WIDTH : (at + 1) * _WIDTH] = array("q", row)
        self._times[2 * at + 1] = time
        self._states[at] = state
        self._deletions[at] += state == SegmentState.DELETE_STARTED
        self._finished[at] |= state == SegmentState.COPY_FINISHED
        if row is not None and fields.get("txnIndexEmpty"):
            self._telling.add(row.broker)
        elif row is not None:
            self._aborted[at] = row.broker in self._telling
        if fields["customMetadata"] is not None:
            self._custom[at] = a2b_base64(fields["customMetadata"])

    def _place(self, log: int, segment_id: str) -> int:
        """Return the place of a segment, or of a new one. No broker gives one id to segments of two logs."""
        at = self._at.setdefault(segment_id, len(self._ids))
        if at == len(self._ids) or self._log_of[at] == log:
            return at
        return self._others.setdefault((log, segment_id), len(self._ids))

    def _row(self, fields: Mapping[str, Any]) -> _SegmentRow:
        start = fields["startOffset"]
        # Counted from its first offset, the epochs of most segments are the same, and kept once.
        epochs = tuple(
            EpochEntry(Epoch(entry["leaderEpoch"]), Offset(entry["offset"] - start))
            for entry in fields["segmentLeaderEpochs"]
        )
        number = self._known_epochs.setdefault(epochs, len(self._epochs))
        if number == len(self._epochs):
            self._epochs.append(epochs)
        return _SegmentRow(
            start, fields["endOffset"] + 1, fields["segmentSizeInBytes"], number, fields["brokerId"],
            fields["maxTimestampMs"],
        )  # fmt: skip

    def logs(self) -> Mapping[RemoteLogKey, Sequence[RemoteSegment]]:
        order = [array("l") for _ in self._logs]
        for at in sorted(range(len(self._ids)), key=self._start):  # Those of one start stay in the order of records.
            order[self._log_of[at]].append(at)
        return {key: Mapped(self._segment, order[log]) for key, log in self._logs.items()}

    def _start(self, at: int) -> int:
        return self._rows[at * _WIDTH]

    def _segment(self, at: int) -> RemoteSegment:
        row = _SegmentRow(*self._rows[at * _WIDTH : (at + 1) * _WIDTH])
        segment = RemoteSegment(
            self._ids[at],
            SegmentState(self._states[at]),
            first_ms=self._times[2 * at],
            last_ms=self._times[2 * at + 1],
            deletions=self._deletions[at],
            was_finished=bool(self._finished[at]),
            custom=self._custom.get(at),
        )
        if row == _NO_ROW:
            return segment
        epochs = tuple(EpochEntry(epoch, Offset(row.start + at)) for epoch, at in self._epochs[row.epochs])
        return segment._replace(
            start_offset=Offset(row.start), end_offset=Offset(row.end), size=row.size, epochs=epochs,
            broker_id=row.broker, newest_ms=row.newest_ms, has_aborted=bool(self._aborted[at]),
        )  # fmt: skip
