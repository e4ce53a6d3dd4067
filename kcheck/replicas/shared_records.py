"""Finds the end of the equal part of two logs by the CRCs of old messages (magic 0 and 1).

These messages have no epoch, but a follower copies its leader's bytes. A compressed wrapper of both logs is the same if
its CRC is. Otherwise kcheck compares its messages, as producers and the log cleaner choose which messages share one.
"""

from typing import NamedTuple

from kcheck.model.entries import Batch, Offset
from kcheck.model.source import Source
from kcheck.replicas.loss import open_batches, wrapped_messages
from kcheck.replicas.replica import LogFile


def shared_end(one: tuple[LogFile, ...], other: tuple[LogFile, ...], end: Offset) -> Offset | None:
    """Return the first offset at which two logs differ, `end` if they do not differ; None if unknown.

    It is unknown after an offset that one of them lacks, since compaction may have removed its record there. It is also
    unknown after an unreadable wrapper.
    """
    if not (one and other):
        return None
    first = max(one[0].base_offset, other[0].base_offset)
    if first > end:
        return None
    ours, theirs = _Side(one, first), _Side(other, first)
    while ours.advance() and theirs.advance():
        if ours.wrapper and theirs.wrapper and _record(ours.wrapper[1]) == _record(theirs.wrapper[1]):
            ours.skip()
            theirs.skip()
            continue
        if not (ours.unpack() and theirs.unpack()):
            return None
        a, b = ours.take(), theirs.take()
        if max(a.first, b.first) >= end:
            break
        if (a.last, a.record) != (b.last, b.record):
            return a.first if a.first == b.first and a.record != b.record else None
    return end


_ComparedKey = tuple[int, int, int]


class _ComparedRecord(NamedTuple):
    """A message of magic 0 or 1, or a batch of magic 2."""

    first: Offset
    last: Offset
    record: _ComparedKey


class _Side:
    """One of the two logs, from an offset on."""

    def __init__(self, logs: tuple[LogFile, ...], first: Offset) -> None:
        self._batches, self._next = open_batches(logs), first
        self.wrapper: tuple[Source, Batch] | None = None
        """The next wrapper, before its messages are read."""
        self._messages: list[_ComparedRecord] = []
        """The next messages, the last one first."""

    def advance(self) -> bool:
        """Go to the next message or wrapper; whether there is one. A wrapper may begin below what precedes it."""
        while self.wrapper is None and not self._messages:
            opened = next(self._batches, None)
            if opened is None:
                return False
            batch = opened[1]
            if batch.last_offset < self._next:
                continue
            if batch.record_count is None:
                self.wrapper = opened
            else:
                self._messages = [_ComparedRecord(batch.base_offset, batch.last_offset, _record(batch))]
        return True

    def skip(self) -> None:
        """Pass the next wrapper."""
        assert self.wrapper is not None
        self._next, self.wrapper = Offset(self.wrapper[1].last_offset + 1), None

    def unpack(self) -> bool:
        """Read the messages of the next wrapper, if it is one; whether they can be read."""
        if self.wrapper is not None:
            source, batch = self.wrapper
            read = [(Offset(message.offset), message.crc or 0) for message in wrapped_messages(source, batch)]
            self._messages = [
                _ComparedRecord(offset, offset, (offset, batch.magic, crc))
                for offset, crc in reversed(read)
                if offset >= self._next
            ]
            self.wrapper = None
        return bool(self._messages)

    def take(self) -> _ComparedRecord:
        """Return the next message."""
        message = self._messages.pop()
        self._next = Offset(message.last + 1)
        return message


def _record(batch: Batch) -> _ComparedKey:
    """Return a value that differs if two batches of the same offsets differ."""
    return batch.last_offset, batch.magic, batch.crc if batch.epoch is None else batch.epoch
