"""KC303 to KC307: the log dirs of one broker, compared."""

import pytest

from kcheck.model.finding import Severity
from kcheck.model.names import DirectoryState
from kcheck.model.views import LogDirView, PartitionView
from kcheck.rules.kc303_topic_id_mismatch import RULE as KC303
from kcheck.rules.kc304_duplicate_partition import RULE as KC304
from kcheck.rules.kc305_identity_mismatch import RULE as KC305
from kcheck.rules.kc306_directory_id_duplicate import RULE as KC306
from kcheck.rules.kc307_cleaner_entry_twice import RULE as KC307
from tests.rules.build import file_view, found_by, log_dir, offsets, partition
from tests.rules.test_metadata_files import KRAFT, TOPIC_ID, ZOOKEEPER, metadata

D1, D2, D3 = "/data/d1", "/data/d2", "/data/d3"
FUTURE, DELETED, STRAY = DirectoryState.FUTURE, DirectoryState.DELETED, DirectoryState.STRAY


def owned(path: str, data: bytes, kafka: str = "4.3") -> LogDirView:
    """Return a log dir with this meta.properties."""
    file = file_view("meta-properties", "meta.properties", data, kafka)
    return log_dir(file._replace(where=file.where._replace(log_dir=path)), path=path)


def held(
    path: str, *names: str, state: DirectoryState = DirectoryState.CURRENT, topic_id: str | None = None
) -> LogDirView:
    """Return a log dir with these partitions."""
    partitions = tuple(partition(name=name, log_dir=path, state=state, topic_id=topic_id) for name in names)
    return log_dir(path=path, partitions=partitions)


def test_one_id_for_a_topic_is_clean() -> None:
    """In all log dirs; -delete and -stray directories may be of an older topic, and 2.7 knows no ids."""
    one = (held(D1, "t-0", "t-1", topic_id="a"), held(D2, "t-2", topic_id="a"), held(D2, "u-0", topic_id="b"))
    assert not found_by(KC303, one)
    for state in (DELETED, STRAY):
        assert not found_by(KC303, (held(D1, "t-0", topic_id="a"), held(D2, "t-1", topic_id="b", state=state)))
    assert not found_by(KC303, (held(D1, "t-0", topic_id="a"), held(D2, "t-1")))
    assert not found_by(KC303, (held(D1, "t-0", topic_id="a"), held(D2, "t-1", topic_id="b")), "2.7")


@pytest.mark.parametrize(
    ("kafka", "words"),
    [
        ("2.8", "INCONSISTENT_TOPIC_ID"),
        ("3.6", "DELETES the directories"),
        ("3.7", "INCONSISTENT_TOPIC_ID"),
        ("4.3", "renames the directories"),
    ],
)
def test_two_ids_for_a_topic(kafka: str, words: str) -> None:
    """The rarer one is the place of the finding."""
    views = (held(D1, "t-0", topic_id="z"), held(D2, "t-1", "t-2", topic_id="a"), held(D2, "u-1", topic_id="b"))
    (found,) = found_by(KC303, views, kafka)
    assert found.severity is Severity.ERROR
    assert "partitions of t have 2 topic ids: a in t-1 and t-2; z in t-0" in found.message
    assert words in found.effect
    assert (found.where.log_dir, found.where.dir) == (D1, "t-0")


def test_one_id_for_two_topics() -> None:
    """The topic with fewer partitions is the place; one that has two ids is told already."""
    views = (held(D1, "t-0", "t-1", topic_id="a"), held(D2, "u-0", topic_id="a"), held(D2, "v-0", topic_id="b"))
    (found,) = found_by(KC303, views)
    assert found.message.startswith("t and u share the topic id a")
    assert (found.where.log_dir, found.where.dir) == (D2, "u-0")
    (found,) = found_by(KC303, (*views, held(D2, "u-1", topic_id="b")))
    assert found.message.startswith("partitions of u have 2 topic ids")


def test_the_file_is_the_place_where_there_is_one() -> None:
    """partition.metadata holds the id."""
    odd = partition(name="t-1", topic_id="b")._replace(metadata=metadata(TOPIC_ID))
    views = (held(D1, "t-0", "t-2", topic_id="a"), log_dir(path=D2, partitions=(odd,)))
    (found,) = found_by(KC303, views)
    assert found.where.file == "partition.metadata"


def test_one_directory_for_a_partition_is_clean() -> None:
    """So is a future one beside it, and what waits for its end."""
    for state in (FUTURE, DELETED, STRAY):
        assert not found_by(KC304, (held(D1, "t-0", "t-1", "u-0"), held(D2, "t-0", state=state)))
    assert not found_by(KC304, (held(D1, "t-0", state=DELETED), held(D2, "t-0", state=DELETED)))


