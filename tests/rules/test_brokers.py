"""KC303 to KC307: the log dirs of one broker, compared."""

import pytest

from kcheck.model.finding import Severity
from kcheck.model.names import DirectoryState
from kcheck.model.views import LogDirView
from kcheck.rules.kc303_topic_id_mismatch import RULE as KC303
from kcheck.rules.kc304_duplicate_partition import RULE as KC304
from kcheck.rules.kc305_identity_mismatch import RULE as KC305
from kcheck.rules.kc307_cleaner_entry_twice import RULE as KC307
from tests.rules.build import file_view, found_by, log_dir, offsets, partition
from tests.rules.test_metadata_files import KRAFT, ZOOKEEPER

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


def test_one_directory_for_a_partition_is_clean() -> None:
    """So is a future one beside it, and what waits for its end."""
    for state in (FUTURE, DELETED, STRAY):
        assert not found_by(KC304, (held(D1, "t-0", "t-1", "u-0"), held(D2, "t-0", state=state)))
    assert not found_by(KC304, (held(D1, "t-0", state=DELETED), held(D2, "t-0", state=DELETED)))


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


def test_a_log_dir_that_was_never_formatted() -> None:
    """KRaft wants the file in every log dir; from 4.0 on every broker is a KRaft broker. An empty one is P301's."""
    other = log_dir(path=D2, partitions=(partition(name="t-0", log_dir=D2),))
    for ours, kafka in ((KRAFT, "3.4"), (KRAFT, "4.3"), (ZOOKEEPER, "4.3")):
        (found,) = found_by(KC305, (owned(D1, ours, kafka), other), kafka)
        assert not found_by(KC305, (owned(D1, ours, kafka), log_dir(path=D2)), kafka)
        assert "/data/d2 has no readable meta.properties; readable in /data/d1" in found.message
        assert D2 == found.where.log_dir
    assert not found_by(KC305, (owned(D1, KRAFT), log_dir(path=D2, unparseable=("meta.properties",))))
    assert not found_by(KC305, (owned(D1, KRAFT), other._replace(unread=dict.fromkeys(("meta.properties",)))))
    migrated = owned(D1, ZOOKEEPER, "3.9")
    assert not found_by(KC305, (migrated, other), "3.9")
    assert found_by(KC305, (migrated._replace(of_kraft=True), other), "3.9")


def cleaned(path: str, data: bytes, *names: str) -> LogDirView:
    """Return a log dir with this cleaner file."""
    file = offsets("cleaner", data)
    partitions = tuple(partition(name=name, log_dir=path) for name in names)
    return log_dir(file._replace(where=file.where._replace(log_dir=path)), path=path, partitions=partitions)


def test_a_partition_in_two_log_dirs_and_files() -> None:
    """Where both hold it, the second is named; KC304 says the rest."""
    both = (cleaned(D1, b"0\n1\nt 0 5\n", "t-0"), cleaned(D2, b"0\n1\nt 0 5\n", "t-0"))
    (found,) = found_by(KC307, both)
    assert D2 == found.where.log_dir
