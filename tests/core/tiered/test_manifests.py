"""Manifests of the Aiven plugin."""

from typing import Any

import pytest

from kcheck.core.tiered.manifests import epoch_index_in

INDEX = {"position": 96, "size": 8}


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
    ],
)
def test_a_manifest_that_is_none(manifest: object) -> None:
    with pytest.raises(ValueError, match="version 1"):
        epoch_index_in(manifest)
