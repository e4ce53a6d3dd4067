"""The options of `kcheck dump`: which rows to select, and how much detail to show."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from kcheck.errors import UsageError
from kcheck.model.report import Row
from kcheck.records.record import Data, Record

_OFFSETS = re.compile(r"(-?[0-9]{1,19})?(\.\.)?(-?[0-9]{1,19})?")
_MILLISECONDS = re.compile(r"-?[0-9]{5,19}")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

BATCH_SPAN = ("base_offset", "last_offset")
"""The fields with the first and the last offset of a batch."""

Bounds = tuple[int | None, int | None]
"""First and last value, None for no bound."""


class DumpRow(NamedTuple):
    """A row; `damaged` is true if its batch or entry is corrupt.

    `least` is the lowest possible first offset of a wrapper message. The real one needs decompression.
    """

    row: Row
    damaged: bool
    least: int | None = None


Decode = Callable[[Data | None, Data | None], tuple[Row | None, Row | None]]
"""Takes key and value of a record, None for null; returns rows of `Message`, or None."""


class DumpDetail(NamedTuple):
    """The part of a batch to show besides its header.

    `records`: each record. `data`: also its key, value and headers, as `utf8`, `hex` or `base64`. `java`: decode texts
    as Java does, with U+FFFD for invalid UTF-8, and keep the negative size of a null. `decode` decodes key and value,
    except of control records.
    """

    records: bool = False
    data: str | None = None
    java: bool = False
    decode: Decode | None = None


class Filter(NamedTuple):
    """The rows to select; None is all. Times are in ms since 1970."""

    offsets: Bounds | None = None
    epoch: int | None = None
    producer_id: int | None = None
    only_damaged: bool = False
    times: Bounds | None = None

    def wants(self, dump_row: DumpRow, span: tuple[str, str]) -> bool:
        """Return whether a row is selected; `span` names the fields with its first and last offset."""
        row = dump_row.row
        if self.only_damaged and not dump_row.damaged:
            return False
        if self.epoch is not None and row["leader_epoch"] != self.epoch:
            return False
        if self.producer_id is not None and row["producer_id"] != self.producer_id:
            return False
        if self.times is not None and not _meets(self.times, *_timestamps(row)):
            return False
        first = dump_row.least if row[span[0]] is None else row[span[0]]
        return self.offsets is None or _meets(self.offsets, first, row[span[1]])

    def wants_record(self, record: Record) -> bool:
        """Return whether a record of a selected batch is selected."""
        if self.times is not None and not _meets(self.times, record.timestamp, record.timestamp):
            return False
        return self.offsets is None or _meets(self.offsets, record.offset, record.offset)


def _meets(bounds: Bounds, first: object, last: object) -> bool:
    """Return whether a range may overlap the bounds.

    A range without a last value never does; an unknown first value may be any.
    """
    if not isinstance(last, int):
        return False
    least, most = bounds
    return (least is None or last >= least) and (most is None or not isinstance(first, int) or first <= most)


def _timestamps(row: Row) -> tuple[object, object]:
    """Return the first and last timestamp of an entry or batch; unknown if compaction replaced the first."""
    if "timestamp" in row:
        return row["timestamp"], row["timestamp"]
    first, last = row["base_timestamp"], row["max_timestamp"]
    if row["timestamp_type"] == "LogAppendTime":
        return last, last
    return (first if row["delete_horizon_ms"] is None else None), last


def parse_offsets(text: str) -> Bounds:
    """Return the bounds of `FROM..TO`, `FROM..`, `..TO` or one offset."""
    match = _OFFSETS.fullmatch(text)
    if match is None or not (match[1] or match[3]) or (match[2] is None and match[3]):
        raise UsageError(f"--offset: invalid range '{text}'; write FROM..TO, FROM.., ..TO or one offset")
    first, last = (None if number is None else int(number) for number in (match[1], match[3]))
    return _rising("--offset", text, (first, first if match[2] is None else last))


def parse_times(text: str) -> Bounds:
    """Return the bounds of `FROM..TO`, `FROM..` or `..TO`: ISO 8601 (UTC by default) or milliseconds."""
    begin, separator, end = text.partition("..")
    try:
        first, last = (_milliseconds(part) if part else None for part in (begin, end))
    except ValueError:
        separator = ""
    if not separator or not (begin or end):
        raise UsageError(
            f"--time: invalid range '{text}'; write FROM..TO, FROM.. or ..TO with times like "
            "2026-01-31, 2026-01-31T12:00:00Z or milliseconds since 1970"
        )
    return _rising("--time", text, (first, last))


def _rising(option: str, text: str, bounds: Bounds) -> Bounds:
    """Return the bounds; UsageError if they are reversed."""
    first, last = bounds
    if first is not None and last is not None and last < first:
        raise UsageError(f"{option} {text} ends before it begins")
    return bounds


def _milliseconds(text: str) -> int:
    if _MILLISECONDS.fullmatch(text):
        return int(text)
    time = datetime.fromisoformat(text)
    return ((time if time.tzinfo else time.replace(tzinfo=UTC)) - _EPOCH) // timedelta(milliseconds=1)
