"""The date that a time index gives its segment."""

import struct

from kcheck.model.entries import Offset
from kcheck.segments.index_dates import date_of
from tests.builders import BytesFiles

NAME = "00000000000000000007.timeindex"


def test_the_date_of_a_segment() -> None:
    """Its last entry counts, unless it is none, or the broker makes the file again."""
    entries = struct.pack(">qi", 100, 0) + struct.pack(">qi", 200, 5)
    assert date_of(BytesFiles({NAME: entries}), Offset(7)) == 200
    assert date_of(BytesFiles({NAME: entries}), Offset(7), {NAME}) is None
    assert date_of(BytesFiles({NAME: bytes(12)}), Offset(7)) is None
    assert date_of(BytesFiles({}), Offset(7)) is None
