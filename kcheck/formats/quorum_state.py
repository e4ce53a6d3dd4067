"""`quorum-state` of a KRaft node's metadata log, with the last known election (FileQuorumStateStore).

The first line is a JSON object, version 0 in 2.8 and later, version 1 in 3.8 and later. In 3.7 and earlier
FileBasedStateStore reads it.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from kcheck.formats._contract import Format
from kcheck.formats.partition_metadata import java_uuid
from kcheck.model.cluster import QuorumState
from kcheck.model.java import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, utf8_lines, wrapped
from kcheck.model.names import FileKind
from kcheck.model.parsed import BrokerReads, Defect, Parsed
from kcheck.model.release import Release
from kcheck.records.json_reader import read_json

_VERSION = "data_version"
_VERSIONS = (0, 1)
_VOTED_DIRECTORY = "votedDirectoryId"
_INTS = ("leaderId", "leaderEpoch", "votedId")


class ElectionRead(NamedTuple):
    """The reaction of a starting node to the file."""

    removed_because: str | None
    """The reason why it deletes the file and starts without its contents; None if it uses them."""


def parse(data: bytes) -> Parsed[QuorumState | None]:
    """Return the state; None with a defect for a file that 4.3 does not read."""
    try:
        fields = _object(data)
    except ValueError as error:
        return Parsed(None, (Defect(str(error), 0),))
    version = _short(fields[_VERSION])
    wrong = _wrong_field(fields, version) if version in _VERSIONS else f"{_VERSION} {version} is not known"
    if wrong is not None:
        return Parsed(None, (Defect(wrong, 0),))
    voters = None if version else tuple(voter["voterId"] for voter in fields["currentVoters"])
    leader_id, leader_epoch, voted_id = (fields[name] for name in _INTS)
    return Parsed(QuorumState(leader_id, leader_epoch, voted_id, voters, fields.get(_VOTED_DIRECTORY)))


def broker_reads(data: bytes, release: Release) -> BrokerReads[ElectionRead]:
    """Return as `error` why the broker does not start with this file. Before 3.0 there are no KRaft brokers.

    3.0 to 3.7 delete a file that is not a JSON object (QuorumState.initialize).
    """
    if not release.has_kraft:
        return BrokerReads(ElectionRead(None))
    old = not release.knows_quorum_state_version_1
    try:
        fields = _object(data)
    except ValueError as error:
        return BrokerReads(ElectionRead(str(error))) if old else BrokerReads(None, str(error))
    if old:
        version, fields = 0, {name: value for name, value in fields.items() if name != _VOTED_DIRECTORY}
    else:
        version = _short(fields[_VERSION])
    wrong = _wrong_field(fields, version) if version in _VERSIONS else f"{_VERSION} {version} is not known"
    return BrokerReads(ElectionRead(None)) if wrong is None else BrokerReads(None, wrong)


def _object(data: bytes) -> dict[str, Any]:
    """Return the JSON object; raise ValueError where the broker throws IOException."""
    lines = utf8_lines(data)
    line = next(lines.lines, None)
    if line is None:
        raise ValueError("it is no UTF-8" if lines.malformed else "it is empty")
    try:
        fields = read_json(line)
    except ValueError:
        fields = None
    if not isinstance(fields, dict) or _VERSION not in fields:
        raise ValueError(f"its first line is no JSON object with {_VERSION}")
    return fields


def _short(value: object) -> int:
    """Return a value as JsonNode.shortValue does: 0 if it is not a number."""
    if isinstance(value, float):
        value = max(INT_MIN, min(INT_MAX, int(value))) if abs(value) < float("inf") else 0
    return wrapped(value, 16) if isinstance(value, int) and not isinstance(value, bool) else 0


def _wrong_field(fields: dict[str, Any], version: int) -> str | None:
    """Return which field is wrong (QuorumStateDataJsonConverter); fields of the other version may be missing."""
    old = version == 0
    needed = (*_INTS, *(("clusterId", "appliedOffset", "currentVoters") if old else (_VOTED_DIRECTORY,)))
    for name in needed:
        if name not in fields:
            return f"it has no {name}"
    good = {name: _is_int(fields[name], INT_MIN, INT_MAX) for name in _INTS}
    for name, value in fields.items():
        if name == "clusterId":
            good[name] = isinstance(value, str)
        elif name == _VOTED_DIRECTORY:
            good[name] = isinstance(value, str) and java_uuid(value) is not None
        elif name == "appliedOffset":
            good[name] = _is_int(value, LONG_MIN, LONG_MAX)
        elif name == "currentVoters":
            good[name] = isinstance(value, list) and all(old and _is_voter(voter) for voter in value)
    bad = next((name for name, right in good.items() if not right), None)
    return None if bad is None else f"its {bad} makes no sense"


def _is_voter(value: object) -> bool:
    return isinstance(value, dict) and _is_int(value.get("voterId"), INT_MIN, INT_MAX)


def _is_int(value: object, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def serialize(value: QuorumState | None) -> bytes:
    """Return the file as a node writes it; no node writes one without a state."""
    if value is None:
        return b""
    fields: dict[str, object] = {} if value.voters is None else {"clusterId": ""}
    fields |= {"leaderId": value.leader_id, "leaderEpoch": value.leader_epoch, "votedId": value.voted_id}
    if value.voters is None:
        fields |= {_VOTED_DIRECTORY: value.voted_directory_id, _VERSION: 1}
    else:
        fields |= {"appliedOffset": 0, "currentVoters": [{"voterId": voter} for voter in value.voters], _VERSION: 0}
    return json.dumps(fields, separators=(",", ":")).encode()


def row(value: QuorumState | None) -> Mapping[str, object]:
    """Return the JSON fields; null for a file that 4.3 does not read."""
    if value is None:
        return dict.fromkeys(("version", *QuorumState._fields))
    return {"version": int(value.voters is None), **value._asdict()}


def reads_row(read: ElectionRead) -> Mapping[str, object]:
    """Return the JSON fields of the node's reading."""
    return read._asdict()


FORMAT = Format(
    kind="quorum-state",
    title="quorum-state",
    matches=lambda name: name == FileKind.QUORUM_STATE,
    parse=parse,
    serialize=serialize,
    row=row,
    broker_reads=broker_reads,
    reads_row=reads_row,
)
