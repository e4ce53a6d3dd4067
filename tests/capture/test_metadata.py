"""The cluster's metadata in a bundle: what elections need stays, secrets, hosts and principals do not."""

import struct

import pytest

from kcheck.capture.metadata import rewritten
from kcheck.core.cluster.metadata_replay import MetadataReplay
from kcheck.model.source import BytesSource
from kcheck.records.batch import checksum
from kcheck.records.record import Record, read_records
from kcheck.schemas.metadata import TABLE
from kcheck.schemas.records import decoder
from kcheck.schemas.schema import parse_table
from kcheck.segments.batches import Walk
from tests.builders import batch_of, record

UUID = bytes(range(16))
SECRET = b"hunter2-hunter2"


def text(value: str | bytes | None) -> bytes:
    """Return a compact string, or null."""
    data = value.encode() if isinstance(value, str) else value
    return b"\0" if data is None else _varint(len(data) + 1) + data


def _varint(number: int) -> bytes:
    return bytes([number]) if number < 0x80 else bytes([number & 0x7F | 0x80, number >> 7])


def framed(kind: int, *fields: bytes, version: int = 0) -> bytes:
    """Return a metadata record."""
    return b"\1" + bytes([kind, version]) + b"".join(fields) + b"\0"


def config(resource: int, name: str, setting: str, value: str | None) -> bytes:
    """Return a ConfigRecord."""
    return framed(4, bytes([resource]), text(name), text(setting), text(value))


TOPIC = framed(2, text("orders"), UUID)
ENDPOINT = text("INTERNAL_acme") + text("kafka-1.acme.example") + struct.pack(">Hh", 9092, 0) + b"\0"
BROKER = framed(
    0, struct.pack(">i", 1), UUID, struct.pack(">q", 7), b"\2" + ENDPOINT, b"\1", text("rack-of-acme"), b"\1"
)
SCRAM = framed(11, text("alice"), b"\1", text(SECRET), text(SECRET), text(SECRET), struct.pack(">i", 4096))
ACL = framed(18, UUID, b"\2", text("orders"), b"\3", text("User:alice"), text("10.0.0.7"), b"\3\3")
UNKNOWN = b"\1\x7f\0" + SECRET


def log_of(*values: bytes, attributes: int = 0) -> bytes:
    """Return a metadata log with one batch."""
    return batch_of(
        0, *(record(number, value=value) for number, value in enumerate(values)), attributes=attributes
    ).data


def values_of(log: bytes) -> list[bytes]:
    """Return the values in a metadata log whose CRCs are right."""
    values = []
    for batch in Walk(BytesSource(log), verify=True):
        records = [*read_records(log[batch.position : batch.position + batch.size])]
        values += [bytes(one.value or b"") for one in records if isinstance(one, Record)]
    return values


def test_what_elections_need_stays() -> None:
    """Byte for byte, where nothing is hidden."""
    log = log_of(TOPIC, config(2, "orders", "min.insync.replicas", "2"), framed(7, struct.pack(">iq", 1, 7)))
    assert rewritten(log) == log


@pytest.mark.parametrize(
    ("value", "hidden"),
    [
        (SCRAM, [SECRET, b"alice"]),
        (ACL, [b"alice", b"10.0.0.7"]),
        (UNKNOWN, [SECRET]),
        (BROKER, [b"acme", b"kafka-1"]),
        (config(2, "orders", "follower.replication.throttled.replicas", SECRET.decode()), [SECRET]),
        (config(4, "", "ssl.keystore.password", SECRET.decode()), [SECRET]),
        (config(16, "client-of-acme", "metrics", "x"), [b"acme"]),
        (TOPIC + SECRET, [SECRET]),
        (b"", []),
    ],
    ids=("scram", "acl", "unknown", "broker", "replicas", "password", "metrics", "longer", "empty"),
)
def test_secrets_and_hosts_are_hidden(value: bytes, hidden: list[bytes]) -> None:
    """Records keep their sizes and places, and the CRC of the batch is right again."""
    log = log_of(value, TOPIC)
    masked = rewritten(log)
    assert len(masked) == len(log)
    assert not [part for part in hidden if part in masked]
    shown, topic = values_of(masked)
    assert topic == TOPIC
    assert len(shown) == len(value)


