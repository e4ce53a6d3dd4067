"""docs/repair.md names every repair, in their order, with the rules that it is about, and every rule without one."""

import re
from pathlib import Path

from kcheck.repairs._nothing import WITHOUT
from kcheck.survey.rule_runner import all_repairs, all_rules

PAGE = Path(__file__).parents[2] / "docs" / "repair.md"
_ROW = re.compile(r"^\| `([a-z-]+)` \| ([KC0-9, to]+) \|", re.MULTILINE)
_REASON = re.compile(r"^\| (KC[0-9]+) \| (.+) \|$", re.MULTILINE)


def rules(text: str) -> set[str]:
    """Return the rules of a cell: `KC141 to KC143, KC145`."""
    known = [rule.id for rule in all_rules()]
    found: set[str] = set()
    for part in text.split(", "):
        first, _, last = part.partition(" to ")
        found |= set(known[known.index(first) : known.index(last or first) + 1])
    return found


def test_the_page_names_every_repair() -> None:
    """In the order in which they are asked."""
    told = [(name, rules(cell.strip())) for name, cell in _ROW.findall(PAGE.read_text("utf-8"))]
    assert [(repair.name, set(repair.rules)) for repair in all_repairs()] == told


def test_every_rule_has_a_repair_or_a_reason() -> None:
    """Either something can be planned about it, or the page says why not."""
    mended = {rule for repair in all_repairs() for rule in repair.rules}
    assert {rule.id for rule in all_rules()} == mended | WITHOUT.keys()
    assert not mended & WITHOUT.keys()
    assert list(WITHOUT.items()) == _REASON.findall(PAGE.read_text("utf-8"))


def test_repairs_have_a_page_and_a_rank_of_their_own() -> None:
    """What becomes true, and when, stands in the docstring of the module."""
    repairs = all_repairs()
    assert all(repair.page for repair in repairs)
    assert len({repair.rank for repair in repairs}) == len(repairs)