@pytest.mark.parametrize("views", [(held(D1, "t-0"), held(D2, "t-0")), (held(D1, "t-0", "t-00"),)])
def test_two_directories_for_a_partition(views: tuple[LogDirView, ...]) -> None:
    """In two log dirs, or in one."""
    (found,) = found_by(KC304, views)
    assert found.severity is Severity.FATAL
    assert "t-0 has 2 directories: t-0 in /data/d1" in found.message
    assert "duplicate log directory" in found.effect


def test_two_future_directories() -> None:
    """They abort the start too; the log ends help to choose."""
    twin: PartitionView = partition(name="t-0", log_dir=D2, state=FUTURE, log_end=42)
    (found,) = found_by(KC304, (held(D1, "t-0", state=FUTURE), log_dir(path=D2, partitions=(twin,))))
    assert "2 -future directories" in found.message
    assert "(log end 42)" in found.message


def test_two_metadata_logs() -> None:
    """KRaft accepts it in one log dir only."""
    (found,) = found_by(KC304, (held(D1, "__cluster_metadata-0"), held(D2, "__cluster_metadata-0")))
    assert "only in its metadata log dir" in found.effect


def test_log_dirs_of_one_broker() -> None:
    """Equal ids, different directory ids; one log dir alone."""
    two = (
        owned(D1, KRAFT + b"directory.id=tYaS4r3WQ8Ky_ObhEGQ-Bw\n"),
        owned(D2, KRAFT + b"directory.id=qzsY3uLbQ9mBq1s8vT0oWg\n"),
    )
    assert not found_by(KC305, two)
    assert not found_by(KC306, two)
    assert not found_by(KC305, (log_dir(path=D1),))
    assert not found_by(KC305, (log_dir(path=D1), log_dir(path=D2)))
    assert not found_by(KC306, (log_dir(path=D1), owned(D2, KRAFT)))
    assert not found_by(KC305, (owned(D1, ZOOKEEPER, "3.4"), log_dir(path=D2)), "3.4")


@pytest.mark.parametrize(
    ("other", "kafka", "words"),
    [
        (KRAFT.replace(b"=7", b"=8"), "4.3", "different broker ids: 7 in /data/d1 and 8 in /data/d2"),
        (KRAFT.replace(b"Tzy", b"tZY"), "4.3", "different cluster ids"),
        (KRAFT + b"directory.id=tYaS4r3WQ8Ky_ObhEGQ-Bw\n", "3.3", "different values of directory.id: none in /data/d1"),
    ],
)
def test_log_dirs_that_disagree(other: bytes, kafka: str, words: str) -> None:
    """The start ends there."""
    (found,) = found_by(KC305, (owned(D1, KRAFT, kafka), owned(D2, other, kafka)), kafka)
    assert found.severity is Severity.FATAL
    assert words in found.message
    assert (found.where.log_dir, found.where.file) == (D2, "meta.properties")


def test_a_downgrade_meets_directory_ids() -> None:
    """ZooKeeper up to 3.6 compares all properties, KRaft from 3.4 on the ids only; before 2.4 no cluster.id."""
    ours, other = ZOOKEEPER, ZOOKEEPER + b"directory.id=tYaS4r3WQ8Ky_ObhEGQ-Bw\n"
    for kafka, count in (("2.7", 0), ("2.8", 1), ("3.6", 1), ("3.9", 0)):
        assert count == len(found_by(KC305, (owned(D1, ours, kafka), owned(D2, other, kafka)), kafka))
    kraft = (owned(D1, KRAFT), owned(D2, KRAFT + b"directory.id=tYaS4r3WQ8Ky_ObhEGQ-Bw\n"))
    assert not found_by(KC305, kraft, "3.4")
    clusters = (owned(D1, ZOOKEEPER + b"cluster.id=a\n", "2.3"), owned(D2, ZOOKEEPER + b"cluster.id=b\n", "2.3"))
    assert not found_by(KC305, clusters, "2.3")


def test_a_log_dir_that_was_never_formatted() -> None:
    """KRaft wants the file in every log dir; from 4.0 on every broker is a KRaft broker."""
    for ours, kafka in ((KRAFT, "3.4"), (KRAFT, "4.3"), (ZOOKEEPER, "4.3")):
        (found,) = found_by(KC305, (owned(D1, ours, kafka), log_dir(path=D2)), kafka)
        assert "no readable meta.properties in /data/d2, but in /data/d1" in found.message
        assert D2 == found.where.log_dir
    migrated = owned(D1, ZOOKEEPER, "3.9")
    assert not found_by(KC305, (migrated, log_dir(path=D2)), "3.9")
    assert found_by(KC305, (migrated._replace(of_kraft=True), log_dir(path=D2)), "3.9")


