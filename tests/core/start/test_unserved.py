"""The records in directories that a broker does not serve."""

from kcheck.core.start.predictions import LoadedLog, LogDirPrediction, PartitionPrediction
from kcheck.core.start.startup import Mode, Outcome
from kcheck.core.start.unserved import Unserved, lost_in_starts, unserved
from kcheck.documents.unserved import not_counted_words, unserved_row, unserved_words
from kcheck.model.cluster import ClusterImage, PartitionRegistration, TopicImage
from kcheck.model.entries import Offset
from kcheck.model.finding import Location
from kcheck.model.loss import LostRecords
from kcheck.model.names import DirectoryState, PartitionDirectory, TopicPartition
from kcheck.model.views import LogDirView

STRAY, DELETED, CURRENT = DirectoryState.STRAY, DirectoryState.DELETED, DirectoryState.CURRENT
OUTCOMES = {
    STRAY: Outcome.STRAY, DELETED: Outcome.DELETED, CURRENT: Outcome.OK, DirectoryState.FUTURE: Outcome.OK,
}  # fmt: skip
ALONE, SHARED = (PartitionRegistration((7, *others), (7,)) for others in ((), (8,)))
IMAGE = ClusterImage({"t": TopicImage("t", None, {0: ALONE, 1: SHARED})})


def directory(name: str, state: DirectoryState, records: int | None) -> PartitionPrediction:
    """Return a directory that holds records; None if it holds none."""
    topic, _, number = name.rpartition("-")
    whole = None if records is None else LostRecords(Offset(0), Offset(records), records, 10 * records, None)
    parts = PartitionDirectory(topic, int(number), state, canonical=True)
    return PartitionPrediction(f"{name}.x-{state}", parts, OUTCOMES[state], None, whole=whole)


def start(*directories: PartitionPrediction, broker: object = "b", cluster: str | None = "c") -> LogDirPrediction:
    """Return a log dir of broker 7."""
    view = LogDirView(Location(), cluster_id=cluster)
    return LogDirPrediction("d", 7, Outcome.OK, (), True, Mode.KRAFT, None, directories, view=view, broker=broker)


def asked(*starts: LogDirPrediction, image: ClusterImage | None = IMAGE, delay: int | None = None) -> list[Unserved]:
    """Return the directories, with metadata of cluster c."""
    return list(unserved(starts, lambda cluster: image if cluster == "c" else None, delay))


def test_the_log_dirs_of_a_broker_are_told_together() -> None:
    """Each state once; a directory without records is not told."""
    rows = asked(
        start(directory("t-0", STRAY, 50), directory("t-0", DELETED, 40)),
        start(directory("t-1", STRAY, 40), directory("u-3", STRAY, None)),
    )
    assert [(row.state, [held.records for held in row.held]) for row in rows] == [(STRAY, [50, 40]), (DELETED, [40])]
    assert len(asked(*(start(directory("t-0", STRAY, 1), broker=broker) for broker in (None, None)))) == 2


def test_a_partition_without_another_copy() -> None:
    """The metadata give it no other replica, and the broker has no directory that it serves."""
    stray = directory("t-0", STRAY, 50)
    (row,) = asked(start(stray, directory("t-1", STRAY, 40), directory("u-0", STRAY, 1)))
    assert row.alone == (TopicPartition("t", 0),)
    assert asked(start(stray, directory("t-0", CURRENT, None)))[0].alone == ()
    assert asked(start(stray), image=None)[0].alone == ()
    assert asked(start(directory("t-0", DELETED, 1)))[0].alone == ()
    assert asked(start(directory("t-7", STRAY, 1)))[0].alone == ()


def test_the_sentences() -> None:
    """They say how many records, what the broker does, and when."""
    stray, deleted = asked(
        start(*(directory(f"t-{number}", STRAY, 45) for number in range(2)), directory("o-1", DELETED, 7))
    )
    assert unserved_words(stray) == (
        "2 -stray directories hold 90 records (t-0, t-1): the broker does not serve them, and never removes them; t-0"
        " has no other copy"
    )
    assert unserved_words(deleted) == (
        "1 -delete directory holds 7 records (o-1): the broker removes it 60 s after its start by default; copy it out"
        " first"
    )
    assert "it 600 s after its start; copy" in unserved_words(deleted._replace(delay_ms=600_000))
    assert "no other copy" not in unserved_words(stray._replace(alone=()))


