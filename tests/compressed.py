"""What clients compress, made byte by byte where a test wants another header than they write."""

import zlib

import cramjam

from kcheck.records.lz4_frame import xxh32_short


def gzip(content: bytes, *, flags: int = 0, extra: bytes = b"") -> bytes:
    """Return a member of a gzip file."""
    stream = zlib.compressobj(wbits=-15)
    head = b"\x1f\x8b\x08" + bytes([flags]) + bytes(6) + extra
    trailer = zlib.crc32(content).to_bytes(4, "little") + len(content).to_bytes(4, "little")
    return head + stream.compress(content) + stream.flush() + trailer


def xerial(content: bytes) -> bytes:
    """Return what a SnappyOutputStream writes."""
    blocks = [bytes(cramjam.snappy.compress_raw(content[at : at + 32768])) for at in range(0, len(content), 32768)]
    head = b"\x82SNAPPY\0\0\0\0\1\0\0\0\1"
    return head + b"".join(len(block).to_bytes(4, "big") + block for block in blocks)


def lz4(
    content: bytes, *, flags: int = 0x60, sizes: int = 0x40, check: int | None = None, content_size: int = 7
) -> bytes:
    """Return what a Lz4BlockOutputStream writes, or with other bits of the header."""
    descriptor = bytes([flags, sizes]) + (content_size.to_bytes(8, "little") if flags & 8 else b"")
    out = b"\x04\x22\x4d\x18" + descriptor + bytes([xxh32_short(descriptor) >> 8 & 0xFF if check is None else check])
    for at in range(0, len(content), 1 << 16):
        part = content[at : at + (1 << 16)]
        block, stored = bytes(cramjam.lz4.compress_block(part, store_size=False)), 0
        if len(block) >= len(part):
            block, stored = part, 1 << 31
        out += (len(block) | stored).to_bytes(4, "little") + block
        if flags & 0x10 and len(block) < 16:
            out += xxh32_short(block).to_bytes(4, "little")
    return out + bytes(4) + (b"\0\0\0\0" if flags & 4 else b"")


def zstd(content: bytes) -> bytes:
    """Return a frame."""
    return bytes(cramjam.zstd.compress(content))