@pytest.mark.parametrize(
    "value",
    [
        UNKNOWN,
        b"\2\2\0" + SECRET,
        framed(2, text("orders"), UUID, version=9),
        TOPIC[:-1] + b"\1\x09" + text(SECRET),
        TOPIC[:-4],
        b"\1\xff",
        b"\xff" * 9,
    ],
    ids=("type", "frame", "version", "tag", "damaged", "no type", "no frame"),
)
def test_a_record_that_is_not_known_stays_unknown(value: bytes) -> None:
    """A bundle is as careful as the directory: what the record did to the cluster is not known."""
    (shown,) = values_of(rewritten(log_of(value)))
    message = decoder("metadata")(None, shown).value
    assert (len(value), True) == (len(shown), message is not None and message.problem is not None)
    assert SECRET not in shown


def test_every_type_of_record_is_kept_or_left_out_on_purpose() -> None:
    """The schemas of a new release bring types that this list must name."""
    assert {*MetadataReplay.RECORDS} == {name for name, schema in parse_table(TABLE).items() if schema.id is not None}


def test_a_broker_keeps_its_numbers() -> None:
    """Hosts, names of listeners and racks are x; ids, epochs and ports stay."""
    (value,) = values_of(rewritten(log_of(BROKER)))
    message = decoder("metadata")(None, value).value
    assert message is not None
    assert message.data is not None
    assert message.data["brokerId"] == 1
    assert message.data["endPoints"] == [
        {"name": "x" * 13, "host": "x" * 20, "port": 9092, "securityProtocol": 0},
    ]
    assert message.data["rack"] == "x" * 12


def test_topics_have_their_pseudonyms() -> None:
    """In the records of topics and in their settings; not in settings of brokers."""
    log = log_of(TOPIC, config(2, "orders", "retention.ms", "1"), framed(28, text("orders")), config(4, "7", "x", "y"))
    masked = rewritten(log, lambda name: name[::-1])
    assert b"orders" not in masked
    assert [value.count(b"sredro") for value in values_of(masked)] == [1, 1, 1, 0]


def test_what_cannot_be_read_is_zeros() -> None:
    """Compressed or old batches, wrong CRCs, records with headers or keys, and bytes that are no batch."""
    wrong = bytearray(log_of(SCRAM))
    wrong[-3] ^= 1
    odd = batch_of(0, record(0, value=SECRET, headers=((SECRET, SECRET),))).data
    keyed = batch_of(0, record(0, key=SECRET, value=TOPIC)).data
    for log in (bytes(wrong), odd, keyed, log_of(SCRAM, attributes=1), log_of(TOPIC) + SECRET + bytes(9)):
        masked = rewritten(log)
        assert SECRET not in masked
        assert len(masked) == len(log)
    masked = rewritten(bytes(wrong))
    assert checksum(memoryview(masked)[21:], 2) != int.from_bytes(masked[17:21], "big")
    old = bytes(8) + struct.pack(">iIbb", 14 + len(SECRET), 0, 1, 0) + struct.pack(">qi", 0, -1) + SECRET + bytes(2)
    assert SECRET not in rewritten(old)


def test_hosts_of_voters_are_hidden() -> None:
    """A control record of KRaft names the endpoints of each voter."""
    point = text("CONTROLLER") + text("controller.acme.example") + struct.pack(">H", 9093) + b"\0"
    voter = struct.pack(">i", 3) + UUID + b"\2" + point + struct.pack(">hh", 0, 1) + b"\0" + b"\0"
    value = struct.pack(">h", 0) + b"\2" + voter + b"\0"
    log = batch_of(0, record(0, key=struct.pack(">hh", 0, 6), value=value), attributes=0x20).data
    masked = rewritten(log)
    assert b"acme" not in masked
    assert len(values_of(masked)[0]) == len(value)
