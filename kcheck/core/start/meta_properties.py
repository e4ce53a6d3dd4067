"""Tells whether a broker accepts the meta.properties of a log dir.

The classes are BrokerMetadataCheckpoint and MetaPropertiesEnsemble.
"""

import base64
from collections.abc import Collection, Mapping
from enum import Enum, auto

from kcheck.core.start.startup import Mode, Outcome
from kcheck.model.release import Release

_DIRECTORY_ID = "directory.id"
_RESERVED_IDS = 100
"""Kafka reserves the ids whose high 64 bits are zero and whose low bits are below this (DirectoryId.reserved)."""
_KNOWN_KEYS = frozenset(("version", "broker.id", "node.id", "cluster.id"))


class MetaPropertiesFault(Enum):
    """The reason why a broker refuses a meta.properties."""

    UNREADABLE = auto()
    """Its reader throws."""
    EMPTY = auto()
    """It has no entry that counts: KRaft refuses it, a ZooKeeper broker writes it again."""
    NO_NODE_ID = auto()
    """It has no node id; 4.0 and later need one."""
    RESERVED_DIRECTORY_ID = auto()
    """Its directory.id is reserved by Kafka."""
    UNUSABLE = auto()
    """The reader of 2.8 to 3.6 accepts it, but the broker fails when it uses an entry."""


def names_nothing(properties: Collection[str]) -> bool:
    """Return whether a meta.properties has no entry that Kafka uses, because it is empty or has only zero bytes."""
    return _KNOWN_KEYS.isdisjoint(properties)


def fault_of(
    properties: Mapping[str, str], broker_id: int | None, release: Release, *, refused: bool, faulty: Collection[str]
) -> MetaPropertiesFault | None:
    """Return why a broker refuses the file; None if it accepts it.

    `refused` is true if the reader of the broker throws. `faulty` are the keys whose values the newest reader refuses.
    """
    if not release.reads_meta_properties:
        return None
    if refused:
        return MetaPropertiesFault.UNREADABLE
    if release.is_kraft_only and (broker_id is None or names_nothing(properties)):
        return MetaPropertiesFault.NO_NODE_ID
    if names_nothing(properties):
        return MetaPropertiesFault.EMPTY
    if release.has_directory_ids:
        directory_id = properties.get(_DIRECTORY_ID)
        reserved = directory_id is not None and _is_reserved(directory_id)
        return MetaPropertiesFault.RESERVED_DIRECTORY_ID if reserved else None
    # From 2.8 to 3.6 the reader accepts any properties; the broker fails when it uses them. It ignores directory.id.
    used = any(key != _DIRECTORY_ID for key in faulty)
    return MetaPropertiesFault.UNUSABLE if used and release.takes_any_meta_properties else None


def _is_reserved(directory_id: str) -> bool:
    raw = base64.urlsafe_b64decode(directory_id[:22] + "==")
    return not any(raw[:8]) and int.from_bytes(raw[8:], "big", signed=True) < _RESERVED_IDS


def outcome_of(fault: MetaPropertiesFault, release: Release, *, mode: Mode) -> Outcome:
    """Return the outcome of a log dir whose meta.properties has a fault.

    OFFLINE needs another log dir with an intact file, and a metadata log outside of this one. Else the broker aborts.
    """
    if fault is MetaPropertiesFault.EMPTY and mode is Mode.ZOOKEEPER:
        return Outcome.OK
    offline = fault is MetaPropertiesFault.UNREADABLE and release.outlives_bad_meta_properties
    return Outcome.OFFLINE if offline else Outcome.ABORT
