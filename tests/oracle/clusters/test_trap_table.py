"""The table of the traps of a rescue, in the docstring of this package, names tests that exist."""

import ast
from pathlib import Path

import tests.oracle.clusters as table


def test_the_tests_of_the_table_exist() -> None:
    names = {
        node.name.removeprefix("test_")
        for path in Path(__file__).parent.glob("test_*.py")
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef)
    }
    assert table.__doc__ is not None
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.__doc__.splitlines() if "|" in line]
    assert len(rows) == 25
    assert [name for _, *tests in rows[2:] for name in tests if name not in names] == []
