"""The batches of a `.log` in a bundle, as rows of header bytes, and the `.log` that they mean.

A row is a kind and the first 61 bytes of a batch. The bytes after the header are not in the bundle. A reader gets zeros
for them. Four bytes at their end keep a right CRC right, and a wrong CRC wrong.
"""

import struct
import zlib
from collections.abc import Sequence
from enum import IntEnum
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kcheck.bundles.small_files import BadBundleError
from kcheck.records.batch import (
    HEADER,
    LEGACY,
    MAGIC_AT,
    MIN_ENTRY_SIZE,
    OVERHEAD,
    SIGNED_BYTE_MAX,
    TIMESTAMP,
    body_from,
)

RowBytes = npt.NDArray[np.uint8]
RowNumbers = npt.NDArray[Any]

ROW_SIZE = HEADER.size + 1
BLOCK_ROWS = 1 << 14
"""A block has at most this many rows."""
KEPT_SIZE_MAX = 4 << 10
"""Maximum size of a control batch that is kept completely, in bytes."""
KEPT_RECORDS_SIZE_MAX = 1 << 20
"""A batch of committed offsets is kept up to this size in bytes."""
_KEPT_BLOCK_SIZE_MAX = 8 << 20
"""A block holds at most this many kept bytes, or the most that its rows can have of control batches."""
MAGIC = b"KCROWS1\n"
_BLOCK = struct.Struct("<QIIIII")
"""A block of the index (its positions in the `.log` and the member, its rows, gaps, kept and compressed bytes)."""
_FOOTER = struct.Struct("<QI")
"""The size of the `.log`, and how many blocks there are."""
_BLOCKS_MAX = 1 << 16
MESSAGE_HEADER_SIZE = LEGACY.size + 8
"""The size of a header of magic 0, with the size fields of a null key and of the value. Magic 1 adds a timestamp."""
_FILLER = 0xFF
_TAIL_SIZE = 4
_ENTRY_SIZE_MIN = OVERHEAD.size + MIN_ENTRY_SIZE
_WRONG = 0xA5A5A5A5
_POLYNOMIALS = {True: 0x82F63B78, False: 0xEDB88320}
"""Of CRC-32C, which covers batches of magic 2, and of CRC-32, which covers older messages; bits reversed."""


class RowKind(IntEnum):
    """The kind of a row."""

    RIGHT = 0
    """A batch whose CRC matches."""
    WRONG = 1
    """A batch whose CRC does not match."""
    KEPT = 2
    """A batch that is completely in the bundle. It has no payload, or a masked one."""
    ZEROS = 3
    """A range of zeros."""
    OTHER = 4
    """A range of other bytes that are no batch."""


class RowBlock(NamedTuple):
    """Some batches that follow each other."""

    rows: RowBytes
    """The rows, one for each batch or range."""
    sizes: Sequence[int]
    """The size in bytes of each range that is no batch, in the order of the rows."""
    kept: bytes
    """The bytes after the header of each completely kept batch, one after the other."""


class Packer:
    """Packs the blocks of a `.log`, and makes their index."""

    def __init__(self) -> None:
        self._at = len(MAGIC)
        self._index: list[bytes] = []

    def packed(self, position: int, block: RowBlock) -> bytes:
        """Return the next block, which begins at a position of the `.log`, as it is in a bundle."""
        packed = packed_block(block)
        counts = len(block.rows), len(block.sizes), len(block.kept), len(packed)
        self._index.append(_BLOCK.pack(position, self._at, *counts))
        self._at += len(packed)
        return packed

    def index(self, size: int) -> bytes:
        """Return the index, which ends the member; `size` is the `.log`'s."""
        return b"".join((*self._index, _FOOTER.pack(size, len(self._index))))


def packed_block(block: RowBlock) -> bytes:
    """Return a block for a bundle, with the differences of each column from row to row, compressed."""
    changes = block.rows.copy()
    changes[1:] -= block.rows[:-1]
    lengths = np.array(block.sizes, "<u8").tobytes()
    return zlib.compress(changes.T.tobytes() + lengths + block.kept, 9)


def unpacked_block(packed: bytes, rows: int, gaps: int, kept: int) -> RowBlock:
    """Return a block from a bundle; BadBundleError if it is not as its index says."""
    size = rows * ROW_SIZE + gaps * 8 + kept
    inflate = zlib.decompressobj()
    try:
        data = inflate.decompress(packed, size + 1)
    except zlib.error as error:
        raise BadBundleError("a block of batch headers cannot be decompressed") from error
    if len(data) != size:
        raise BadBundleError("a block of batch headers has another size than its index says")
    changes = np.frombuffer(data, np.uint8, rows * ROW_SIZE).reshape(ROW_SIZE, rows).T
    whole = np.cumsum(changes, axis=0, dtype=np.uint8)
    lengths = np.frombuffer(data, "<u8", gaps, rows * ROW_SIZE).tolist()
    return RowBlock(np.ascontiguousarray(whole), lengths, data[size - kept :] if kept else b"")


