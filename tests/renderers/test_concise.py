"""`--format concise`: its grammar, over cases of many rules."""

import re
from pathlib import Path

import pytest

from tests.builders import broker, run, write
from tests.cli.command import ROOT, kcheck

LINE = re.compile(r"[^:]+(:\d+)?: (info|warning|error|fatal|loss) (KC\d{3}|NEXT-START) (\S+-\d+\S*|-): \S.*")
CASES = sorted(ROOT.glob("fixtures/cases/kc[1235]0*/*/before"))[::6]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.parent.name}/{case.parent.name}")
def test_a_line_has_its_grammar(case: Path) -> None:
    """One line a finding, in the order of JSON; the counts go to stderr."""
    done = kcheck("check", case, "--format", "concise", columns=20)
    lines = done.out.splitlines()
    assert [] == [line for line in lines if not LINE.fullmatch(line)]
    assert done.code == kcheck("check", case).code
    assert (len(lines), 1) == (sum(map(int, re.findall(r"\d+", done.err))), done.err.count("\n"))


def test_a_loss_is_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of PATH, predict, and repair; preflight has it too."""
    monkeypatch.chdir(tmp_path)
    broker(Path("d"), run(0, 9))
    write(Path("d"), {"log-start-offset-checkpoint": b"0\n1\nt 0 99\n"})
    lost = "d/t-0: loss NEXT-START t-0: loses 10 records (offsets 0-9)"
    for words in (("predict", "d"), ("d",), ("repair", "d")):
        assert lost == kcheck(*words, "--format", "concise").out.splitlines()[0]
    (tmp_path / "server.properties").write_text(f"process.roles=broker\nnode.id=1\nlog.dirs={tmp_path}/d\n", "utf-8")
    assert lost in kcheck("preflight", "server.properties", "--kafka", "3.6", "--format", "concise").out
    (finding,) = kcheck("d", "--select", "KC211", "--format", "concise").out.splitlines()[1:]
    assert finding.startswith("d/t-0: error KC211 t-0: the log start 99 in log-start-offset-checkpoint is above")


def test_a_log_dir_that_fails_and_a_directory_that_is_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    one = broker(Path("d"), run(0, 9))
    (one / "t-0" / "partition.metadata").unlink()
    assert "d/t-0: error NEXT-START t-0: stray: " in kcheck("predict", "d", "--format", "concise", "--kafka", "4.3").out
    write(one, {"log-start-offset-checkpoint": b"x\n"})
    assert kcheck("predict", "d", "--format", "concise").out.startswith("d: fatal NEXT-START -: ")


def test_only_reasons_against_the_start_have_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker that does not start loses nothing more, and an old -stray directory was not served before."""
    strayed = ROOT / "fixtures/clusters/4.3.1/strayed/broker-1/data1"
    assert kcheck("predict", strayed, "--format", "concise").out == ""
    monkeypatch.chdir(tmp_path)
    broker(Path("d"), run(0, 9))
    write(Path("d"), {"log-start-offset-checkpoint": b"0\n1\nt 0 99\n"})
    (Path("d") / "notes").mkdir()
    (line,) = kcheck("predict", "d", "--format", "concise").out.splitlines()
    assert line.startswith("d: fatal NEXT-START -: abort")


def test_a_name_cannot_make_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Line breaks of names are escaped."""
    monkeypatch.chdir(tmp_path)
    broker(Path("a\nb"), run(0, 9), epoch_entries=[(0, 0), (5, 50), (4, 60)])
    lines = kcheck("check", "a\nb", "--format", "concise").out.splitlines()
    assert lines
    assert all(line.startswith("a\\nb") for line in lines)
