"""Directories with the records of another partition, by the files of several brokers."""

from kcheck.core.premises.facts import BrokerFacts, LogFacts
from kcheck.core.premises.names import OWN_NAME
from kcheck.core.premises.table import judged_together
from kcheck.model.entries import Offset
from kcheck.model.loss import BatchFaults
from kcheck.model.names import TopicPartition
from tests.core.premises.test_premises import facts, image


def log(partition: int, crc: int, *, is_served: bool = True, end: int = 9) -> LogFacts:
    """Return a log of orders whose first batch has this CRC."""
    batches = BatchFaults(first=(Offset(0), Offset(9), crc, 0))
    return LogFacts(
        TopicPartition("orders", partition), "d1", end=Offset(end), batches=batches, is_served=is_served
    )  # fmt: skip


def said(*brokers: tuple[LogFacts, ...], replicas: tuple[int, ...] = (1, 2, 3)) -> list[str]:
    """Return the sentences about brokers from 1 on, by broker."""
    rows: dict[object, BrokerFacts] = {
        number: facts(broker_id=number, image=image(*replicas), logs=logs) for number, logs in enumerate(brokers, 1)
    }
    rows[None] = facts(broker_id=None, logs=(log(0, 8),))
    found = judged_together(rows, ())
    return [f"{row.broker_id}: {row.sentence}" for own in found.values() for row in own if row.id == OWN_NAME]


def test_a_renamed_directory_has_a_place_only_on_an_assigned_broker() -> None:
    own, renamed = log(0, 7), log(9, 7, is_served=False)
    expected = ["3: orders-9 has the records of orders-0 on brokers 1 and 2"]
    assert said((own,), (own,), (renamed,)) == expected
    assert said((own,), (own,), (renamed,), replicas=(1, 2)) == []
    assert said((own,), (own,), (own, renamed)) == []


def test_without_batches() -> None:
    bare = log(0, 7)._replace(batches=None)
    assert said((bare,), (log(0, 7),), (log(1, 7),)) == []
