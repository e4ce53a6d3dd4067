"""Names of directories and files, as brokers write them and as they read them."""

import pytest

from kcheck.core.releases.releases import release
from kcheck.model.names import (
    DirectoryState,
    FileKind,
    KafkaFile,
    PartitionDirectory,
    TopicPartition,
    broker_accepts,
    files_beside_segments,
    is_legal_topic,
    is_stranger,
    is_stranger_in_log_dir,
    local_name,
    parse_directory,
    parse_file,
    segment_prefix,
    skipped_by_broker,
)

HEX = "0123456789abcdef0123456789abcdef"
NUMBER = "00000000000000001843"


@pytest.mark.parametrize(
    ("name", "topic", "partition", "state"),
    [
        ("orders-0", "orders", 0, DirectoryState.CURRENT),
        ("foo.bar-3", "foo.bar", 3, DirectoryState.CURRENT),
        ("foo--1", "foo-", 1, DirectoryState.CURRENT),
        ("foo-2147483647", "foo", 2**31 - 1, DirectoryState.CURRENT),
        (f"orders-7.{HEX}-delete", "orders", 7, DirectoryState.DELETED),
        (f"orders-7.{HEX}-future", "orders", 7, DirectoryState.FUTURE),
        (f"orders-7.{HEX}-stray", "orders", 7, DirectoryState.STRAY),
    ],
)
def test_names_that_brokers_write(name: str, topic: str, partition: int, state: DirectoryState) -> None:
    assert PartitionDirectory(topic, partition, state, canonical=True) == parse_directory(name)


@pytest.mark.parametrize(
    ("name", "topic", "partition", "state"),
    [
        ("foo-+1", "foo", 1, DirectoryState.CURRENT),
        ("foo-01", "foo", 1, DirectoryState.CURRENT),
        ("foo-\u0661", "foo", 1, DirectoryState.CURRENT),
        ("foo bar-0", "foo bar", 0, DirectoryState.CURRENT),
        ("\udcff-0", "\udcff", 0, DirectoryState.CURRENT),
        ("t" * 250 + "-0", "t" * 250, 0, DirectoryState.CURRENT),
        ("foo-0.abc-delete", "foo", 0, DirectoryState.DELETED),
        (f"foo-0.{HEX.upper()}-stray", "foo", 0, DirectoryState.STRAY),
    ],
)
def test_names_that_brokers_only_read(name: str, topic: str, partition: int, state: DirectoryState) -> None:
    assert PartitionDirectory(topic, partition, state, canonical=False) == parse_directory(name)


@pytest.mark.parametrize(
    "name",
    [
        "lost+found", ".snapshot", "foo", "", "-0", "foo-", "foo-x", "foo-2147483648", "foo-0 ", "foo-0-delete",
        "foo-0.a b-stray", "foo-0.a.b-future", "remote-log-index-cache", f"foo-0.{HEX}-deleted",
    ],
)  # fmt: skip
def test_names_that_abort_a_start(name: str) -> None:
    assert parse_directory(name) is None
    assert broker_accepts(name, release("4.3")) is None


@pytest.mark.parametrize(("suffix", "last_without", "first"), [
    ("delete", "0.10.1.1", "0.10.2.0"), ("future", "1.0.2", "1.1.0"), ("stray", "3.6.0", "3.6.1"),
])  # fmt: skip
def test_a_release_knows_no_later_suffix(suffix: str, last_without: str, first: str) -> None:
    """After a downgrade the directory aborts the start."""
    name = f"foo-0.{HEX}-{suffix}"
    assert broker_accepts(name, release(last_without)) is None
    assert broker_accepts(name, release(first)) == TopicPartition("foo", 0)


def test_a_topic_with_a_dot_could_not_be_deleted() -> None:
    """Up to 0.10.2.1 the topic of a directory that is to be deleted ended at its first dot."""
    for kafka, accepted in (("0.10.2.1", None), ("0.10.2.2", TopicPartition("a.b", 0))):
        assert broker_accepts(f"a.b-0.{HEX}-delete", release(kafka)) == accepted
        assert broker_accepts(f"t-0.{HEX}-delete", release(kafka)) == TopicPartition("t", 0)
    assert broker_accepts("t-0-delete", release("0.10.2.1")) is None


