"""Records of the metadata are written as real controllers wrote them."""

from pathlib import Path
from typing import Any

import pytest

from kcheck.disk.local import LOCAL
from kcheck.records.batch import CONTROL
from kcheck.records.record import Record, read_records
from kcheck.schemas.encode import encode, metadata_record
from kcheck.schemas.records import decoder
from kcheck.schemas.schema import parse_table
from kcheck.segments.batches import Walk
from tests.oracle.scenes import FIXTURES
from tests.schemas.test_schemas import CHANGE, QUOTA

QUORUM = FIXTURES / "clusters" / "4.3.1" / "quorum" / "broker-1" / "data1"
FILES = (QUORUM / "__cluster_metadata-0" / "00000000000000000000.log", QUORUM / "bootstrap.checkpoint")


def records(path: Path) -> list[bytes]:
    """Return the values of the records of a file."""
    with LOCAL.open(str(path)) as source:
        data = [source.pread(batch.size, batch.position) for batch in Walk(source) if not batch.attributes & CONTROL]
    return [bytes(row.value or b"") for batch in data for row in read_records(batch) if isinstance(row, Record)]


def written_again(value: bytes) -> bytes:
    """Decode a record, and write it again."""
    message = decoder("metadata")(None, value).value
    assert message is not None
    assert message.name is not None
    assert message.version is not None
    assert message.data is not None
    return metadata_record(message.name, message.version, message.data)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_records_of_a_controller_are_written_as_it_wrote_them(path: Path) -> None:
    values = records(path)
    assert len(values) >= 6
    assert values == [*map(written_again, values)]


@pytest.mark.parametrize("value", [CHANGE, QUOTA])
def test_tagged_fields_nulls_and_numbers(value: bytes) -> None:
    assert value == written_again(value)


def test_every_type_of_field() -> None:
    table = "M 1 0 0+\n a bool 0+\n b bytes 0+\n c []string 0+ null=0+\n d float64 0+\n e uint16 0+\n f int16 0+"
    data: dict[str, Any] = {"a": True, "b": "AQI=", "c": None, "d": 1.5, "e": 65535, "f": -1}
    assert (
        encode(parse_table(table)["M"], data, 0).hex()
        == "01" + "030102" + "00" + "3ff8000000000000" + "ffffffff" + "00"
    )
