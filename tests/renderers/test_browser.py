"""The page of a fleet report in a real Chromium: searched, sorted, on a phone, dark, printed, without JavaScript."""

import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import kcheck
from tests.fleets import LOG_DIR, LOSS, PARTITION, START, finding, forged
from tests.renderers.browser import Browser
from tests.renderers.test_html import HOSTILE, fleet

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
"""The test runner has threads where kcheck has none."""

RULES = ("KC101", "KC201", "KC202", "KC204", "KC213")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write some runs, and the page of each."""
    path = tmp_path_factory.mktemp("pages")
    severities = ("fatal", "error", "warning", "info")
    some = [
        finding(
            broker=str(number**3 % 11), id=RULES[number % 5], severity=severities[number // 3 % 4], line=number,
            topic=f"topic-{number % 30}", cluster=("east", "west")[number % 2], log_dir=f"/var/lib/kafka/{number % 3}",
        )
        for number in range(400)
    ]  # fmt: skip
    log_dirs = [{**LOG_DIR, "cluster": name, "broker": str(at)} for name in ("east", "west") for at in range(14)]
    partitions = [{**PARTITION, "topic": f"topic-{number % 30}", "cluster": "east"} for number in range(90)]
    outcomes = ("abort", "offline", "unknown", "ok")
    starts = [{**START, **at, "outcome": outcomes[number % 4]} for number, at in enumerate(log_dirs)]
    losses = [
        {**LOSS, "cluster": "east", "broker": str(number % 14), "topic": f"topic-{number}"} for number in range(60)
    ]
    runs = {
        "some": forged(
            path, "some", findings=some, log_dirs=log_dirs, partitions=partitions, predictions=[*starts, *losses]
        )
    }
    many = (
        finding(broker=str(at % 2000), topic=f"t{at % 3000}", id=f"KC{101 + at % 40}", severity=severities[1 + at % 2])
        for at in range(20_000)
    )
    runs["many"] = forged(path, "many", findings=many)
    for number, word in enumerate(HOSTILE):
        runs[f"hostile{number}"] = fleet(path, f"hostile{number}", word)
    for name, run in runs.items():
        kcheck("fleet", "report", run, "-o", path / f"{name}.html", "--quiet")
    for number in range(3):
        several = [finding(line=line, id=RULES[line], severity=severities[line % 4]) for line in range(1 + number)]
        forged(
            path / "out", str(number), started=1_700_000_000_000 + number * 3_600_000, findings=several,
            log_dirs=log_dirs[:3], predictions=[*starts[:4], LOSS], partitions=partitions[:2],
            replica_sets=[{**PARTITION, "replicas_of_topic": 2, "lost_below_high_watermark": 3}],
        )  # fmt: skip
    kcheck("fleet", "report", path / "out", "--html", path / "trend.html", "--quiet")
    kcheck("fleet", "trend", path / "out", "--format", "html", "-o", path / "history.html", "--quiet")
    return path


@pytest.fixture
def shown(chromium: Browser, folder: Path) -> Iterator[Browser]:
    """Show the page of some findings; at the end nothing was complained about, and nobody was asked for anything."""
    chromium.look(width=1280)
    chromium.open(f"file://{folder}/some.html")
    yield chromium
    quiet(chromium)


def quiet(seen: Browser) -> None:
    """Hold that the console is empty and that one request was made: for the page."""
    assert [] == seen.named("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
    asked = [each["request"]["url"] for each in seen.named("Network.requestWillBeSent")]
    assert [True] == [address.startswith("file://") for address in asked if not address.startswith("data:")]


def rows(seen: Browser, table: str, column: int) -> list[str]:
    """Return what is seen in a column of a table."""
    found: list[str] = seen.ask(
        f"[...document.querySelectorAll('#{table} tbody tr')].filter(r => r.checkVisibility())"
        f".map(r => r.cells[{column}].textContent)"
    )
    return found


def test_a_table_is_searched(shown: Browser) -> None:
    """By every word that is typed, whatever its case; the number of rows that are left is told."""
    every = rows(shown, "findings", 1)
    assert len(every) == len(shown.ask("[...document.querySelectorAll('#findings tbody tr')].map(r => 1)")) > 300
    shown.click("section[aria-labelledby=findings-h] input")
    shown.type("kc201 FATAL")
    left = rows(shown, "findings", 1)
    assert {"KC201"} == set(left)
    assert {"fatal"} == set(rows(shown, "findings", 0))
    told = shown.ask("document.querySelector('section[aria-labelledby=findings-h] output').textContent")
    assert f"{len(left)} of {len(every)} rows" == told
    shown.type(" nothing has this")
    assert [] == rows(shown, "findings", 1)


def test_a_table_is_sorted(shown: Browser) -> None:
    """By numbers as numbers, by names as people count, both ways; a reader is told by which column, and how."""
    heads = "[...document.querySelectorAll('#brokers th')]"
    for at, first in ((9, "descending"), (1, "ascending")):
        button = f"#brokers th:nth-child({at + 1}) button"
        for sort in (first, {"ascending": "descending", "descending": "ascending"}[first]):
            shown.click(button)
            numbers = [int(text) for text in rows(shown, "brokers", at)]
            assert sorted(numbers, reverse=sort == "descending") == numbers
            assert len(set(numbers)) > 3
            expected = [sort if number == at else None for number in range(15)]
            assert expected == shown.ask(f"{heads}.map(h => h.getAttribute('aria-sort'))")
    shown.click("#brokers th:nth-child(3) button")
    order = ["fatal", "error", "warning"]
    ranks = [order.index(text) for text in rows(shown, "brokers", 2)]
    assert sorted(ranks) == ranks
    assert {0, 1} <= set(ranks)


def test_the_next_start_is_searched_and_sorted(shown: Browser) -> None:
    """Whoever does not boot stands on top; losses are found by their topic."""
    words = ["will not boot", "will go offline", "not known", "will boot but lose records", "will boot"]
    for is_worst_last in (False, True):
        shown.click("#brokers th:nth-child(4) button")
        ranks = [words.index(text) for text in rows(shown, "brokers", 3)]
        assert sorted(ranks, reverse=is_worst_last) == ranks
        assert {0, 1, 3} <= {*ranks}
    assert 60 == len(rows(shown, "losses", 2))
    shown.ask("(document.querySelector('[aria-controls=losses]').focus(), 0)")
    shown.type("topic-57")
    assert ["topic-57"] == rows(shown, "losses", 2)
    assert ["5-8"] == rows(shown, "losses", 4)


def test_a_link_opens_the_page_of_its_rule(shown: Browser) -> None:
    assert not shown.ask("document.getElementById('rule-KC201').open")
    shown.click("#findings a[href='#rule-KC201']")
    shown.until("document.getElementById('rule-KC201').open")
    assert "the broker does" in shown.ask("document.getElementById('rule-KC201').innerText")


def test_the_worst_stand_on_top(shown: Browser) -> None:
    """Before anything is sorted; what needs no attention is folded, and the advice is open for what is fatal."""
    assert {"fatal"} == set(rows(shown, "findings", 0)[:20])
    assert "fatal" == rows(shown, "brokers", 2)[0]
    assert "Decisions by cluster" == shown.ask("document.querySelector('main h2').textContent")
    assert [] == rows(shown, "quiet-brokers", 2)
    shown.click("section[aria-labelledby=brokers-h] details.fold > summary")
    assert {"clean"} == set(rows(shown, "quiet-brokers", 2))
    is_open = "[...document.querySelectorAll('#findings tr:has(.s.%s) td details:first-of-type')].every(d => d.open)"
    assert [True, False] == [shown.ask(is_open % name) for name in ("fatal", "info")]


def test_the_keyboard_is_enough(shown: Browser) -> None:
    """The first key leads past the links to what to do."""
    for key in ("Tab", "Enter"):
        for kind in ("keyDown", "keyUp"):
            shown.tell("Input.dispatchKeyEvent", type=kind, key=key, code=key, text="\r" if key == "Enter" else "",
                       windowsVirtualKeyCode={"Tab": 9, "Enter": 13}[key])  # fmt: skip
        if key == "Tab":
            assert "Skip to the list" == shown.ask("document.activeElement.textContent")
            assert shown.ask("document.activeElement.getBoundingClientRect().left") >= 0
    shown.until("document.activeElement.id === 'main'")


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the script of axe-core, from npm; without npm the test is skipped, and fails where all must be there."""
    npm = shutil.which("npm")
    if npm is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("no npm on the PATH")
    folder = tmp_path_factory.mktemp("axe")
    done = subprocess.run(
        [str(npm), "pack", "axe-core@4.10.3"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    with tarfile.open(next(folder.glob("*.tgz"))) as archive:
        script = archive.extractfile("package/axe.min.js")
        assert script is not None
        return script.read().decode()


@pytest.mark.sample(3)
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", ["trend", "history"])
def test_axe_finds_nothing(name: str, width: int, dark: bool, chromium: Browser, folder: Path, axe: str) -> None:
    """All rules of axe-core, with every fold open, on pages of few rows of each kind."""
    chromium.look(width=width, dark=dark)
    chromium.open(f"file://{folder}/{name}.html")
    chromium.ask("document.querySelectorAll('main details').forEach(d => { d.open = true; })")
    chromium.ask(LAID_OUT)
    chromium.ask(f"{axe}; 0")
    run = "axe.run(document, {resultTypes: ['violations']})"
    found = chromium.ask(f"{run}.then(r => r.violations.map(v => [v.id, v.nodes.slice(0, 3).map(n => n.html)]))")
    assert [] == found


@pytest.mark.sample(3)
@pytest.mark.parametrize("width", [360, 768, 1280])
@pytest.mark.parametrize("dark", [False, True])
def test_it_fits_every_screen(width: int, dark: bool, shown: Browser, tmp_path: Path) -> None:
    """Nothing is wider than the screen, letters are large enough, and every text stands out from what is behind it."""
    shown.look(width=width, dark=dark)
    shown.ask(LAID_OUT)
    assert shown.ask("document.documentElement.scrollWidth") <= width
    assert shown.ask(WIDER) == []
    assert shown.ask(SMALLEST) >= 12.5
    assert shown.ask(CONTRAST) >= 4.5
    background = shown.ask("getComputedStyle(document.body).backgroundColor")
    assert background == ("rgb(20, 23, 26)" if dark else "rgb(255, 255, 255)")
    shown.screenshot(tmp_path / "shown.png")
    assert (tmp_path / "shown.png").stat().st_size > 10_000


LAID_OUT = "document.querySelectorAll('.wide').forEach(e => { e.style.contentVisibility = 'visible'; }), 0"
"""Has tables laid out that are not on the screen yet."""
WIDER = """[...document.querySelectorAll('td > div, li, p, h1, h2, figure')].filter(e => e.checkVisibility()
  && e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('.wide')).map(e => e.outerHTML.slice(0, 80))"""
SMALLEST = """Math.min(...[...document.querySelectorAll('body *')].filter(e => e.checkVisibility() && e.innerText)
  .map(e => parseFloat(getComputedStyle(e).fontSize)))"""
CONTRAST = """(() => {
  const light = (color) => {
    const [r, g, b] = color.match(/[0-9.]+/g).slice(0, 3).map((part) => part / 255)
      .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    const color = getComputedStyle(element).backgroundColor;
    return color === 'rgba(0, 0, 0, 0)' && element.parentElement ? behind(element.parentElement) : color;
  };
  const of = (element) => {
    const [one, other] = [light(getComputedStyle(element).color), light(behind(element))];
    return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  };
  const words = [...document.querySelectorAll('body *')].filter((e) => e.checkVisibility() && e.innerText);
  return Math.min(...words.map(of));
})()"""


def test_it_prints(shown: Browser) -> None:
    """All of it, with the pages of the rules open, and without what only a screen has."""
    closed = shown.ask("document.querySelectorAll('details.rule[open]').length")
    shown.tell("Emulation.setEmulatedMedia", media="print")
    assert 0 == shown.ask("[...document.querySelectorAll('.tools, nav')].filter(e => e.checkVisibility()).length")
    shown.tell("Emulation.setEmulatedMedia", media="")
    shown.ask("addEventListener('afterprint', () => 0); let opened = 0; addEventListener('beforeprint', () => {"
              " opened = document.querySelectorAll('details.rule[open]').length; })")  # fmt: skip
    printed = shown.printed()
    assert (b"%PDF-", True) == (printed[:5], printed.count(b"/Type /Page") > 3)
    assert (0, len(RULES)) == (closed, shown.ask("opened"))
    assert 0 == shown.ask("document.querySelectorAll('details.rule[open]').length")


def test_it_can_be_read_without_javascript(chromium: Browser, folder: Path) -> None:
    """Every table is there, worst first; nothing is there that would do nothing."""
    chromium.look(width=360, height=30_000)
    chromium.tell("Emulation.setScriptExecutionDisabled", value=True)
    try:
        chromium.open(f"file://{folder}/some.html")
        tree = chromium.tell("DOMSnapshot.captureSnapshot", computedStyles=["display"])
        texts = tree["strings"]
        assert not {"INPUT", "BUTTON", "OUTPUT"} & {*texts}
        assert {"TABLE", "SUMMARY", "KC213", "topic-7"} <= {*texts}
        layout = tree["documents"][0]["layout"]["text"]
        seen = " ".join(texts[at] for at in layout if at >= 0)
        assert "it is wrong" in seen
        assert seen.index("fatal") < seen.index("Findings by rule")
        quiet(chromium)
    finally:
        chromium.tell("Emulation.setScriptExecutionDisabled", value=False)


def test_no_name_does_anything(chromium: Browser, folder: Path) -> None:
    """Hostile ones are shown as they are, in every place that a name has."""
    for number, word in enumerate(HOSTILE):
        chromium.open(f"file://{folder}/hostile{number}.html")
        assert "undefined" == chromium.ask("typeof hacked")
        shown = "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in word)
        assert shown == rows(chromium, "brokers", 1)[0]
        chromium.click("#findings th:nth-child(2) button")
        quiet(chromium)


def test_many_findings_are_usable(chromium: Browser, folder: Path) -> None:
    """20,000 of 2,000 brokers: the page is small, tells what it leaves out, and a search and a sort are quick."""
    chromium.look(width=1280)
    chromium.open(f"file://{folder}/many.html")
    assert (folder / "many.html").stat().st_size < 3_000_000
    captions = chromium.ask("[...document.querySelectorAll('caption')].map(c => c.textContent)")
    assert {"The worst 1000 of 2000 brokers", "The worst 500 of 1500 partitions"} <= {*captions}
    assert "The worst 1000 of 20000 findings" in captions
    spent = chromium.ask(
        "(() => { const start = performance.now(); document.querySelector('#findings th:nth-child(5) button').click();"
        "const input = document.querySelector('section[aria-labelledby=findings-h] input'); input.value = 'kc121';"
        "input.dispatchEvent(new Event('input')); document.body.getBoundingClientRect();"
        " return performance.now() - start; })()"
    )
    assert spent < 5000
    assert {"KC121"} == set(rows(chromium, "findings", 1))
    quiet(chromium)
