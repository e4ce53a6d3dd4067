"""Segments (`.log`): gigabytes, so nothing parses one at once; `kcheck.records.batch` decodes it batch by batch."""

from kcheck.formats._contract import Format
from kcheck.model.names import FileKind, parse_file

FORMAT = Format(kind="segment", title="Segment", matches=lambda name: parse_file(name).kind is FileKind.LOG)
