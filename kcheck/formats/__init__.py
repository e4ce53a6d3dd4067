r"""Parsers for the small files in a log dir of a Kafka broker.

Each public module reads one kind of file and is named for it. It takes the bytes of a file and returns values. It opens
no file and raises no error for corrupt content. `parse` finds the module by the file's name:

    >>> from kcheck import formats
    >>> from kcheck.formats import leader_epoch_checkpoint
    >>> data = b"0\n2\n5 100\nsix 120\n"
    >>> parsed = formats.parse("leader-epoch-checkpoint", data)
    >>> parsed == leader_epoch_checkpoint.parse(data)
    True
    >>> parsed.value.entries
    (EpochEntry(epoch=5, start_offset=100),)
    >>> [str(defect) for defect in parsed.defects]
    ['line 4, column 1: "six" is not an epoch', 'line 2, column 1: the count is 2, but 1 entry is readable']

A module has up to three functions:

- `parse(data)` returns a `Parsed` with everything that could be read, and every defect. It is kcheck's own reader.
- `serialize(value)` returns the bytes of a value, as a broker writes them.
- `broker_reads(data, release)` returns the value that the broker of a Kafka release reads from the bytes, or the
  exception that it throws. Releases read the same bytes differently, so this is a second reader
  (docs/adr/0005-two-readers.md).

Segments (`.log`) can be gigabytes, so `segment` has no `parse`. `kcheck.records.batch` decodes one batch header at a
time.

A module sets `FORMAT`, and `registry.discover` finds it without a list. docs/contributing.md says how to add one.
Importing this package loads no parser. Each is imported when it is first used. Modules that formats share:

- `_contract`: What must a format provide?
- `_checkpoint_file`: Which lines and defects does a text checkpoint have?
- `_checkpoint_reader`: What does the broker read from a text checkpoint?
- `_properties`: Which keys and values does a java.util.Properties file have?
- `_bootstrap`: Does a KRaft node start with this bootstrap.checkpoint?
"""

from typing import Any

from kcheck.errors import UsageError
from kcheck.formats._contract import Format
from kcheck.model.names import FileKind
from kcheck.model.parsed import Parsed
from kcheck.registry import discover

__all__ = ["Format", "all_formats", "format_of", "parse"]


def parse(name: str, data: bytes) -> Parsed[Any]:
    """Return the contents of the bytes of a file, with every defect; `name` is the file's name or path.

    Raise UsageError if no module parses files of this name.
    """
    known = format_of(name)
    if known is None or known.parse is None:
        why = "segments are read batch by batch, see kcheck.records.batch" if known else "not a known file name"
        raise UsageError(f"kcheck.formats cannot parse {name}: {why}")
    return known.parse(data)


def format_of(name: str) -> Format | None:
    """Return the format of a file by its name or path, None if no module knows the name."""
    file_name = name.rpartition("/")[2]
    if file_name == FileKind.BOOTSTRAP:
        from kcheck.formats import metadata_snapshot  # the broker reads the same format in another way here

        return metadata_snapshot.BOOTSTRAP
    return next((known for known in all_formats() if known.matches(file_name)), None)


def all_formats() -> tuple[Format, ...]:
    """Return every format, in the order of the module names; this imports all parsers."""
    return tuple(known for known in discover(__name__, "FORMAT") if isinstance(known, Format))
