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
from tests.rules.build import file_view, found_by, log_dir, offsets, partition
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


def test_names_that_brokers_write_or_refuse() -> None:
    """Those are clean, or KC301's."""
    names = (partition(), waiting(DirectoryState.STRAY), partition(name="__cluster_metadata-00"))
    assert not found_by(KC309, log_dir(partitions=names))
    odd = partition(name="t-0.x-stray", state=DirectoryState.STRAY)
    assert found_by(KC309, log_dir(partitions=(odd,)))
    assert not found_by(KC309, log_dir(partitions=(odd,)), "3.6.0")
    nowhere = partition()._replace(where=partition().where._replace(dir=None))
    assert not found_by(KC309, log_dir(partitions=(nowhere,)))


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
    blocked = log_dir(partitions=(partition(),))._replace(unparseable=tuple(unread))
    assert not found_by(KC313, blocked)
    assert [f"{name} is a directory" for name in unread] == [finding.message for finding in found_by(KC301, blocked)]


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
