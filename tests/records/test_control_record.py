"""Control records: what real brokers wrote, and what breaks off."""

import struct
from pathlib import Path
from typing import Any

import pytest

from kcheck.records.batch import CONTROL
from kcheck.records.control_record import UNKNOWN, ControlRecord, parse
from kcheck.records.record import Record, read_records

BROKERS = Path(__file__).parents[2] / "fixtures" / "brokers"

VOTERS = (
    b"\0\0" + b"\2" + b"\0\0\0\1" + bytes(16) + b"\2" + b"\x0bCONTROLLER" + b"\x0alocalhost" + b"\x1f\x90" + b"\0"
    b"\0\0\0\1\0" + b"\0" + b"\0"
)


def key(number: int, version: int = 0) -> bytes:
    """Return the key of a control record."""
    return struct.pack(">hh", version, number)


def controls(path: Path) -> list[ControlRecord]:
    """Return the control records in a log."""
    data, read = path.read_bytes(), list[ControlRecord]()
    while data:
        size = 12 + int.from_bytes(data[8:12], "big")
        if data[22] & CONTROL:
            read += (parse(one.key, one.value) for one in read_records(data[:size]) if isinstance(one, Record))
        data = data[size:]
    return read


def test_the_markers_of_a_broker() -> None:
    (path,) = (BROKERS / "4.3.1/stopped/broker-1").glob("*/transactions-0/00000000000000000000.log")
    assert {"COMMIT", "ABORT"} == {one.name for one in controls(path)}
    assert {("coordinator_epoch",)} == {tuple(one.fields) for one in controls(path)}


def test_the_snapshot_that_a_broker_was_formatted_with() -> None:
    path = BROKERS / "4.3.1/stopped/broker-1/data1/bootstrap.checkpoint"
    (header, *_, footer) = controls(path)
    assert ("SNAPSHOT_HEADER", "SNAPSHOT_FOOTER") == (header.name, footer.name)
    assert {"version": 0} == footer.fields


def test_the_change_of_a_leader() -> None:
    (path, *_) = sorted((BROKERS / "4.3.1/stopped").glob("*/*/__cluster_metadata-0/00000000000000000000.log"))
    (first, *_) = controls(path)
    fields = {"version": 0, "leader_id": 100, "voters": ({"voter_id": 100},), "granting_voters": ({"voter_id": 100},)}
    assert ControlRecord(2, "LEADER_CHANGE", fields) == first


def test_the_voters_of_kraft() -> None:
    """They stand in the first snapshot, which formatting made."""
    first = BROKERS / "4.3.1/snapshot/broker-1/data1/__cluster_metadata-0/00000000000000000000-0000000000.checkpoint"
    (header, version, voters, footer) = controls(first)
    assert ["SNAPSHOT_HEADER", "KRAFT_VERSION", "KRAFT_VOTERS", "SNAPSHOT_FOOTER"] == [
        one.name for one in (header, version, voters, footer)
    ]
    assert {"version": 0, "k_raft_version": 1} == version.fields
    members: Any = voters.fields["voters"]
    (voter,) = members
    assert (1, 22) == (voter["voter_id"], len(voter["voter_directory_id"]))
    assert ["CONTROLLER"] == [endpoint["name"] for endpoint in voter["endpoints"]]


@pytest.mark.parametrize(
    ("number", "value", "fields"),
    [
        (0, b"\0\0\0\0\0\7", {"coordinator_epoch": 7}),
        (1, b"\0\5\0\0\0\7more", {"coordinator_epoch": 7}),
        (3, b"\0\0\0\0\0\0\0\0\0\x09\0", {"version": 0, "last_contained_log_timestamp": 9}),
        (4, b"\0\0\0", {"version": 0}),
        (4, b"\0\0\1\x07\2ab", {"version": 0}),
        (5, b"\0\0\0\1\0", {"version": 0, "k_raft_version": 1}),
        (
            6,
            VOTERS,
            {
                "version": 0,
                "voters": (
                    {
                        "voter_id": 1,
                        "voter_directory_id": "A" * 22,
                        "endpoints": ({"name": "CONTROLLER", "host": "localhost", "port": 8080},),
                        "k_raft_version_feature": {"min_supported_version": 0, "max_supported_version": 1},
                    },
                ),
            },
        ),
    ],
)
def test_every_type(number: int, value: bytes, fields: dict[str, object]) -> None:
    found = parse(key(number), value)
    assert (number, fields, None) == (found.type, dict(found.fields), found.problem)


def test_a_type_that_no_reader_knows_is_no_damage() -> None:
    """Readers pass over it."""
    assert ControlRecord(7, UNKNOWN, {}) == parse(key(7), None)
    assert ControlRecord(-1, UNKNOWN, {}) == parse(key(-1, version=3), b"x")


@pytest.mark.parametrize(
    ("control", "value", "said"),
    [
        (None, b"", "the key of the control record is null"),
        (b"\0\0\0", b"", "the key of the control record is of 3 bytes"),
        (key(0, version=-1), b"", "the key of the control record has the version -1"),
        (key(0), None, "the value of the ABORT record is null"),
        (key(1), b"\0\0\0", "the value of the COMMIT record breaks off: a number of 4 bytes, 1 are left"),
        (key(1), b"\xff\xff\0\0\0\1", "the value of the COMMIT record has the version -1"),
        (key(2), b"\0\0\0\0\0\1\0", "breaks off: an array of -1 elements"),
        (key(2), b"\0\0\0\0\0\1\x7f", "breaks off: an array of 126 elements"),
        (key(2), b"\0\0\0\0\0\1\xff\xff\xff\xff\xff", "breaks off: a number of more than 32 bits"),
        (key(4), b"\0\0\1\0\7ab", "breaks off: a tagged field of 7 bytes, 2 are left"),
        (key(6), VOTERS.replace(b"\x0bCON", b"\0CON"), "breaks off: a string of -1 bytes"),
        (key(6), VOTERS.replace(b"\x0bCON", b"\x7fCON"), "breaks off: a string of 126 bytes"),
    ],
)
def test_what_breaks_off(control: bytes | None, value: bytes | None, said: str) -> None:
    found = parse(control, value)
    assert not found.fields
    assert found.problem is not None
    assert said in found.problem
