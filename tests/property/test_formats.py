"""Properties of every parser, for any bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcheck.core.releases.releases import TABLE, release
from kcheck.formats import (
    Format,
    clean_shutdown,
    leader_epoch_checkpoint,
    meta_properties,
    offset_checkpoint,
    offset_index,
    partition_metadata,
    producer_snapshot,
    quorum_state,
    time_index,
    transaction_index,
)
from kcheck.formats._checkpoint_file import DEFECT_COUNT_MAX
from kcheck.model.cluster import QuorumState
from kcheck.model.entries import EpochEntries, OffsetEntry
from kcheck.model.java import java_fields, java_int, java_lines, java_long, utf8_lines, utf8_lines_replaced
from kcheck.model.names import broker_accepts, parse_directory, parse_file
from kcheck.model.parsed import FOUND_SIZE_MAX
from kcheck.model.release import CheckpointReader, Release
from kcheck.records.batch import CORRUPT, HEADER, batch_at, entry_size
from kcheck.registry import discover
from tests import strategies
from tests.property import reference

FORMATS = {
    each.kind: each
    for each in discover("kcheck.formats", "FORMAT")
    if isinstance(each, Format) and each.serialize is not None
}
RELEASES = [release(row.last) for row in TABLE]
READERS = [release(name) for name in ("0.9.0", "0.10.2", "0.11.0", "1.1", "2.8", "4.3")]
"""One release for each checkpoint reader."""


def _offset_file(entries: list[OffsetEntry]) -> bytes:
    columns = ([getattr(entry, name) for entry in entries] for name in ("topic", "partition", "offset"))
    return offset_checkpoint.serialize(offset_checkpoint.OffsetCheckpoint(0, *columns))


def _epoch_file(entries: EpochEntries) -> bytes:
    columns = ([getattr(entry, name) for entry in entries] for name in ("epoch", "start_offset"))
    return leader_epoch_checkpoint.serialize(leader_epoch_checkpoint.LeaderEpochCheckpoint(0, *columns))


OFFSET_FILES = strategies.offset_entries().map(_offset_file)
EPOCH_FILES = strategies.epoch_entries().map(_epoch_file)
FILES = {
    "offset-checkpoint": OFFSET_FILES | strategies.checkpoint_texts(),
    "leader-epoch-checkpoint": EPOCH_FILES | strategies.checkpoint_texts(),
    "partition-metadata": strategies.partition_metadata().map(partition_metadata.serialize),
    "meta-properties": strategies.meta_properties().map(meta_properties.serialize),
    "clean-shutdown": strategies.clean_shutdowns().map(clean_shutdown.serialize),
    "offset-index": strategies.offset_indexes().map(offset_index.serialize),
    "time-index": strategies.time_indexes().map(time_index.serialize),
    "transaction-index": strategies.transaction_indexes().map(transaction_index.serialize),
    "producer-snapshot": strategies.producer_snapshots().map(producer_snapshot.serialize),
    "quorum-state": strategies.quorum_states().map(quorum_state.serialize),
}


def test_every_format_has_its_files() -> None:
    assert set(FORMATS) == set(FILES)


@pytest.mark.parametrize("kind", sorted(FORMATS))
@given(data=st.data())
def test_no_bytes_raise(kind: str, data: st.DataObject) -> None:
    """A parser keeps what it can read and lists its defects, within limits; so does every broker's reader."""
    form = FORMATS[kind]
    file = data.draw(strategies.damaged(FILES[kind]) | st.binary(max_size=200))
    assert form.parse is not None
    assert form.row is not None
    parsed = form.parse(file)
    assert isinstance(form.row(parsed.value), dict)
    assert len(parsed.defects) <= 3 * DEFECT_COUNT_MAX
    for defect in parsed.defects:
        assert 0 <= defect.position <= len(file)
        assert len(defect.found) <= FOUND_SIZE_MAX
        assert (defect.line or 1) >= 1
        assert str(defect)
    if form.broker_reads is None:
        return
    for chosen in RELEASES:
        read = form.broker_reads(file, chosen)
        assert (read.value is None) is (read.error is not None)
        assert read.value is None or form.reads_row is None or isinstance(form.reads_row(read.value), dict)


