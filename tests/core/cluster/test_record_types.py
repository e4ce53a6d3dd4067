"""The table of the record types of the metadata log, and Kafka's schemas."""

from kcheck.core.cluster.metadata_replay import InBundle, MetadataReplay
from kcheck.schemas.metadata import TABLE

SCHEMAS = {line.split(" ")[0] for line in TABLE.strip().splitlines() if not line.startswith(" ")}
RECORDS = MetadataReplay.RECORDS
ONLY_COUNT = {"BeginTransactionRecord", "EndTransactionRecord", "AbortTransactionRecord", "NoOpRecord"}
"""Types without facts of their own."""


def test_every_record_type_of_the_schemas_is_in_the_table() -> None:
    """A type that is in no schema cannot be decoded."""
    assert SCHEMAS == RECORDS.keys()


def test_a_bundle_keeps_a_record_or_there_is_a_reason() -> None:
    assert {name: bool(record.why) for name, record in RECORDS.items()} == {
        name: record.in_bundle is InBundle.NOTHING for name, record in RECORDS.items()
    }


def test_what_is_not_replayed_is_not_kept_either() -> None:
    """Except for types that only say which records count."""
    not_replayed = {name for name, record in RECORDS.items() if record.replay is None}
    assert not_replayed - ONLY_COUNT <= {name for name, record in RECORDS.items() if record.why}
