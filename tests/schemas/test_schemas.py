"""Records of internal topics: what a broker 4.3.1 wrote (scene `coordinators`), and what is damaged or not known."""

from base64 import b64decode
from typing import Any

import pytest

from kcheck.schemas import metadata, offsets, protocol, share_state, transactions
from kcheck.schemas.decode import FIXED, Decoded, Problem, UnknownTag, decode, read_varint
from kcheck.schemas.records import Message, decoder
from kcheck.schemas.schema import NO_VERSIONS, VERSION_MAX, Schema, Versions, parse_table, parse_versions

GROUP = (
    b64decode("AAIAB2NsYXNzaWM="),
    b64decode(
        "AAMACGNvbnN1bWVyAAAAAQAFcmFuZ2UAK3NlY29uZC1jOGE3NTE4Yy1kODhhLTQ5OTEtOTE4Mi0xZWJiOGE5NDBkYzEAAAGh/jnSOgAAAAEAK3"
        "NlY29uZC1jOGE3NTE4Yy1kODhhLTQ5OTEtOTE4Mi0xZWJiOGE5NDBkYzH//wAGc2Vjb25kAAovMTI3LjAuMC4xAAST4AAAr8gAAAAcAAMAAAAB"
        "AAZvcmRlcnP/////AAAAAP///////wAAAB4AAwAAAAEABm9yZGVycwAAAAIAAAAAAAAAAf////8="
    ),
)
COMMIT = (
    b64decode("AAEAB2NsYXNzaWMABm9yZGVycwAAAAA="),
    b64decode("AAQAAAAAAAAAB/////8OY2Fmw6kgInNldmVuIgAAAaH+Od93AQAQvqEe3Ro0SFuC1qrRBxhstw=="),
)
COMMITTED = {
    "offset": 7,
    "leaderEpoch": -1,
    "metadata": 'café "seven"',
    "commitTimestamp": 1795266568055,
    "topicId": "vqEe3Ro0SFuC1qrRBxhstw",
}
MEMBER = b64decode("AAAAABJjb25zdW1lci1tb2Rlcm4tMQsvMTI3LjAuMC4xAgdvcmRlcnMBAAST4AABAAEA")
MEMBER_KEY = b64decode("AAUABm1vZGVybgAWZXc5bnR2MUNSVzJsSFVIeHUwT2NJZw==")
QUOTA = b64decode("AQ4AAwpjbGllbnQtaWQAAAV1c2VyBmFsaWNlABNyZXF1ZXN0X3BlcmNlbnRhZ2VBbJw4AAAAAAAA")
CHANGE = b64decode("AQUCAAAAAb6hHt0aNEhbgtaq0QcYbLcBCBEC2N4bbI38iLc6fGGpUziucA==")


def _data(kind: str, key: bytes | None, value: bytes) -> Any:
    """Return what the value of a record says, which can be read."""
    found = decoder(kind)(key, value).value
    assert found is not None
    assert found.problem is None
    return found.data


def test_a_commit() -> None:
    found = decoder("offsets")(*COMMIT)
    assert found.key == Message(1, "OffsetCommitKey", data={"group": "classic", "topic": "orders", "partition": 0})
    assert found.value == Message(None, "OffsetCommitValue", 4, COMMITTED)


def test_what_members_of_a_classic_group_said() -> None:
    """Kafka's tool shows it as fields where the protocol type is that of consumers."""
    (member,) = _data("offsets", *GROUP)["members"]
    assert member["subscription"] == {
        "topics": ["orders"],
        "userData": None,
        "ownedPartitions": [],
        "generationId": -1,
        "rackId": None,
    }
    assert member["assignment"] == {"assignedPartitions": [{"topic": "orders", "partitions": [0, 1]}], "userData": None}


