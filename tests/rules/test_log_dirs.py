"""KC301, KC302, KC308 to KC310, KC313, KC314: one log dir."""

import pytest

from kcheck.core.start.remote_index_cache import NOT_A_DIRECTORY
from kcheck.model.finding import Severity
from kcheck.model.names import DirectoryState
from kcheck.model.remote_index_cache import RemoteIndexCache
from kcheck.model.unreadable import Unreadable, UnreadableCause
from kcheck.model.views import PartitionView
from kcheck.rules.kc301_directory_name import RULE as KC301
from kcheck.rules.kc302_entry_without_directory import RULE as KC302
from kcheck.rules.kc308_log_dir_in_use import RULE as KC308
from kcheck.rules.kc309_directory_name_not_canonical import RULE as KC309
from kcheck.rules.kc310_topic_id_missing import RULE as KC310
from kcheck.rules.kc313_checkpoint_missing import RULE as KC313
from kcheck.rules.kc314_remote_index_cache_refused import RULE as KC314
from tests.rules.build import LOG_DIR, file_view, found_by, log_dir, offsets, partition
from tests.rules.test_metadata_files import KRAFT, ZOOKEEPER, properties

HEX = "0123456789abcdef0123456789abcdef"


def waiting(state: DirectoryState) -> PartitionView:
    """Return t-0 with an ending as the broker writes it."""
    ending = "delete" if state is DirectoryState.DELETED else state
    return partition(name=f"t-0.{HEX}-{ending}", state=state)


@pytest.mark.parametrize("kafka", ["0.8.2", "2.0", "4.3"])
def test_names_that_the_broker_reads(kafka: str) -> None:
    """No directory, partitions, and what the broker passes over."""
    assert not found_by(KC301, log_dir(), kafka)
    assert not found_by(KC301, log_dir(partitions=(partition(), partition(name="a.b-c-12"))), kafka)


@pytest.mark.parametrize("name", ["lost+found", ".snapshot", "backup", "t-x", "t-0-delete", "x\x1b[31m"])
def test_a_name_that_aborts_the_start(name: str) -> None:
    """In every release; the name cannot disturb a terminal."""
    for kafka in ("0.8.2", "4.3"):
        (found,) = found_by(KC301, log_dir(unparseable=(name,)), kafka)
        assert found.severity is Severity.FATAL
        assert name == found.where.dir
        assert LOG_DIR == found.where.log_dir
        assert "\x1b" not in found.message


def test_the_remote_index_cache_is_passed_over_from_3_5() -> None:
    """Before, it aborts a start after a downgrade."""
    view = log_dir(unparseable=("remote-log-index-cache",))
    assert not found_by(KC301, view, "3.5")
    assert found_by(KC301, view, "3.4")


@pytest.mark.parametrize(
    ("state", "before", "since"),
    [
        (DirectoryState.DELETED, "0.10.1", "0.10.2"),
        (DirectoryState.FUTURE, "1.0", "1.1"),
        (DirectoryState.STRAY, "3.6.0", "3.6.1"),
    ],
)
def test_an_ending_of_a_newer_broker(state: DirectoryState, before: str, since: str) -> None:
    """A downgrade meets it."""
    view = log_dir(partitions=(waiting(state),))
    (found,) = found_by(KC301, view, before)
    assert "only newer brokers read" in found.message
    assert not found_by(KC301, view, since)


def test_entries_for_all_directories_are_clean() -> None:
    """So is a directory without an entry, and a file that cannot be read is another finding."""
    files = (offsets("replication", b"0\n1\nt 0 5\n"), offsets("cleaner", b"0\n2\nu 0 5\n"), properties(KRAFT))
    assert not found_by(KC302, log_dir(*files, partitions=(partition(), partition(name="t-1"))))


def test_a_name_that_is_longer_than_any_is_shortened() -> None:
    """A file can name anything; a finding stays readable, and its data tell all of it."""
    (found,) = found_by(KC302, log_dir(offsets("replication", b"0\n1\n" + b"x" * 100_000 + b" 0 5\n")))
    assert f"this log dir: {'x' * 60}... (100002 characters)" in found.message
    assert ({"topic": "x" * 100_000, "partition": 0, "offset": 5},) == found.data["entries"]


