"""The `.log.swap` files of a partition directory, which are compacted segments that the next start renames."""

from collections.abc import Iterator

from kcheck.model.finding import Finding
from kcheck.model.names import SWAP, FileKind, files_beside_segments, parse_file
from kcheck.model.segments import SegmentView
from kcheck.model.source import Files
from kcheck.model.unreadable import UnreadableError
from kcheck.model.views import PartitionView
from kcheck.rules import kc001_unreadable
from kcheck.segments.segment import read_segment


def read_swaps(view: PartitionView, files: Files, collected: list[Finding], *, verify: bool) -> Iterator[SegmentView]:
    """Yield the facts about each `.log.swap`; an unreadable one becomes a finding in `collected`."""
    for name in files_beside_segments(view.files):
        file = parse_file(name)
        if file.suffix == SWAP and file.kind is FileKind.LOG and file.offset is not None:
            where = view.where._replace(file=name)
            try:
                yield read_segment(files, name, where, file.offset, verify=verify)._replace(producers=None)
            except UnreadableError as error:
                collected.append(kc001_unreadable.finding(where, error.why))
