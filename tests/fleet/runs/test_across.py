"""What the replicas of a partition show together, by rows of a run, as `followers` says of disks."""

from typing import Any

import pytest

from kcheck.core.election.election import BrokerStart
from kcheck.core.releases.releases import release
from kcheck.fleet.runs.across import premises_across
from kcheck.fleet.runs.election_rows import PartitionRows
from kcheck.fleet.runs.replicas import copies_of
from kcheck.model.cluster import ClusterImage, PartitionRegistration, TopicImage
from kcheck.model.premises import PremiseStatus
from kcheck.replicas.candidates import BrokerHere, ClusterHere


def row(broker_id: int, **how: Any) -> dict[str, Any]:
    """Return a row of the table replicas."""
    usual = {
        "broker": str(broker_id), "broker_id": broker_id, "log_dir": f"{broker_id}/d", "dir": "t-0",
        "state": "current", "outcome": "ok", "problem": None, "topic_id": None, "high_watermark": 9,
        "loaded_log_start": 0, "loaded_log_end": 9, "loaded_high_watermark": 9, "first_segment": 0, "seen_epoch": 4,
        "cached_epochs": "[[4,0]]", "batch_epochs": None, "lost": None,
    }  # fmt: skip
    return {**usual, **how}


HIDES = row(1, cached_epochs="[]", loaded_log_start=5)
LED = PartitionRegistration((1, 2), (1, 2), last_leader=1, last_leader_epoch=4)


@pytest.mark.parametrize(
    ("rows", "known", "expected"),
    [
        ((HIDES, row(2, cached_epochs="[]")), None, [("P320", PremiseStatus.NOT_SEEN, 1)]),
        ((HIDES, row(2, cached_epochs="[]", topic_id="other")), None, []),
        ((HIDES, row(2, cached_epochs="[]", loaded_log_start=5)), None, []),
        ((HIDES, row(2, cached_epochs="[]", outcome="unknown")), None, []),
        ((row(1, loaded_log_end=7), row(2)), LED, [("P306", PremiseStatus.REFUTED, 1)]),
        ((row(1, loaded_log_end=7, lost='{"from": 7, "to": 9, "records": 2, "bytes": 9, "below_high_watermark": 2}'),
          row(2)), LED, []),
        ((row(1, loaded_log_end=7), row(2, cached_epochs="[[3,0]]")), LED, []),
        ((row(1, loaded_log_end=7), row(2)), LED._replace(last_leader_epoch=None), []),
        ((row(1), row(2)), LED, []),
    ],
)  # fmt: skip
def test_replicas_decide_together(
    rows: tuple[dict[str, Any], ...], known: PartitionRegistration | None, expected: list[object]
) -> None:
    """P320 of a log without epochs, and P306 of the last leader that ends below a follower."""
    topics = {} if known is None else {"t": TopicImage("t", None, {0: known})}
    here = ClusterHere(
        image=ClusterImage(topics), brokers={number: _broker(number) for number in (1, 2)}, dead=frozenset(),
        kraft=True, release=release("4.0"), incomplete_ok=False, offsets=lambda *_: None,
    )  # fmt: skip
    copies, unread = copies_of("t", 0, rows, here)
    found = premises_across(PartitionRows("t", 0, rows, None, ()), copies, unread, here)
    assert expected == [(premise.id, premise.status, premise.broker_id) for premise in found]


def _broker(number: int) -> BrokerHere:
    return BrokerHere(BrokerStart(number, clean=True), None, frozenset(), is_complete=True)


def test_a_leader_that_ends_the_broker_of_a_follower() -> None:
    """P352, of brokers of 1.1.1. Broker 3 is not among the replicas."""
    rows = (row(1, loaded_log_end=7, cached_epochs="[[3,0]]"), row(2), row(3))
    here = ClusterHere(
        image=ClusterImage({"t": TopicImage("t", None, {0: PartitionRegistration((1, 2), (1, 2))})}),
        brokers={number: _broker(number) for number in (1, 2, 3)}, dead=frozenset(), kraft=False,
        release=release("1.1.1"), incomplete_ok=False, offsets=lambda *_: None,
    )  # fmt: skip
    copies, unread = copies_of("t", 0, rows, here)
    found = premises_across(PartitionRows("t", 0, rows, None, ()), copies, unread, here)
    assert [("P352", PremiseStatus.NOT_SEEN, 2)] == [(row.id, row.status, row.broker_id) for row in found][:1]