@pytest.mark.parametrize("kind", sorted(FORMATS))
@given(data=st.data())
def test_what_is_without_defect_is_written_back(kind: str, data: st.DataObject) -> None:
    """A file without defects is serialized to the same bytes."""
    form = FORMATS[kind]
    file = data.draw(strategies.damaged(FILES[kind]))
    assert form.parse is not None
    assert form.serialize is not None
    parsed = form.parse(file)
    # A person may write properties and JSON in many ways; there only what they say is kept.
    if not parsed.defects and kind not in ("meta-properties", "quorum-state"):
        assert file == form.serialize(parsed.value)


@given(value=strategies.meta_properties())
def test_written_properties_are_read_back(value: meta_properties.MetaProperties) -> None:
    """Whatever they are."""
    assert value == meta_properties.parse(meta_properties.serialize(value)).value


@given(entries=strategies.offset_entries(), chosen=st.sampled_from(RELEASES))
def test_every_broker_reads_what_a_broker_writes(entries: list[OffsetEntry], chosen: Release) -> None:
    """Entries in the order of the file."""
    read = offset_checkpoint.broker_reads(_offset_file(entries), chosen)
    assert entries == list(read.value or ())
    assert read.error is None


OLDEST_WITH_FILE = {
    "clean-shutdown": (3, 7),
    "leader-epoch-checkpoint": (0, 11),
    "meta-properties": (3, 7),
    "partition-metadata": (3, 7),
    "producer-snapshot": (0, 11),
    "quorum-state": (3, 8),
    "transaction-index": (0, 11),
}
"""The first release whose reader agrees with the newest; without an entry every release does."""


@pytest.mark.parametrize("kind", sorted(kind for kind, form in FORMATS.items() if form.broker_reads is not None))
@given(data=st.data())
def test_an_accepted_defect_is_accepted_by_every_broker(kind: str, data: st.DataObject) -> None:
    """For a file without other defects all of them return kcheck's value."""
    form = FORMATS[kind]
    file = data.draw(strategies.damaged(FILES[kind]))
    assert form.parse is not None
    assert form.broker_reads is not None
    parsed = form.parse(file)
    if not all(defect.accepted for defect in parsed.defects):
        return
    for chosen in RELEASES:
        if chosen.version >= OLDEST_WITH_FILE.get(kind, (0,)):
            read = form.broker_reads(file, chosen)
            assert read.error is None
            assert _plain(parsed.value) == _plain(read.value)


def _plain(value: object) -> object:
    """Return a value to compare: columns as entries, properties without comments, of an election that it is kept."""
    match value:
        case offset_checkpoint.OffsetCheckpoint() | leader_epoch_checkpoint.LeaderEpochCheckpoint():
            return tuple(value.entries)
        case meta_properties.MetaProperties():
            return value.properties
        case QuorumState():
            return quorum_state.ElectionRead(None)
    return value


def _alone(file: bytes) -> bytes:
    """Drop incomplete characters: Java and Python count those differently."""
    return file.replace(b"\xed\xa0", b"\xff").replace(b"\xc3", b"\xfe")


@given(file=strategies.damaged(FILES["offset-checkpoint"]), chosen=st.sampled_from(READERS))
def test_offset_checkpoints_are_read_as_line_by_line(file: bytes, chosen: Release) -> None:
    """Each reader returns the entries, the last one of a repeated partition, or the class of the exception."""
    if chosen.reader not in (CheckpointReader.R5, CheckpointReader.R6):
        file = _alone(file)
    expected = reference.read_checkpoint(file, 3, chosen.reader)
    read = offset_checkpoint.broker_reads(file, chosen)
    if isinstance(expected, str):
        assert expected == read.error
    else:
        last = {(topic, partition): offset for topic, partition, offset in expected}
        assert last == {(entry.topic, entry.partition): entry.offset for entry in read.value or ()}
        assert read.error is None


