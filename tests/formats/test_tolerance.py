"""What the readers of the checkpoints let pass and what they refuse, release line by release line.

One release for each reader, R1 to R6; every kind of odd input is one row for all of them.
"""

from collections.abc import Mapping

import pytest

from kcheck.core.releases.releases import release
from kcheck.formats import leader_epoch_checkpoint, offset_checkpoint
from kcheck.model.release import CheckpointReader

RELEASES = {"R1": "0.9.0", "R2": "0.10.2", "R3": "0.11.0", "R4": "1.1", "R5": "2.8", "R6": "4.3"}
EPOCH_RELEASES = {name: kafka for name, kafka in RELEASES.items() if name not in ("R1", "R2")}

IO, NUMBER, MALFORMED = "IOException", "NumberFormatException", "MalformedInputException"
ARGUMENT, MEMORY = "IllegalArgumentException", "OutOfMemoryError"

Entries = Mapping[tuple[str, int], int]
Errors = tuple[str | None, ...]

REFUSED = (IO,) * 6
HEAD_IS_NO_NUMBER = (NUMBER, *(IO,) * 5)
ENTRY_IS_NO_NUMBER = (NUMBER, *(IO,) * 4, NUMBER)

WRITTEN = b"0\n2\nt 0 1843\nu 11 92\n"
BOTH: Entries = {("t", 0): 1843, ("u", 11): 92}
FIVE: Entries = {("t", 0): 5}

ACCEPTED: dict[str, tuple[bytes, Entries]] = {
    "as written": (WRITTEN, BOTH),
    "0 bytes": (b"", {}),
    "version without line end": (b"0", {}),
    "version": (b"0\n", {}),
    "no entries, no line end": (b"0\n0", {}),
    "no entries": (b"0\n0\n", {}),
    "no line end at the end": (WRITTEN[:-1], BOTH),
    "CR LF": (WRITTEN.replace(b"\n", b"\r\n"), BOTH),
    "CR": (WRITTEN.replace(b"\n", b"\r"), BOTH),
    "spaces at the end of an entry": (b"0\n1\nt 0 5  \n", FIVE),
    "tab at the end of an entry": (b"0\n1\nt 0 5\t\n", FIVE),
    "tabs between fields": (b"0\n1\nt\t0\t5\n", FIVE),
    "VT between fields": (b"0\n1\nt\x0b0\x0b5\n", FIVE),
    "FF between fields": (b"0\n1\nt\x0c0\x0c5\n", FIVE),
    "several spaces between fields": (b"0\n1\nt  0   5\n", FIVE),
    "version +0": (b"+0\n1\nt 0 5\n", FIVE),
    "version -0": (b"-0\n1\nt 0 5\n", FIVE),
    "version 000": (b"000\n1\nt 0 5\n", FIVE),
    "count +1": (b"0\n+1\nt 0 5\n", FIVE),
    "offset +5": (b"0\n1\nt 0 +5\n", FIVE),
    "offset 0005": (b"0\n1\nt 0 0005\n", FIVE),
    "partition 00": (b"0\n1\nt 00 5\n", FIVE),
    "digits of another script": ("0\n1\nt 0 \u0665\n".encode(), FIVE),
    "version in digits of another script": ("\u0660\n1\nt 0 5\n".encode(), FIVE),
    "negative offset": (b"0\n1\nt 0 -5\n", {("t", 0): -5}),
    "negative partition": (b"0\n1\nt -1 5\n", {("t", -1): 5}),
    "NUL in a topic": (b"0\n1\nt\0t 0 5\n", {("t\0t", 0): 5}),
    "topic that nobody can make": (b"0\n1\n.. 0 5\n", {("..", 0): 5}),
    "cut inside the last offset": (WRITTEN[:-2], {**BOTH, ("u", 11): 9}),
    "least and greatest numbers": (
        b"0\n2\nt -2147483648 -9223372036854775808\nt 2147483647 9223372036854775807\n",
        {("t", -(2**31)): -(2**63), ("t", 2**31 - 1): 2**63 - 1},
    ),
}

