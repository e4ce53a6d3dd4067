"""Manifests and custom metadata of the Aiven plugin. Sizes that the plugin itself wrote are in tests/verbs."""

from base64 import b64decode, b64encode
from math import inf
from typing import Any

import pytest

from kcheck.core.tiered.manifests import epoch_index_in, log_size_in, remote_size

INDEX = {"position": 96, "size": 8}
FIXED = {
    "type": "fixed", "originalChunkSize": 100, "originalFileSize": 1000, "transformedChunkSize": 110,
    "finalTransformedChunkSize": 90,
}  # fmt: skip
VARIABLE = {"type": "variable", "transformedChunks": "KLUv/SAPeQAAAAAAAwAAAFEBAAUAAAAy"}
"""Of an encrypted segment of 217 bytes."""


def stored(data: bytes) -> dict[str, Any]:
    """Return a chunk index with these bytes, as a frame of zstd with one raw block."""
    head = b"\x28\xb5\x2f\xfd\x20" + bytes([len(data)]) + (1 | len(data) << 3).to_bytes(3, "little")
    return {"chunkIndex": {"type": "variable", "transformedChunks": b64encode(head + data).decode()}}


def test_where_the_leader_epochs_are() -> None:
    manifest: dict[str, Any] = {"segmentIndexes": {"leaderEpoch": INDEX}}
    assert epoch_index_in(manifest) == (96, 8)
    assert epoch_index_in({**manifest, "encryption": {"aad": ""}}) is None


@pytest.mark.parametrize(
    "manifest",
    [
        None,
        [],
        {},
        {"segmentIndexes": {"leaderEpoch": None}},
        {"segmentIndexes": {"leaderEpoch": {**INDEX, "size": -1}}},
        {"segmentIndexes": {"leaderEpoch": {**INDEX, "size": 1 << 40}}},
        {"segmentIndexes": {"leaderEpoch": {**INDEX, "position": 1 << 70}}},
        {"segmentIndexes": {"leaderEpoch": {**INDEX, "size": inf}}},
    ],
)
def test_a_manifest_that_is_none(manifest: object) -> None:
    with pytest.raises(ValueError, match="version 1"):
        epoch_index_in(manifest)


@pytest.mark.parametrize(
    ("manifest", "size"),
    [
        ({"chunkIndex": FIXED}, 1080),
        ({"chunkIndex": VARIABLE}, 217),
        (stored(bytes(4)), 0),
        (stored((1).to_bytes(4, "big") + (50).to_bytes(4, "big")), 50),
    ],
)
def test_the_size_of_a_log(manifest: object, size: int) -> None:
    assert log_size_in(manifest) == size


@pytest.mark.parametrize(
    "manifest",
    [
        None,
        {"chunkIndex": {**FIXED, "originalChunkSize": 0}},
        {"chunkIndex": {**FIXED, "originalFileSize": inf}},
        {"chunkIndex": {"type": "variable", "transformedChunks": ""}},
        stored(b"\xff\xff\xff\xff"),
        stored((9).to_bytes(4, "big") + bytes(9)),
        stored((9).to_bytes(4, "big") + bytes(4) + b"\x04"),
    ],
)
def test_a_chunk_index_that_is_none(manifest: object) -> None:
    with pytest.raises(ValueError, match="version 1"):
        log_size_in(manifest)


def test_the_size_of_all_objects() -> None:
    """The bytes of the plugin with three fields, and others."""
    custom = b64decode("AwACpg0BCQljbHVzdGVyLwJHR3Q=")
    assert remote_size(custom) == 851
    for other in (
        None,
        b"",
        b"\x00",
        b"\x01\x01\x02\xa6\x0d",
        b"\x01\x00\x03\xa6\x0d",
        b"\x01\x00\x01\x01",
        b"\x01\x00\x02\xa6",
    ):
        assert remote_size(other) is None
