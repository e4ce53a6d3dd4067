"""The page of `elect --format html`: the logs side by side, on a phone too, and no name in it becomes markup."""

import io
import re
from pathlib import Path
from typing import Any

import pytest

import kcheck
from kcheck.model.report import Report
from kcheck.renderers import Options, html
from tests.cli import command
from tests.oracle.incidents import kept
from tests.renderers.browser import browser
from tests.renderers.golden import FIXTURES
from tests.renderers.test_html import HOSTILE, Tags

DIVERGED = [f"{number}={FIXTURES}/4.3.1/diverged/broker-{number}" for number in (1, 2)]


def page(report: Report) -> str:
    """Return the page of an answer."""
    stream = io.StringIO()
    html.render(report, stream, Options())
    return stream.getvalue()


@pytest.fixture(scope="module")
def diverged() -> str:
    """Return the page of two brokers whose logs have diverged."""
    return command.kcheck("elect", *DIVERGED, "--format", "html").out


def test_the_logs_are_drawn_with_words(diverged: str) -> None:
    """Each part is a rectangle, and the numbers stand beside it."""
    figure = diverged.partition("<figcaption>diverged-0 if broker 2 leads")[2].partition("</figure>")[0]
    assert re.findall(r'<rect class="(\w+)" x="([\d.]+)"', figure) == [
        ("fetched", "98.53"), ("clean", "0.00"), ("error", "73.53"), ("clean", "0.00"),
    ]  # fmt: skip
    assert re.findall(r'<span class="said">(.+?)</span>', figure) == [
        "holds 0-66; loses 50-66; fetches 67", "holds 0-67",
    ]  # fmt: skip


def test_every_partition_at_stake_is_in_the_table(diverged: str) -> None:
    """And the verdict and the ways to go on stand above it."""
    assert diverged.index("<strong>Start broker 2 first") < diverged.index("best leaders") < diverged.index("at-stake")
    assert set(Tags(diverged).ids.values()) == {1}


def test_nothing_is_at_stake() -> None:
    """One broker alone, all others given up."""
    paths = [f"{number}={FIXTURES}/4.3.1/diverged/broker-{number}" for number in (2,)]
    assert "No partition loses records" in page(kcheck.elect(*paths, dead=(1,)).report())


def test_a_partition_without_a_leader_to_recommend() -> None:
    """Its candidates are listed, and nothing is drawn."""
    shown = command.kcheck("elect", DIVERGED[0], "--partition", "diverged-0", "--format", "html").out
    assert ("Candidates of diverged-0" in shown, "<figure" in shown) == (True, False)


@pytest.mark.parametrize("word", HOSTILE)
def test_names_are_text(word: str) -> None:
    """A name adds no tag."""
    report = kcheck.elect(*DIVERGED).report()
    listed: Any = report.body["partitions"]
    rows = [*listed]

    def named(name: str) -> str:
        body = {**report.body, "verdict": name, "partitions": [{**row, "topic": name} for row in rows]}
        return page(report._replace(body=body))

    assert Tags(named(word)).tags == Tags(named("plain")).tags


def test_on_a_phone(tmp_path: Path, diverged: str) -> None:
    """Nothing is wider than 390 pixels, and the console is empty."""
    (tmp_path / "elect.html").write_text(diverged, "utf-8")
    with browser(tmp_path / "profile") as seen:
        seen.look(width=390, dark=True)
        seen.open(f"file://{tmp_path}/elect.html")
        assert seen.ask("document.documentElement.scrollWidth") == 390
        assert seen.ask("[...document.querySelectorAll('figure svg')].every(s => s.clientWidth > 200)")
        assert seen.named("Runtime.exceptionThrown", "Log.entryAdded") == []


def test_a_missing_segment_is_a_gap_in_the_picture(tmp_path: Path) -> None:
    """In text and on the page: the disks of two brokers of 4.3.1, one without its second segment of orders-0."""
    folder = kept.unpacked(kept.PLACE / "4.3.1-kraft-remove-middle-k0.tar.xz", tmp_path).folder
    answer = kcheck.elect(folder, partitions=kcheck.PartitionFilter(partitions=("orders-0",)))
    (line,) = (line for line in str(answer).splitlines() if "without" in line)
    assert re.fullmatch(r"  broker 2   \|=+ +=+\.*\| 0-\d+ without 40", line)
    assert re.search(r"broker 2: holds 0-\d+ without 40;", page(answer.report()))
