"""The pages that are generated say what the code says."""

import pytest

from kcheck.cli.topics import INCIDENTS
from kcheck.core.premises.table import PREMISES
from tests.docs.examples import GENERATED, ROOT
from tests.docs.generate import (
    COMMAND,
    cli_page,
    commands,
    demo_page,
    json_page,
    log_messages_page,
    premises_page,
    releases_page,
    table,
    tables_page,
)
from tests.docs.schemas import FOLDER, schema_files
from tests.docs.test_rules_page import written as rules_page
from tests.docs.topics import FOLDER as TOPICS_FOLDER
from tests.docs.topics import topic_files

WRITTEN = {
    "docs/cli.md": cli_page,
    "docs/demo.md": demo_page,
    "docs/json.md": json_page,
    "docs/log-messages.md": log_messages_page,
    "docs/premises.md": premises_page,
    "docs/releases.md": releases_page,
    "docs/rules.md": rules_page,
    "docs/tables.md": tables_page,
}


def test_the_help_of_an_incident_is_its_page() -> None:
    """Without markup; each page of docs/operations has a topic."""
    texts = topic_files()
    assert {path: text for path, text in texts.items() if (ROOT / path).read_text("utf-8") != text} == {}
    assert {f"{TOPICS_FOLDER}{name}.txt" for name in INCIDENTS} == set(texts)


@pytest.mark.parametrize("page", WRITTEN)
def test_a_generated_page_is_current(page: str) -> None:
    """It is what the generator would write now."""
    same = (ROOT / page).read_text("utf-8") == WRITTEN[page]()
    assert same, f"{page} is not current; write it anew: {COMMAND}"


def test_the_schemas_are_current() -> None:
    """There is one for each document, and no other file."""
    kept = {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in (ROOT / FOLDER).iterdir()}
    assert kept == schema_files(), f"docs/schemas is not current: {COMMAND}"


def test_every_generated_page_has_its_test() -> None:
    """A page is written whole, or its examples are run."""
    assert set(GENERATED) == set(WRITTEN)


def test_the_help_of_every_command_is_there() -> None:
    """A new command needs no change in the generator."""
    assert {"inspect", "rules", "explain", "end-offset", "truncation", "fleet", "fleet scan"} <= set(commands())


def test_every_code_of_a_release_is_explained() -> None:
    """No code of the table is without a meaning below it."""
    page = releases_page()
    assert "|  |\n" not in page.partition("## Readers")[2]


def test_every_premise_has_its_row() -> None:
    """In the order of the table."""
    rows = [line.split(" | ")[0] for line in premises_page().partition("## Kafka's code")[0].splitlines()]
    assert [f"| {premise.id}" for premise in PREMISES] == [row for row in rows if row.startswith("| P")]


def test_a_table_has_a_line_a_row() -> None:
    """The header, the rule below it, the rows."""
    assert "| a | b |\n| --- | --- |\n| 1 | 2 |\n" == table(("a", "b"), [("1", "2")])
