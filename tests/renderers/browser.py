"""Chromium without a screen, told what to do over a pair of pipes: no server, no port, no driver between."""

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

OPTIONS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-default-apps",
    "--disable-dev-shm-usage",    "--disable-extensions", "--hide-scrollbars", "--remote-debugging-pipe",
)  # fmt: skip
START = """
import fcntl, os, sys
read, write = (fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3])
os.dup2(read, 3), os.dup2(write, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""Chromium reads what it is told on descriptor 3, and answers on 4."""
PATIENCE = 60
"""So many seconds is an answer waited for."""


def chromium() -> str:
    """Return the browser; without one the test is skipped, and fails where everything must be there."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        reason = "no chromium on the PATH"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)
    assert found is not None
    return found


class Browser:
    """A browser that is running, and one page in it: `events` are all that it told."""

    def __init__(self, reading: int, writing: int) -> None:
        self.events: list[dict[str, Any]] = []
        self._reading, self._writing = reading, writing
        self._left = b""
        self._count = 0
        target = self._told("Target.createTarget", {"url": "about:blank"}, None)["targetId"]
        attached = self._told("Target.attachToTarget", {"targetId": target, "flatten": True}, None)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.tell(f"{domain}.enable")

    def tell(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Tell the page to do something, and return its answer."""
        return self._told(method, parameters, self._session)

    def _told(self, method: str, parameters: dict[str, Any], session: str | None) -> dict[str, Any]:
        self._count += 1
        message: dict[str, Any] = {"id": self._count, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._writing, data) :]
        until = time.monotonic() + PATIENCE
        while True:
            answer = self._next(until)
            if answer.get("id") == self._count:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result

    def _next(self, until: float) -> dict[str, Any]:
        """Return the next message; one without a number is an event."""
        while b"\0" not in self._left:
            ready, _, _ = select.select([self._reading], [], [], max(until - time.monotonic(), 0))
            assert ready, f"the browser has said nothing for {PATIENCE} s"
            part = os.read(self._reading, 1 << 16)
            assert part, "the browser has ended"
            self._left += part
        data, _, self._left = self._left.partition(b"\0")
        message: dict[str, Any] = json.loads(data)
        if "id" not in message:
            self.events.append(message)
        return message

    def named(self, *methods: str) -> list[dict[str, Any]]:
        """Return what the events of these names say."""
        return [event["params"] for event in self.events if event["method"] in methods]

    def open(self, address: str) -> None:
        """Go to an address and wait until all of it is there."""
        self.events.clear()
        self.tell("Page.navigate", url=address)
        until = time.monotonic() + PATIENCE
        while not self.named("Page.loadEventFired"):
            self._next(until)

    def ask(self, expression: str) -> Any:
        """Return the value of an expression on the page."""
        found = self.tell("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def until(self, expression: str) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + PATIENCE
        while not self.ask(expression):
            assert time.monotonic() < end, expression
            time.sleep(0.02)

    def click(self, selector: str) -> None:
        """Click on the middle of the first element that a selector names."""
        middle = "(b => [b.x + b.width / 2, b.y + b.height / 2])(e.getBoundingClientRect())"
        scroll = "e.scrollIntoView({block: 'center', behavior: 'instant'})"
        at = self.ask(f"(e => {{ {scroll}; return {middle}; }})(document.querySelector({json.dumps(selector)}))")
        for kind in ("mousePressed", "mouseReleased"):
            self.tell("Input.dispatchMouseEvent", type=kind, x=at[0], y=at[1], button="left", clickCount=1)

    def type(self, text: str) -> None:
        """Type a text where the focus is."""
        self.tell("Input.insertText", text=text)

    def look(self, *, width: int, dark: bool = False, height: int = 900) -> None:
        """Have a screen of this width, in CSS pixels, and of these colours."""
        self.tell(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.tell("Emulation.setEmulatedMedia", features=[scheme])

    def screenshot(self, path: Path, *, whole: bool = False) -> None:
        """Write what is seen, or all of the page."""
        shown = self.tell("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shown["data"]))

    def printed(self) -> bytes:
        """Return the page as it would be printed: a PDF."""
        return base64.b64decode(self.tell("Page.printToPDF", preferCSSPageSize=True)["data"])


@contextlib.contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """Start Chromium with a profile of its own in a folder, and end it."""
    commands, answers = os.pipe(), os.pipe()
    command = [chromium(), *OPTIONS, f"--user-data-dir={folder}", "about:blank"]
    with (folder.parent / "chromium.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", START, str(commands[0]), str(answers[1]), *command],
            pass_fds=(commands[0], answers[1]), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )  # fmt: skip
    os.close(commands[0])
    os.close(answers[1])
    try:
        yield Browser(answers[0], commands[1])
    finally:
        os.close(commands[1])
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        os.close(answers[0])
