"""`quorum-state` in the metadata log of KRaft: the last election that a broker knows of (FileQuorumStateStore).

One JSON object in the first line; version 0 from 2.8 on, version 1 from 3.8 on. Up to 3.7 FileBasedStateStore reads it.
It is no plug: nothing but what a broker makes of it is of use.
"""

from typing import Any

from kcheck.formats._contract import Format
from kcheck.formats._jackson import tree
from kcheck.formats.partition_metadata import java_uuid
from kcheck.model.java import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, utf8_lines, wrapped
from kcheck.model.names import FileKind
from kcheck.model.parsed import BrokerReads, Parsed
from kcheck.model.release import Release

_VERSION = "data_version"
_VERSIONS = (0, 1)
_VOTED = "votedDirectoryId"
_INTS = ("leaderId", "leaderEpoch", "votedId")


def broker_reads(data: bytes, release: Release) -> BrokerReads[str | None]:
    """Return why a broker does not start with the file as the error; before 3.0 no broker is one of KRaft.

    The value is why it removes the file and forgets what it said, None where it takes it: so 3.0 to 3.7 do with what is
    no JSON object (QuorumState.initialize).
    """
    if not release.has_kraft:
        return BrokerReads(None)
    old = not release.knows_quorum_state_version_1
    try:
        found = _object(data)
    except ValueError as error:
        return BrokerReads(str(error)) if old else BrokerReads(None, str(error))
    if old:
        return BrokerReads(None, _of_version({name: value for name, value in found.items() if name != _VOTED}, 0))
    version = _short(found[_VERSION])
    known = version in _VERSIONS
    return BrokerReads(None, _of_version(found, version) if known else f"{_VERSION} {version} is not known")


def _object(data: bytes) -> dict[str, Any]:
    """Return what the file says; an error where the broker throws an IOException."""
    lines = utf8_lines(data)
    line = next(lines.lines, None)
    if line is None:
        raise ValueError("it is no UTF-8" if lines.malformed else "it is empty")
    try:
        found = tree(line)
    except ValueError:
        found = None
    if not isinstance(found, dict) or _VERSION not in found:
        raise ValueError(f"its first line is no JSON object with {_VERSION}")
    return found


def _short(value: object) -> int:
    """Return a value as JsonNode.shortValue does: 0 of what is no number."""
    if isinstance(value, float):
        value = max(INT_MIN, min(INT_MAX, int(value))) if abs(value) < float("inf") else 0
    return wrapped(value, 16) if isinstance(value, int) and not isinstance(value, bool) else 0


def _of_version(found: dict[str, Any], version: int) -> str | None:
    """Return which entry is wrong (QuorumStateDataJsonConverter); those of the other version may be missing."""
    old = version == 0
    needed = (*_INTS, *(("clusterId", "appliedOffset", "currentVoters") if old else (_VOTED,)))
    for name in needed:
        if name not in found:
            return f"it has no {name}"
    good = {name: _is_int(found[name], INT_MIN, INT_MAX) for name in _INTS}
    for name, value in found.items():
        if name == "clusterId":
            good[name] = isinstance(value, str)
        elif name == _VOTED:
            good[name] = isinstance(value, str) and java_uuid(value) is not None
        elif name == "appliedOffset":
            good[name] = _is_int(value, LONG_MIN, LONG_MAX)
        elif name == "currentVoters":
            good[name] = isinstance(value, list) and all(old and _is_voter(each) for each in value)
    bad = next((name for name, right in good.items() if not right), None)
    return None if bad is None else f"its {bad} makes no sense"


def _is_voter(value: object) -> bool:
    return isinstance(value, dict) and _is_int(value.get("voterId"), INT_MIN, INT_MAX)


def _is_int(value: object, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


FORMAT = Format(
    kind="quorum-state",
    title="quorum-state",
    matches=lambda name: name == FileKind.QUORUM_STATE,
    parse=lambda _: Parsed(None),
    broker_reads=broker_reads,
)