def test_what_members_of_other_protocols_said_stays_bytes() -> None:
    """So does what does not follow the consumer protocol."""
    said = b"\0\3\0\0\0\1\0\6orders\xff\xff\xff\xff\0\0\0\0\xff\xff\xff\xff\xff\xff"
    for old, new, expected in (
        (b"\0\x08consumer", b"\0\x08connects", "AAMAAAABAAZvcmRlcnP/////AAAAAP///////w=="),
        (said, b"\0\x09" + said[2:], "AAkAAAABAAZvcmRlcnP/////AAAAAP///////w=="),
        (b"\0\0\0\x1c" + said, b"\0\0\0\1\0", "AA=="),
    ):
        data = _data("offsets", GROUP[0], GROUP[1].replace(old, new))
        assert data["members"][0]["subscription"] == expected


def test_a_structure_that_is_null() -> None:
    """The tag is there, and says that a member of the new protocol is no classic one; without it, it would be one."""
    assert _data("offsets", MEMBER_KEY, MEMBER)["classicMemberMetadata"] is None
    assert "classicMemberMetadata" not in _data("offsets", MEMBER_KEY, MEMBER[:-4] + b"\0")


def test_records_of_the_cluster() -> None:
    quota = decoder("metadata")(None, QUOTA)
    entity = [{"entityType": "client-id", "entityName": None}, {"entityType": "user", "entityName": "alice"}]
    data = {"entity": entity, "key": "request_percentage", "value": 1.5e7, "remove": False}
    assert (None, Message(14, "ClientQuotaRecord", 0, data)) == quota
    assert _data("metadata", None, CHANGE) == {
        "partitionId": 1,
        "topicId": "vqEe3Ro0SFuC1qrRBxhstw",
        "directories": ["2N4bbI38iLc6fGGpUziucA"],
    }


def test_a_tombstone() -> None:
    for kind in ("offsets", "transactions", "share-groups"):
        key = b64decode("AAAABmNvbW1pdA==") if kind == "transactions" else COMMIT[0]
        assert decoder(kind)(key, None).value is None


@pytest.mark.parametrize(
    ("kind", "key", "value", "problem", "damaged"),
    [
        ("offsets", None, None, "the record has no key to give its type", True),
        ("offsets", b"\0", None, "byte 0, the record type: needs 2 bytes, 1 are left", True),
        ("offsets", b"\0\x12", None, "record type 18 is not known", False),
        ("offsets", COMMIT[0][:-1], None, "byte 19, partition: needs 4 bytes, 3 are left", True),
        ("offsets", COMMIT[0], b"\0", "byte 0, the version: needs 2 bytes, 1 are left", True),
        ("offsets", COMMIT[0], b"\0\5", "version 5 of OffsetCommitValue is not known", False),
        ("offsets", COMMIT[0], COMMIT[1][:12], "byte 10, leaderEpoch: needs 4 bytes, 2 are left", True),
        ("offsets", COMMIT[0] + bytes(2 << 20), None, "2097173 bytes are more than is decoded, 2097152", False),
        ("metadata", None, None, "the record has no value", True),
        ("metadata", None, b"\1\x80", "byte 1, type: is not a varint", True),
        ("metadata", None, b"\0\x0e\0", "frame version 0 is not known", False),
        ("metadata", None, b"\1\6\0", "record type 6 is not known", False),
        ("metadata", None, b"\1\x0e\1", "version 1 of ClientQuotaRecord is not known", False),
        ("remote-log", None, None, "the record has no value", True),
        ("remote-log", None, b"\1\4\0", "record type 4 is not known", False),
        ("metadata", None, QUOTA + b"\0\0", f"byte {len(QUOTA)}: 2 bytes follow the message", True),
    ],
)
def test_what_cannot_be_read(kind: str, key: bytes | None, value: bytes | None, problem: str, damaged: bool) -> None:
    """Damaged is what contradicts its own version; what is not known may be newer than kcheck."""
    told = [each for each in decoder(kind)(key, value) if each is not None and each.problem is not None]
    assert [(problem, damaged)] == [(each.problem, each.damaged) for each in told]
    assert all(each.data is None for each in told)