@pytest.mark.parametrize(
    ("name", "kafka", "words"),
    [
        ("replication", "4.3", "ignores them"),
        ("recovery-point", "0.10.2", "ignores them"),
        ("cleaner", "4.0", "may use them instead"),
        ("cleaner", "4.1", "loses every cleaner thread"),
    ],
)
def test_entries_without_a_directory(name: str, kafka: str, words: str) -> None:
    """Only an info: the next write drops them."""
    file = offsets(name, b"0\n3\nu 1 5\nt 0 5\nu 0 7\n", kafka)
    (found,) = found_by(KC302, log_dir(file, partitions=(partition(),)), kafka)
    assert found.severity is Severity.INFO
    assert found.where.line == 3
    assert "2 entries without a directory in this log dir: u-1 and u-0" in found.message
    assert words in found.effect


def test_many_names_are_counted() -> None:
    """A message stays short, and the data bounded."""
    lines = "".join(f"t {i} 5\n" for i in range(200))
    (found,) = found_by(KC302, log_dir(offsets("replication", f"0\n200\n{lines}".encode())))
    assert "and 190 more" in found.message
    assert len(found.data["entries"]) == 100


def test_a_log_dir_in_use() -> None:
    """A process of another container is seen as 0."""
    assert not found_by(KC308, log_dir())
    (found,) = found_by(KC308, log_dir(locked_by=4711))
    assert found.severity is Severity.WARNING
    assert "process 4711 holds .lock" in found.message
    (found,) = found_by(KC308, log_dir(locked_by=0))
    assert "outside this container" in found.message


@pytest.mark.parametrize(
    ("name", "severity", "loaded"),
    [
        ("t-00", Severity.WARNING, "t-0"),
        ("t-+1", Severity.WARNING, "t-1"),
        ("my topic-0", Severity.ERROR, "my topic-0"),
    ],
)
def test_a_name_that_no_broker_writes(name: str, severity: Severity, loaded: str) -> None:
    """It is loaded all the same; with a space the checkpoints become unreadable."""
    (found,) = found_by(KC309, log_dir(partitions=(partition(name=name),)))
    assert severity is found.severity
    assert f"is loaded as {loaded}" in found.message


def test_names_that_brokers_write_or_refuse() -> None:
    """Those are clean, or KC301's."""
    names = (partition(), waiting(DirectoryState.STRAY), partition(name="__cluster_metadata-00"))
    assert not found_by(KC309, log_dir(partitions=names))
    odd = partition(name="t-0.x-stray", state=DirectoryState.STRAY)
    assert found_by(KC309, log_dir(partitions=(odd,)))
    assert not found_by(KC309, log_dir(partitions=(odd,)), "3.6.0")
    nowhere = partition()._replace(where=partition().where._replace(dir=None))
    assert not found_by(KC309, log_dir(partitions=(nowhere,)))


@pytest.mark.parametrize(
    ("kafka", "severity", "words"),
    [
        ("3.2", Severity.ERROR, "fails to publish"),
        ("3.6", Severity.WARNING, "keeps running"),
        ("3.7.0", Severity.FATAL, "does not start"),
        ("3.7.1", Severity.ERROR, "will RENAME THE DIRECTORY to -stray"),
        ("4.3", Severity.ERROR, "will RENAME THE DIRECTORY to -stray"),
    ],
)
def test_a_partition_without_a_topic_id(kafka: str, severity: Severity, words: str) -> None:
    """On a KRaft broker its data are served no more."""
    view = log_dir(properties(KRAFT, kafka), partitions=(partition(),))
    (found,) = found_by(KC310, view, kafka)
    assert severity is found.severity
    assert words in found.effect


def test_a_new_directory_may_lack_its_topic_id() -> None:
    """The file is written in the background, before the first record."""
    (found,) = found_by(KC310, log_dir(properties(KRAFT), partitions=(partition(segment_sizes=(0,)),)))
    assert found.severity is Severity.INFO


