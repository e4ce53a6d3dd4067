"""The batch that names the voters of a quorum."""

from base64 import urlsafe_b64encode

from kcheck.core.releases.releases import release
from kcheck.formats import metadata_snapshot
from kcheck.model.cluster import Voter
from kcheck.records import control_record
from kcheck.records.raft_batch import snapshot, voters_batch
from kcheck.records.record import Record, read_records

DIRECTORY = urlsafe_b64encode(bytes.fromhex("e7e7322d9c514e4d9506c1c1b1900fc9")).decode().rstrip("=")
TAKEN = (
    "0000000000000079000000740000000402a04fa076002000000000000001a21c84409e000001a21c84409effffffffffffffffffffffffffff"
    "00000001820100000008000000066e00000200000065e7e7322d9c514e4d9506c1c1b1900fc9020b434f4e54524f4c4c45520a3132372e302e"
    "302e319c7b000000000100000000"
)
"""A batch that controllers of 3.9.2, 4.0.2 and 4.3.1 took: offset 121, epoch 4, controller 101."""


def test_a_batch_has_the_bytes_that_controllers_take() -> None:
    voter = Voter(101, DIRECTORY, ("CONTROLLER://127.0.0.1:40059",))
    assert voters_batch(121, 4, 0x1A21C84409E, [voter]).hex() == TAKEN


def test_a_long_host_and_many_voters_are_read_again() -> None:
    voters = [Voter(number, DIRECTORY, (f"C://{'h' * 200}:9093", "SSL://[::1]:65535")) for number in range(130)]
    (record,) = read_records(voters_batch(0, 1, 0, voters))
    assert isinstance(record, Record)
    fields = control_record.parse(record.key, record.value).fields
    rows = fields["voters"]
    assert isinstance(rows, tuple)
    assert [row["voter_id"] for row in rows] == [*range(130)]
    assert [(end["host"], end["port"]) for end in rows[0]["endpoints"]] == [("h" * 200, 9093), ("[::1]", 65535)]


def test_a_snapshot_is_read_again() -> None:
    """Records in batches of 500, between a header and a footer; with voters those, too."""
    values = [bytes([1, 20, 0, 0])] * 501
    for voters in ([], [Voter(101, DIRECTORY, ("CONTROLLER://127.0.0.1:40059",))]):
        data = snapshot(values, 7, 1000, voters)
        parsed = metadata_snapshot.parse(data)
        assert parsed.defects == ()
        assert (parsed.value.batches, parsed.value.voters, parsed.value.kraft_version) == (
            2, tuple(voters), 1 if voters else None,
        )  # fmt: skip
        assert metadata_snapshot.broker_reads(data, release("4.3")).error is None


def test_the_header_of_a_snapshot_has_the_bytes_that_controllers_take() -> None:
    """Those of offset 500 and epoch 7, which controllers of 3.9.2 and 4.3.1 took."""
    key, value = bytes.fromhex("00000003"), bytes.fromhex("0000000001a21cac6e3900")
    assert bytes([8]) + key + bytes([22]) + value in snapshot([], 7, 0x1A21CAC6E39)
