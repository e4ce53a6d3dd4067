"""Rewrites the cluster's metadata for a bundle. Batches and records keep their sizes, secrets and hosts are masked.

A record that is not in the allow-list becomes a NoOpRecord of its size. A record that kcheck does not completely know
keeps its type, and is unknown in the bundle too. The CRC of a changed batch is corrected, but a wrong CRC stays wrong.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kcheck.core.cluster.metadata_replay import RESOURCES, Fields, InBundle, MetadataReplay
from kcheck.model.source import BytesSource
from kcheck.records import control_record
from kcheck.records.batch import CODEC_MASK, CONTROL, HEADER, MAGIC_AT, checksum
from kcheck.records.record import Record, Unread, read_records
from kcheck.schemas.decode import read_varint
from kcheck.schemas.records import decoder
from kcheck.segments.batches import Walk

CONFIGS = frozenset(
    {
        "cleanup.policy", "compression.type", "cordoned.log.dirs", "delete.retention.ms", "local.retention.bytes",
        "local.retention.ms", "log.cleanup.policy", "log.local.retention.bytes", "log.local.retention.ms",
        "log.retention.bytes", "log.retention.hours", "log.retention.minutes", "log.retention.ms", "max.message.bytes",
        "message.format.version", "message.timestamp.type", "min.cleanable.dirty.ratio", "min.insync.replicas",
        "remote.storage.enable", "retention.bytes", "retention.ms", "segment.bytes", "segment.index.bytes",
        "segment.ms", "unclean.leader.election.enable",
    }
)  # fmt: skip
"""Settings whose values are in a bundle."""
_NO_OP = b"\1\x14\0\0"
_NO_VERSION = b"\x7f"
"""A version that no record has."""
_COMPACT_MAX = 0x7E
NewName = Callable[[str], str]


def rewritten(data: bytes, rename: NewName | None = None) -> bytes:
    """Return a metadata log or snapshot without secrets and hosts; `rename` gives pseudonyms of the same length."""
    source, result, end = BytesSource(data), bytearray(len(data)), 0
    for batch in Walk(source):
        end = batch.position + batch.size
        result[batch.position : end] = _batch(data[batch.position : end], rename)
    rest = data[end:]
    if rest.strip(b"\0"):
        result[end:] = b"\xff" * len(rest.rstrip(b"\0")) + bytes(len(rest) - len(rest.rstrip(b"\0")))
        for begin, stop in ((8, 12), (MAGIC_AT, MAGIC_AT + 1)):
            result[end + begin : min(end + stop, len(data))] = rest[begin:stop]
    return bytes(result)


def _batch(batch: bytes, rename: NewName | None) -> bytes:
    """Return a batch whose records are masked; without readable records its body is zeros."""
    if batch[MAGIC_AT] != 2 or len(batch) < HEADER.size:
        return batch[:18] + bytes(len(batch) - 18)
    stated = int.from_bytes(batch[17:21], "big")
    is_right = checksum(memoryview(batch)[21:], 2) == stated
    masked = bytearray(batch[: HEADER.size] + bytes(len(batch) - HEADER.size))
    attributes = int.from_bytes(batch[21:23], "big")
    if is_right and not attributes & CODEC_MASK:
        records = [*read_records(batch)]
        if all(_is_usual(record, control=bool(attributes & CONTROL)) for record in records):
            masked[HEADER.size :] = batch[HEADER.size :]
            for begin, value in _values(records, control=bool(attributes & CONTROL), rename=rename):
                masked[HEADER.size + begin : HEADER.size + begin + len(value)] = value
    if bytes(masked) != batch:
        crc = checksum(memoryview(masked)[21:], 2)
        masked[17:21] = (crc if is_right else stated if stated != crc else stated ^ 1).to_bytes(4, "big")
    return bytes(masked)


def _is_usual(record: Record | Unread, *, control: bool) -> bool:
    """Return whether a record is as a controller writes it.

    It has no headers, and has a key only in a control batch.
    """
    return isinstance(record, Record) and not record.headers and (control or record.key is None)


def _values(records: list[Any], *, control: bool, rename: NewName | None) -> Iterator[tuple[int, bytes]]:
    """Yield the masked value of each record and its position in the body."""
    for record in records:
        if not isinstance(record, Record) or record.value is None:
            continue
        value = bytes(record.value)
        masked = _control_value(bytes(record.key or b""), value) if control else _value(value, rename)
        if masked != value:
            # Headers follow a value: one byte without any, which is how Kafka writes these records.
            yield record.position + record.size - 1 - len(value), masked


def _control_value(key: bytes, value: bytes) -> bytes:
    parsed = control_record.parse(key, value)
    voters: Any = parsed.fields.get("voters", ())
    hosts = [point["host"] for voter in voters for point in voter.get("endpoints", ())]
    return _masked(value, hosts)


def _value(value: bytes, rename: NewName | None) -> bytes:
    message = decoder("metadata")(None, value).value
    no_op = _NO_OP.ljust(len(value), b"\0")[: len(value)]
    record = MetadataReplay.RECORDS.get((message and message.name) or "")
    if message is None or message.data is None or message.unknown or record is None:
        return _unknown(value)
    fields: Fields = message.data
    match record.in_bundle:
        case InBundle.WHOLE:
            name = fields.get("name") if message.name == "TopicRecord" else fields.get("topicName")
            masked = value if rename is None or not name else replaced(value, name, rename(name))
        case InBundle.NO_HOSTS:
            points: Any = fields.get("endPoints") or ()
            texts = [text for point in points for text in (point["host"], point["name"])]
            masked = _masked(value, [*texts, fields.get("rack") or ""])
        case InBundle.SOME_VALUES:
            masked = _config(value, fields, rename)
        case _:
            return no_op
    again = decoder("metadata")(None, masked).value
    return masked if again is not None and again.data is not None and again.left == 0 else _unknown(value)


def _unknown(value: bytes) -> bytes:
    """Return a record of its size and type, without content, that no reader knows."""
    at = 0
    for _ in ("frame version", "type"):
        number = read_varint(value, at)
        if number is None:
            return value[:at].ljust(len(value), b"\x80")
        at = number[1]
    return (value[:at] + _NO_VERSION)[: len(value)].ljust(len(value), b"\0")


def _config(value: bytes, fields: Mapping[str, Any], rename: NewName | None) -> bytes:
    """Return a setting; without its value unless that is in the allow-list, without a name of another resource."""
    resource, name, setting = fields["resourceType"], fields["resourceName"], fields["value"] or ""
    if resource not in RESOURCES:
        return _NO_OP.ljust(len(value), b"\0")[: len(value)]
    masked = value if fields["name"] in CONFIGS else _masked(value, [setting])
    return replaced(masked, name, rename(name)) if rename is not None and RESOURCES[resource] == "topic" else masked


def _masked(value: bytes, texts: list[str]) -> bytes:
    for text in {text for text in texts if text}:
        value = replaced(value, text, "x" * len(text.encode("utf-8", "surrogatepass")))
    return value


def replaced(value: bytes, text: str, other: str) -> bytes:
    """Return a message with another text of the same size in each place of one; texts begin with their size."""
    old, new = text.encode("utf-8", "surrogatepass"), other.encode()
    compact = len(old) + 1
    size = bytes([compact]) if compact <= _COMPACT_MAX else bytes([compact & 0x7F | 0x80, compact >> 7])
    value = value.replace(size + old, size + new)
    return value.replace(len(old).to_bytes(2, "big") + old, len(old).to_bytes(2, "big") + new)
