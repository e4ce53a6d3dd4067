"""Cases are laid out from what they start from, what they lack, and what they change."""

import re
from pathlib import Path

import pytest

from tests.cases import build
from tests.cases.build import FOUND, base_files, files_below, lay_out, sources, toml


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the cases of small fixtures with one broker and a clean case."""
    monkeypatch.setattr(build, "FIXTURES", tmp_path)
    monkeypatch.setattr(build, "CASES", tmp_path / "cases")
    for name in ("meta.properties", "t-0/0.log", "t-0/0.index", "t-1/0.log", "t-10/0.log"):
        path = tmp_path / "brokers" / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"broker's {name}")
    case(tmp_path / "cases" / "rule" / "clean", 'base = "brokers/data"\nremove = ["t-1"]\n', {"t-0/0.log": "shorter"})
    return tmp_path / "cases" / "rule"


def case(path: Path, described: str, files: dict[str, str], folder: str = "changed") -> Path:
    """Write a case."""
    for name, text in {"case.toml": described, **{f"{folder}/{name}": text for name, text in files.items()}}.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    return path


def laid_out(path: Path, folder: Path) -> dict[str, str]:
    """Return the text of every file of a case as it is laid out."""
    lay_out(path, folder)
    return {name: file.read_text() for name, file in files_below(folder).items()}


def test_a_case_is_its_base_less_what_is_removed_with_the_changed_files(made: Path, tmp_path: Path) -> None:
    """A directory is removed with its files, but not one whose name only begins alike."""
    assert laid_out(made / "clean", tmp_path / "out") == {
        "meta.properties": "broker's meta.properties",
        "t-0/0.log": "shorter",
        "t-0/0.index": "broker's t-0/0.index",
        "t-10/0.log": "broker's t-10/0.log",
    }


def test_a_case_starts_from_another_case(made: Path, tmp_path: Path) -> None:
    """It has the changed files of that case too."""
    added = case(made / "added", 'base = "cases/rule/clean"\nremove = ["t-0/0.index", "t-10"]\n', {"notes": "mine"})
    expected = {"meta.properties": "broker's meta.properties", "t-0/0.log": "shorter", "notes": "mine"}
    assert expected == laid_out(added, tmp_path / "out")


def test_each_sub_folder_has_a_base_of_its_own(made: Path, tmp_path: Path) -> None:
    """Folders of brokers and cases; one may lie inside another."""
    bases = '[base]\n1 = "cases/rule/clean"\n"1/u-0" = "brokers/data/t-1"\n2 = "brokers/data/t-0"\n'
    described = f'remove = ["1/t-0", "1/t-10", "2/0.index"]\n{bases}'
    assert laid_out(case(made / "two", described, {}), tmp_path / "out") == {
        "1/meta.properties": "broker's meta.properties",
        "1/u-0/0.log": "broker's t-1/0.log",
        "2/0.log": "broker's t-0/0.log",
    }


def test_a_case_without_a_base_holds_everything(made: Path, tmp_path: Path) -> None:
    """In before/, so that commands in pages can name it."""
    whole = case(made / "whole", "", {"meta.properties": "mine"}, "before")
    assert laid_out(whole, tmp_path / "out") == {"meta.properties": "mine"}


def test_what_is_named_must_be_there(made: Path) -> None:
    """A base without files, or a name that no file of the base has, is a mistake in case.toml."""
    without = case(made / "without", 'base = "brokers/other"\n', {})
    with pytest.raises(AssertionError, match="brokers/other holds no files"):
        sources(without)
    stale = case(made / "stale", 'base = "brokers/data"\nremove = ["t-2"]\n', {})
    with pytest.raises(AssertionError, match=re.escape("its base has no t-2")):
        sources(stale)


@pytest.mark.sample(80)
@pytest.mark.parametrize("path", FOUND, ids=lambda path: f"{path.parent.name[:5]}-{path.name}")
def test_a_case_holds_what_differs_alone(path: Path) -> None:
    """Nothing in changed/ is as in the base, and changed/ and before/ are never side by side."""
    based = "base" in toml(path)
    assert not (path / ("before" if based else "changed")).exists()
    assert based or "remove" not in toml(path)
    given = base_files(path)
    changed = files_below(path / "changed")
    assert [name for name in changed if name in given and changed[name].read_bytes() == given[name].read_bytes()] == []
