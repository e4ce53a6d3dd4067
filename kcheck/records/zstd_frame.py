"""Reads consecutive Zstandard frames as Kafka does (ZstdInputStreamNoFinalizer of zstd-jni 1.5.6; RFC 8878).

The block headers bound the size of a decompressed frame, so its buffer is limited before decoding. The size that the
frame states is not trusted.
"""

from typing import NamedTuple

from kcheck.records.decompressed import Decompressed, TooLarge

MAGIC = b"\x28\xb5\x2f\xfd"
_SKIPPABLE, _SKIPPABLE_HEADER_SIZE = b"\x2a\x4d\x18", 8
_SINGLE_SEGMENT, _RESERVED_BIT, _CHECKSUM = 0x20, 0x08, 0x04
_DICTIONARY_SIZES = (0, 1, 2, 4)
_CONTENT_SIZES = (0, 2, 4, 8)
_RLE, _COMPRESSED, _RESERVED = 1, 2, 3
_BLOCK_SIZE_MAX = 128 << 10
_WINDOW_SIZE_MAX = (1 << 27) + 1
"""The largest window that zstd decodes by default (ZSTD_WINDOWLOG_LIMIT_DEFAULT)."""
_ROOM_MIN = 1 << 17
_BUFFER_SIZE = 131075
"""Bytes that the broker's reader takes at once (ZSTD_DStreamInSize)."""
_CUT_OFF = "a zstd frame is cut off"


class _Frame(NamedTuple):
    """The blocks of a frame. Positions are bytes after the beginning of the frame."""

    body: int
    """Position of the first block."""
    block_count: int
    """The number of complete blocks."""
    last: int
    """Position of the last complete block."""
    blocks_end: int
    """End of the last complete block."""
    bound: int
    """The most bytes that the complete blocks can decompress to."""
    end: int
    """End of the frame, if it is complete."""
    problem: str | None
    """The reason why the frame is incomplete or unreadable."""


def decompress(data: memoryview, size_max: int) -> Decompressed:
    """Decompress the frames to at most `size_max` bytes."""
    out, at = bytearray(), 0
    empty = b""
    while at < len(data):
        if empty and data[at : at + len(empty)] == empty:
            at += len(empty)  # The same bytes are the same frame: millions of empty ones are decoded once.
            continue
        head = bytes(data[at : at + _SKIPPABLE_HEADER_SIZE])
        if head[0] >> 4 == 5 and _SKIPPABLE.startswith(head[1:4]):
            end = at + _SKIPPABLE_HEADER_SIZE + int.from_bytes(head[4:], "little")
            problem = _CUT_OFF if len(head) < _SKIPPABLE_HEADER_SIZE or end > len(data) else None
        elif MAGIC.startswith(head[:4]):
            frame = _frame(data[at:], None)
            end = at + frame.end
            part, problem = _content(data[at:end], frame, size_max - len(out))
            out += part
            empty = bytes(data[at:end]) if problem is None and not part else b""
        else:
            problem = "no zstd header"
        if problem is not None:
            # If a frame ended in the reader's last buffer, the reader takes a cut after it for the end of the input.
            unnoticed = problem == _CUT_OFF and at > (len(data) - 1) // _BUFFER_SIZE * _BUFFER_SIZE
            return Decompressed(out, None if unnoticed else problem)
        at = end
    return Decompressed(out, None)


def _frame(data: memoryview, count_max: int | None) -> _Frame:
    """Read the block headers of a frame, at most `count_max` of them."""
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


def _header(data: memoryview) -> tuple[int, int, str | None]:
    """Return the size of a frame header, the window in bytes, and why the frame is unreadable."""
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


def _content(data: memoryview, frame: _Frame, size_max: int) -> tuple[bytearray, str | None]:
    """Decompress a frame; of a corrupt one, as many of its first blocks as possible."""
    out, problem = bytearray(), frame.problem
    if problem is None:
        content, problem = _decode(data, frame.bound, size_max)
        if content is not None:
            return content, None
    least, most = 0, frame.block_count
    while least < most:
        middle = (least + most + 1) // 2
        first_blocks = _frame(data, middle)
        part, _ = _decode(_first_blocks(data, first_blocks), first_blocks.bound, size_max)
        if part is None:
            most = middle - 1
        else:
            least, out = middle, part
    if frame.problem is None and least < frame.block_count:
        # A damaged block stays unreadable in any buffer; one that is readable in more room exceeds the limit.
        blocks, room = _frame(data, least + 1), len(out) + _BLOCK_SIZE_MAX
        if _decode(_first_blocks(data, blocks), room, room)[0] is not None:
            problem = TooLarge(size_max)
    return out, problem


def _decode(data: memoryview | bytes, bound: int, size_max: int) -> tuple[bytearray | None, str | None]:
    """Decode a frame into at most `size_max` bytes; the buffer grows, because few frames reach their bound."""
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


def _first_blocks(data: memoryview, frame: _Frame) -> bytes:
    """Return a frame of only these blocks, without size and checksum, which belong to the complete frame."""
    window = data[5]
    if data[4] & _SINGLE_SEGMENT:
        window = max((_header(data)[1] - 1).bit_length() - 10, 0) << 3
    blocks = bytearray(data[frame.body : frame.blocks_end])
    blocks[frame.last - frame.body] |= 1
    return MAGIC + bytes([0, window]) + blocks