class BlockIndex(NamedTuple):
    """The places of the blocks of a `.log`."""

    size: int
    """The size of the `.log` in bytes."""
    blocks: tuple[tuple[int, int, int, int, int, int], ...]
    """For each its position in the `.log` and in the member, its rows, gaps, kept and compressed bytes."""

    def end(self, number: int) -> int:
        """Return the position in the `.log` at which a block ends."""
        return self.blocks[number + 1][0] if number + 1 < len(self.blocks) else self.size


def footer_of(tail: bytes) -> tuple[int, int]:
    """Return the size of the `.log` and how many blocks there are, from the last bytes of a member."""
    if len(tail) < _FOOTER.size:
        raise BadBundleError("it ends within its index")
    size, count = _FOOTER.unpack_from(tail, len(tail) - _FOOTER.size)
    if count > _BLOCKS_MAX:
        raise BadBundleError(f"{count} blocks are too many")
    return size, count


FOOTER_SIZE, INDEX_ENTRY_SIZE = _FOOTER.size, _BLOCK.size


def index_of(data: bytes, size: int, member_size: int) -> BlockIndex:
    """Return the index of blocks; BadBundleError unless it fits the `.log` of `size` bytes and the member."""
    blocks = tuple(_BLOCK.iter_unpack(data))
    position, at = 0, len(MAGIC)
    for number, (begins, offset, rows, gaps, kept, length) in enumerate(blocks):
        fits = offset == at and (begins == 0 if number == 0 else begins > position)
        if (
            not fits
            or not 0 < rows <= BLOCK_ROWS
            or gaps > rows
            or kept > max(rows * KEPT_SIZE_MAX, _KEPT_BLOCK_SIZE_MAX)
        ):
            raise BadBundleError("its index of blocks contradicts itself")
        position, at = begins, at + length
    if at + len(data) + _FOOTER.size != member_size or (position >= size) != (not blocks and size == 0):
        raise BadBundleError("its index of blocks does not fit its size")
    return BlockIndex(size, blocks)


class PlacedRows(NamedTuple):
    """A block with the bytes that it means."""

    rows: RowBytes
    """The rows."""
    at: RowNumbers
    """The position of each row in the `.log`."""
    size: RowNumbers
    """The size of each row's range in bytes."""
    header_size: RowNumbers
    """Number of bytes of each row from the `.log`."""
    tail: RowBytes
    """The last four bytes of each batch."""
    has_tail: npt.NDArray[np.bool_]
    """The rows with a tail."""
    kept: dict[int, bytes]
    """The bytes after the header of the completely kept rows."""


def placed(block: RowBlock, begin: int, end: int) -> PlacedRows:
    """Return a block that is from `begin` to `end` of its `.log`; BadBundleError if it has another size."""
    kind, header = block.rows[:, 0], block.rows[:, 1:]
    if kind.max(initial=0) > RowKind.OTHER:
        raise BadBundleError("a row is of an unknown kind")
    gap = kind >= RowKind.ZEROS
    if int(gap.sum()) != len(block.sizes) or any(not 0 < size <= end - begin for size in block.sizes):
        raise BadBundleError("its ranges without batches contradict its rows")
    stated = np.ascontiguousarray(header[:, 8:12]).view(">i4")[:, 0].astype(np.int64)
    size = stated + OVERHEAD.size
    size[gap] = block.sizes
    if (size[~gap] < _ENTRY_SIZE_MIN).any() or int(size.sum()) != end - begin:
        raise BadBundleError("its batches do not fill it")
    at = np.concatenate(([begin], begin + np.cumsum(size)[:-1]))
    magic = header[:, MAGIC_AT]
    modern = (magic >= 2) & (magic <= SIGNED_BYTE_MAX)
    own = np.where(magic == 1, MESSAGE_HEADER_SIZE + TIMESTAMP.size, MESSAGE_HEADER_SIZE)
    header_size = np.minimum(np.where(modern | gap, HEADER.size, own), size)
    kept = _kept(block, size, header_size)
    has_tail = (kind <= RowKind.WRONG) & (size - header_size >= _TAIL_SIZE)
    tail = np.zeros((len(kind), _TAIL_SIZE), np.uint8)
    for of_modern in (True, False):
        which = np.flatnonzero(has_tail & (modern == of_modern))
        if which.size:
            tail[which] = _tails(header[which], size[which], header_size[which], kind[which], modern=of_modern)
    return PlacedRows(block.rows, at, size, header_size, tail, has_tail, kept)


