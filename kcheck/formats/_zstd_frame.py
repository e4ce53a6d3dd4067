"""Zstandard frames, one behind another, as Kafka reads them (ZstdInputStreamNoFinalizer of zstd-jni 1.5.6; RFC 8878).

The headers of the blocks tell how much a frame can hold at most, so the room for it is bounded before it is decoded;
the size that a frame says to have is not believed.
"""

from typing import NamedTuple

from kcheck.formats._decompressed import Decompressed, too_large

MAGIC = b"\x28\xb5\x2f\xfd"
_SKIPPABLE, _SKIPPABLE_HEADER_SIZE = b"\x2a\x4d\x18", 8
_SINGLE_SEGMENT, _RESERVED_BIT, _CHECKSUM = 0x20, 0x08, 0x04
_DICTIONARY_SIZES = (0, 1, 2, 4)
_CONTENT_SIZES = (0, 2, 4, 8)
_RLE, _COMPRESSED, _RESERVED = 1, 2, 3
_BLOCK_SIZE_MAX = 128 << 10
_WINDOW_SIZE_MAX = (1 << 27) + 1
"""zstd decodes no larger one unless it is told to (ZSTD_WINDOWLOG_LIMIT_DEFAULT)."""
_ROOM_MIN = 1 << 17
_BUFFER_SIZE = 131075
"""How many bytes the broker's reader takes at once (ZSTD_DStreamInSize)."""
_CUT_OFF = "a zstd frame is cut off"

Problem = str | None


class _Frame(NamedTuple):
    """Where the blocks of a frame begin, how many are whole, the last of them, their end, how much they hold at most.

    Positions are bytes from the start of the frame. `end` is where the frame ends, if it does.
    """

    body: int
    block_count: int
    last: int
    blocks_end: int
    bound: int
    end: int
    problem: Problem


def decompress(data: memoryview, size_max: int) -> Decompressed:
    """Return what the frames hold, at most `size_max` bytes, and why that is not all of it."""
    out, at = bytearray(), 0
    while at < len(data):
        head = bytes(data[at : at + _SKIPPABLE_HEADER_SIZE])
        if head[0] >> 4 == 5 and _SKIPPABLE.startswith(head[1:4]):
            end = at + _SKIPPABLE_HEADER_SIZE + int.from_bytes(head[4:], "little")
            problem = _CUT_OFF if len(head) < _SKIPPABLE_HEADER_SIZE or end > len(data) else None
        elif MAGIC.startswith(head[:4]):
            frame = _frame(data[at:], None)
            end = at + frame.end
            part, problem = _decoded(data[at:end], frame, size_max - len(out))
            out += part
        else:
            problem = "no zstd header"
        if problem is not None:
            # The end of the input is taken for an end where the last piece of it ended a frame.
            unnoticed = problem == _CUT_OFF and at > (len(data) - 1) // _BUFFER_SIZE * _BUFFER_SIZE
            return Decompressed(out, None if unnoticed else problem)
        at = end
    return Decompressed(out, None)


def _frame(data: memoryview, count_max: int | None) -> _Frame:
    """Walk the headers of the blocks, of so many at most."""
    body, window, problem = _header(data)
    block_max = min(window, _BLOCK_SIZE_MAX)
    at, count, last, bound, final = body, 0, body, 0, problem is not None
    while not final and count != count_max:
        header = int.from_bytes(data[at : at + 3], "little")
        kind, size = header >> 1 & 3, header >> 3
        end = at + 3 + (1 if kind == _RLE else size)
        if at + 3 > len(data):
            problem = _CUT_OFF
        elif kind == _RESERVED or size > block_max:
            problem = "a zstd block of an unknown kind" if kind == _RESERVED else f"a zstd block of {size} bytes"
        elif end > len(data):
            problem = _CUT_OFF
        if problem is not None:
            break
        bound += block_max if kind == _COMPRESSED else size
        last, at, count, final = at, end, count + 1, bool(header & 1)
    end = at + (4 if data[4:5] and data[4] & _CHECKSUM else 0)
    if problem is None and end > len(data):
        problem = _CUT_OFF
    return _Frame(body, count, last, at, bound, end, problem)


def _header(data: memoryview) -> tuple[int, int, Problem]:
    """Return the size of the header of a frame, its window in bytes, and why no frame is read behind it."""
    if len(data) < 6:
        return len(data), 0, _CUT_OFF
    flags = data[4]
    single = bool(flags & _SINGLE_SEGMENT)
    dictionary_at = 5 if single else 6
    content_at = dictionary_at + _DICTIONARY_SIZES[flags & 3]
    size = content_at + (_CONTENT_SIZES[flags >> 6] or int(single))
    if size > len(data):
        return len(data), 0, _CUT_OFF
    if flags & _RESERVED_BIT:
        return size, 0, "a zstd header with an unknown bit"
    if any(data[dictionary_at:content_at]):
        return size, 0, "a zstd frame that needs a dictionary"
    window = (1 << 10 + (data[5] >> 3)) // 8 * (8 + (data[5] & 7))
    if single:
        window = int.from_bytes(data[content_at:size], "little") + (256 if flags >> 6 == 1 else 0)
    if window > _WINDOW_SIZE_MAX:
        return size, 0, f"a zstd frame that needs a window of {window} bytes"
    return size, window, None


def _decoded(data: memoryview, frame: _Frame, size_max: int) -> tuple[bytearray, Problem]:
    """Return what a frame holds; of a damaged one the longest run of blocks that can be decoded."""
    out, problem = bytearray(), frame.problem
    if problem is None:
        whole, problem = _attempt(data, frame.bound, size_max)
        if whole is not None:
            return whole, None
    least, most = 0, frame.block_count
    while least < most:
        middle = (least + most + 1) // 2
        some = _frame(data, middle)
        part, _ = _attempt(_beginning(data, some), some.bound, size_max)
        if part is None:
            most = middle - 1
        else:
            least, out = middle, part
    if problem is not None and "whole buffer" in problem:
        problem = too_large(size_max)
    return out, problem


def _attempt(data: memoryview | bytes, bound: int, size_max: int) -> tuple[bytearray | None, Problem]:
    """Decode a frame into at most `size_max` bytes; the room for it grows, as few frames hold what they could."""
    import cramjam

    room_max = min(bound, size_max)
    room = min(max(_ROOM_MIN, 4 * len(data)), room_max)
    while True:
        out = bytearray(room)
        try:
            size = cramjam.zstd.decompress_into(data, out)
        except cramjam.DecompressionError as error:
            if room == room_max:
                return None, f"not zstd: {error}"
            room = min(4 * room, room_max)
        else:
            del out[size:]
            return out, None


def _beginning(data: memoryview, frame: _Frame) -> bytes:
    """Return a frame of the blocks of `frame` alone: without a size and a checksum, which are those of the whole."""
    window = data[5]
    if data[4] & _SINGLE_SEGMENT:
        window = max((_header(data)[1] - 1).bit_length() - 10, 0) << 3
    blocks = bytearray(data[frame.body : frame.blocks_end])
    blocks[frame.last - frame.body] |= 1
    return MAGIC + bytes([0, window]) + blocks
