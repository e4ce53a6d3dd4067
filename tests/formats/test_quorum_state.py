"""Which quorum-state a broker takes; the oracle test holds the same over many more."""

import json

import pytest

from kcheck.core.releases.releases import release
from kcheck.formats.quorum_state import FORMAT, ElectionRead, broker_reads, parse
from kcheck.model.cluster import QuorumState
from kcheck.model.parsed import BrokerReads

OLD = {
    "clusterId": "", "leaderId": 100, "leaderEpoch": 1, "votedId": -1, "appliedOffset": 0,
    "currentVoters": [{"voterId": 100}], "data_version": 0,
}  # fmt: skip
NEW = {"leaderId": -1, "leaderEpoch": 2, "votedId": 1, "votedDirectoryId": "J8aAPcfLQt2bqs1JT_rMgQ", "data_version": 1}

TAKEN = BrokerReads(ElectionRead(None))
NO_JSON = "its first line is no JSON object with data_version"


def test_only_brokers_of_kraft_read_it() -> None:
    assert FORMAT.matches("quorum-state")
    assert [TAKEN, BrokerReads(None, "it is empty")] == [broker_reads(b"", release(kafka)) for kafka in ("2.8", "4.3")]


def test_rows() -> None:
    """Of both versions, of a file that 4.3 does not read, and of one that older nodes remove."""
    assert FORMAT.row is not None
    assert FORMAT.reads_row is not None
    old, new, none = (FORMAT.row(parse(json.dumps(fields).encode()).value) for fields in (OLD, NEW, {}))
    assert {"version": 0, "leader_id": 100, "leader_epoch": 1, "votes": -1, "voters": (100,)} == {
        "version": old["version"], "leader_id": old["leader_id"], "leader_epoch": old["leader_epoch"],
        "votes": old["voted_id"], "voters": old["voters"],
    }  # fmt: skip
    assert (1, None, "J8aAPcfLQt2bqs1JT_rMgQ") == (new["version"], new["voters"], new["voted_directory_id"])
    assert set(new) == set(none)
    assert {None} == set(none.values())
    assert FORMAT.serialize is not None
    assert b"" == FORMAT.serialize(None)
    assert {"removed_because": "w"} == FORMAT.reads_row(ElectionRead("w"))


def test_what_brokers_write() -> None:
    """Version 0, from 3.8 on also version 1; what is not asked for is not looked at."""
    for kafka in ("3.7", "4.3"):
        assert broker_reads(json.dumps(OLD).encode() + b"}\nx", release(kafka)) == TAKEN
    assert broker_reads(json.dumps(NEW | {"x": 1}).encode(), release("4.3")) == TAKEN
    assert broker_reads(json.dumps(NEW).encode(), release("3.7")).error == "it has no clusterId"
    assert broker_reads(json.dumps(OLD | {"votedDirectoryId": 1, "data_version": 9}).encode(), release("3.7")) == TAKEN


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "it is empty"),
        (b"\xff", "it is no UTF-8"),
        (b"\n{}", NO_JSON),
        (bytes(60), NO_JSON),
        (b'{"data_version":NaN}', NO_JSON),
        (b'{"data_version":' + b"1" * 1001 + b"}", NO_JSON),
        (b"[]", NO_JSON),
        (b"{}", NO_JSON),
        (b'{"data_version":2.5}', "data_version 2 is not known"),
        (b'{"data_version":1e999}', "it has no leaderId"),
        (b'{"data_version":true}', "it has no leaderId"),
        (json.dumps(OLD | {"leaderId": 1 << 31}).encode(), "its leaderId makes no sense"),
        (json.dumps(OLD | {"currentVoters": [1]}).encode(), "its currentVoters makes no sense"),
        (json.dumps(NEW | {"votedDirectoryId": "x"}).encode(), "its votedDirectoryId makes no sense"),
        (json.dumps(NEW | {"currentVoters": OLD["currentVoters"]}).encode(), "its currentVoters makes no sense"),
    ],
)
def test_what_ends_a_start(data: bytes, why: str) -> None:
    """An exception is thrown before the broker knows its epoch."""
    assert broker_reads(data, release("4.3")) == BrokerReads(None, why)


@pytest.mark.parametrize(
    ("data", "reads"),
    [
        (bytes(60), BrokerReads(ElectionRead(NO_JSON))),
        (b"{}", BrokerReads(ElectionRead(NO_JSON))),
        (b'{"data_version":0}', BrokerReads(None, "it has no leaderId")),
    ],
)
def test_old_releases_forget_what_they_cannot_read(data: bytes, reads: BrokerReads[ElectionRead]) -> None:
    """Up to 3.7 they remove what is no such object, and go on without."""
    assert reads == broker_reads(data, release("3.7"))


def test_the_last_election_is_read() -> None:
    """Version 0 names the voters, version 1 the directory of the node that was voted for."""
    assert parse(json.dumps(OLD).encode()).value == QuorumState(100, 1, -1, (100,))
    assert parse(json.dumps(NEW).encode()).value == QuorumState(-1, 2, 1, None, "J8aAPcfLQt2bqs1JT_rMgQ")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "it is empty"),
        (json.dumps(NEW | {"data_version": 9}).encode(), "data_version 9 is not known"),
        (json.dumps(NEW | {"leaderId": "x"}).encode(), "its leaderId makes no sense"),
    ],
)
def test_a_file_that_4_3_refuses_has_no_value(data: bytes, why: str) -> None:
    parsed = parse(data)
    assert (parsed.value, [defect.message for defect in parsed.defects]) == (None, [why])
