"""What a start after an unclean stop makes of the end of a transaction that cannot be read: KC168 tells it so."""

import shutil
from pathlib import Path

import pytest

from tests.cases.build import CASES, shared_copy
from tests.oracle.ask import Ask

pytestmark = pytest.mark.oracle

FOLDER = CASES / "kc168-control-batch"
ANSWERS = {
    "clean": "838 22",
    "key-version": "219 InvalidRecordException",
    "short-value": "838 BufferUnderflowException",
    "type": "838 IllegalArgumentException",
}
"""The size of the log after it, and its end or the exception; the marker ends at position 219."""


@pytest.mark.parametrize("version", ["4.1.2", "4.3.1"])
def test_the_end_of_a_transaction(version: str, ask: Ask, tmp_path: Path) -> None:
    """One that is refused is cut behind, and the broker does not start; the others keep it from starting at once."""
    names = []
    for case in ANSWERS:
        target = tmp_path / case / "transactions-0"
        shutil.copytree(shared_copy(FOLDER / case) / "transactions-0", target)
        names.append(str(target))
    assert [*ANSWERS.values()] == ask(version, "Recover.java", names)
