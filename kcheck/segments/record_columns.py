"""The records of many batches at once, as columns (DefaultRecord 0.11 to 4.3.1).

First `record_positions` uses the length of a record to find the next one. It finds the records of many batches in
parallel, with one numpy step for the next record of each batch. Then `decode_fields` decodes all of them. Work and
memory are bounded by the size of the bytes, never by a number in a header.
"""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kcheck.segments.header_columns import Array, Mask

RECORD_SIZE_MIN = 7
"""A length of one byte, then six fields of one byte."""
_SIDE_BY_SIDE_MIN = 96
"""Number of batches below which they are stepped one by one. A numpy step costs about as much as these."""
_PIECE_COUNT = 1 << 15
"""Number of records that are decoded at a time, so that their columns stay in the CPU cache."""
_UNKNOWN = 1 << 40
"""Leads past the end of every batch."""
VARINT_SIZE_MAX, VARLONG_SIZE_MAX = 5, 10

Buffer = bytearray | bytes | memoryview
Octets = npt.NDArray[np.uint8]


class BatchBodies(NamedTuple):
    """The places of batches' records in a buffer, one item for each batch."""

    begin: Array
    """The index of its first record."""
    end: Array
    """The index after its last byte."""
    stated: Array
    """Number of records in its header."""


class RecordPositions(NamedTuple):
    """The positions of the records of batches."""

    at: Array
    """The index of each record in the buffer; -1 in an unused slot."""
    first: Array
    """For each batch, the number of its first slot in `at`."""
    counts: Array
    """For each batch, how many records its lengths lead to."""
    ends: Array
    """For each batch, the index after the last of these records."""


class RecordFields(NamedTuple):
    """Decoded records, one item for each; the last five fields mean nothing unless it is `sound`."""

    batch: Array
    """The number of its batch."""
    number: Array
    """Its number in the batch, from 0."""
    at: Array
    """Its index in the buffer."""
    sound: Mask
    """True if its fields end where its length says."""
    timestamp_delta: Array
    """Its timestamp, relative to the batch."""
    offset_delta: Array
    """Its offset, relative to the batch."""
    key_size: Array
    """The size of its key in bytes; negative for null."""
    key_end: Array
    """The index after its key."""
    value_size: Array
    """The size of its value in bytes; negative for null."""
    value_end: Array
    """The index after its value."""
    header_count: Array
    """Number of its headers."""


