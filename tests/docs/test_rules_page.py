"""docs/rules.md holds the page of every rule. Write it anew with `python -m tests.docs.test_rules_page`."""

import re
from pathlib import Path

from tests.rules.build import rules

PAGE = Path(__file__).parents[2] / "docs" / "rules.md"

OPERATIONS = PAGE.parent / "operations"
LINK = re.compile(r"^See: (\S+)$", re.MULTILINE)

HEAD = """# Rules

All that `kcheck` can find, by id. `kcheck explain KC201` shows one of these pages. A rule has a severity:

| Severity | The broker |
|---|---|
| info | does not notice |
| warning | repairs it when it starts |
| error | serves, replicates or loses wrong data |
| fatal | does not start, or a log dir goes offline |

A finding can be milder or worse than its rule: that depends on the release and the file.

<!-- python -m tests.docs.test_rules_page writes this page from kcheck/rules: change those, not this. -->
"""


def linked(page: str) -> str:
    """Return the page of a rule with a link where it names another page, by its title."""
    return LINK.sub(lambda place: f"See: [{titled(place[1])}]({place[1]})", page)


def titled(page: str) -> str:
    """Return the title of a page of docs/."""
    return (PAGE.parent / page).read_text("utf-8").partition("\n")[0].removeprefix("# ")


def written() -> str:
    """Return what docs/rules.md must hold."""
    found = sorted(rules(), key=lambda rule: rule.id)
    rows = [f"| [{r.id}](#{r.id.lower()}-{r.name}) | {r.name} | {r.severity} | `{r.scope}` |" for r in found]
    table = "\n".join(["| Id | Name | Severity | Looks at |", "|---|---|---|---|", *rows, ""])
    pages = [f"## {rule.id} {rule.name}\n\n{linked(rule.page.strip())}\n" for rule in found]
    return "\n".join([HEAD, table, *pages])


def test_the_page_is_current() -> None:
    """It says what the rules say."""
    assert written() == PAGE.read_text("utf-8"), "write it anew: python -m tests.docs.test_rules_page"


def test_rules_and_operations_name_each_other() -> None:
    """Each page about what to do is named by a rule, and names all rules that name it."""
    pages = {f"operations/{path.name}": path for path in OPERATIONS.glob("*.md") if path.name != "README.md"}
    naming: dict[str, set[str]] = {page: set() for page in pages}
    for rule in rules():
        assert ("See:" in rule.page) == (rule.operation is not None), rule.id
        if rule.operation is not None:
            naming[rule.operation].add(f"[{rule.id} {rule.name}](../rules.md#{rule.id.lower()}-{rule.name})")
    for page, links in naming.items():
        last = pages[page].read_text("utf-8").splitlines()[-1]
        assert links
        assert f"Rules that link to this page: {', '.join(sorted(links))}." == last


if __name__ == "__main__":
    PAGE.write_text(written(), "utf-8")
