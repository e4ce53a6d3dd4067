"""What a start makes of a meta.properties."""

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.start.meta_properties import MetaPropertiesFault, fault_of, outcome_of
from kcheck.core.start.startup import Mode, Outcome

KRAFT = {"version": "1", "node.id": "7", "cluster.id": "TzyYHphLTKC2YDT31HuF0g"}
RESERVED = {"directory.id": "AAAAAAAAAAAAAAAAAAAAAQ"}
UNREADABLE, EMPTY = MetaPropertiesFault.UNREADABLE, MetaPropertiesFault.EMPTY
NO_NODE_ID, UNUSABLE = MetaPropertiesFault.NO_NODE_ID, MetaPropertiesFault.UNUSABLE
RESERVED_ID = MetaPropertiesFault.RESERVED_DIRECTORY_ID


@pytest.mark.parametrize(
    ("properties", "kafka", "refused", "faulty", "fault"),
    [
        (KRAFT, "4.3", False, (), None),
        ({}, "0.8.2", True, (), None),
        (KRAFT, "0.9.0", True, (), UNREADABLE),
        ({}, "2.8", False, (), EMPTY),
        ({}, "3.9", False, (), EMPTY),
        ({}, "4.0", False, (), NO_NODE_ID),
        ({"version": "0"}, "4.0", False, (), NO_NODE_ID),
        ({"version": "0"}, "3.9", False, (), None),
        (KRAFT | RESERVED, "3.7", False, (), RESERVED_ID),
        (KRAFT | RESERVED, "3.6", False, (), None),
        (KRAFT | {"directory.id": "tYaS4r3WQ8Ky_ObhEGQ-Bw"}, "3.7", False, (), None),
        (KRAFT, "2.7", False, ("node.id",), None),
        (KRAFT, "2.8", False, ("node.id",), UNUSABLE),
        (KRAFT, "3.6", False, ("directory.id",), None),
        (KRAFT, "3.7", False, ("node.id",), None),
    ],
)
def test_what_a_broker_does_not_take(
    properties: dict[str, str],
    kafka: str,
    *,
    refused: bool,
    faulty: tuple[str, ...],
    fault: MetaPropertiesFault | None,
) -> None:
    """From 2.8 to 3.6 the reader takes anything; directory.id counts from 3.7 on."""
    broker_id = 7 if "node.id" in properties else None
    assert fault is fault_of(properties, broker_id, release(kafka), refused=refused, faulty=faulty)


@pytest.mark.parametrize(
    ("fault", "kafka", "mode", "outcome"),
    [
        (UNREADABLE, "3.6", Mode.KRAFT, Outcome.ABORT),
        (UNREADABLE, "3.7", Mode.KRAFT, Outcome.OFFLINE),
        (UNREADABLE, "3.7", Mode.ZOOKEEPER, Outcome.OFFLINE),
        (EMPTY, "3.9", Mode.KRAFT, Outcome.ABORT),
        (EMPTY, "3.9", Mode.ZOOKEEPER, Outcome.OK),
        (UNREADABLE, "2.7", Mode.ZOOKEEPER, Outcome.ABORT),
        (NO_NODE_ID, "4.3", Mode.KRAFT, Outcome.ABORT),
        (RESERVED_ID, "4.3", Mode.KRAFT, Outcome.ABORT),
        (UNUSABLE, "3.6", Mode.ZOOKEEPER, Outcome.ABORT),
    ],
)
def test_what_follows(fault: MetaPropertiesFault, kafka: str, mode: Mode, outcome: Outcome) -> None:
    """A broker of ZooKeeper writes an empty file again; from 3.7 an unreadable one takes its log dir offline."""
    assert outcome is outcome_of(fault, release(kafka), mode=mode)
