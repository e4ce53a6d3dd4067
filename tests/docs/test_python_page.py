"""The examples of docs/python.md run as they are shown."""

import doctest
import re
import subprocess
import sys

import pytest

import kcheck
from tests.docs.examples import ROOT

PAGE = (ROOT / "docs" / "python.md").read_text("utf-8")


def test_the_examples_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the root of a clone, in one session."""
    monkeypatch.chdir(ROOT)
    text = re.sub(r"^```.*$", "", PAGE, flags=re.MULTILINE)
    example = doctest.DocTestParser().get_doctest(text, {}, "docs/python.md", "docs/python.md", 0)
    assert len(example.examples) > 20
    assert doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example).failed == 0


def test_every_function_is_shown() -> None:
    """A name that `import kcheck` gives stands on the page."""
    assert not [name for name in kcheck.__all__ if f"kcheck.{name}" not in PAGE]


def test_dir_lists_the_functions() -> None:
    """For TAB in a notebook; it imports nothing more."""
    code = "import sys, kcheck; names = dir(kcheck); print('kcheck.api' in sys.modules, names == sorted(names) != [])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "False True\n" == done.stdout
