"""The entries of a checkpoint, with their lines."""

from collections.abc import Iterator, Mapping

from kcheck.formats.offset_checkpoint import OffsetCheckpoint
from kcheck.model.finding import Location
from kcheck.model.names import TopicPartition
from kcheck.model.views import FileView
from kcheck.rules._checkpoints import OFFSET_CHECKPOINT_KIND
from kcheck.rules._words import escaped
from kcheck.words import agree, counted, listed, partition_name

HEADER_LINES = 2
"""The version and the count come before the entries."""

_NOTHING = OffsetCheckpoint(None, (), (), ())


def line_of(index: int) -> int:
    """Return the line of the entry with that index; correct for every file that the broker reads."""
    return HEADER_LINES + 1 + index


def on_line(view: FileView, index: int) -> Location:
    """Return the location of an entry."""
    return view.where._replace(line=line_of(index))


def readable(view: FileView) -> bool:
    """Return whether the broker's reader accepts the file; False if this release has no reader for it."""
    return view.reads is not None and view.reads.error is None


def offset_entries(view: FileView | None) -> OffsetCheckpoint:
    """Return the readable entries of an offset checkpoint; none for another file or no file."""
    if view is None or view.kind != OFFSET_CHECKPOINT_KIND:
        return _NOTHING
    value = view.parsed.value
    assert isinstance(value, OffsetCheckpoint)
    return value


def holds_nothing(view: FileView) -> bool:
    """Return whether a readable checkpoint has no count, as it has 0 bytes or only a version line."""
    return view.size < len(b"0\n0\n") and all(defect.line != HEADER_LINES for defect in view.parsed.defects)


def repeated(view: FileView) -> Mapping[TopicPartition, tuple[int, ...]]:
    """Return the partitions that an offset checkpoint lists more than once, with the indexes of their entries."""
    if all(defect.accepted for defect in view.parsed.defects):
        return {}  # A repeated partition is a defect, so a file without defects needs no search.
    indexes: dict[TopicPartition, list[int]] = {}
    for index, entry in enumerate(offset_entries(view)):
        indexes.setdefault(TopicPartition(entry.topic, entry.partition), []).append(index)
    return {key: tuple(entries) for key, entries in indexes.items() if len(entries) > 1}


def repeated_text(view: FileView) -> str:
    """Return `2 partitions are listed more than once: a-0 and b-1`; empty without any."""
    keys = repeated(view)
    if not keys:
        return ""
    listing = listed(escaped_name(*key) for key in keys)
    return f"{counted(len(keys), 'partition')} {agree(len(keys), 'is', 'are')} listed more than once: {listing}"


def escaped_name(topic: str, partition: int) -> str:
    """Return `orders-0`, with escapes for characters that would disturb a terminal."""
    return escaped(partition_name(topic, partition))


def offset_texts(view: FileView, indexes: tuple[int, ...]) -> Iterator[str]:
    """Return `20 in line 4` for each of these entries."""
    entries = offset_entries(view)
    return (f"{entries[index].offset} in line {line_of(index)}" for index in indexes)
