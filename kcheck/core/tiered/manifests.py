"""Manifests and custom metadata of the Aiven plugin, with the places of indexes and the sizes of objects."""

import struct
from base64 import b64decode
from typing import Any, NamedTuple

from kcheck.model.java import INT_MAX
from kcheck.records.compression import ZSTD, decompress

MANIFEST_SUFFIX = "rsm-manifest"
"""The suffix of a manifest."""
_NO_MANIFEST = "not a manifest of version 1"
_CHUNKS_MAX, _INDEX_MAX = 1 << 24, 1 << 24
_REMOTE_SIZE = 0
_VALUE_BITS, _MORE = 0x7F, 0x80


class IndexPlace(NamedTuple):
    """An index in the `.indexes` object of a segment."""

    position: int
    """Its position in bytes."""
    size: int
    """Its size in bytes."""


def epoch_index_in(manifest: Any) -> IndexPlace | None:
    """Return the place of the leader epochs of a segment; None if encrypted. The plugin compresses no index.

    ValueError without a manifest of version 1 (SegmentManifestV1, SegmentIndexesV1 1.0.0 and 1.1.1).
    """
    try:
        row = manifest["segmentIndexes"]["leaderEpoch"]
        place = IndexPlace(int(row["position"]), int(row["size"]))
        is_encrypted = bool(manifest.get("encryption"))
    except (KeyError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(_NO_MANIFEST) from error
    if min(place) < 0 or place.position > INT_MAX or place.size > _INDEX_MAX:
        raise ValueError(_NO_MANIFEST)
    return None if is_encrypted else place


def log_size_in(manifest: Any) -> int:
    """Return the stored size of the `.log` object in bytes, compressed and encrypted.

    ValueError without a chunk index of version 1 (FixedSizeChunkIndex, VariableSizeChunkIndex, ChunkSizesBinaryCodec
    1.0.0 and 1.1.1).
    """
    try:
        index = manifest["chunkIndex"]
        if index["type"] == "fixed":
            chunks = -(-int(index["originalFileSize"]) // int(index["originalChunkSize"]))
            return (chunks - 1) * int(index["transformedChunkSize"]) + int(index["finalTransformedChunkSize"])
        chunks_data = decompress(ZSTD, b64decode(index["transformedChunks"]), magic=2, size_max=_CHUNKS_MAX)
        return _sum_of_chunks(b"" if chunks_data.problem else bytes(chunks_data.data))
    except (KeyError, TypeError, ValueError, ArithmeticError, struct.error) as error:
        raise ValueError(_NO_MANIFEST) from error


def _sum_of_chunks(data: bytes) -> int:
    """Return the sum of chunk sizes. All but the last are in few bytes, above a base."""
    count, *_ = map(int, struct.unpack_from(">i", data))
    if count <= 1:
        return sum(map(int, struct.unpack_from(f">{count}i", data, 4)))
    base, width = struct.unpack_from(">iB", data, 4)
    if not width:
        raise ValueError(_NO_MANIFEST)
    end = 9 + (count - 1) * width
    (last,) = struct.unpack_from(">i", data, end)
    added = sum(int.from_bytes(data[at : at + width], "big") for at in range(9, end, width))
    return (count - 1) * int(base) + added + int(last)


def remote_size(custom: bytes | None) -> int | None:
    """Return the size of all objects by the custom metadata of a segment; None without a size.

    REMOTE_SIZE is the first tagged field (SegmentCustomMetadataSerde 1.0.0 and 1.1.1).
    """
    if not custom:
        return None
    try:
        count, at = _varint(custom, 0)
        tag, at = _varint(custom, at)
        width, at = _varint(custom, at)
        value, end = _varint(custom, at)
    except IndexError:
        return None
    is_size = count > 0 and tag == _REMOTE_SIZE and end == at + width and value & 1 == 0
    return value >> 1 if is_size else None


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a variable-length number and the position of the next byte; IndexError without an end."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & _VALUE_BITS) << shift
        shift += 7
        if not byte & _MORE:
            return value, at