def test_the_only_log_dir_lost_its_file() -> None:
    """From 4.0 on it is one of KRaft; before, and without checkpoints beside partitions, nothing tells that it is."""
    for kafka, count in (("4.3", 1), ("3.9", 0)):
        used = held(D1, "t-0")._replace(files={"any": file_view("meta-properties", "any", b"", kafka)})
        assert count == len(found_by(KC305, (used,), kafka))
    assert not found_by(KC305, (held(D1, "t-0"),))


def test_a_log_dir_whose_file_is_empty() -> None:
    """ZooKeeper compares all properties from 2.8 to 3.6."""
    for kafka, count in (("2.7", 0), ("2.8", 1), ("3.6", 1), ("3.7", 0)):
        found = found_by(KC305, (owned(D1, ZOOKEEPER, kafka), owned(D2, b"", kafka)), kafka)
        assert count == len(found)
        assert all("empty meta.properties in /data/d2, but in /data/d1" in each.message for each in found)


def test_two_log_dirs_with_one_directory_id() -> None:
    """From 3.7 on."""
    data = KRAFT + b"directory.id=tYaS4r3WQ8Ky_ObhEGQ-Bw\n"
    views = (owned(D1, data), owned(D2, data))
    (found,) = found_by(KC306, views)
    assert found.severity is Severity.FATAL
    assert "/data/d1 and /data/d2 have the same directory.id" in found.message
    assert not found_by(KC306, views, "3.6")


def cleaned(path: str, data: bytes, *names: str) -> LogDirView:
    """Return a log dir with this cleaner file."""
    file = offsets("cleaner", data)
    partitions = tuple(partition(name=name, log_dir=path) for name in names)
    return log_dir(file._replace(where=file.where._replace(log_dir=path)), path=path, partitions=partitions)


def test_each_cleaner_file_lists_its_own() -> None:
    """A line twice in one file is KC105's, an unreadable file KC101's."""
    mine = cleaned(D1, b"0\n1\nt 0 5\n", "t-0")
    assert not found_by(KC307, (mine, cleaned(D2, b"0\n1\nt 1 5\n", "t-1"), log_dir(path=D3)))
    assert not found_by(KC307, (mine, cleaned(D2, b"0\n2\nt 0 5\n", "t-1")))
    assert not found_by(KC307, (cleaned(D1, b"0\n2\nt 0 5\nt 0 6\n", "t-0"),))


@pytest.mark.parametrize(
    ("kafka", "value", "severity", "words"),
    [
        ("4.1", b"5", Severity.ERROR, "loses every cleaner thread"),
        ("4.0", b"6", Severity.WARNING, "which may be the wrong one"),
        ("4.0", b"5", Severity.INFO, "the values are equal"),
    ],
)
def test_a_partition_in_two_cleaner_files(kafka: str, value: bytes, severity: Severity, words: str) -> None:
    """The line of the log dir without the directory is the left-over one."""
    left_over = cleaned(D1, b"0\n3\nv 0 1\nu 0 1\nt 0 " + value + b"\n")
    right = cleaned(D2, b"0\n2\nt 0 5\nu 0 1\n", "t-0", "u-0")
    (found,) = found_by(KC307, (left_over, right), kafka)
    assert severity is found.severity
    assert words in found.effect
    assert "(and 1 further partition)" in found.message
    assert (found.where.log_dir, found.where.line) == (D1, 5)


def test_moved_both_ways() -> None:
    """Brokers of 1.1 to 2.5 left the line, and the directory until it was removed: each file is told by itself."""
    one = cleaned(D1, b"0\n2\nt 0 5\nu 0 7\n", "t-0", "u-0")
    two = cleaned(D2, b"0\n2\nu 0 5\nt 0 7\n", "u-0", "t-0")
    found = found_by(KC307, tuple(view._replace(partitions=_first_deleted(view)) for view in (one, two)))
    assert [(D1, 3, "t-0"), (D2, 3, "u-0")] == [
        (each.where.log_dir, each.where.line, each.message.partition(" ")[0]) for each in found
    ]


def _first_deleted(view: LogDirView) -> tuple[PartitionView, ...]:
    first, *rest = view.partitions
    return first._replace(state=DirectoryState.DELETED), *rest


def test_a_partition_in_two_log_dirs_and_files() -> None:
    """Where both hold it, the second is named; KC304 says the rest."""
    both = (cleaned(D1, b"0\n1\nt 0 5\n", "t-0"), cleaned(D2, b"0\n1\nt 0 5\n", "t-0"))
    (found,) = found_by(KC307, both)
    assert D2 == found.where.log_dir
