"""Decodes the keys and values of the records of internal topics.

`offsets`, `transactions`, `share-groups`: CoordinatorRecordSerde 4.3.1. Up to 3.9 CoordinatorRecordSerde of the group
coordinator, GroupMetadataManager and TransactionLog write the same bytes. A key begins with the record type, a value
with its version. `metadata`, `remote-log`: AbstractApiMessageSerde 2.8 to 4.3.1. The records have no keys, and a value
begins with three varints.
"""

from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Mapping
from functools import cache, lru_cache, partial
from importlib import import_module
from typing import NamedTuple, TypeAlias

from kcheck.schemas.decode import Decoded, Problem, UnknownTag, Value, decode, read_varint
from kcheck.schemas.schema import Schema, parse_table

FRAME_VERSION = 1
"""The KRaft preview in 2.8 wrote 0, which no release reads."""

MESSAGE_SIZE_MAX = 2 << 20
"""Larger messages are not decoded, because decoded structures can take 100 times their size in memory."""

_KEPT_COUNT, _KEPT_SIZE_MAX = 4096, 256
"""Number of cached decoded keys, and maximum size, as a group commits for the same partitions again."""

_SHORT_VARINT_MAX = 0x7F
"""The largest varint of one byte. Nearly all numbers that begin a value are smaller."""

_MEMBER_FIELDS = {"subscription": "ConsumerProtocolSubscription", "assignment": "ConsumerProtocolAssignment"}


class Message(NamedTuple):
    """The key or the value of a record."""

    type: int | None = None
    """The record type; None in a value whose key has it."""
    name: str | None = None
    """The name of the schema."""
    version: int | None = None
    """The version of the message."""
    data: dict[str, Value] | None = None
    """The decoded fields; None if the message is unreadable."""
    problem: str | None = None
    """The reason why the message is unreadable; None if it is readable."""
    damaged: bool = False
    """True if the bytes contradict their stated version. False with a `problem` means that kcheck does not know the
    type or version."""
    unknown: tuple[UnknownTag, ...] = ()
    """The tagged fields that kcheck does not know."""
    left: int = 0
    """The number of bytes after the message."""

    def row(self, data: bytes) -> dict[str, Value]:
        """Return the JSON fields; for an unreadable message they include `data`, its bytes, in base64."""
        fields: dict[str, Value] = {}
        if self.type is not None:
            fields["type"] = self.type
        if self.name is not None:
            fields["name"] = self.name
        if self.version is not None:
            fields["version"] = self.version
        fields["data"] = self.data
        if self.problem is not None:
            fields |= {"problem": self.problem, "damaged": self.damaged}
            fields["bytes"] = b2a_base64(data, newline=False).decode()
        if self.unknown:
            fields["unknown_tags"] = [{"tag": tag.tag, "size": tag.size} for tag in self.unknown]
        if self.left:
            fields["left"] = self.left
        return fields


class DecodedRecord(NamedTuple):
    """The decoded key and value of a record."""

    key: Message | None
    """The key; None if the record has none."""
    value: Message | None
    """The value; None if the record has none."""


Decoder: TypeAlias = Callable[[bytes | None, bytes | None], DecodedRecord]
"""Takes the key and the value of a record; each may be None."""


def decoder(kind: str) -> Decoder:
    """Return the decoder of a kind of internal topic, a key of `DECODERS`."""
    return DECODERS[kind]


def _message(schema: Schema, data: bytes, version: int, start: int, kind: int | None = None) -> Message:
    if not schema.versions.least <= version <= schema.versions.most:
        return Message(kind, schema.name, version, problem=f"version {version} of {schema.name} is not known")
    size = len(data) - start
    if size > MESSAGE_SIZE_MAX:
        return Message(kind, schema.name, version, problem=f"{size} bytes are more than is decoded, {MESSAGE_SIZE_MAX}")
    read = decode(schema, data, version, start)
    problem = None if read.problem is None else str(read.problem)
    left = 0 if problem else size - read.size
    return Message(kind, schema.name, version, read.value, problem, read.problem is not None, read.unknown, left)


