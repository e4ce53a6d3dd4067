"""metadata.version in bytes of a KRaft log: registrations and the level of the cluster, found without a walk."""

import pytest

from kcheck.records.metadata_features import FEATURE, Features, features
from tests.builders import flipped
from tests.record_bytes import batch_of, record

LEVEL = b"\x01\x0c\x00" + FEATURE + b"\x00\x15\x00"


def registration(node_id: int, lowest: int, highest: int, kind: int = 0) -> bytes:
    """Return the value of a RegisterBrokerRecord (27: RegisterControllerRecord), up to what matters."""
    levels = lowest.to_bytes(2, "big") + highest.to_bytes(2, "big")
    return bytes([1, kind, 3]) + node_id.to_bytes(4, "big") + bytes(24) + FEATURE + levels + b"\0" * 4


def log(*values: bytes | None, **how: int) -> bytes:
    """Return a batch of records with these values."""
    body = b"".join(record(number, None, value) for number, value in enumerate(values))
    return batch_of(body, len(values), **how)


FIRST, SECOND = log(LEVEL, registration(1, 1, 21)), log(registration(1, 7, 25), registration(2, 7, 27))
NOTHING = log(b"\x01\x14\x00", None)


def test_the_newest_comes_first() -> None:
    expected = [Features(2, 7, 27), Features(1, 7, 25), Features(1, 1, 21), Features(None, 21, 21)]
    assert expected == [*features(FIRST + NOTHING + SECOND + NOTHING)]
    assert [] == [*features(NOTHING)]


def test_controllers_register_too() -> None:
    assert [Features(9, 1, 20)] == [*features(log(registration(9, 1, 20, kind=27)))]


def test_the_bytes_may_begin_and_end_inside_of_a_batch() -> None:
    """What is not there in whole says nothing."""
    assert [*features(SECOND)] == [*features(FIRST[30:] + SECOND)]
    assert [*features(FIRST)] == [*features(FIRST + SECOND[:-1])]
    assert [] == [*features(FIRST[62:])]


@pytest.mark.parametrize("position", [8, 16, 18, 22, -1])
def test_a_damaged_batch_says_nothing(position: int) -> None:
    assert [*features(FIRST)] == [*features(FIRST + flipped(SECOND, position))]


def test_a_size_that_leads_out_of_the_bytes_says_nothing() -> None:
    assert [*features(FIRST)] == [*features(FIRST + SECOND[:8] + b"\x7f\xff\xff\xff" + SECOND[12:])]
    assert [] == [*features(SECOND[:8] + b"\0\0\0\x31" + SECOND[12:])]


def test_the_name_alone_is_no_registration() -> None:
    """In another record, elsewhere in the record, or in a header."""
    assert [] == [*features(log(b"\x01\x04\x00" + FEATURE + bytes(4), b"\x01\x0c\x00\x00" + FEATURE + bytes(4)))]
    assert [] == [*features(FEATURE + bytes(70))]
    assert [] == [*features(b"\xff" * 57 + FEATURE + bytes(70))]
    assert [] == [*features(bytes(16) + b"\2" + bytes(26) + b"\xff" * 14 + FEATURE + bytes(70))]


def test_many_registrations_are_not_all_decoded() -> None:
    assert 2 * 512 == len([*features(SECOND * 600)])
