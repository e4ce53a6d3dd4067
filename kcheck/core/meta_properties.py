"""What a start makes of the meta.properties of a log dir: BrokerMetadataCheckpoint, MetaPropertiesEnsemble."""

import base64
from collections.abc import Collection, Mapping
from enum import Enum, auto

from kcheck.core.startup import Mode, Outcome
from kcheck.model.release import Release

_DIRECTORY_ID = "directory.id"
_RESERVED_IDS = 100
"""The ids below, with 64 zero bits before, are kept for a meaning (DirectoryId.reserved)."""
_KNOWN_KEYS = frozenset(("version", "broker.id", "node.id", "cluster.id"))


class MetaPropertiesFault(Enum):
    """Why a broker refuses a meta.properties."""

    UNREADABLE = auto()
    """Its reader throws."""
    EMPTY = auto()
    """It names nothing: KRaft refuses it, a broker of ZooKeeper writes it again."""
    NO_NODE_ID = auto()
    """It names no node id, and 4.0 and later need one."""
    RESERVED_DIRECTORY_ID = auto()
    """Its directory.id is one of those that Kafka keeps for a meaning."""
    UNUSABLE = auto()
    """The reader of 2.8 to 3.6 takes it, and the broker fails when it uses an entry."""


def names_nothing(properties: Collection[str]) -> bool:
    """Whether a meta.properties has no entry that means anything: it is empty, or holds only zero bytes."""
    return _KNOWN_KEYS.isdisjoint(properties)


def fault_of(
    properties: Mapping[str, str], broker_id: int | None, release: Release, *, refused: bool, faulty: Collection[str]
) -> MetaPropertiesFault | None:
    """Return why a broker refuses the file, None if it accepts it.

    `refused`: its reader throws. `faulty` are the keys whose values the newest reader refuses.
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
    # From 2.8 to 3.6 the reader takes any properties and fails when it uses them; directory.id it does not know.
    used = any(key != _DIRECTORY_ID for key in faulty)
    return MetaPropertiesFault.UNUSABLE if used and release.takes_any_meta_properties else None


def _is_reserved(directory_id: str) -> bool:
    raw = base64.urlsafe_b64decode(directory_id[:22] + "==")
    return not any(raw[:8]) and int.from_bytes(raw[8:], "big", signed=True) < _RESERVED_IDS


def outcome_of(fault: MetaPropertiesFault, release: Release, *, mode: Mode, empty: bool) -> Outcome:
    """Return what becomes of a log dir whose meta.properties has a fault. `empty`: it names nothing.

    OFFLINE is for a broker that has another log dir with a good file, and its metadata elsewhere: else it aborts.
    """
    if empty and mode is Mode.ZOOKEEPER:
        return Outcome.OK
    offline = fault is MetaPropertiesFault.UNREADABLE and release.outlives_bad_meta_properties
    return Outcome.OFFLINE if offline else Outcome.ABORT
