"""Decompresses records as Kafka's readers do, in the body of a batch of magic 2, or an older wrapper.

Kafka classes: GzipCompression, SnappyCompression, Lz4Compression and ZstdCompression 4.3.1. They use GZIPInputStream of
the JDK, SnappyInputStream of snappy-java 1.1.10 and ZstdInputStreamNoFinalizer of zstd-jni 1.5.6.
"""

import zlib

from kcheck.records.decompressed import Decompressed, TooLarge

GZIP, SNAPPY, LZ4, ZSTD = 1, 2, 3, 4
"""The codecs, by their numbers in the attributes (CompressionType)."""


def decompress(codec: int, data: bytes | memoryview, *, magic: int, size_max: int) -> Decompressed:
    """Decompress `data` with a codec (1 gzip, 2 snappy, 3 lz4, 4 zstd) to at most `size_max` bytes.

    `magic` belongs to the batch. In magic 0 the checksum of an lz4 header is not verified. Bytes that the broker's
    reader leaves unread at the end are not a problem. With a problem the result may have a few bytes more than a Java
    stream returns before its exception. Memory use is at most twice `size_max` plus the size of `data`.
    """
    data = memoryview(data)
    if codec == GZIP:
        return _gzip(data, size_max)
    if codec == SNAPPY:
        return _snappy(data, size_max)
    if codec == LZ4:
        from kcheck.records import lz4_frame

        return lz4_frame.decompress(data, size_max, check_header=magic > 0)
    if codec == ZSTD:
        from kcheck.records import zstd_frame

        return zstd_frame.decompress(data, size_max)
    return Decompressed(b"", f"the compression {codec} is not known")


_GZIP_MAGIC, _GZIP_HEADER_SIZE, _GZIP_TRAILER_SIZE = b"\x1f\x8b\x08", 10, 8
_HEADER_CRC, _EXTRA, _NAME, _COMMENT = 2, 4, 8, 16
_GZIP_BUFFER_SIZE = 8192
_GZIP_LEFT_MIN = 26
"""Largest number of buffered bytes after a trailer with which the reader looks for no other member."""
_STEP_MIN, _STEP_MAX = 1 << 10, 1 << 20


def _gzip(data: memoryview, size_max: int) -> Decompressed:
    """Read all members; ignore bytes after the last one that do not begin another member (GZIPInputStream)."""
    out = bytearray()
    at = _gzip_body(data, 0)
    if at is None:
        return Decompressed(out, "no gzip header")
    filled = at
    while True:
        member_start = len(out)
        end, problem = _inflate(data, at, out, size_max)
        if end is None:
            return Decompressed(out, problem)
        while filled < end:
            filled = min(filled + _GZIP_BUFFER_SIZE, len(data))
        trailer = data[end : end + _GZIP_TRAILER_SIZE]
        if len(trailer) < _GZIP_TRAILER_SIZE:
            return Decompressed(out, "the gzip trailer is cut off")
        size = len(out) - member_start
        with memoryview(out) as view:
            expected = zlib.crc32(view[member_start:]) | (size & 0xFFFFFFFF) << 32
        if int.from_bytes(trailer, "little") != expected:
            return Decompressed(out, "the gzip trailer has another CRC or size")
        if filled == len(data) and filled - end <= _GZIP_LEFT_MIN:
            return Decompressed(out, None)
        following = _gzip_body(data, end + _GZIP_TRAILER_SIZE)
        if following is None:
            return Decompressed(out, None)
        at = following
        filled = max(filled, at)


def _inflate(data: memoryview, at: int, out: bytearray, size_max: int) -> tuple[int | None, str | None]:
    """Append the contents of the deflate stream at a position.

    Return its end, or None and the reason. The input is fed in growing steps, because zlib copies the bytes that it
    leaves unread.
    """
    stream, step = zlib.decompressobj(-zlib.MAX_WBITS), _STEP_MIN
    while at < len(data):
        part = data[at : at + step]
        step = min(2 * step, _STEP_MAX)
        try:
            out += stream.decompress(part, size_max - len(out) + 1)
        except zlib.error as error:
            return None, f"not gzip: {error}"
        if len(out) > size_max:
            del out[size_max:]
            return None, TooLarge(size_max)
        at += len(part) - len(stream.unused_data)
        if stream.eof:
            return at, None
    return None, "the gzip stream is cut off"


