"""The page of a history in a real Chromium: stepped through, on a phone, dark, printed, without JavaScript."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import kcheck
from tests.renderers.browser import Browser, browser
from tests.renderers.test_browser import quiet

SEEN = "[...document.querySelectorAll('.steps > li')].filter(step => step.checkVisibility())"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the page of a history that loses a record."""
    path = tmp_path_factory.mktemp("history") / "history.html"
    assert 0 == kcheck("simulate", "kip-101-1", "--kafka", "0.10.2", "--format", "html", "-o", path).code
    return path


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Start the browser once for all."""
    with browser(tmp_path_factory.mktemp("chromium") / "profile") as started:
        yield started


def press(seen: Browser, key: str) -> None:
    """Press a key, and let go."""
    for kind in ("keyDown", "keyUp"):
        seen.tell("Input.dispatchKeyEvent", type=kind, key=key, code=key)


def test_it_is_stepped_through(chromium: Browser, page: Path) -> None:
    """By arrow keys and buttons; one step at a time, which says where it is."""
    chromium.look(width=1280)
    chromium.open(f"file://{page}")
    where = "document.getElementById('where').textContent"
    title = f"{SEEN}.map(step => step.querySelector('h2').textContent)"
    assert ("Step 1 of 17", ["B leads"]) == (chromium.ask(where), chromium.ask(title))
    press(chromium, "ArrowRight")
    press(chromium, "ArrowRight")
    press(chromium, "ArrowLeft")
    assert ("Step 2 of 17", ["11: append 1"]) == (chromium.ask(where), chromium.ask(title))
    chromium.click("#control button:nth-of-type(3)")
    assert ["12: fetch A x2"] == chromium.ask(title)
    press(chromium, "End")
    press(chromium, "ArrowDown")
    assert ("Step 17 of 17", ["30: fetch all"]) == (chromium.ask(where), chromium.ask(title))
    assert chromium.ask("document.querySelectorAll('#control button')[2].disabled")
    quiet(chromium)


@pytest.mark.parametrize(("width", "dark"), [(390, False), (390, True), (1280, True)])
def test_it_fits_every_screen(width: int, dark: bool, chromium: Browser, page: Path) -> None:
    """No step is wider than the screen."""
    chromium.look(width=width, dark=dark)
    chromium.open(f"file://{page}")
    for _ in range(17):
        assert width >= chromium.ask("document.documentElement.scrollWidth")
        press(chromium, "ArrowRight")
    quiet(chromium)


def test_every_step_is_read_without_javascript_and_on_paper(chromium: Browser, page: Path) -> None:
    """Which records are lost, what decided it, and that a replica changed are said in words."""
    chromium.look(width=1280)
    chromium.open(f"file://{page}")
    chromium.tell("Emulation.setEmulatedMedia", media="print")
    assert [17, False] == chromium.ask(f"[{SEEN}.length, document.getElementById('control').checkVisibility()]")
    chromium.tell("Emulation.setEmulatedMedia", media="")
    written = page.read_text("utf-8")
    for said in ("✗ 1 dropped, lost", "ReplicaFetcherThread.maybeTruncate: to the high watermark", "A (changed)"):
        assert said in written
    assert '(<a href="https://kafka.apache.org/documentation/#replication">documentation</a>)' in written
    chromium.tell("Emulation.setScriptExecutionDisabled", value=True)
    chromium.open(f"file://{page}")
    chromium.tell("Emulation.setScriptExecutionDisabled", value=False)
    assert [17, False] == chromium.ask(f"[{SEEN}.length, document.getElementById('control').checkVisibility()]")


def test_failed_expectations_and_words_of_a_ticket_are_text(tmp_path: Path) -> None:
    """A name or a word with the signs of HTML is refused by the language, or is escaped."""
    ticket = tmp_path / "ticket"
    ticket.write_text("brokers A\nA leads\nexpect A leo 3\n", "utf-8")
    done = kcheck("simulate", ticket, "--format", "html")
    assert (1, True) == (done.code, '<p class="note">Line 3: A leo is 0, expected 3.</p>' in done.out)
    assert 2 == kcheck("simulate", "list", "--format", "html").code
