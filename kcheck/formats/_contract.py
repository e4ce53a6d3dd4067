"""The part that every public module of this package provides, a `FORMAT`."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from kcheck.model.parsed import BrokerReads, Parsed
from kcheck.model.release import Release


class Format(NamedTuple):
    """A kind of file, and the functions that read and write it."""

    kind: str
    """Its name in JSON and for `--as`."""
    title: str
    """Its name in text output."""
    matches: Callable[[str], bool]
    """True if a file of this name is of this kind."""
    parse: Callable[[bytes], Parsed[Any]] | None = None
    """Reads a file; never raises on content. None if files of this kind are too large to read at once."""
    serialize: Callable[[Any], bytes] | None = None
    """Writes a value. For every file that a broker wrote it returns the bytes that `parse` was given."""
    row: Callable[[Any], Mapping[str, object]] | None = None
    """The JSON fields of a value, shown next to "kind" and "path"."""
    broker_reads: Callable[[bytes, Release], BrokerReads[Any]] | None = None
    """The broker's reading of the bytes, by release. None if a broker never reads a complete file of this kind."""
    reads_row: Callable[[Any], Mapping[str, object]] | None = None
    """The JSON fields of the broker's reading."""