def record_positions(buffer: Buffer, bodies: BatchBodies) -> RecordPositions:
    """Follow the lengths of the records in each batch, until all are found or a length is invalid."""
    room = np.maximum(np.minimum(bodies.stated, (bodies.end - bodies.begin) // RECORD_SIZE_MIN), 0)
    first = np.concatenate(([0], np.cumsum(room)[:-1])) if room.size else room
    steps = RecordPositions(np.full(int(room.sum()), -1, np.int32), first, np.zeros_like(room), bodies.begin.copy())
    order = np.argsort(-room, kind="stable")
    order = order[: np.count_nonzero(room)]
    rest = _side_by_side(buffer, bodies, room, steps, order)
    for batch in rest.tolist():
        _one(buffer, batch, int(bodies.end[batch]), int(room[batch]), steps)
    return steps


def _side_by_side(buffer: Buffer, bodies: BatchBodies, room: Array, steps: RecordPositions, order: Array) -> Array:
    """Step through batches in parallel, first batches with most records, until few are left; return these."""
    at, end, slot = bodies.begin[order], bodies.end[order], steps.first[order]
    fewer = -room[order]
    number = 0
    while (going := int(fewer.searchsorted(-number))) >= _SIDE_BY_SIDE_MIN:
        if going < at.size:
            steps.ends[order[going:]], steps.counts[order[going:]] = at[going:], -fewer[going:]
            at, end, slot, fewer, order = at[:going], end[:going], slot[:going], fewer[:going], order[:going]
        next_at, good = _next(buffer, at, end)
        if np.count_nonzero(good) < good.size:
            steps.ends[order[~good]], steps.counts[order[~good]] = at[~good], number
            at, end, slot, fewer, order = at[good], end[good], slot[good], fewer[good], order[good]
            next_at = next_at[good]
        steps.at[slot + number] = at
        at = next_at
        number += 1
    steps.ends[order], steps.counts[order] = at, np.minimum(number, -fewer)
    return order[:going]


def _next(buffer: Buffer, at: Array, end: Array) -> tuple[Array, Mask]:
    """Return the ends of records, and which lengths are valid, so that the record ends within its batch."""
    pairs = np.ndarray((len(buffer) - 1,), "V2", buffer, strides=(1,))
    ends = at + _sizes().take(pairs[np.minimum(at, len(pairs) - 1)].view("<u2"), mode="clip")
    good = ends <= end
    rest = np.flatnonzero(~good)
    if rest.size:
        size, after, too_long = varints(np.frombuffer(buffer, np.uint8), at[rest], VARINT_SIZE_MAX)
        ends[rest] = after + size
        good[rest] = (size >= RECORD_SIZE_MIN - 1) & (ends[rest] <= end[rest])
        if too_long is not None:
            good[rest[too_long]] = False
    return ends, good


@cache
def _sizes() -> Array:
    """Return the sizes of records by their first two bytes; _UNKNOWN if these do not suffice or are invalid."""
    octets = np.arange(1 << 16, dtype="<u2").view(np.uint8)
    at = np.arange(0, octets.size, 2)
    size, after, longer = varints(octets, at, 2)
    assert longer is not None
    return np.where((size < RECORD_SIZE_MIN - 1) | longer, _UNKNOWN, size + after - at)


def _one(buffer: Buffer, batch: int, end: int, room: int, steps: RecordPositions) -> None:
    """Step through the rest of one batch."""
    at, number, slot = int(steps.ends[batch]), int(steps.counts[batch]), int(steps.first[batch])
    while number < room:
        places: list[int] = []
        append = places.append
        goal = min(room - number, _PIECE_COUNT)
        try:
            while len(places) < goal and at < end:
                byte = buffer[at]
                size, next_at = byte >> 1, at + 1
                if byte > 127:
                    second = buffer[next_at]
                    size, next_at = size & 63 | (second & 127) << 6, at + 2
                    if second > 127:
                        size, next_at = _longer(buffer, next_at, size)
                next_at += size
                if byte & 1 or size < RECORD_SIZE_MIN - 1 or next_at > end:
                    break
                append(at)
                at = next_at
        except IndexError:
            pass  # The length itself is cut off by the end of the buffer.
        steps.at[slot + number : slot + number + len(places)] = places
        number += len(places)
        if len(places) < goal:
            break
    steps.ends[batch], steps.counts[batch] = at, number


def _longer(buffer: Buffer, after: int, size: int) -> tuple[int, int]:
    """Return a length of three bytes or more and the index after it; -1 if it is too long."""
    for shift in (13, 20, 27):
        byte = buffer[after]
        size, after = size | (byte & 127) << shift, after + 1
        if byte < 128:
            return size & 0x7FFFFFFF, after
    return -1, after


def decode_fields(buffer: Buffer, steps: RecordPositions) -> Iterator[RecordFields]:
    """Yield the decoded records, batch by batch, in pieces of bounded size."""
    octets = np.frombuffer(buffer, np.uint8)
    for begin in range(0, steps.at.size, _PIECE_COUNT):
        at = steps.at[begin : begin + _PIECE_COUNT].astype(np.int64)
        slot = np.arange(begin, begin + at.size)
        batch = _batches(steps.first, begin, at.size)
        there = at >= 0
        if not there.all():
            at, slot, batch = at[there], slot[there], batch[there]
        if at.size:
            yield _decoded(octets, at, batch, slot - steps.first[batch])


def _batches(first: Array, begin: int, count: int) -> Array:
    """Return the batch of each of `count` slots from `begin`."""
    low = int(np.searchsorted(first, begin, "right")) - 1
    high = int(np.searchsorted(first, begin + count))
    bounds = np.append(np.maximum(first[low:high], begin), begin + count)
    return np.repeat(np.arange(low, high), np.diff(bounds))


def _decoded(octets: Octets, at: Array, batch: Array, number: Array) -> RecordFields:
    """Decode records whose lengths are valid; a record is sound if its fields end where its length says."""
    size, after, _ = varints(octets, at, VARINT_SIZE_MAX)
    end = after + size
    timestamp_delta, after, bad_timestamp = varints(octets, after + 1, VARLONG_SIZE_MAX)
    offset_delta, after, bad_offset = varints(octets, after, VARINT_SIZE_MAX)
    key_size, key_end, bad_key = _skip(octets, after, end)
    value_size, value_end, bad_value = _skip(octets, key_end, end)
    header_count, after, bad_count = varints(octets, value_end, VARINT_SIZE_MAX)
    sound = (header_count >= 0) & (header_count <= end - after)
    for bad in (bad_timestamp, bad_offset, bad_key, bad_value, bad_count):
        if bad is not None:
            sound &= ~bad
    with_headers = np.flatnonzero(sound & (header_count > 0))
    if with_headers.size:
        _skip_headers(octets, after, end, header_count, sound, with_headers)
    sound &= after == end
    return RecordFields(
        batch, number, at, sound, timestamp_delta, offset_delta, key_size, key_end, value_size, value_end, header_count
    )


def _skip(octets: Octets, at: Array, end: Array) -> tuple[Array, Array, Mask | None]:
    """Return the sizes at these indices, where the fields after them end, and which sizes are too long.

    A negative size means null. A field that leads past its record ends one byte after it, so that indices stay small.
    """
    size, after, too_long = varints(octets, at, VARINT_SIZE_MAX)
    return size, np.minimum(after + np.maximum(size, 0), np.maximum(after, end) + 1), too_long


def _skip_headers(octets: Octets, header_ends: Array, end: Array, count: Array, sound: Mask, rows: Array) -> None:
    """Move `header_ends` of these records past their headers, for many records in parallel, for few one by one."""
    left, at, stop = count[rows], header_ends[rows], end[rows]
    while rows.size >= _SIDE_BY_SIDE_MIN:
        size, after, bad_key = _skip(octets, at, stop)
        _, after, bad_value = _skip(octets, after, stop)
        good = (size >= 0) & (after <= stop)
        for bad in (bad_key, bad_value):
            if bad is not None:
                good &= ~bad
        left = left - 1
        sound[rows[~good]] = False
        header_ends[rows] = after
        on = good & (left > 0)
        rows, left, at, stop = rows[on], left[on], after[on], stop[on]
    data = octets.data
    for row, place, last, number in zip(rows.tolist(), at.tolist(), stop.tolist(), left.tolist(), strict=True):
        after_all = _headers(data, place, last, number)
        sound[row] = after_all is not None
        header_ends[row] = last if after_all is None else after_all


def _headers(data: memoryview, at: int, stop: int, left: int) -> int | None:
    """Return the end of this many headers; None if they do not fit before `stop`."""
    for number in range(2 * left):
        if at >= stop:
            return None
        raw = data[at]
        at, shift = at + 1, 7
        if raw > 127:
            raw &= 127
            while shift < 7 * VARINT_SIZE_MAX and at < stop and data[at] > 127:
                raw |= (data[at] & 127) << shift
                at, shift = at + 1, shift + 7
            if shift == 7 * VARINT_SIZE_MAX or at >= stop:
                return None
            raw = (raw | data[at] << shift) & 0xFFFFFFFF
            at += 1
        if not raw & 1:
            at += raw >> 1
        elif number % 2 == 0:
            return None
    return at if at <= stop else None


def varints(octets: Octets, at: Array, size_max: int) -> tuple[Array, Array, Mask | None]:
    """Return the zigzag numbers at these indices, the indices after them, and a mask of too long ones (or None).

    ByteUtils.readVarint with a `size_max` of 5, readVarlong with 10. Both ignore bits above 32 and 64. Bytes past the
    end of the buffer read as its last byte.
    """
    octet = octets.take(at, mode="clip")
    after = at + 1
    if octet.max(initial=0) < 128:
        return _zigzag(octet.astype(np.int64)), after, None
    raw = (octet & 127).astype(np.int64)
    more = octet >> 7
    octet = octets.take(after, mode="clip")
    # Nearly all numbers end by now: to pick the others costs more than to read all.
    raw |= (octet & (more * np.uint8(127))).astype(np.int64) << 7
    after += more
    longer = np.flatnonzero(more & (octet >> 7))
    shift = 14
    while longer.size and shift < 7 * size_max:
        octet = octets.take(after[longer], mode="clip")
        raw[longer] |= (octet & 127).astype(np.int64) << shift
        after[longer] += 1
        longer = longer[octet > 127]
        shift += 7
    if size_max == VARINT_SIZE_MAX and shift == 7 * size_max:
        raw &= 0xFFFFFFFF
    too_long = None
    if longer.size:
        too_long = np.zeros(at.size, np.bool_)
        too_long[longer] = True
    return _zigzag(raw), after, too_long


def _zigzag(raw: Array) -> Array:
    value: Array = (raw.view(np.uint64) >> np.uint64(1)).view(np.int64) ^ -(raw & 1)
    return value