def test_some_directories_are_passed_over() -> None:
    """The cache of remote indexes from 3.5, the metadata log from 3.0; the preview of 2.8 called it otherwise."""
    assert skipped_by_broker("remote-log-index-cache", release("3.5"))
    assert not skipped_by_broker("remote-log-index-cache", release("3.4"))
    assert skipped_by_broker("__cluster_metadata-0", release("3.0"))
    assert skipped_by_broker("@metadata-0", release("2.8"))
    assert not skipped_by_broker("__cluster_metadata-0", release("2.8"))
    assert not skipped_by_broker("__cluster_metadata-0", release("2.7"))
    assert not skipped_by_broker("foo-0", release("4.3"))
    assert not skipped_by_broker("lost+found", release("4.3"))


@pytest.mark.parametrize(("topic", "legal"), [
    ("a", True), ("a.b_c-D9", True), ("t" * 249, True), ("t" * 250, False), ("", False), (".", False), ("..", False),
    ("a b", False),
])  # fmt: skip
def test_legal_topics(topic: str, legal: bool) -> None:
    assert legal is is_legal_topic(topic)


KINDS = {
    "log": FileKind.LOG,
    "index": FileKind.INDEX,
    "timeindex": FileKind.TIME_INDEX,
    "txnindex": FileKind.TRANSACTION_INDEX,
    "snapshot": FileKind.PRODUCER_SNAPSHOT,
}


@pytest.mark.parametrize("suffix", ["", ".cleaned", ".swap", ".deleted"])
@pytest.mark.parametrize("ending", KINDS)
def test_files_of_a_segment(ending: str, suffix: str) -> None:
    """A producer snapshot is never cleaned nor swapped."""
    canonical = ending != "snapshot" or suffix in ("", ".deleted")
    assert KafkaFile(KINDS[ending], 1843, suffix, canonical) == parse_file(f"{NUMBER}.{ending}{suffix}")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("5.log", KafkaFile(FileKind.LOG, 5, "", canonical=False)),
        ("5.old.log", KafkaFile(FileKind.LOG, 5, "", canonical=False)),
        ("+5.index.swap", KafkaFile(FileKind.INDEX, 5, ".swap", canonical=False)),
        ("-5.log", KafkaFile(FileKind.LOG, -5, "", canonical=False)),
        ("copy.log", KafkaFile(FileKind.LOG, None, "", canonical=False)),
        (".log", KafkaFile(FileKind.LOG, None, "", canonical=False)),
        (f"{'9' * 20}.log", KafkaFile(FileKind.LOG, None, "", canonical=False)),
        (f"{NUMBER}-0000000007.checkpoint", KafkaFile(FileKind.METADATA_SNAPSHOT, 1843, "")),
        (f"{NUMBER}-0000000007.checkpoint.deleted", KafkaFile(FileKind.METADATA_SNAPSHOT, 1843, ".deleted")),
        (f"{NUMBER}-0000000007-99.checkpoint.part", KafkaFile(FileKind.METADATA_SNAPSHOT, 1843, ".part")),
        (f"{'9' * 20}-0000000007.checkpoint", KafkaFile(FileKind.OTHER, None, "", canonical=False)),
        (f"{NUMBER}-9999999999.checkpoint", KafkaFile(FileKind.OTHER, None, "", canonical=False)),
        ("leader-epoch-checkpoint", KafkaFile(FileKind.LEADER_EPOCHS, None, "")),
        ("leader-epoch-checkpoint.tmp", KafkaFile(FileKind.LEADER_EPOCHS, None, ".tmp")),
        ("partition.metadata", KafkaFile(FileKind.PARTITION_METADATA, None, "")),
        ("recovery-point-offset-checkpoint", KafkaFile(FileKind.OFFSETS, None, "")),
        ("cleaner-offset-checkpoint.tmp", KafkaFile(FileKind.OFFSETS, None, ".tmp")),
        ("meta.properties.tmp", KafkaFile(FileKind.META_PROPERTIES, None, ".tmp")),
        ("quorum-state", KafkaFile(FileKind.QUORUM_STATE, None, "")),
        ("bootstrap.checkpoint", KafkaFile(FileKind.BOOTSTRAP, None, "")),
        ("_rlmm_committed_offsets", KafkaFile(FileKind.REMOTE_OFFSETS, None, "")),
        ("remote_log_snapshot", KafkaFile(FileKind.REMOTE_SNAPSHOT, None, "")),
        (".kafka_cleanshutdown", KafkaFile(FileKind.CLEAN_SHUTDOWN, None, "")),
        (".lock", KafkaFile(FileKind.LOCK, None, "")),
        (".lock.tmp", KafkaFile(FileKind.OTHER, None, "", canonical=False)),
        ("notes.deleted", KafkaFile(FileKind.OTHER, None, ".deleted", canonical=False)),
        ("notes", KafkaFile(FileKind.OTHER, None, "", canonical=False)),
        ("\udcff.log", KafkaFile(FileKind.LOG, None, "", canonical=False)),
    ],
)  # fmt: skip
def test_other_files(name: str, expected: KafkaFile) -> None:
    assert expected == parse_file(name)