NOT_ACCEPTED: dict[str, tuple[bytes, Errors]] = {
    "a line feed": (b"\n", HEAD_IS_NO_NUMBER),
    "version 1": (b"1\n0\n", REFUSED),
    "version -1": (b"-1\n0\n", REFUSED),
    "blank line at the end": (WRITTEN + b"\n", REFUSED),
    "blank line between entries": (b"0\n2\nt 0 1843\n\nu 11 92\n", REFUSED),
    "U+0085 as line end of the version": ("0\u00850\n".encode(), HEAD_IS_NO_NUMBER),
    "U+2028 as line end of the count": ("0\n0\u2028\n".encode(), HEAD_IS_NO_NUMBER),
    "U+0085 as line end of an entry": ("0\n2\nt 0 5\u0085u 0 6\n".encode(), REFUSED),
    "U+2028 as line end of an entry": ("0\n2\nt 0 5\u2028u 0 6\n".encode(), REFUSED),
    "VT as line end of an entry": (b"0\n2\nt 0 5\x0bu 0 6\n", REFUSED),
    "FF as line end of an entry": (b"0\n2\nt 0 5\x0cu 0 6\n", REFUSED),
    "space before an entry": (b"0\n1\n t 0 5\n", REFUSED),
    "no-break space between fields": ("0\n1\nt\u00a00 5\n".encode(), REFUSED),
    "em space between fields": ("0\n1\nt\u20030 5\n".encode(), REFUSED),
    "space before the version": (b" 0\n0\n", HEAD_IS_NO_NUMBER),
    "space behind the version": (b"0 \n0\n", HEAD_IS_NO_NUMBER),
    "space before the count": (b"0\n 0\n", HEAD_IS_NO_NUMBER),
    "tab behind the count": (b"0\n0\t\n", HEAD_IS_NO_NUMBER),
    "byte order mark": (b"\xef\xbb\xbf0\n0\n", HEAD_IS_NO_NUMBER),
    "1_000": (b"0\n1\nt 0 1_000\n", ENTRY_IS_NO_NUMBER),
    "0x5": (b"0\n1\nt 0 0x5\n", ENTRY_IS_NO_NUMBER),
    "5.0": (b"0\n1\nt 0 5.0\n", ENTRY_IS_NO_NUMBER),
    "5L": (b"0\n1\nt 0 5L\n", ENTRY_IS_NO_NUMBER),
    "-": (b"0\n1\nt 0 -\n", ENTRY_IS_NO_NUMBER),
    "partition that is none": (b"0\n1\nt x 5\n", ENTRY_IS_NO_NUMBER),
    "digit outside of the first plane": ("0\n1\nt 0 \U0001d7d3\n".encode(), ENTRY_IS_NO_NUMBER),
    "partition of 33 bits": (b"0\n1\nt 2147483648 5\n", ENTRY_IS_NO_NUMBER),
    "offset of 65 bits": (b"0\n1\nt 0 9223372036854775808\n", ENTRY_IS_NO_NUMBER),
    "version of 33 bits": (b"2147483648\n0\n", HEAD_IS_NO_NUMBER),
    "count of 33 bits": (b"0\n2147483648\n", HEAD_IS_NO_NUMBER),
    "repeated partition, both counted": (b"0\n2\nt 0 5\nt 0 6\n", (IO, IO, None, None, None, None)),
    "repeated partition, counted once": (b"0\n1\nt 0 5\nt 0 6\n", (None, None, IO, IO, IO, IO)),
    "count that is none": (b"0\nx\n", HEAD_IS_NO_NUMBER),
    "count too small": (b"0\n1\nt 0 5\nu 0 6\n", REFUSED),
    "count too large": (b"0\n3\nt 0 5\nu 0 6\n", REFUSED),
    "negative count": (b"0\n-1\n", (*(IO,) * 5, ARGUMENT)),
    "negative count before a bad entry": (b"0\n-1\nt 0 x\n", (NUMBER, *(IO,) * 4, ARGUMENT)),
    "large count": (b"0\n100000\n", REFUSED),
    "enormous count": (b"0\n2147483647\n", (*(IO,) * 5, MEMORY)),
    "NULs": (b"\0" * 64, HEAD_IS_NO_NUMBER),
    "NULs behind the entries": (WRITTEN + b"\0" * 64, REFUSED),
    "four fields": (b"0\n1\nt 0 5 6\n", REFUSED),
    "two fields": (b"0\n1\nt 5\n", REFUSED),
    "invalid UTF-8": (b"0\n1\nt\xff 0 5\n", (None, None, None, None, MALFORMED, MALFORMED)),
    "bad bytes in the version": (b"\xff0\n0\n", (NUMBER, IO, IO, IO, MALFORMED, MALFORMED)),
    "a character that the end cuts": (b"0\n1\nt 0 5\n\xe2\x82", (IO, IO, IO, IO, MALFORMED, MALFORMED)),
    "a bad number before such a character": (b"0\n1\nt 0 x\n\xe2\x82", ENTRY_IS_NO_NUMBER),
}


