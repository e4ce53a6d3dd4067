"""The `.log.swap` files of a partition directory: what a start puts in the place of segments."""

from collections.abc import Iterator

from kcheck.model.finding import Finding
from kcheck.model.names import SWAP, FileKind, files_beside_segments, parse_file
from kcheck.model.segments import SegmentView
from kcheck.model.source import Files
from kcheck.model.unreadable import UnreadableError
from kcheck.model.views import PartitionView
from kcheck.rules import kc001_unreadable
from kcheck.segments.segment import examine


def read_swaps(view: PartitionView, files: Files, collected: list[Finding], *, verify: bool) -> Iterator[SegmentView]:
    """Yield each `.log.swap`, read from its start."""
    for name in files_beside_segments(view.files):
        found = parse_file(name)
        if found.suffix == SWAP and found.kind is FileKind.LOG and found.offset is not None:
            where = view.where._replace(file=name)
            try:
                yield examine(files, name, where, found.offset, verify=verify)._replace(producers=None)
            except UnreadableError as error:
                collected.append(kc001_unreadable.finding(where, error.why))
