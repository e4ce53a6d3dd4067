"""`kcheck fleet report` and `--prometheus` as they are typed: what is written where, how they end, what is refused."""

import json
from pathlib import Path

import pytest

from tests.builders import log_dir, partition_dir, run
from tests.cli.command import kcheck, shell
from tests.fleets import LOG_DIR, finding, forged

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
"""The test runner has threads where kcheck has none."""


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Write a run with an error and a warning, and return the folder of runs."""
    forged(tmp_path / "out", findings=[finding(), finding(id="KC213", name="high-watermark", severity="warning")])
    return tmp_path / "out"


def test_it_writes_a_page_and_says_the_summary(out: Path) -> None:
    """No file that was not asked for; the last line tells what was written."""
    done = shell("fleet", "report", "out", cwd=out.parent)
    assert (1, "", ["out"]) == (done.code, done.err, [path.name for path in out.parent.iterdir()])
    lines = done.out.splitlines()
    assert "run r in out/run=r, depth headers" == lines[1]
    assert "1 cluster, 1 node, 1 log dir, 0 partition directories" in lines
    assert ["1 error, 1 warning", "", "Next:"] == lines[-4:-1]
    done = shell("fleet", "report", "out/run=r", "--html", "x.html", "--prometheus", "x.prom", cwd=out.parent)
    assert (1, "Written: x.html and x.prom\n") == (done.code, done.err)
    assert (out.parent / "x.html").read_text("utf-8").startswith("<!DOCTYPE html>")
    assert ["out", "x.html", "x.prom"] == sorted(path.name for path in out.parent.iterdir())
    assert "kcheck_fleet_run_finished 1\n" in (out.parent / "x.prom").read_text()


def test_every_format_tells_the_same(out: Path) -> None:
    """The page and the metrics can go to stdout, too."""
    page = out.parent / "x.html"
    common = ("fleet", "report", out, "--html", page, "--quiet")
    whole = json.loads(kcheck(*common, "--format", "json").out)
    assert ("kcheck.fleet-report/1", "r", {"info": 0, "warning": 1, "error": 1, "fatal": 0}) == (
        whole["schema"], whole["run"], whole["summary"],
    )  # fmt: skip
    lines = [json.loads(line) for line in kcheck(*common, "--format", "ndjson").out.splitlines()]
    assert [{"kind": "broker", **whole["brokers"][0]}] == [line for line in lines if line["kind"] == "broker"]
    assert {"run", "cluster", "rule", "partition", "worst", "count", "rule-page", "summary"} <= {
        line["kind"] for line in lines
    }
    assert page.read_text("utf-8") == kcheck(*common, "--format", "html").out
    assert "kcheck_fleet_findings{" in kcheck(*common, "--format", "prometheus").out
    done = kcheck(*common, "--format", "csv")
    assert (2, True) == (done.code, "more than one table" in done.err)
    done = kcheck("rules", "--format", "html")
    assert (2, True) == (done.code, "works with fleet report, fleet trend, elect, simulate only" in done.err)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ((), 1),
        (("--fail-on", "fatal"), 0),
        (("--ignore", "KC201"), 0),
        (("--ignore", "KC201", "--fail-on", "warning"), 1),
        (("--severity", "fatal"), 1),
        (("--select", "KC213"), 0),
    ],
)
def test_it_ends_as_a_check_does(options: tuple[str, ...], code: int, out: Path) -> None:
    assert code == kcheck("fleet", "report", out, "--html", out / "x.html", *options).code


def test_a_run_that_is_not_whole_ends_in_3(tmp_path: Path) -> None:
    """As the scan did."""
    done = kcheck("fleet", "report", forged(tmp_path, finished=False), "--html", tmp_path / "x.html")
    assert (3, True) == (done.code, "Incomplete: findings KC000 and KC001" in done.out)


def test_what_makes_no_sense_is_refused(out: Path, tmp_path: Path) -> None:
    """In one line, and nothing is written: not into a log dir, not where no directory is, not of what is no run."""
    data = log_dir(tmp_path / "data")
    forged(tmp_path / "other", "x", log_dirs=[{**LOG_DIR, "log_dir": str(data)}, {**LOG_DIR, "log_dir": "a\0b"}])
    inside = f"is inside {data}, which was checked; choose a file outside"
    for arguments, said in (
        ((tmp_path / "none",), f"{tmp_path}/none: no such file or directory"),
        ((data,), "no run in it"),
        ((tmp_path / "other", "--html", data / "x.html"), f"--html {data / 'x.html'} {inside}"),
        (
            (tmp_path / "other", "--prometheus", data / "x.prom"),
            f"--prometheus {data / 'x.prom'} {inside}",
        ),
        ((out, "--html", tmp_path / "none" / "x"), "no such directory"),
        ((out, "--prometheus", tmp_path / "none" / "x"), "no such directory"),
    ):
        before = sorted(tmp_path.rglob("*"))
        done = kcheck("fleet", "report", *arguments, *(() if "--html" in arguments else ("--html", tmp_path / "page")))
        assert (2, "", True) == (done.code, done.out, said in done.err), done.err
        assert before == sorted(tmp_path.rglob("*"))


def test_a_damaged_run_ends_in_one_line(out: Path) -> None:
    """And in 3: nobody typed anything wrong."""
    part = out / "run=r" / "findings" / "part-00000.parquet"
    part.write_bytes(b"PAR1")
    done = kcheck("fleet", "report", out, "--html", out / "x.html")
    assert (3, "", 1) == (done.code, done.out, done.err.count("\n"))
    assert f"{part} cannot be read: it has 4 bytes" in done.err


def test_metrics_take_the_place_of_older_ones_at_once(out: Path) -> None:
    """What reads them sees the old ones or the new ones; those stay where the new ones cannot be written."""
    target = out.parent / "x.prom"
    target.write_text("old")
    inode = target.stat().st_ino
    kcheck("fleet", "report", out, "--html", out.parent / "x.html", "--prometheus", target)
    assert inode != target.stat().st_ino
    assert 0o644 == target.stat().st_mode & 0o777
    (out.parent / "folder").mkdir()
    done = kcheck("fleet", "report", out, "--html", out.parent / "x.html", "--prometheus", out.parent / "folder")
    assert (2, True) == (done.code, "is a directory" in done.err)
    assert ["folder", "out", "x.html", "x.prom"] == sorted(path.name for path in out.parent.iterdir())


def test_a_scan_writes_metrics_of_its_own_run(tmp_path: Path) -> None:
    """Of the findings that it shows; a folder that is not there is told before anything is looked at."""
    data = log_dir(tmp_path / "fleet" / "7" / "d", recovery_point={"t-0": 10}, high_watermark={"t-0": 10})
    partition_dir(data / "t-0", [run(0, 9)])
    common = ("fleet", "scan", f"{tmp_path}/fleet/{{broker}}/{{log_dir}}", "--output-dir", "out", "--fail-on", "fatal")
    done = shell(*common, "--run", "a", "--prometheus", "x.prom", cwd=tmp_path)
    assert (0, "Written: out/run=a and x.prom\n") == (done.code, done.err)
    assert 'broker="7",rule="KC310",severity="error"} 1\n' in (tmp_path / "x.prom").read_text()
    shell(*common, "--run", "b", "--prometheus", "x.prom", "--ignore", "KC310", cwd=tmp_path)
    assert 'rule="KC310"' not in (tmp_path / "x.prom").read_text()
    done = shell(*common, "--run", "c", "--prometheus", "none/x.prom", cwd=tmp_path)
    assert (2, True) == (done.code, "--prometheus none/x.prom: no such directory: none" in done.err)
    assert ["run=a", "run=b"] == sorted(path.name for path in (tmp_path / "out").iterdir())


@pytest.mark.parametrize("option", ["--html", "--prometheus", "-o"])
def test_a_full_disk_is_told_with_its_option(option: str, out: Path) -> None:
    """Whoever writes several files learns which one lacks."""
    done = kcheck("fleet", "report", out, option, "/dev/full")
    assert (2, f"kcheck: {option} /dev/full: no space left on device") == (done.code, done.err.splitlines()[0])
