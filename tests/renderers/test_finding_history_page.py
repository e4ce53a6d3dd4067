"""The page of `fleet trend`: every state, the worst first, and no name that becomes markup."""

import io
import re
from pathlib import Path

import pytest

from kcheck.fleet.run import open_runs
from kcheck.fleet.runs.history import history
from kcheck.renderers import Options, html
from kcheck.renderers._html import finding_history
from tests.fleets import LOG_DIR, finding, forged
from tests.renderers.test_html import HOSTILE, Tags, fleet

HOUR = 3_600_000


def page(*runs: Path) -> str:
    """Return the page of runs."""
    stream = io.StringIO()
    answer, _ = history(open_runs([*map(str, runs)]), lambda *_: True, lambda *_: False)
    html.render(answer, stream, Options())
    return stream.getvalue()


def two_runs(folder: Path) -> list[Path]:
    """Write two runs: one finding is new, one is open, one gone, and of one log dir the last run knows nothing."""
    log_dirs = [{**LOG_DIR, "log_dir": path, "directory_id": path} for path in ("/d", "/e")]
    first = [finding(), finding(id="KC202", severity="fatal", message="it was fatal")]
    second = [finding(), finding(id="KC204", severity="warning", message="it came")]
    return [
        forged(folder, "a", findings=[*first, finding(log_dir="/e", message="where?")], log_dirs=log_dirs),
        forged(folder, "b", findings=second, log_dirs=log_dirs[:1], started=1_700_000_000_000 + HOUR),
    ]


def test_each_state_has_its_findings(tmp_path: Path) -> None:
    """And says since when they are there, and until when they were."""
    content = page(*two_runs(tmp_path))
    sections = dict(re.findall(r'<section aria-labelledby="(\w+)-h">(.*?)</section>', content, re.DOTALL))
    said = {"new": "it came", "open": "it is wrong", "gone": "it was fatal", "unknown": "where?"}
    assert said == {name: words for name, section in sections.items() for words in said.values() if words in section}
    assert 'aria-label="runs 2 to 2 of 2"' in sections["new"]
    assert 'aria-label="runs 1 to 2 of 2"' in sections["open"]
    assert "2023-11-14T22:14:21Z" in sections["gone"]
    assert ["1"] * 4 == re.findall(r"<b>(\d+)</b>", content)


def test_runs_of_one_name_are_told_apart(tmp_path: Path) -> None:
    """They are in two folders: by the time at which each ended."""
    first = forged(tmp_path / "x", "a", findings=[finding()])
    second = forged(tmp_path / "y", "a", findings=[finding(), finding(id="KC204")], started=1_800_000_000_000)
    assert {"runs 1 to 2 of 2", "runs 2 to 2 of 2"} == {*re.findall(r'aria-label="(runs [^"]*)"', page(first, second))}


def test_the_worst_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are, their number is told."""
    monkeypatch.setattr(finding_history, "_ROW_COUNT", 3)
    found = [finding(file=f"f{number}", severity="fatal" if number % 9 == 8 else "info") for number in range(30)]
    runs = [forged(tmp_path, "a", findings=found), forged(tmp_path, "b", findings=found, started=1_800_000_000_000)]
    content = page(*runs)
    assert "The worst 3 of 30 findings" in content
    assert 3 == content.count('class="s fatal"')
    assert "info" not in re.findall(r'class="s (\w+)"', content)


@pytest.mark.sample(4)
@pytest.mark.parametrize("word", HOSTILE)
def test_a_name_is_never_markup(word: str, tmp_path: Path) -> None:
    """The page has the same elements as one with tame names."""
    pages = [page(*(fleet(tmp_path / name, run, text) for run in "ab")) for name, text in (("x", "zebra"), ("y", word))]
    tame, hostile = map(Tags, pages)
    assert tame.tags == hostile.tags
    assert [] == tame.depth == hostile.depth
    assert all(each.isprintable() or each == "\n" for each in pages[1])
