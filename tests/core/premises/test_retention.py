"""P802: segments whose time index ends in an entry that is older than their records."""

import pytest

from kcheck.core.premises.facts import BrokerFacts, LogFacts, MisdatedRecords
from kcheck.core.premises.table import judged
from kcheck.core.releases.releases import release
from kcheck.core.start.startup import Mode
from kcheck.model.cluster import ClusterImage
from kcheck.model.entries import Offset
from kcheck.model.names import TopicPartition

HEAD = MisdatedRecords(Offset(0), Offset(46), 0, is_head=True)


def told(records: MisdatedRecords, image: ClusterImage | None, **settings: str) -> list[str]:
    """Return the sentences of P802."""
    log = LogFacts(TopicPartition("pay", 0), "d", misdated=(records,))
    facts = BrokerFacts(1, release("4.3"), Mode.KRAFT, (), image=image, config=settings, logs=(log,))
    return [row.sentence for row in judged(facts) if row.id == "P802"]


@pytest.mark.parametrize(
    ("is_head", "when"), [(True, "at its first check"), (False, "once the segments before them have expired")]
)
def test_what_retention_deletes(*, is_head: bool, when: str) -> None:
    """From the oldest segment on, up to the first that is young enough."""
    (sentence,) = told(HEAD._replace(is_head=is_head), None)
    assert sentence == (
        "pay-0: the time index dates offsets 0-45 by timestamp 0, but the records are newer. Retention deletes them"
        f" {when}; kcheck repair rebuilds the time index"
    )


def test_an_entry_that_is_only_older() -> None:
    """It ends the segment early where the time that its records are kept had passed before the newest of them."""
    week = 7 * 86_400_000
    older = HEAD._replace(timestamp=1000, newest=1000 + week)
    assert told(older, None) == []
    assert len(told(older._replace(newest=1001 + week), None)) == 1
    assert told(older._replace(newest=1001 + week), None, **{"log.retention.hours": "169"}) == []


def test_a_topic_without_retention() -> None:
    """Nothing is deleted by time."""
    assert told(HEAD, ClusterImage({}, configs={("topic", "pay"): {"retention.ms": "-1"}})) == []
    assert told(HEAD, ClusterImage({}), **{"log.retention.hours": "-1"}) == []
