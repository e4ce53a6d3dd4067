"""What a module of this package provides."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from kcheck.model.parsed import BrokerReads, Parsed
from kcheck.model.release import Release


class Format(NamedTuple):
    """A kind of file.

    `kind` is its name in JSON and for `--as`; `matches` tells a file of this kind by its name. `parse` never raises on
    content, and is None for a file that is read in windows; `serialize` gives back what `parse` read from any file that
    a broker wrote. `broker_reads` is what the broker's own reader of a release does with the bytes, None where the kind
    has no reader of its own. `row` makes the fields that JSON shows beside "kind" and "path", `reads_row` those that
    show what the broker reads.
    """

    kind: str
    title: str
    matches: Callable[[str], bool]
    parse: Callable[[bytes], Parsed[Any]] | None = None
    serialize: Callable[[Any], bytes] | None = None
    row: Callable[[Any], Mapping[str, object]] | None = None
    broker_reads: Callable[[bytes, Release], BrokerReads[Any]] | None = None
    reads_row: Callable[[Any], Mapping[str, object]] | None = None
