"""The allow-list for the content of files in a bundle, with reasons. No other file's content goes in."""

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import NamedTuple

from kcheck.model.names import FileKind, parse_file


class How(StrEnum):
    """The form of a file's content in a bundle."""

    BATCHES = "batches"
    """As rows of batch headers."""
    COMMITS = "commits"
    """As rows of batch headers, and the committed offsets of groups."""
    SEGMENTS = "segments"
    """As rows of batch headers, and the records of remote segments."""
    NUMBERS = "numbers"
    """As it is: a binary file of numbers."""
    LINES = "lines"
    """As it is, but lines that the file's kind does not have are masked."""
    METADATA = "metadata"
    """As rewritten metadata records."""
    SETTINGS = "settings"
    """As the settings in a list."""
    NAME = "name"
    """Not at all."""


class Taken(NamedTuple):
    """The part of a file that goes into a bundle."""

    how: How
    """The form of its content."""
    why: str
    """The reason, in words."""


_BY_KIND: Mapping[FileKind, Taken] = {
    FileKind.LOG: Taken(How.BATCHES, "batch headers with verdicts; no records"),
    FileKind.INDEX: Taken(How.NUMBERS, "offsets and positions"),
    FileKind.TIME_INDEX: Taken(How.NUMBERS, "timestamps and offsets"),
    FileKind.TRANSACTION_INDEX: Taken(How.NUMBERS, "producer ids and offsets of aborted transactions"),
    FileKind.PRODUCER_SNAPSHOT: Taken(How.NUMBERS, "producer ids, epochs and sequence numbers"),
    FileKind.METADATA_SNAPSHOT: Taken(How.METADATA, "the cluster's metadata by an allow-list"),
    FileKind.BOOTSTRAP: Taken(How.METADATA, "the cluster's first metadata by an allow-list"),
    FileKind.LEADER_EPOCHS: Taken(How.LINES, "leader epochs decide truncation"),
    FileKind.OFFSETS: Taken(How.LINES, "what the broker trusts when it starts"),
    FileKind.PARTITION_METADATA: Taken(How.LINES, "the topic id"),
    FileKind.META_PROPERTIES: Taken(How.LINES, "the ids of broker, cluster and directory"),
    FileKind.CLEAN_SHUTDOWN: Taken(How.LINES, "whether the broker stopped cleanly"),
    FileKind.QUORUM_STATE: Taken(How.LINES, "the votes of a controller"),
}
_NAME_ONLY = Taken(How.NAME, "nothing of its content")
COMMITS_LOG = Taken(How.COMMITS, "batch headers with verdicts, and committed offsets of groups")
SEGMENTS_LOG = Taken(How.SEGMENTS, "batch headers with verdicts, and the remote segments")
METADATA_LOG = Taken(How.METADATA, "the cluster's metadata by an allow-list")
CONFIGURATION = Taken(How.SETTINGS, "settings that matter when a broker starts, by an allow-list")

_TOPIC = r"[A-Za-z0-9._-]{1,249}"
_UUID = r"[A-Za-z0-9_-]{20,24}"
"""22 characters of base64, or one or two more or fewer."""
_NUMBERS = r"[ \t]*[+-]?[0-9]{0,20}[A-Za-z]?[0-9]{0,20}[ \t]*"
"""A number, or a number with a wrong sign in it."""
_QUORUM_NAMES = (
    "clusterId|leaderId|leaderEpoch|votedId|votedDirectoryId|appliedOffset|currentVoters|voterId|data_version"
)
_LINES: Mapping[FileKind, re.Pattern[str]] = {
    FileKind.LEADER_EPOCHS: re.compile(rf"{_NUMBERS}|{_NUMBERS} {_NUMBERS}"),
    FileKind.OFFSETS: re.compile(rf"{_NUMBERS}|{_TOPIC} {_NUMBERS} {_NUMBERS}"),
    FileKind.PARTITION_METADATA: re.compile(rf"version: ?{_NUMBERS}|topic_id: ?{_UUID}"),
    FileKind.META_PROPERTIES: re.compile(
        r"#|#[A-Z][a-z]{2} [A-Z][a-z]{2} [0-9]{2} [0-9:]{8} [A-Z]{1,5} [0-9]{4}"
        rf"|(?:version|broker\.id|node\.id) ?= ?{_NUMBERS}|(?:cluster|directory)\.id ?= ?{_UUID}(?:==)?"
    ),
    FileKind.CLEAN_SHUTDOWN: re.compile(r'(?:[\s{}:,0-9-]|"version"|"brokerEpoch")*'),
    FileKind.QUORUM_STATE: re.compile(rf'(?:[\s{{}}\[\]:,0-9-]|"(?:{_QUORUM_NAMES})"|"{_UUID}"|"")*'),
}
"""The form of a line."""
_BREAKS = re.compile(rb"(\r\n|\r|\n)")
_MASKED = re.compile(r"[^\W\d_]")
_HIDDEN = re.compile(r"[^\sA-Za-z0-9._:={}\[\]\",#+\\-]")
_ALL_X = re.compile(rb"^[^A-Za-z\n]*x[^A-Za-wyz\n]*$", re.MULTILINE)
_TEXT_RUN = re.compile(rb"[\x20-\x7e]{8,}")


def content_of(name: str) -> Taken:
    """Return the part of a file with this name that goes in."""
    return _BY_KIND.get(parse_file(name).kind, _NAME_ONLY)


def masked_lines(name: str, data: bytes, rename: Callable[[str], str] | None = None) -> bytes:
    """Return a text file, with masks in lines that its kind does not have.

    In these lines letters become `x`, and odd signs `?`. Numbers, spaces and the signs of the formats stay, so that a
    reader fails at the same place. `rename` is applied to the topics of a checkpoint.
    """
    kind = parse_file(name).kind
    pieces = _BREAKS.split(data)
    for at in range(0, len(pieces), 2):
        pieces[at] = _line(kind, pieces[at], rename)
    return b"".join(pieces)


def _line(kind: FileKind, line: bytes, rename: Callable[[str], str] | None) -> bytes:
    text = line.decode("latin-1")
    if _LINES[kind].fullmatch(text) is not None and text.isascii():
        if rename is not None and kind is FileKind.OFFSETS and " " in text.strip():
            topic, space, rest = text.partition(" ")
            return (rename(topic) + space + rest).encode("latin-1")
        return line
    ascii_only = _HIDDEN.sub(lambda odd: odd[0] if odd[0] < " " or odd[0] >= "\x7f" else "?", text)
    hidden = _MASKED.sub(lambda letter: "x" if letter[0].isascii() else letter[0], ascii_only)
    return "".join("\xff" if character > "\x7f" else character for character in hidden).encode("latin-1")


def may_be_masked(data: bytes) -> bool:
    """Return whether a line of a text has letters, and all of them are `x`."""
    return _ALL_X.search(data) is not None


def numbers_only(data: bytes) -> bytes:
    """Return a binary file in which runs of printable bytes, which no numbers have, are 0xff."""
    return _TEXT_RUN.sub(lambda run: b"\xff" * len(run[0]), data)
