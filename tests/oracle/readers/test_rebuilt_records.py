"""The records of metadata that kcheck makes again, as Kafka's own classes read them."""

from base64 import b64encode

import pytest

from kcheck.core.cluster.metadata_replay import METADATA_VERSION
from kcheck.core.rescue.rebuild import rebuild, records_of
from kcheck.schemas.encode import metadata_record
from tests.core.rescue.disks import disks, log_dir, partition, replica, wanted
from tests.oracle.ask import Ask

pytestmark = pytest.mark.oracle

TOPIC, DIRECTORY = "VxLGIRk3S1CZ7YVCY8iOeg", "W1mAi0VzTBeHd4Yw4jJ0nQ"


@pytest.mark.parametrize(("level", "is_read"), [(7, True), (17, False)])
def test_an_old_release_reads_the_partitions_of_its_own_level(level: int, is_read: bool, ask: Ask) -> None:
    """3.3.2 knows no log dirs of replicas; records of a later level end it (found as garbage after the fields)."""
    held = disks(
        {("t", 0): partition(replica(1, TOPIC), replica(2, TOPIC))},
        log_dirs=tuple(log_dir(number, directory_id=DIRECTORY) for number in (1, 2)),
    )
    plan = rebuild(held, wanted(features={METADATA_VERSION: level}))
    rows = [*records_of(plan, held)]
    values = [b64encode(metadata_record(*row)).decode() for row in rows]
    answers = ask("3.3.2", "MetadataRead.java", values)
    by_name = dict(zip((name for name, *_ in rows), answers, strict=True))
    assert by_name.pop("PartitionRecord").startswith("ok") is is_read
    assert {answer.partition(" ")[0] for answer in by_name.values()} == {"ok"}
