"""KC253: records without key in a compacted topic."""

from kcheck.model.cluster import ReplicaInCluster
from kcheck.model.names import DirectoryState
from kcheck.model.segments import RecordsView
from kcheck.model.views import PartitionView
from kcheck.rules.kc253_keyless_records_compacted import RULE as KC253
from tests.rules.build import found_by, partition
from tests.rules.test_retention import segment

COMPACTED = ReplicaInCluster("m", None, None, compacted=True)


def read(*keyless: int | None, **fields: object) -> PartitionView:
    """Return a partition with so many records without key in each segment; None: its records were not read."""
    segments = tuple(
        segment(number, 0)._replace(
            records=None if count is None else RecordsView(9, (), {}, count), active=number == len(keyless) - 1
        )
        for number, count in enumerate(keyless)
    )
    return partition()._replace(**{"read": segments, "in_cluster": COMPACTED, **fields})


def test_what_the_cleaner_deletes() -> None:
    """All but the records of the active segment."""
    (found,) = found_by(KC253, read(40, 35, 15))
    assert found.message == "t is compacted; 90 records have no key"
    assert found.effect == "The cleaner of Kafka 4.3 deletes 75 at its first run."
    assert found.data == {"records": 90, "removed": 75}
    (found,) = found_by(KC253, read(0, 1))
    assert "1 record has no key" in found.message
    assert found.effect.endswith("deletes them once their segment rolls.")


def test_where_nothing_is_said() -> None:
    """Without such records, for a topic that is not known to be compacted, and for one of the brokers' own."""
    assert not found_by(KC253, read(0, None))
    assert not found_by(KC253, read(9, in_cluster=None))
    assert not found_by(KC253, read(9, in_cluster=COMPACTED._replace(compacted=False)))
    assert not found_by(KC253, read(9, topic="__consumer_offsets"))
    assert not found_by(KC253, read(9, state=DirectoryState.STRAY))
    assert not found_by(KC253, read(9, read=None))