def _kept(block: RowBlock, size: RowNumbers, header_size: RowNumbers) -> dict[int, bytes]:
    kept, at = {}, 0
    for row in np.flatnonzero(block.rows[:, 0] == RowKind.KEPT).tolist():
        length = int(size[row] - header_size[row])
        kept[row] = block.kept[at : at + length]
        at += length
    if at != len(block.kept):
        raise BadBundleError("the batches that it keeps in full have other sizes")
    return kept


def _tails(header: RowBytes, size: RowNumbers, header_size: RowNumbers, kind: RowNumbers, *, modern: bool) -> RowBytes:
    """Return the last four bytes of batches that give the stated CRC, or another one if it was wrong."""
    place = 17 if modern else 12
    stated = np.ascontiguousarray(header[:, place : place + 4]).view(">u4")[:, 0].astype(np.uint32)
    wanted = np.where(kind == RowKind.WRONG, stated ^ np.uint32(_WRONG), stated) ^ np.uint32(0xFFFFFFFF)
    table = _byte_table(_POLYNOMIALS[modern])
    register = np.full(len(header), 0xFFFFFFFF, np.uint32)
    for at in range(body_from(2 if modern else 0), int(header_size.max())):
        stepped = table[(register ^ header[:, at]) & 0xFF] ^ (register >> np.uint32(8))
        register = np.where(at < header_size, stepped, register)
    zeros = size - header_size - _TAIL_SIZE
    for bit, columns in enumerate(_powers(_POLYNOMIALS[modern])):
        wanting = zeros >> bit & 1 == 1
        if wanting.any():
            register[wanting] = _applied(columns, register[wanting])
    tail = _applied(_back(_POLYNOMIALS[modern]), wanted) ^ register
    return tail.astype("<u4").view(np.uint8).reshape(-1, _TAIL_SIZE)


@cache
def _byte_table(polynomial: int) -> RowNumbers:
    register = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        register = (register >> np.uint32(1)) ^ np.where(register & 1, np.uint32(polynomial), np.uint32(0))
    return register


@cache
def _powers(polynomial: int) -> tuple[RowNumbers, ...]:
    """Return the effect of 1, 2, 4, ... zero bytes on each bit of a register."""
    bits = np.uint32(1) << np.arange(32, dtype=np.uint32)
    power = _byte_table(polynomial)[bits & 0xFF] ^ (bits >> np.uint32(8))
    powers = [power]
    for _ in range(31):
        power = _applied(power, power)
        powers.append(power)
    return tuple(powers)


@cache
def _back(polynomial: int) -> RowNumbers:
    """Return the register that four zero bytes turn into each single bit, as the inverse of four steps."""
    forward = [int(column) for column in _powers(polynomial)[2]]
    rows = [(column, 1 << bit) for bit, column in enumerate(forward)]
    for bit in range(32):
        pivot = next(at for at in range(bit, 32) if rows[at][0] >> bit & 1)
        rows[bit], rows[pivot] = rows[pivot], rows[bit]
        value, source = rows[bit]
        rows = [
            (other ^ value, origin ^ source) if at != bit and other >> bit & 1 else (other, origin)
            for at, (other, origin) in enumerate(rows)
        ]
    return np.array([origin for _, origin in rows], np.uint32)


def _applied(columns: RowNumbers, registers: RowNumbers) -> RowNumbers:
    """Return a linear map of registers, given by the image of each bit."""
    answer = np.zeros_like(registers)
    for bit, column in enumerate(columns):
        answer ^= np.where(registers >> np.uint32(bit) & 1, column, np.uint32(0))
    return answer


def fill(block: PlacedRows, buffer: bytearray, position: int) -> None:
    """Write the bytes of a block into a buffer of zeros that begins at a position of the `.log`."""
    end = position + len(buffer)
    first = max(int(np.searchsorted(block.at, position, "right")) - 1, 0)
    last = int(np.searchsorted(block.at, end))
    for row in range(first, last):
        begin, size, head = int(block.at[row]), int(block.size[row]), int(block.header_size[row])
        if block.rows[row, 0] == RowKind.ZEROS:
            continue
        if block.rows[row, 0] == RowKind.OTHER:
            low, high = max(begin + head, position), min(begin + size, end)
            if low < high:
                buffer[low - position : high - position] = bytes([_FILLER]) * (high - low)
        _put(buffer, position, begin, block.rows[row, 1 : 1 + head].tobytes())
        if row in block.kept:
            _put(buffer, position, begin + head, block.kept[row])
        elif block.has_tail[row]:
            _put(buffer, position, begin + size - _TAIL_SIZE, block.tail[row].tobytes())


def _put(buffer: bytearray, position: int, at: int, data: bytes) -> None:
    """Write the part of some bytes at a position that is in the buffer."""
    low, high = max(at, position), min(at + len(data), position + len(buffer))
    if low < high:
        buffer[low - position : high - position] = data[low - at : high - at]