def test_the_row() -> None:
    """A script gets the directories and the time."""
    (row,) = asked(start(directory("o-1", DELETED, 7)), delay=5)
    assert unserved_row(row) == {
        "broker_id": 7, "state": "deleted", "dirs": ("o-1.x-deleted",), "records": 7, "bytes": 70,
        "removed_after_ms": 5, "no_other_copy": (),
    }  # fmt: skip
    assert unserved_row(row._replace(state=STRAY))["removed_after_ms"] is None


def test_what_no_election_counts() -> None:
    """What brokers remove, and directories of topics that the cluster does not have; one sentence for all brokers."""
    orphan, empty = directory("gone-0", CURRENT, 40), directory("gone-1", CURRENT, None)
    copied = directory("t-0-backup-1", CURRENT, 9)
    known = directory("t-0", CURRENT, 9)
    stray = (row._replace(outcome=Outcome.STRAY) for row in (orphan, empty, known, copied))
    first = start(directory("t-0", DELETED, 40), directory("t-1", STRAY, 5), *stray, orphan)
    second = start(directory("t-1", DELETED, 60))._replace(broker_id=8, broker="c")
    rows = [*lost_in_starts((first, second), IMAGE, 600_000)]
    assert [(row.state, row.broker_id, len(row.directories)) for row in rows] == [
        (DELETED, 7, 1), (DELETED, 8, 1), (CURRENT, 7, 1),
    ]  # fmt: skip
    assert [*not_counted_words(rows)] == [
        (
            "Not counted: brokers 7 and 8: 2 -delete directories hold 100 records (t-0, t-1): the broker removes them"
            " 600 s after its start; copy them out first."
        ),
        (
            "Not counted: broker 7: 1 directory holds 40 records of a topic that the cluster does not have (gone-0):"
            " the broker does not serve it."
        ),
    ]
    two = [*lost_in_starts((start(*(row._replace(outcome=Outcome.STRAY) for row in (
        orphan, directory("t-7-x-0", CURRENT, 2)))),), IMAGE, None)]  # fmt: skip
    assert "2 directories hold 42 records of topics that the cluster" in unserved_words(two[0])
    assert [] == [*lost_in_starts((start(orphan._replace(outcome=Outcome.STRAY)),), None, None)]


def test_topics_that_the_metadata_deleted() -> None:
    """The records of the deletion order the removal, and not a part of an incident."""
    image = IMAGE._replace(deleted={"old": 5})
    (row,) = lost_in_starts((start(directory("old-0", DELETED, 40)),), image, None)
    assert row.is_ordered
    assert [*not_counted_words([row])] == [
        (
            "Not counted: broker 7: 1 -delete directory holds 40 records of a deleted topic (old-0): the broker removes"
            " it 60 s after its start by default; copy it out first if the topic should come back."
        )
    ]
    (mixed,) = lost_in_starts((start(directory("old-0", DELETED, 40), directory("t-0", DELETED, 4)),), image, None)
    assert not mixed.is_ordered


def test_topics_that_are_being_deleted() -> None:
    """Their records are named by offsets, apart from those of topics that the cluster does not have."""
    log = LoadedLog(Offset(3), Offset(40), Offset(40), ((), ()), unstable=False, bases=(3,))
    loaded = directory("old-0", CURRENT, None)._replace(log=log)
    empty = directory("old-1", CURRENT, None)._replace(log=log._replace(log_start_offset=Offset(40)))
    failed, future = directory("old-2", CURRENT, None), directory("old-0", DirectoryState.FUTURE, None)
    orphan = directory("gone-0", CURRENT, 9)._replace(outcome=Outcome.STRAY)
    first = start(loaded, empty, failed, future._replace(log=log), orphan)
    second = start(directory("ancient-0", CURRENT, None)._replace(log=log))._replace(broker_id=8, broker="c")
    rows = [*lost_in_starts((first, second), IMAGE, None, {"old", "ancient"})]
    assert [*not_counted_words(rows)] == [
        (
            "Not counted: brokers 7 and 8: 2 directories hold at most 74 records of topics that are being deleted"
            " (old-0, ancient-0): they go once all of their replicas are online; copy them out first."
        ),
        (
            "Not counted: broker 7: 1 directory holds 9 records of a topic that the cluster does not have (gone-0):"
            " the broker does not serve it."
        ),
    ]
    assert "a topic that is being deleted (old-0): they go once all of its replicas" in unserved_words(rows[0])
