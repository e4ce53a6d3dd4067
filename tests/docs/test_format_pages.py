"""docs/formats has a page for every kind of file, and the dumps in it are the bytes of real brokers."""

import re
from pathlib import Path

import pytest

from kcheck.formats import Format
from kcheck.registry import discover
from kcheck.schemas import metadata, offsets, protocol, share_state, transactions
from kcheck.schemas.schema import parse_table
from tests.docs.dumps import BLOCK, COMMAND, ROOT, pages, with_current_dumps

ROW = re.compile(r"^[0-9a-f]{4,}  ((?:[0-9a-f]{2} ?)+)", re.MULTILINE)
LINE_SIZE_MAX = 120


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_a_dump_is_what_the_file_holds(page: Path) -> None:
    """Byte for byte from the first one on, to the end unless the dump says that more follows."""
    text = page.read_text("utf-8")
    assert text == with_current_dumps(text), f"{page} is not current; write it anew: {COMMAND}"
    for path, rows in BLOCK.findall(text):
        data = (ROOT / path).read_bytes()
        shown = b"".join(bytes.fromhex(found) for found in ROW.findall(rows))
        assert shown
        assert data.startswith(shown)
        assert (shown == data) is not rows.endswith("...\n")
    assert max(map(len, text.splitlines())) <= LINE_SIZE_MAX


def test_every_kind_has_a_page() -> None:
    """Named in its title by the kind, as JSON and `--as` have it."""
    kinds = {each.kind for each in discover("kcheck.formats", "FORMAT") if isinstance(each, Format)}
    titles = [page.read_text("utf-8").splitlines()[0] for page in pages()]
    assert {kind for kind in kinds if not any(f"({kind})" in title for title in titles)} == set()


def test_every_message_has_its_row() -> None:
    """With its type and its versions."""
    text = (ROOT / "docs" / "formats" / "internal-topics.md").read_text("utf-8")
    for module in (metadata, offsets, protocol, share_state, transactions):
        for schema in parse_table(module.TABLE).values():
            least, most = schema.versions
            versions = f"{least}-{most}" if least < most else str(least)
            name = schema.name.removesuffix("Value")
            found = schema.name in text if schema.id is None else f"| {schema.id} | {name} | {versions} |" in text
            assert found or schema.name.endswith("Key"), schema.name