def _read(data: bytes, kafka: str) -> tuple[Entries | None, str | None]:
    read = offset_checkpoint.broker_reads(data, release(kafka))
    value = None if read.value is None else {(entry.topic, entry.partition): entry.offset for entry in read.value}
    return value, read.error


@pytest.mark.parametrize("reader", RELEASES)
def test_each_reader_has_its_release(reader: str) -> None:
    assert release(RELEASES[reader]).reader is CheckpointReader(reader)


@pytest.mark.parametrize("reader", RELEASES)
@pytest.mark.parametrize("odd", ACCEPTED)
def test_every_reader_accepts(odd: str, reader: str) -> None:
    """The entries are those that kcheck reads, and what is odd is marked as accepted."""
    data, entries = ACCEPTED[odd]
    assert (entries, None) == _read(data, RELEASES[reader])
    parsed = offset_checkpoint.parse(data)
    assert entries == {(entry.topic, entry.partition): entry.offset for entry in parsed.value}
    assert all(defect.accepted for defect in parsed.defects)


@pytest.mark.parametrize("reader", RELEASES)
@pytest.mark.parametrize("odd", NOT_ACCEPTED)
def test_a_reader_refuses(odd: str, reader: str) -> None:
    """With the exception that its release throws; at least one reader throws, so a defect is not accepted."""
    data, errors = NOT_ACCEPTED[odd]
    assert errors[list(RELEASES).index(reader)] == _read(data, RELEASES[reader])[1]
    assert not all(defect.accepted for defect in offset_checkpoint.parse(data).defects)


@pytest.mark.parametrize("reader", RELEASES)
@pytest.mark.parametrize("size", range(len(WRITTEN)))
def test_a_cut_file_is_empty_wrong_or_refused(size: int, reader: str) -> None:
    """Only a cut inside the last offset goes unnoticed, and only one before the count leaves nothing."""
    value, error = _read(WRITTEN[:size], RELEASES[reader])
    if size <= len(b"0\n"):
        assert (value, error) == ({}, None)
    elif size > len(WRITTEN) - len(b"92\n"):
        assert error is None
        assert value in ({**BOTH, ("u", 11): 9}, BOTH)
    else:
        assert (value, error) == (None, IO)


EPOCH_ROWS: dict[str, tuple[bytes, Errors]] = {
    "as written": (b"0\n2\n0 0\n6 1200\n", (None,) * 4),
    "0 bytes": (b"", (None,) * 4),
    "version": (b"0\n", (None,) * 4),
    "CR LF, signs, zeros, tabs": (b"-0\r\n+1\r\n+06\t\t0 \r\n", (None,) * 4),
    "equal epochs": (b"0\n2\n5 7\n5 7\n", (None,) * 4),
    "negative epoch and offset": (b"0\n1\n-1 -5\n", (None,) * 4),
    "no line end at the end": (b"0\n1\n6 1200", (None,) * 4),
    "blank line": (b"0\n1\n\n6 1200\n", (IO,) * 4),
    "space before an entry": (b"0\n1\n 6 1200\n", (IO,) * 4),
    "one field": (b"0\n1\n6\n", (IO,) * 4),
    "three fields": (b"0\n1\n6 1200 5\n", (IO,) * 4),
    "wrong count": (b"0\n2\n6 1200\n", (IO,) * 4),
    "unknown version": (b"1\n1\n6 1200\n", (IO,) * 4),
    "epoch that is none": (b"0\n1\nx 1200\n", (IO, IO, IO, NUMBER)),
    "epoch of 33 bits": (b"0\n1\n2147483648 1200\n", (IO, IO, IO, NUMBER)),
    "offset that is none": (b"0\n1\n6 -\n", (IO, IO, IO, NUMBER)),
    "negative count": (b"0\n-1\n", (IO, IO, IO, ARGUMENT)),
    "enormous count": (b"0\n2147483647\n", (IO, IO, IO, MEMORY)),
    "NULs": (b"\0" * 43, (IO,) * 4),
    "invalid UTF-8": (b"0\n1\n6 \xff\n", (IO, IO, MALFORMED, MALFORMED)),
}


@pytest.mark.parametrize("reader", EPOCH_RELEASES)
@pytest.mark.parametrize("odd", EPOCH_ROWS)
def test_the_same_readers_read_leader_epochs(odd: str, reader: str) -> None:
    data, errors = EPOCH_ROWS[odd]
    read = leader_epoch_checkpoint.broker_reads(data, release(EPOCH_RELEASES[reader]))
    assert errors[list(EPOCH_RELEASES).index(reader)] == read.error
    assert read.error or read.value == leader_epoch_checkpoint.parse(data).value.entries
