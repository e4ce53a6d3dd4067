"""Reads an lz4 frame as Kafka does, as one frame of independent blocks (Lz4BlockInputStream 4.3.1).

In 1.1 and earlier the class was KafkaLZ4BlockInputStream. It verifies the checksums of the header and of the blocks. It
ignores the size and the checksum of the content, and everything after the frame.
"""

from kcheck.records.decompressed import Decompressed, TooLarge

MAGIC = b"\x04\x22\x4d\x18"
_BLOCK_CHECKSUM, _CONTENT_SIZE, _CONTENT_CHECKSUM = 0x10, 0x08, 0x04
_STORED = 1 << 31
_PRIMES = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1)
_MASK = 0xFFFFFFFF


def decompress(data: memoryview, size_max: int, *, check_header: bool) -> Decompressed:
    """Decompress a frame to at most `size_max` bytes."""
    out = bytearray()
    at, block_max, problem = _header(data, check_header=check_header)
    if problem is not None:
        return Decompressed(out, problem)
    flags = data[4]
    checksum_size = 4 if flags & _BLOCK_CHECKSUM else 0
    while True:
        word = data[at : at + 4]
        if len(word) < 4:
            return Decompressed(out, "the lz4 frame is cut off")
        stored, size = divmod(int.from_bytes(word, "little"), _STORED)
        at += 4
        if not size:
            cut = flags & _CONTENT_CHECKSUM and len(data) < at + 4
            return Decompressed(out, "the checksum of the lz4 frame is cut off" if cut else None)
        if size > block_max:
            return Decompressed(out, f"an lz4 block of {size} bytes, at most {block_max} are allowed")
        end = at + size + checksum_size
        if end > len(data):
            return Decompressed(out, f"an lz4 block of {size} bytes is cut off")
        part = data[at : at + size] if stored else _block(data[at : at + size], block_max)
        if part is None:
            return Decompressed(out, "a block is not lz4")
        if checksum_size and not _checksum_matches(data[at - 4 : end]):
            return Decompressed(out, "the checksum of an lz4 block does not match")
        if len(out) + len(part) > size_max:
            out += part[: size_max - len(out)]
            return Decompressed(out, TooLarge(size_max))
        out += part
        at = end


def _header(data: memoryview, *, check_header: bool) -> tuple[int, int, str | None]:
    """Return the first byte of the first block, the largest allowed block, and the fault of the header.

    The checked bytes are FLG, BD and HC.
    """
    if len(data) < 6 or data[:4] != MAGIC:
        return 0, 0, "no lz4 header"
    flags, sizes = data[4], data[5]
    end = 14 if flags & _CONTENT_SIZE else 6
    if flags >> 6 != 1 or flags & 3 or sizes & 0x8F:
        return 0, 0, f"the lz4 header has unknown bits: {flags:02x} {sizes:02x}"
    if not flags & 0x20:
        return 0, 0, "the blocks of the lz4 frame depend on each other"
    if sizes >> 4 < 4:
        return 0, 0, f"the lz4 header has an unknown size of blocks: {sizes >> 4}"
    if len(data) <= end:
        return 0, 0, "the lz4 header is cut off"
    if check_header and data[end] != xxh32_short(bytes(data[4:end])) >> 8 & 0xFF:
        return 0, 0, "the checksum of the lz4 header does not match"
    return end + 1, 1 << 2 * (sizes >> 4) + 8, None


def _block(block: memoryview, size_max: int) -> memoryview | None:
    """Decompress a block; None if it is corrupt or larger than allowed."""
    import cramjam

    # A block decompresses to at most 255 times its size.
    room = min(size_max, 255 * len(block))
    out = bytearray(room)
    try:
        size = cramjam.lz4.decompress_block_into(block, out, room)
    except cramjam.DecompressionError:
        return None
    return memoryview(out)[:size]


def _checksum_matches(block: memoryview) -> bool:
    """Return whether the checksum after a block matches, by reading a frame made of this block alone."""
    import cramjam

    descriptor = b"\x70\x70"  # version 1, independent blocks with checksums, of up to 4 MiB
    header = MAGIC + descriptor + bytes([xxh32_short(descriptor) >> 8 & 0xFF])
    try:
        cramjam.lz4.decompress(header + bytes(block) + bytes(4))
    except cramjam.DecompressionError:
        return False
    return True


def xxh32_short(data: bytes) -> int:
    """Return the xxHash32 of fewer than 16 bytes, with seed 0."""
    assert len(data) < 16
    value, at = _PRIMES[4] + len(data), 0
    for at in range(4, len(data) + 1, 4):
        word = int.from_bytes(data[at - 4 : at], "little")
        value = _rotated(value + word * _PRIMES[2], 17) * _PRIMES[3]
    for byte in data[at:]:
        value = _rotated(value + byte * _PRIMES[4], 11) * _PRIMES[0]
    value &= _MASK
    value = (value ^ value >> 15) * _PRIMES[1] & _MASK
    value = (value ^ value >> 13) * _PRIMES[2] & _MASK
    return value ^ value >> 16


def _rotated(value: int, bits: int) -> int:
    value &= _MASK
    return value << bits & _MASK | value >> 32 - bits