def _coordinator(table: str) -> Decoder:
    kept = lru_cache(_KEPT_COUNT)(partial(_key, table))

    def decode_record(key: bytes | None, value: bytes | None) -> DecodedRecord:
        if key is None:
            message = Message(problem="the record has no key to give its type", damaged=True)
        else:
            message = kept(key) if len(key) <= _KEPT_SIZE_MAX else _key(table, key)
        if value is None:
            return DecodedRecord(message, None)
        if message.name is None:
            return DecodedRecord(message, Message(problem="the key does not say what it is"))
        return DecodedRecord(message, _value(_by_type(table, "Value")[message.type], value))

    return decode_record


def _key(table: str, key: bytes) -> Message:
    if len(key) < 2:
        return Message(problem=_too_short(key, "the record type"), damaged=True)
    kind = int.from_bytes(key[:2], "big", signed=True)
    schema = _by_type(table, "Key").get(kind)
    if schema is None:
        return Message(kind, problem=f"record type {kind} is not known")
    return _message(schema, key, 0, 2, kind)._replace(version=None)


def _value(schema: Schema, value: bytes) -> Message:
    if len(value) < 2:
        return Message(name=schema.name, problem=_too_short(value, "the version"), damaged=True)
    message = _message(schema, value, int.from_bytes(value[:2], "big", signed=True), 2)
    if schema.name == "GroupMetadataValue" and message.data is not None and message.data["protocolType"] == "consumer":
        members = message.data["members"]
        assert isinstance(members, list)
        for member in members:
            assert isinstance(member, dict)
            for field, name in _MEMBER_FIELDS.items():
                member[field] = _protocol_message(name, member[field])
    return message


def _protocol_message(name: str, encoded: Value) -> Value:
    """Decode a message of the consumer protocol; return the base64 unchanged if it is not one."""
    assert isinstance(encoded, str)
    data = a2b_base64(encoded)
    version = int.from_bytes(data[:2], "big", signed=True)
    read = decode(_schemas("protocol")[name], data, version, 2) if len(data) >= 2 else Decoded(None, 0)
    return encoded if read.value is None else read.value


def _framed(table: str, family: str | None = None) -> Decoder:
    """Return the decoder of records without keys; `family` is the name for a message of unknown type."""

    def decode_record(key: bytes | None, value: bytes | None) -> DecodedRecord:
        del key
        message = _framed_value(table, value)
        return DecodedRecord(None, message if message.name else message._replace(name=family))

    return decode_record


def _framed_value(table: str, value: bytes | None) -> Message:
    if value is None:
        return Message(problem="the record has no value", damaged=True)
    numbers, position = [*value[:3]], 3
    if len(numbers) < 3 or max(numbers) > _SHORT_VARINT_MAX:
        numbers, position = [], 0
    for what in ("frame version", "type", "version")[len(numbers) :]:
        read = read_varint(value, position)
        if read is None:
            return Message(problem=str(Problem(position, what, "is not a varint")), damaged=True)
        numbers.append(read[0])
        position = read[1]
    frame, kind, version = numbers
    schema = _by_type(table, "Record").get(kind)
    if frame != FRAME_VERSION or schema is None:
        why = f"frame version {frame} is not known" if frame != FRAME_VERSION else f"record type {kind} is not known"
        return Message(None if frame != FRAME_VERSION else kind, problem=why)
    message = _message(schema, value, version, position, kind)
    if message.left:
        problem = Problem(len(value) - message.left, "", f"{message.left} bytes follow the message")
        message = message._replace(data=None, problem=str(problem), damaged=True)
    return message


def _too_short(data: bytes, what: str) -> str:
    return str(Problem(0, what, f"needs 2 bytes, {len(data)} are left"))


@cache
def _schemas(table: str) -> Mapping[str, Schema]:
    """Return the schemas of one table, imported when the first record needs it."""
    return parse_table(import_module(f"{__package__}.{table}").TABLE)


@cache
def _by_type(table: str, ending: str) -> Mapping[int | None, Schema]:
    """Return the schemas whose names have this ending, by record type."""
    return {
        schema.id: schema for name, schema in _schemas(table).items() if name.endswith(ending) and schema.id is not None
    }


DECODERS: Mapping[str, Decoder] = {
    "offsets": _coordinator("offsets"),
    "transactions": _coordinator("transactions"),
    "metadata": _framed("metadata"),
    "share-groups": _coordinator("share_state"),
    "remote-log": _framed("remote_log", "RemoteLogMetadata"),
}
"""The kinds of internal topics, and the decoder of each."""