@pytest.mark.parametrize("key", [None, b"", b"\0\x12"])
def test_a_value_without_a_type(key: bytes | None) -> None:
    """It may be anything: it is not null, and not damaged."""
    assert decoder("offsets")(key, b"ab").value == Message(problem="the key does not say what it is")


def test_what_a_coordinator_overlooks() -> None:
    """Bytes behind a key or a value, and tags that the version does not know."""
    key, value = decoder("offsets")(COMMIT[0] + b"\0\0", COMMIT[1][:-19] + b"\1\5\3abcd")
    assert key is not None
    assert key.left == 2
    assert value is not None
    assert (value.left, value.unknown) == (1, (UnknownTag(5, 3),))
    assert value.row(b"") == {
        "name": "OffsetCommitValue",
        "version": 4,
        "data": {name: each for name, each in COMMITTED.items() if name != "topicId"},
        "unknown_tags": [{"tag": 5, "size": 3}],
        "left": 1,
    }


def test_the_row_of_what_cannot_be_read_shows_the_bytes() -> None:
    found = decoder("offsets")(b"\0\x63abc", None).key
    assert found is not None
    assert found.row(b"\0\x63abc") == {
        "type": 99,
        "data": None,
        "problem": "record type 99 is not known",
        "damaged": False,
        "bytes": "AGNhYmM=",
    }


FIELDS = parse_table("""
Every - 0-2 1+
 flag bool 0+
 ratio float64 0+
 names []string 0+ null=1+
 blob bytes 0
 inner struct 0+ null=0+
  name string 0+
  later int32 2+
 tagged int16 1+ tag=0 default=-1
 newer []int8 2+ tag=1
 moved int8 0+ tag=2 tagged=2+ default=4
""")["Every"]
BEFORE = b"\1" + b"\x3f\xf0" + bytes(6) + b"\0\0\0\1\0\1a" + b"\0\0\0\2xy" + b"\0\0\1n" + b"\7"
FLEXIBLE = b"\0" + bytes(8) + b"\0" + b"\xff" + b"\5"


def test_versions_that_are_not_flexible() -> None:
    """Lengths of fixed size, and no tags."""
    said = {"flag": True, "ratio": 1.0, "names": ["a"], "blob": "eHk=", "inner": {"name": "n"}, "moved": 7}
    assert decode(FIELDS, BEFORE, 0) == Decoded(said, len(BEFORE))


@pytest.mark.parametrize(
    ("version", "data", "expected"),
    [
        (1, FLEXIBLE + b"\0", {"moved": 5}),
        (1, FLEXIBLE + b"\1\0\2\0\7", {"moved": 5, "tagged": 7}),
        (1, FLEXIBLE + b"\1\0\2\xff\xff", {"moved": 5}),
        (2, FLEXIBLE[:-1] + b"\3\0\2\0\7\1\2\2\x08\2\1\4", {"tagged": 7, "newer": [8]}),
        (2, FLEXIBLE[:-1] + b"\1\2\1\5", {"moved": 5}),
    ],
)
def test_a_tagged_field_is_shown_unless_it_is_the_default(
    version: int, data: bytes, expected: dict[str, object]
) -> None:
    """In the order of the schema, whatever the order of the tags."""
    found = decode(FIELDS, data, version)
    assert found.problem is None
    assert found.value is not None
    assert list({"flag": 0, "ratio": 0, "names": 0, "inner": 0} | dict.fromkeys(sorted(expected, key=_order))) == list(
        found.value
    )
    assert {name: found.value.get(name) for name in expected} == expected


def _order(name: str) -> int:
    return [field.name for field in FIELDS.fields].index(name)


