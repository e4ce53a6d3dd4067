"""The tables of a rescue, in the docstring of this package, name tests that exist: of traps, and of acceptance."""

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
    traps, cells = ([row for row in rows if len(row) == count][2:] for count in (3, 4))
    assert (len(traps), len(cells)) == (23, 34)
    named = [name for _, *tests in traps for name in tests] + [test for _, test, *_ in cells]
    assert [name for name in named if name not in names] == []
