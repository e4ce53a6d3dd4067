"""The hex dumps of docs/formats: `python -m tests.docs.dumps` writes them anew after new fixtures.

A fenced block `hex` names a file of a real broker and shows its bytes: a text file line by line, a binary one field by
field. `...` at the end says that more follow.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from kcheck.formats.offset_index import OFFSET_INDEX_ENTRY
from kcheck.formats.producer_snapshot import PRODUCER, SNAPSHOT_HEADER
from kcheck.formats.time_index import TIME_INDEX_ENTRY
from kcheck.formats.transaction_index import ABORTED_TXN
from kcheck.model.names import FileKind, parse_file
from kcheck.records.batch import HEADER, LEGACY, MAGIC_AT, OVERHEAD
from kcheck.records.layout import Layout

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "formats"
COMMAND = "python -m tests.docs.dumps"

ROW_SIZE = 16
ENTRY_COUNT = 3
"""So many entries of an index are shown."""

BLOCK = re.compile(r"^```hex\n(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

Part = tuple[int, int, str]
"""Position, size, and what it says."""

_ENTRIES = {
    FileKind.INDEX: OFFSET_INDEX_ENTRY,
    FileKind.TIME_INDEX: TIME_INDEX_ENTRY,
    FileKind.TRANSACTION_INDEX: ABORTED_TXN,
}


def pages() -> list[Path]:
    """Return the pages about files."""
    return sorted(PAGES.glob("*.md"))


def dump(data: bytes, name: str) -> str:
    """Return the bytes of a file with what they mean."""
    parts = list(_parts(data, parse_file(name).kind))
    rows = [row for part in parts for row in _rows(data, part)]
    shown = parts[-1][0] + parts[-1][1] if parts else 0
    return "".join(f"{row.rstrip()}\n" for row in [*rows, *(["..."] if shown < len(data) else [])])


def _rows(data: bytes, part: Part) -> Iterator[str]:
    position, size, text = part
    for at in range(position, position + size, ROW_SIZE):
        raw = data[at : min(at + ROW_SIZE, position + size)]
        yield f"{at:04x}  {raw.hex(' '):<{3 * ROW_SIZE - 1}}  {text if at == position else ''}"


def _parts(data: bytes, kind: FileKind) -> Iterator[Part]:
    if kind is FileKind.LOG:
        yield from _batch(data)
    elif kind is FileKind.PRODUCER_SNAPSHOT:
        yield from _fields(data, 0, SNAPSHOT_HEADER)
        yield from _fields(data, SNAPSHOT_HEADER.size, PRODUCER)
    elif kind in _ENTRIES:
        layout = _ENTRIES[kind]
        for at in range(0, min(len(data) // layout.size, ENTRY_COUNT) * layout.size, layout.size):
            yield from _fields(data, at, layout)
    else:
        position = 0
        for line in data.splitlines(keepends=True):
            yield position, len(line), repr(line.decode())[1:-1]
            position += len(line)


def _batch(data: bytes) -> Iterator[Part]:
    """Yield the header of the first batch or message, and the beginning of what follows it."""
    layout = HEADER if data[MAGIC_AT] == 2 else LEGACY
    yield from _fields(data, 0, layout)
    end = OVERHEAD.size + int(OVERHEAD.unpack_from(data)[1])
    yield layout.size, min(end - layout.size, 3 * ROW_SIZE), "records" if layout is HEADER else "message"


def _fields(data: bytes, position: int, layout: Layout) -> Iterator[Part]:
    for name, size, value in zip(layout.names, layout.sizes, layout.unpack_from(data, position), strict=True):
        yield position, size, f"{name} = {value:#010x}" if name == "crc" else f"{name} = {value}"
        position += size


def with_current_dumps(text: str) -> str:
    """Return a page with its dumps made anew."""

    def block(found: re.Match[str]) -> str:
        path = ROOT / found[1]
        return f"```hex\n{found[1]}\n{dump(path.read_bytes(), path.name)}```"

    return BLOCK.sub(block, text)


def main() -> None:
    """Write the pages that are not current."""
    for page in pages():
        text = page.read_text("utf-8")
        current = with_current_dumps(text)
        if text != current:
            page.write_text(current, "utf-8", newline="\n")
            print(f"written: {page.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