def _gzip_body(data: memoryview, at: int) -> int | None:
    """Return the first byte of the deflate stream in the member at a position; None without a valid header."""
    head = bytes(data[at : at + _GZIP_HEADER_SIZE])
    if len(head) < _GZIP_HEADER_SIZE or not head.startswith(_GZIP_MAGIC):
        return None
    flags, body = head[3], at + _GZIP_HEADER_SIZE
    if flags & _EXTRA:
        body += 2 + int.from_bytes(data[body : body + 2], "little")
    for flag in (_NAME, _COMMENT):
        if flags & flag:
            while body < len(data) and data[body]:
                body += 1
            body += 1
    if flags & _HEADER_CRC:
        crc = zlib.crc32(data[at:body]) & 0xFFFF
        if int.from_bytes(data[body : body + 2], "little") != crc:
            return None
        body += 2
    return body if body <= len(data) else None


_XERIAL_MAGIC, _XERIAL_HEADER_SIZE = b"\x82SNAPPY\x00", 16
_XERIAL_BLOCK_SIZE_MAX = 512 << 20
_SNAPPY_RATIO_MAX = 64
"""An element of a raw snappy block has at least two bytes and makes at most 64."""


def _snappy(data: memoryview, size_max: int) -> Decompressed:
    """Read the blocks after a xerial header; without a header read one raw block (SnappyInputStream)."""
    if not data:
        return Decompressed(b"", "snappy data of no bytes")
    if len(data) < _XERIAL_HEADER_SIZE or data[: len(_XERIAL_MAGIC)] != _XERIAL_MAGIC:
        out = bytearray()
        return Decompressed(out, _snappy_block(data, out, size_max))
    out, at = bytearray(), _XERIAL_HEADER_SIZE
    while at + 4 <= len(data):
        head = bytes(data[at : at + _XERIAL_HEADER_SIZE])
        if head.startswith(_XERIAL_MAGIC[:4]):
            if len(head) < _XERIAL_HEADER_SIZE:
                return Decompressed(out, "a second snappy header is cut off")
            # Bytes that only begin like a header are skipped; the stream continues after them at its next read.
            if head.startswith(_XERIAL_MAGIC) and int.from_bytes(head[8:12], "big", signed=True) < 1:
                return Decompressed(out, "a second snappy header has a version below 1")
            at += _XERIAL_HEADER_SIZE
            continue
        size = int.from_bytes(head[:4], "big", signed=True)
        if not 0 <= size <= _XERIAL_BLOCK_SIZE_MAX:
            return Decompressed(out, f"a snappy block of {size} bytes")
        block = data[at + 4 : at + 4 + size]
        if len(block) < size:
            return Decompressed(out, f"a snappy block of {size} bytes is cut off after {len(block)}")
        problem = _snappy_block(block, out, size_max)
        if problem is not None:
            return Decompressed(out, problem)
        at += 4 + size
    return Decompressed(out, None)


def _snappy_block(block: memoryview, out: bytearray, size_max: int) -> str | None:
    """Append the contents of a raw block; return why it is unreadable. Do not trust an impossible stated size."""
    import cramjam

    if not block:
        return "a snappy block of no bytes"
    try:
        size = cramjam.snappy.decompress_raw_len(block)
        if size > _SNAPPY_RATIO_MAX * len(block):
            return f"a snappy block of {len(block)} bytes says to hold {size}"
        if len(out) + size > size_max:
            return TooLarge(size_max)
        out += cramjam.snappy.decompress_raw(block)
    except cramjam.DecompressionError as error:
        return f"not {error}" if str(error).startswith("snappy") else f"not snappy: {error}"
    return None