def test_a_log_dir_that_came_from_zookeeper_needs_topic_ids() -> None:
    """Its meta.properties stays of version 0; a broker of 3.7 to 3.9 that migrates adds a directory.id."""
    migrated = properties(ZOOKEEPER + b"directory.id=2-AjgdC9etwL6f3mULxa5A\n", "3.9")
    assert found_by(KC310, log_dir(migrated, partitions=(partition(),)), "3.9")


def test_where_no_topic_id_is_needed() -> None:
    """ZooKeeper's log dirs, old releases, the metadata log, directories that wait for their end."""
    assert not found_by(KC310, log_dir(properties(ZOOKEEPER), partitions=(partition(),)))
    assert not found_by(KC310, log_dir(partitions=(partition(),)))
    assert not found_by(KC310, log_dir(properties(KRAFT, "2.8"), partitions=(partition(),)), "2.8")
    assert not found_by(KC310, log_dir(file_view("meta-properties", "meta.properties", b""), partitions=(partition(),)))
    known = partition()._replace(files=frozenset({"partition.metadata"}))
    others = (partition(topic_id="x"), partition(name="__cluster_metadata-0"), waiting(DirectoryState.STRAY), known)
    assert not found_by(KC310, log_dir(properties(KRAFT), partitions=others))


HIGH_WATERMARKS, RECOVERY_POINTS = offsets("replication", b"0\n1\nt 0 10\n"), offsets("recovery-point", b"0\n0\n")


def test_checkpoints_that_every_broker_with_records_has() -> None:
    """Without the high watermarks records are hidden; without the recovery points a clean start loses nothing."""
    (marks,) = found_by(KC313, log_dir(RECOVERY_POINTS, partitions=(partition(),)))
    assert (marks.severity, marks.where.file) == (Severity.WARNING, "replication-offset-checkpoint")
    view = log_dir(HIGH_WATERMARKS, partitions=(partition(),))
    (points,) = found_by(KC313, view)
    assert (points.severity, points.where.file) == (Severity.INFO, "recovery-point-offset-checkpoint")
    assert "scans every segment" in points.effect
    (points,) = found_by(KC313, view._replace(clean_shutdown=True))
    assert "scans nothing" in points.effect


def test_checkpoints_that_may_be_missing() -> None:
    """Of a log dir without records, or with KRaft's log alone; and those that exist and cannot be read."""
    assert not found_by(KC313, log_dir(HIGH_WATERMARKS, RECOVERY_POINTS, partitions=(partition(),)))
    assert not found_by(KC313, log_dir(partitions=(partition(segment_sizes=(0,)),)))
    assert not found_by(KC313, log_dir(partitions=(partition(name="__cluster_metadata-0"),)))
    assert not found_by(KC313, log_dir(partitions=(waiting(DirectoryState.DELETED),)))
    unread = dict.fromkeys(
        (HIGH_WATERMARKS.name, RECOVERY_POINTS.name), Unreadable(UnreadableCause.REFUSED, "no permission")
    )
    assert not found_by(KC313, log_dir(partitions=(partition(),))._replace(unread=unread))


def test_a_remote_index_cache_that_ends_the_start() -> None:
    """From 3.6 on: before, no broker has remote storage. The names cannot disturb a terminal."""
    view = log_dir()._replace(remote_index_cache=RemoteIndexCache(refused=("x\x1b[31m",), refused_count=1))
    assert not found_by(KC314, view, "3.5")
    (found,) = found_by(KC314, view, "3.6")
    assert found.message == r"1 name that no broker can load: x\x1b[31m"
    assert found.where.file == "remote-log-index-cache"
    (blocked,) = found_by(KC314, log_dir()._replace(remote_index_cache=NOT_A_DIRECTORY))
    assert blocked.message == "it is a file, not a directory"
    assert not found_by(KC314, log_dir()._replace(remote_index_cache=RemoteIndexCache(files=3)))
    assert not found_by(KC314, log_dir())
