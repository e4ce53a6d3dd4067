"""The plan that docs/plan.md shows can be applied."""

import json
import re
from pathlib import Path

from kcheck.disk.apply import apply, undo
from kcheck.model.plan import NAMES, digest
from tests.builders import broker, run
from tests.disk.plans import POINT, state

PAGE = (Path(__file__).parents[2] / "docs" / "plan.md").read_text()


def test_the_example(tmp_path: Path) -> None:
    """With the log dir that the reader has in its place, it changes the one file, and undo brings it back."""
    found = re.search(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    data = broker(tmp_path / "data", run(0, 99))
    (data / ".lock").touch()  # as in every log dir of a broker
    before = state(data)
    (row,) = json.loads(found[1])["operations"]
    assert row["before"] == digest((data / POINT).read_bytes())._asdict()
    assert row["after"] == digest(b"0\n1\nt 0 50\n")._asdict()
    plan = found[1].replace("/var/lib/kafka/data", str(data))
    assert apply(plan.encode(), str(tmp_path / "backup")).changed == (0,)
    assert (data / POINT).read_bytes() == b"0\n1\nt 0 50\n"
    undo(str(tmp_path / "backup"))
    assert state(data) == before


def test_every_operation_is_told() -> None:
    """The page has a row for each operation."""
    assert re.findall(r"^\| `([a-z-]+)` \| [^|]* \| .*\|$", PAGE.partition("| More fields |")[2], re.MULTILINE) == list(
        NAMES
    )