@given(file=strategies.damaged(FILES["leader-epoch-checkpoint"]), chosen=st.sampled_from(READERS[2:]))
def test_leader_epoch_checkpoints_are_read_as_line_by_line(file: bytes, chosen: Release) -> None:
    """Each reader from 0.11 returns every line in order, or the class of the exception."""
    if chosen.reader not in (CheckpointReader.R5, CheckpointReader.R6):
        file = _alone(file)
    expected = reference.read_checkpoint(file, 2, chosen.reader)
    read = leader_epoch_checkpoint.broker_reads(file, chosen)
    found = read.error or [(entry.epoch, entry.start_offset) for entry in read.value or ()]
    assert expected == found


@given(text=st.text("0123456789+-_ x\u0660\u0665\U0001d7d3", max_size=25))
def test_numbers_are_read_as_digit_by_digit(text: str) -> None:
    assert reference.number(text, -(2**31), 2**31 - 1) == java_int(text)
    assert reference.number(text, -(2**63), 2**63 - 1) == java_long(text)


@given(text=st.text("ab \t\x0b\f\r\n\x85\u2028\xa0", max_size=25))
def test_lines_and_fields_are_split_as_character_by_character(text: str) -> None:
    assert reference.lines(text) == list(java_lines(text))
    for line in java_lines(text):
        assert reference.fields(line) == java_fields(line)
        bounded = java_fields(line, 2)
        assert bounded == java_fields(line) if len(bounded) <= 2 else len(java_fields(line)) > 2


@given(data=st.binary(max_size=60) | strategies.checkpoint_texts(), front=st.sampled_from([0, 8190, 8191, 8192, 16384]))
def test_the_reader_sees_a_beginning_of_the_lines(data: bytes, front: int) -> None:
    """Strict decoding gives a prefix of decoding with replacements, and all of it for valid UTF-8."""
    file = b"\n" * front + data
    strict = utf8_lines(file)
    seen, every = list(strict.lines), list(utf8_lines_replaced(file))
    assert seen == every[: len(seen)]
    try:
        file.decode()
    except UnicodeDecodeError:
        assert strict.malformed
    else:
        assert not strict.malformed
        assert seen == every


@given(window=st.binary(min_size=HEADER.size, max_size=200), remaining=st.integers(0, 300))
def test_every_window_has_an_answer(window: bytes, remaining: int) -> None:
    """An entry ends within the file, and its header is read without an exception."""
    total = entry_size(window, 0, remaining=remaining)
    if total is not None and total != CORRUPT:
        assert 26 <= total <= remaining
        batch = batch_at(window, 0, position=0, total=total)
        assert batch is None or batch.size == total


@given(
    name=st.text(st.characters(codec=None), max_size=30)
    | st.binary(max_size=30).map(lambda raw: raw.decode("utf-8", "surrogateescape"))
)
def test_every_name_has_an_answer(name: str) -> None:
    """The newest broker accepts exactly the directories that `parse_directory` does; every file has a kind."""
    directory = parse_directory(name)
    accepted = broker_accepts(name, release("4.3"))
    assert (directory is None) is (accepted is None)
    assert (
        directory is None
        or accepted is None
        or (directory.topic, directory.partition) == (accepted.topic, accepted.partition)
    )
    assert parse_file(name).kind


@given(
    topic=strategies.topics(),
    partition=st.integers(0, 2**31 - 1),
    suffix=st.sampled_from(["", *(f".{'0a' * 16}-{s}" for s in ("delete", "future", "stray"))]),
)
def test_names_that_brokers_write_are_canonical(topic: str, partition: int, suffix: str) -> None:
    directory = parse_directory(f"{topic}-{partition}{suffix}")
    assert directory is not None
    assert (directory.topic, directory.partition, directory.canonical) == (topic, partition, True)
