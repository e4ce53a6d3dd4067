"""What kcheck finds in the cases of fixtures/cases/<rule>/<case>/, for each release that the case names.

A case is `case.toml` (what was done to which broker's bytes, the releases, the paths, and the verb where it is not
`inspect`), the files that tests/cases/build.py lays out as `before/`, and `findings.json`.
`python -m tests.cases.test_cases` writes findings.json of the cases that have none: read them before you keep them.
"""

import contextlib
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kcheck.cli.app import main
from tests.cases.build import CASES, FOUND, shared_copy, toml
from tests.json_schema import problems
from tests.rules.build import rules

SHOWN = (
    "id", "severity", "log_dir", "dir", "file", "line", "position", "topic", "partition", "message", "effect", "advice",
    "data", "repair",
)  # fmt: skip
"""What findings.json holds of each finding: those of these fields that are not empty."""

WITHOUT_CASE = {
    "KC001": "what cannot be read depends on the user and the machine",
    "KC150": "a file that shrinks is no bytes",
    "KC230": "a file of 2 GiB is no fixture",
    "KC505": "only a scan of a fleet looks for it",
    "KC506": "only a scan of a fleet looks for it",
    "KC507": "only a scan of a fleet looks for it",
    "KC508": "only a scan of a fleet looks for it",
    "KC308": "a lock is held by a process, not by bytes",
}


def inspected(case: Path, kafka: str) -> list[dict[str, object]]:
    """Return what the command finds, run in the folder of the case so that paths are the same everywhere."""
    paths = toml(case).get("paths", ["before"])
    verb = toml(case).get("verb", ["inspect"])
    assert isinstance(paths, list)
    assert isinstance(verb, list)
    with contextlib.chdir(shared_copy(case).parent):
        return [
            {key: row[key] for key in SHOWN if row[key] not in (None, {})} for row in findings([*verb, *paths], kafka)
        ]


def findings(command: list[str], kafka: str) -> list[dict[str, object]]:
    """Return the findings of a command as JSON shows them."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        before, sys.argv = sys.argv, ["kcheck", *command, "--format", "json", "--kafka", kafka]
        try:
            with pytest.raises(SystemExit) as ended:
                main()
        finally:
            sys.argv = before
    assert ended.value.code in (None, 0, 1)
    document = json.loads(out.getvalue())
    assert not problems(document)
    found = document["findings"]
    assert isinstance(found, list)
    return found


def releases(case: Path) -> list[str]:
    """Return the releases that a case is about."""
    found = toml(case)["kafka"]
    assert isinstance(found, list)
    return found


def pairs() -> Iterator[tuple[Path, str]]:
    """Return every case with each of its releases."""
    return ((case, kafka) for case in FOUND for kafka in releases(case))


@pytest.mark.parametrize(
    ("case", "kafka"), [*pairs()], ids=lambda value: value if isinstance(value, str) else value.name
)
def test_a_case_has_its_findings(case: Path, kafka: str) -> None:
    """These and no others, for this release."""
    expected = json.loads((case / "findings.json").read_text("utf-8"))[kafka]
    assert expected == inspected(case, kafka)


@pytest.mark.parametrize("rule", [rule for rule in rules() if rule.id not in WITHOUT_CASE], ids=lambda rule: rule.id)
def test_a_rule_has_a_clean_and_a_damaged_case(rule: object) -> None:
    """In the folder of its id and name; a clean one is one in which the rule says nothing, or an info."""
    (found,) = [found for found in rules() if found is rule]
    folder = CASES / f"{found.id.lower()}-{found.name}"
    silent: list[str] = []
    spoken: list[str] = []
    for path in sorted(folder.glob("*/findings.json")):
        for findings in json.loads(path.read_text("utf-8")).values():
            (spoken if any(row["id"] == found.id for row in findings) else silent).append(path.parent.name)
    assert silent
    assert spoken


def test_cases_are_small() -> None:
    """Everybody who installs the source has them on the disk."""
    sizes = [path.stat().st_size for path in CASES.rglob("*") if path.is_file()]
    assert max(sizes) < 18 << 10
    assert sum(sizes) < 5 << 18


def write_missing() -> None:
    """Write findings.json of the cases that have none."""
    for case in FOUND:
        path = case / "findings.json"
        if not path.exists():
            rows = {kafka: inspected(case, kafka) for kafka in releases(case)}
            path.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", "utf-8", newline="\n")


if __name__ == "__main__":
    write_missing()
