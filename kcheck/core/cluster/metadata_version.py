"""Tells whether a release starts with the features of a cluster (MetadataVersion, Feature 3.3 to 4.3.1)."""

from typing import NamedTuple

from kcheck.core.cluster.metadata_replay import KRAFT_VERSION, METADATA_VERSION
from kcheck.core.releases.release_evidence import age, last_line_of_level, line_of, line_of_level
from kcheck.model.cluster import ClusterImage
from kcheck.model.release import Release

_FIRST_LINES = {
    KRAFT_VERSION: "3.9", "eligible.leader.replicas.version": "4.0", "group.version": "4.0",
    "transaction.version": "4.0", "share.version": "4.1", "streams.version": "4.2",
}  # fmt: skip
"""The first line whose brokers register that they support a feature's levels above 0."""


class FinalizedFeature(NamedTuple):
    """A feature of a cluster at its level."""

    name: str
    level: int
    first: str
    """The first line of releases that supports it."""
    last: str | None = None
    """The last one; None if every later line does."""

    def supported_by(self, release: Release) -> bool:
        """Return whether a node of the release starts with it. The node or its controller refuses others."""
        line = age(line_of(release.name))
        return age(self.first) <= line and (self.last is None or line <= age(self.last))


def finalized_features(image: ClusterImage) -> list[FinalizedFeature]:
    """Return the features of a cluster whose releases are known, metadata.version first."""
    level = image.features.get(METADATA_VERSION)
    features = [
        FinalizedFeature(name, image.features[name], first)
        for name, first in _FIRST_LINES.items()
        if image.features.get(name)
    ]
    if level is None:
        return features
    return [FinalizedFeature(METADATA_VERSION, level, line_of_level(level), last_line_of_level(level)), *features]


def unsupported(image: ClusterImage, release: Release) -> FinalizedFeature | None:
    """Return the first feature with which a node of the release does not start; None if it supports all."""
    return next((feature for feature in finalized_features(image) if not feature.supported_by(release)), None)
