"""What README.md and the pages show is what comes out, and its two commands are what CI runs."""

import re
import shutil
import subprocess

import pytest

from kcheck.cli.commands import TWO_WORDS
from tests.docs.examples import ROOT, Example, current, examples, pages
from tests.docs.generate import COMMAND, commands

README = (ROOT / "README.md").read_text("utf-8")
README_WORDS = 700
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
    hint = f"$ {example.command}\nprints something else than {example.page} shows; write it again: {COMMAND}"
    assert example.shown == current(example), hint


def test_every_command_of_readme_exists() -> None:
    """In its table and in its text; and each command has a title or a heading of a page."""
    typed = {TWO_WORDS.get(command, command).split()[0] for command in commands()}
    shown = set(re.findall(r"`kcheck ([a-z][a-z-]*)", README))
    assert len(shown) > len(typed) // 2
    assert shown <= {*typed, "help"}
    text = "\n".join((ROOT / page).read_text("utf-8") for page in pages())
    heads = "\n".join(re.findall(r"^#.*", text, re.MULTILINE))
    assert [] == [command for command in sorted(typed - {"help"}) if not re.search(rf"\b{command}\b", heads)]


def test_readme_is_short() -> None:
    """With its screens: a longer one is not read."""
    words = re.sub(r"<!--.*?-->", "", README, flags=re.DOTALL).split()
    assert sum(re.search(r"\w", word) is not None for word in words) <= README_WORDS


def test_ci_runs_the_two_lines_of_readme() -> None:
    """It takes them from there, one line each: the first installs and runs, the second runs all tests."""
    first, second = two_lines()
    assert f"```sh\n{first}\n{second}\n```" in README
    assert first.startswith("python3 -m venv .venv && .venv/bin/pip install ")
    assert ".venv/bin/pytest" in second


def test_the_first_line_shows_a_screen_of_a_page() -> None:
    """What it runs at its end is the first example of its page, and that one finds nothing to fail on."""
    first, _ = two_lines()
    shown = examples("docs/truncation.md")[0].command
    assert first.rpartition(" && .venv/bin/")[2] == shown


@pytest.mark.parametrize("page", pages())
def test_links_lead_somewhere(page: str) -> None:
    """Every relative link of a page names a file."""
    text = _FENCED.sub("", (ROOT / page).read_text("utf-8"))
    folder = (ROOT / page).parent
    assert not [link for link in _LINK.findall(text) if not (folder / link).exists()]
