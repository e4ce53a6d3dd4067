"""P109: directories with the id of another topic."""

import pytest

from kcheck.core.premises.facts import BrokerFacts, LogFacts
from kcheck.core.premises.table import judged
from kcheck.core.releases.releases import release
from kcheck.core.start.startup import Mode
from kcheck.model.cluster import ClusterImage, PartitionRegistration, TopicImage
from kcheck.model.names import TopicPartition

PAY = TopicPartition("pay", 0)


def image(of_orders: dict[int, PartitionRegistration], of_pay: dict[int, PartitionRegistration]) -> ClusterImage:
    """Return a cluster with two topics."""
    orders, pay = TopicImage("orders", "O", of_orders), TopicImage("pay", "P", of_pay)
    return ClusterImage({"orders": orders, "pay": pay}, {"O": orders, "P": pay})


HERE = {0: PartitionRegistration((1,), (1,))}
ELSEWHERE = {0: PartitionRegistration((2,), (2,))}


def told(
    topic_id: str, of: ClusterImage | None, mode: Mode = Mode.KRAFT, broker_id: int | None = 1, kafka: str = "4.3"
) -> list[str]:
    """Return the sentences of P109 about pay-0 with an id."""
    facts = BrokerFacts(broker_id, release(kafka), mode, (), image=of, logs=(LogFacts(PAY, "d", topic_id=topic_id),))
    return [row.sentence for row in judged(facts) if row.id == "P109"]


def test_the_id_of_another_topic() -> None:
    """Brokers of 3.9.2 and 4.3.1 led neither the partition nor four and five others (Error applying topics delta)."""
    (sentence,) = told("O", image(HERE, HERE))
    assert sentence == (
        "pay-0 has the topic id of orders, O: broker 1 refuses it; once it is to lead it, it does not lead some or all"
        " of its other partitions; the name of the directory or the id is wrong"
    )


@pytest.mark.parametrize("topic_id", ["P", "X"])
def test_its_own_id_or_that_of_no_topic(topic_id: str) -> None:
    """The start sets a directory with an unknown id aside."""
    assert told(topic_id, image(HERE, HERE)) == []


@pytest.mark.parametrize(
    "of", [image(ELSEWHERE, HERE), image(HERE, ELSEWHERE), image({}, HERE), ClusterImage({}), None]
)
def test_what_is_set_aside_or_not_opened(of: ClusterImage | None) -> None:
    """A stray by its id is renamed; of what is elsewhere no log is opened; without metadata nothing is known."""
    assert told("O", of) == []


def test_who_looks_for_ids() -> None:
    """With ZooKeeper each partition fails by itself, and up to 2.7 none has an id."""
    both = image(HERE, HERE)
    with_zookeeper = [told("O", both, Mode.ZOOKEEPER, kafka=kafka) for kafka in ("2.7", "3.0", "3.9")]
    assert [*with_zookeeper, told("O", both, broker_id=None)] == [[]] * 4


def test_the_id_of_another_topic_in_a_log_that_is_taken() -> None:
    """A 2.8.2 with ZooKeeper loaded it, and wrote "Topic Id in memory: O does not match the topic Id" soon after."""
    (sentence,) = told("O", image(HERE, HERE), Mode.ZOOKEEPER, kafka="2.8")
    assert "broker 1 takes its records for those of pay, and then neither leads nor follows it any more" in sentence
