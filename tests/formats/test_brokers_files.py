"""Every small file that a real broker wrote is read without a complaint and written back to the byte."""

from pathlib import Path

import pytest

from kcheck.core.releases.releases import release
from kcheck.formats import Format
from kcheck.registry import discover

BROKERS = Path(__file__).parents[2] / "fixtures" / "brokers"
FORMATS = [each for each in discover("kcheck.formats", "FORMAT") if isinstance(each, Format) and each.serialize]
CUT_BY_HAND = "__cluster_metadata-0"
"""Its indexes were cut in the copy (fixtures/README.md), not at the end of an entry."""


def _files(kind: Format) -> list[Path]:
    return [path for path in sorted(BROKERS.rglob("*")) if path.is_file() and kind.matches(path.name)]


@pytest.mark.parametrize("kind", FORMATS, ids=lambda kind: kind.kind)
def test_files_of_real_brokers(kind: Format) -> None:
    """No defect, the same bytes again, and the broker of that release reads the file."""
    files = _files(kind)
    assert files
    for path in files:
        data = path.read_bytes()
        assert kind.parse is not None
        assert kind.serialize is not None
        parsed = kind.parse(data)
        assert not parsed.defects or CUT_BY_HAND in path.parts, path
        assert kind.serialize(parsed.value) == data, path
        chosen = release(path.relative_to(BROKERS).parts[0])
        assert kind.broker_reads is None or kind.broker_reads(data, chosen).error is None, path
