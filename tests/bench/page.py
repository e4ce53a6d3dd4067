"""Measures `kcheck fleet report` and its page with many findings: `python tests/bench/page.py`.

A run is made without a scan: 100,000 findings of 40 rules on 2,000 brokers, and half of that. Printed are the CPU time
and the peak memory of the command, the size of the page, and what a Chromium needs to load it, lay it out and run its
script: the CPU time of the page's thread, and the time by the clock, which a busy machine makes longer. `--findings N`
takes another size. Nothing is asserted: the figures stand in docs/performance.md. `--tiny` measures next to nothing,
without a browser: the tests do, so that it goes on to work.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.bench.growth import cost  # noqa: E402 - the path above comes first
from tests.bench.limits import kcheck  # noqa: E402 - the same
from tests.fleets import LOG_DIR, finding, forged  # noqa: E402 - the same
from tests.renderers.browser import Browser, browser  # noqa: E402 - the same

READY = """(() => { const [page] = performance.getEntriesByType('navigation'); return page.loadEventEnd; })()"""


def findings(count: int) -> Iterator[dict[str, Any]]:
    """Yield findings of two severities, on many brokers."""
    for number in range(count):
        yield finding(
            cluster=f"c{number % 20}", broker=str(number % 2000), topic=f"t{number % 3000}", line=number,
            id=f"KC{101 + number % 40}", severity=("error", "warning")[number % 2], message=f"{number} is wrong",
        )  # fmt: skip


def busy(chromium: Browser) -> float:
    """Return the seconds that the thread of the page has worked since the page was asked for."""
    metrics = chromium.tell("Performance.getMetrics")["metrics"]
    return next(float(metric["value"]) for metric in metrics if metric["name"] == "TaskDuration")


def measure(folder: Path, count: int, *, is_shown: bool) -> None:
    """Print the figures for one size."""
    log_dirs = [{**LOG_DIR, "cluster": f"c{number % 20}", "broker": str(number)} for number in range(min(count, 2000))]
    run = forged(folder, str(count), findings=findings(count), log_dirs=log_dirs)
    page = folder / f"{count}.html"
    seconds, peak = cost(kcheck("fleet", "report", str(run), "-o", str(page)))
    line = f"{count:>9,} findings: {seconds:.1f} s of CPU, {peak:.0f} MiB, page {page.stat().st_size / 1e6:.2f} MB"
    if is_shown:
        with browser(folder / f"profile{count}") as chromium:
            spent, times = [], []
            for _ in range(5):
                chromium.tell("Performance.enable", timeDomain="threadTicks")
                chromium.open(f"file://{page}")
                chromium.until(f"{READY} > 0")
                spent.append(busy(chromium))
                times.append(chromium.ask(READY))
        line += f", ready after {min(spent):.2f} s of CPU, {min(times) / 1000:.2f} s (best of {len(times)})"
    print(line, flush=True)


def main() -> None:
    """Measure half of the size, and all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--findings", type=int, default=100_000)
    parser.add_argument("--tiny", action="store_true")
    asked = parser.parse_args()
    count = 100 if asked.tiny else asked.findings
    with tempfile.TemporaryDirectory() as folder:
        for size in (count // 2, count):
            measure(Path(folder), size, is_shown=not asked.tiny)


if __name__ == "__main__":
    main()
