"""What README.md and the pages show is what comes out, and its two commands are what CI runs."""

import re
import shutil
import subprocess

import pytest

from kcheck.cli.commands import TWO_WORDS
from tests.docs.examples import ROOT, Example, current, examples, pages
from tests.docs.generate import COMMAND, commands

README = (ROOT / "README.md").read_text("utf-8")
ALL = [example for page in pages() for example in examples(page)]

_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


def two_lines() -> list[str]:
    """Return the lines that .ci/run takes from README.md."""
    if shutil.which("bash") is None:
        pytest.skip("no bash")
    command = ["bash", ".ci/run", "--lines"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.parametrize("example", ALL, ids=lambda example: f"{example.page}: {example.command}")
def test_an_example_shows_what_comes_out(example: Example) -> None:
    """To the letter, on a terminal of 80 columns."""
    hint = f"$ {example.command}\nprints something else than {example.page} shows; write it anew: {COMMAND}"
    assert example.shown == current(example), hint


def test_readme_shows_the_help_and_every_command() -> None:
    """One example each, or a line that tells how to call it."""
    assert "kcheck --help" in {example.command for example in examples("README.md")}
    assert all(f"kcheck {TWO_WORDS.get(command, command)}" in README for command in commands())


def test_ci_runs_the_two_lines_of_readme() -> None:
    """It takes them from there, one line each: the first installs and runs, the second runs all tests."""
    first, second = two_lines()
    assert f"```sh\n{first}\n{second}\n```" in README
    assert first.startswith("python3 -m venv .venv && .venv/bin/pip install ")
    assert ".venv/bin/pytest" in second


def test_the_first_line_shows_the_first_screen() -> None:
    """What it runs at its end is the first example, and that one finds nothing to fail on."""
    first, _ = two_lines()
    shown = examples("README.md")[0].command
    assert first.rpartition(" && .venv/bin/")[2] == shown


@pytest.mark.parametrize("page", pages())
def test_links_lead_somewhere(page: str) -> None:
    """Every relative link of a page names a file."""
    text = _FENCED.sub("", (ROOT / page).read_text("utf-8"))
    folder = (ROOT / page).parent
    assert not [link for link in _LINK.findall(text) if not (folder / link).exists()]