@pytest.mark.parametrize(
    ("version", "data", "position", "field", "why"),
    [
        (3, b"", 0, "", "version 3 of Every is not known"),
        (0, BEFORE[:9] + b"\xff" * 4, 9, "names", "is null, which it cannot be"),
        (0, BEFORE[:9] + b"\0\0\0\2\0\1a\0\2b", 18, "names[1]", "needs 2 bytes, 1 are left"),
        (0, BEFORE[:9] + b"\x7f\xff\xff\xff\0", 9, "names", "2147483647 items do not fit into 1 bytes"),
        (1, BEFORE[:9] + b"\2\x81\x80\2" + bytes(50), 10, "names[0]", "a text of 32768 bytes is longer than 32767"),
        (1, BEFORE[:9] + b"\0\0\5n", 12, "inner.name", "needs 4 bytes, 1 are left"),
        (1, FLEXIBLE + b"\1\1\1\0", 13, "", "tag 1 is not one of this version"),
        (1, FLEXIBLE + b"\1\7\xff\xff\xff\xff\x0f", 13, "", "tag 7 has the size -1"),
        (1, FLEXIBLE + b"\1\7\xff\xff\xff\xff\x80\0", 14, "", "a varint has more than 5 bytes"),
        (1, FLEXIBLE + b"\2\0\2\0\7", 17, "", "needs 1 bytes, 0 are left"),
        (1, FLEXIBLE + b"\1\0\2\7", 15, "tagged", "needs 2 bytes, 1 are left"),
    ],
)
def test_where_a_message_ends_too_early(version: int, data: bytes, position: int, field: str, why: str) -> None:
    found = decode(FIELDS, data, version)
    assert (found.value, found.problem) == (None, Problem(position, field, why))


@pytest.mark.parametrize(
    ("bits", "expected"),
    [("7ff8000000000000", "NaN"), ("7ff0000000000000", "Infinity"), ("fff0000000000000", "-Infinity")],
)
def test_what_json_has_no_number_for(bits: str, expected: str) -> None:
    """Jackson writes them as texts."""
    found = decode(FIELDS, b"\0" + bytes.fromhex(bits) + FLEXIBLE[9:] + b"\0", 1)
    assert found.value is not None
    assert found.value["ratio"] == expected


def test_defaults_of_every_type() -> None:
    """A tagged field is left out where it is what its type or its schema says without a value."""
    table = "Tags - 0 0+\n flag bool 0+ tag=0 default=true\n names []string 0+ tag=1"
    table = f"{table}\n maybe string 0+ null=0+ tag=2 default=null"
    schema = parse_table(
        f"{table}\n inner struct 0+ null=0+ tag=3\n  id uuid 0+\n  more int8 0+ tag=0\n ratio float64 0+ tag=4\n"
    )["Tags"]
    nothing = b"\5\0\1\1\1\1\1\2\1\0\3\x12\1" + bytes(16) + b"\0\4\x08" + bytes(8)
    assert decode(schema, nothing, 0) == Decoded({}, len(nothing))
    null = decode(schema, b"\1\3\1\0", 0)
    assert null.value == {"inner": None}


def test_varints() -> None:
    assert read_varint(b"\xff\xff\xff\xff\x0f", 0) == (-1, 5)
    assert read_varint(b"\0\x80", 1) is None


def test_versions() -> None:
    assert [Versions(2, 2), Versions(1, 3), Versions(2, VERSION_MAX), NO_VERSIONS] == [
        parse_versions(text) for text in ("2", "1-3", "2+", "none")
    ]
    assert 4 not in Versions(1, 3)


def test_a_schema_is_one_key_of_a_cache() -> None:
    """Its name tells it, so that reading a message does not reckon with every field."""
    assert hash(FIELDS) == hash("Every")
    assert Schema("Every", None, FIELDS.versions, NO_VERSIONS, FIELDS.fields) != FIELDS


def test_no_table_has_a_type_that_is_not_read() -> None:
    """What is no number, truth or id is a structure, or as long as it says."""
    tables = (metadata, offsets, protocol, share_state, transactions)
    fields = [field for module in tables for schema in parse_table(module.TABLE).values() for field in schema.fields]
    types: set[str] = set()
    while fields:
        field = fields.pop()
        types.add(field.type.removeprefix("[]"))
        fields += field.fields
    assert types <= {"struct", "string", "bytes", *FIXED}
