"""Manifests of the Aiven plugin, and the places of the indexes of a segment."""

from typing import Any, NamedTuple

MANIFEST_SUFFIX = "rsm-manifest"
"""The suffix of a manifest."""


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
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("not a manifest of version 1") from error
    if min(place) < 0:
        raise ValueError("not a manifest of version 1")
    return None if manifest.get("encryption") else place
