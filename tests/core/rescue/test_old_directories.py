"""Old directories of a topic: which take the place of which, and what has to be done first."""

from typing import Any

from kcheck.core.rescue.old_directories import (
    OldDirectory,
    OldTopic,
    PresentDirectory,
    adoptions,
    order_of_starts,
    refusals_of_topic,
)
from kcheck.core.rescue.refusals import RescueRefusal
from kcheck.model.cluster import ClusterImage, PartitionRegistration, TopicImage


def old(broker: int, number: int = 0, **fields: Any) -> OldDirectory:
    """Return an old directory with 50 records of epoch 3."""
    known: dict[str, Any] = {"topic_id": "old", "epoch": 3, "start": 0, "end": 50, "producer_id": 7}
    return OldDirectory(broker, f"/{broker}", f"t-{number}.aa-delete", number, **(known | fields))


def image(*, isr: tuple[int, ...] = (1, 2), epoch: int = 1, count: int = 1, next_id: int | None = 1000) -> ClusterImage:
    """Return metadata with a topic on brokers 1 and 2."""
    parts = {number: PartitionRegistration((1, 2), isr, 1, epoch, 1) for number in range(count)}
    return ClusterImage({"t": TopicImage("t", "new", parts)}, next_producer_id=next_id)


def topic(*rows: OldDirectory, known: ClusterImage | None = None, **fields: Any) -> OldTopic:
    """Return a topic that was created again, empty."""
    present = (PresentDirectory(1, "/1", 0, 0), PresentDirectory(2, "/2", 0, 0))
    made = OldTopic("t", known or image(), rows or (old(1), old(2)), present, (1, 2, 3))
    return made._replace(**fields)


def names(one: OldTopic) -> list[str]:
    """Return the names of the refusals."""
    return [refusal.name for refusal in refusals_of_topic(one)]


def only(one: OldTopic) -> RescueRefusal:
    """Return the only refusal."""
    (refusal,) = refusals_of_topic(one)
    return refusal


def test_each_replica_gets_its_old_directory_back() -> None:
    """Batches of a higher epoch get epoch 0; what the broker makes again is left out."""
    one = topic(old(1, files=("0.log", "0.index", "0.timeindex", "5.snapshot")), old(2))
    assert names(one) == []
    first, second = adoptions(one)
    assert (first.name, first.topic_id, first.rewrites_epochs) == ("t-0", "new", True)
    assert first.dropped == ("0.index", "0.timeindex", "5.snapshot")
    assert (first.present, second.old.broker_id) == (one.present[0], 2)
    assert order_of_starts(one, (first, second)) == (1, 2, 3)


def test_epochs_below_that_of_the_partition_stay() -> None:
    assert [row.rewrites_epochs for row in adoptions(topic(known=image(epoch=3)))] == [False, False]


def test_a_copy_that_is_behind_follows_the_best_one() -> None:
    one = topic(old(1), old(2, end=40), known=image(isr=(1,)))
    assert [row.old.broker_id for row in adoptions(one)] == [1]
    assert names(one) == []
    behind = only(topic(old(1), old(2, end=40)))
    assert (behind.name, behind.why) == ("isr", "Broker 2 in the ISR of t-0 would lead without the records.")
    nowhere = only(topic(old(3)))
    assert nowhere.bring == "Copy it into a log dir of broker 1 (cp -a), and ask again."


def test_without_metadata_topic_or_directory() -> None:
    assert names(topic(image=None)) == ["no-metadata"]
    assert adoptions(topic(image=None)) == ()
    gone = topic(old(1), old(2), old(2, 2), known=ClusterImage({}))
    assert "--replica-assignment 1:2,1,2 " in only(gone).bring
    assert adoptions(gone) == ()
    assert names(topic(old=())) == ["no-directory"]


def test_log_dirs_of_two_clusters() -> None:
    assert only(topic(clusters={"C": "/1", "D": "/2"})).why == "/1 is of cluster C, /2 of cluster D."


def test_a_broker_runs() -> None:
    assert names(topic(running=(2,))) == ["running"]


def test_what_does_not_fit() -> None:
    assert names(topic(old(1), old(2, topic_id="other"))) == ["two-topics"]
    assert names(topic(old(1), old(2), old(1, 2))) == ["partitions"]
    assert names(topic(known=image(next_id=7))) == ["producer-ids"]
    assert names(topic(known=image(next_id=None))) == []
    assert names(topic(old(1, damage="x"), old(2, damage="x"))) == ["damaged"]
    other = PresentDirectory(1, "/1", 1, 5)
    assert names(topic(present=(PresentDirectory(1, "/1", 0, 5), other))) == ["has-records"]
