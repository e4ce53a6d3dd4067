"""The records of internal topics: which messages stand in their keys and values.

`offsets`, `transactions`, `share-groups`: CoordinatorRecordSerde 4.3.1; up to 3.9 CoordinatorRecordSerde of the group
coordinator, GroupMetadataManager and TransactionLog write the same bytes. A key begins with the record type, a value
with its version. `metadata`, `remote-log`: AbstractApiMessageSerde 2.8 to 4.3.1; no keys, and a value begins with three
varints.
"""

from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import NamedTuple, TypeAlias

from kcheck.formats._messages.decode import Decoded, Problem, UnknownTag, Value, decode, read_varint
from kcheck.formats._messages.schema import Schema, parse_table

FRAME_VERSION = 1
"""KRaft's preview in 2.8 wrote 0; no release reads that."""

MESSAGE_SIZE_MAX = 2 << 20
"""What is larger is not decoded: the smallest structures take a hundred times their bytes of memory."""

_MEMBER_FIELDS = {"subscription": "ConsumerProtocolSubscription", "assignment": "ConsumerProtocolAssignment"}


class Message(NamedTuple):
    """The key or the value of a record.

    `type` is the record type, None in a value whose key tells it; `name` that of the schema. `data` is None where it
    cannot be read: `problem` tells why, and `damaged` whether the bytes contradict the version that they state;
    otherwise kcheck does not know what they are. `left` counts bytes behind the message.
    """

    type: int | None = None
    name: str | None = None
    version: int | None = None
    data: dict[str, Value] | None = None
    problem: str | None = None
    damaged: bool = False
    unknown: tuple[UnknownTag, ...] = ()
    left: int = 0

    def row(self, data: bytes) -> dict[str, Value]:
        """Return the fields of JSON, `data` being the bytes: they are shown, in base64, where they cannot be read."""
        found: dict[str, Value] = {}
        if self.type is not None:
            found["type"] = self.type
        if self.name is not None:
            found["name"] = self.name
        if self.version is not None:
            found["version"] = self.version
        found["data"] = self.data
        if self.problem is not None:
            found |= {"problem": self.problem, "damaged": self.damaged}
            found["bytes"] = b2a_base64(data, newline=False).decode()
        if self.unknown:
            found["unknown_tags"] = [{"tag": each.tag, "size": each.size} for each in self.unknown]
        if self.left:
            found["left"] = self.left
        return found


class DecodedRecord(NamedTuple):
    """What a record says; None where there is no key, or no value."""

    key: Message | None
    value: Message | None


Decoder: TypeAlias = Callable[[bytes | None, bytes | None], DecodedRecord]
"""Takes the key and the value of a record, None where it has none."""


def decoder(kind: str) -> Decoder:
    """Return what decodes the records of one of `DECODERS`."""
    return DECODERS[kind]


def _message(schema: Schema, data: bytes, version: int, start: int, kind: int | None = None) -> Message:
    if version not in schema.versions:
        return Message(kind, schema.name, version, problem=f"version {version} of {schema.name} is not known")
    size = len(data) - start
    if size > MESSAGE_SIZE_MAX:
        return Message(kind, schema.name, version, problem=f"{size} bytes are more than is decoded, {MESSAGE_SIZE_MAX}")
    found = decode(schema, data, version, start)
    problem = None if found.problem is None else str(found.problem)
    left = 0 if problem else size - found.size
    return Message(kind, schema.name, version, found.value, problem, found.problem is not None, found.unknown, left)


def _coordinator(table: str) -> Decoder:
    def decode_record(key: bytes | None, value: bytes | None) -> DecodedRecord:
        untyped = None if value is None else Message(problem="the key does not tell what it is")
        if key is None:
            return DecodedRecord(Message(problem="the record has no key, which tells its type", damaged=True), untyped)
        if len(key) < 2:
            return DecodedRecord(Message(problem=_too_short(key, "the record type"), damaged=True), untyped)
        kind = int.from_bytes(key[:2], "big", signed=True)
        schema = _by_type(table, "Key").get(kind)
        if schema is None:
            return DecodedRecord(Message(kind, problem=f"record type {kind} is not known"), untyped)
        found = _message(schema, key, 0, 2, kind)._replace(version=None)
        return DecodedRecord(found, None if value is None else _value(_by_type(table, "Value")[kind], value))

    return decode_record


def _value(schema: Schema, value: bytes) -> Message:
    if len(value) < 2:
        return Message(name=schema.name, problem=_too_short(value, "the version"), damaged=True)
    found = _message(schema, value, int.from_bytes(value[:2], "big", signed=True), 2)
    if schema.name == "GroupMetadataValue" and found.data is not None and found.data["protocolType"] == "consumer":
        members = found.data["members"]
        assert isinstance(members, list)
        for member in members:
            assert isinstance(member, dict)
            for field, name in _MEMBER_FIELDS.items():
                member[field] = _said_by_member(name, member[field])
    return found


def _said_by_member(name: str, encoded: Value) -> Value:
    """Return what a member of the consumer protocol said, or the base64 of its bytes where they are something else."""
    assert isinstance(encoded, str)
    data = a2b_base64(encoded)
    version = int.from_bytes(data[:2], "big", signed=True)
    found = decode(_schemas("_protocol")[name], data, version, 2) if len(data) >= 2 else Decoded(None, 0)
    return encoded if found.value is None else found.value


def _framed(table: str, family: str | None = None) -> Decoder:
    """Return the decoder of records without keys; `family` stands for the name of a message that is not known."""

    def decode_record(key: bytes | None, value: bytes | None) -> DecodedRecord:
        del key
        found = _framed_value(table, value)
        return DecodedRecord(None, found._replace(name=found.name or family))

    return decode_record


def _framed_value(table: str, value: bytes | None) -> Message:
    if value is None:
        return Message(problem="the record has no value", damaged=True)
    numbers, position = [], 0
    for what in ("frame version", "type", "version"):
        read = read_varint(value, position)
        if read is None:
            return Message(problem=str(Problem(position, what, "is no varint")), damaged=True)
        numbers.append(read[0])
        position = read[1]
    frame, kind, version = numbers
    schema = _by_type(table, "Record").get(kind)
    if frame != FRAME_VERSION or schema is None:
        why = f"frame version {frame} is not known" if frame != FRAME_VERSION else f"record type {kind} is not known"
        return Message(None if frame != FRAME_VERSION else kind, problem=why)
    found = _message(schema, value, version, position, kind)
    if found.left:
        problem = Problem(len(value) - found.left, "", f"{found.left} bytes stand behind the message")
        found = found._replace(data=None, problem=str(problem), damaged=True)
    return found


def _too_short(data: bytes, what: str) -> str:
    return str(Problem(0, what, f"needs 2 bytes, {len(data)} are left"))


@cache
def _schemas(table: str) -> Mapping[str, Schema]:
    """Return the schemas of one table; it is imported when the first record asks for it."""
    return parse_table(import_module(f"{__package__}.{table}").TABLE)


@cache
def _by_type(table: str, ending: str) -> Mapping[int, Schema]:
    """Return the schemas whose names end so, by record type."""
    return {
        schema.id: schema for name, schema in _schemas(table).items() if name.endswith(ending) and schema.id is not None
    }


DECODERS: Mapping[str, Decoder] = {
    "offsets": _coordinator("_offsets"),
    "transactions": _coordinator("_transactions"),
    "metadata": _framed("_metadata"),
    "share-groups": _coordinator("_share_state"),
    "remote-log": _framed("_remote_log", "RemoteLogMetadata"),
}
"""The kinds of internal topics, and what decodes the records of each."""