def test_segment_prefix_has_twenty_digits() -> None:
    assert segment_prefix(1843) == NUMBER
    assert len(segment_prefix(2**63 - 1)) == 20


def test_the_files_of_a_segment_are_its_log_and_the_indexes_beside_it() -> None:
    """What else stands in a directory is looked at one by one, and so is whatever a broker would not call so."""
    others = (
        f"{NUMBER}.log.swap", f"{NUMBER}.snapshot", f"{NUMBER}.txnindex", "00000000000000000007.index", "1.index",
        "1.log", "99999999999999999999.index", "99999999999999999999.log", "leader-epoch-checkpoint",
        "000000000000000000x0.log",
    )  # fmt: skip
    of_segments = [f"{NUMBER}.{ending}" for ending in ("index", "log", "timeindex")]
    assert tuple(sorted(others)) == files_beside_segments(frozenset((*others, *of_segments)))
    assert tuple(sorted(others)) == files_beside_segments(frozenset((*others, of_segments[1])))


@pytest.mark.parametrize(
    ("name", "in_partition", "in_log_dir"),
    [
        ("notes.txt", True, True),
        ("orders-0", True, False),
        (f"{NUMBER}.log", False, False),
        ("leader-epoch-checkpoint.tmp", False, False),
    ],
)
def test_strangers(name: str, in_partition: bool, in_log_dir: bool) -> None:
    """A broker takes a name that ends like a partition for one of its own in a log dir alone."""
    assert (in_partition, in_log_dir) == (is_stranger(name), is_stranger_in_log_dir(name))


@pytest.mark.parametrize(
    ("stored", "local"),
    [
        (f"{5:020d}-{'-_aZ9' * 4}xx.log", f"{5:020d}.log"),
        (f"{5:020d}-{'A' * 22}.txnindex", f"{5:020d}.txnindex"),
        (f"{5:020d}-{'A' * 22}.leader_epoch_checkpoint", "leader-epoch-checkpoint"),
        (f"{5:020d}-{'A' * 22}.snapshot", f"{5:020d}-{'A' * 22}.snapshot"),
        (f"{5:020d}-{'A' * 22}.rsm-manifest", f"{5:020d}-{'A' * 22}.rsm-manifest"),
        (f"{5:020d}.log", f"{5:020d}.log"),
    ],
)
def test_objects_of_a_remote_store(stored: str, local: str) -> None:
    """The offset is in the name; that of a producer snapshot is the end of its segment, which the name lacks."""
    assert local_name(stored) == local
