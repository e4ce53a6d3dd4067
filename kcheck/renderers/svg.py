"""A history as a space-time diagram, with a column for each replica, time from top to bottom, and arrows."""

from collections.abc import Iterator
from html import escape
from typing import TextIO

from kcheck.model.report import Report
from kcheck.renderers._contract import Renderer
from kcheck.renderers._space_time import Moment, cut_in_words, history, lanes, moments
from kcheck.renderers._text_simulation import outcome_of
from kcheck.screen.options import Options
from kcheck.screen.printable import printable
from kcheck.simulation.replay import Replay

_LINE = 18
_LEFT = 16
_COLUMN = 250
_LETTER = 7.3
"""Width of a letter of the fixed font, in pixels."""
_STYLE = """
svg { --back: #ffffff; --front: #1c2024; --soft: #5b636c; --lane: #c9d0d6; --lost: #b3261e; background: var(--back); }
@media (prefers-color-scheme: dark) {
  svg { --back: #14171a; --front: #e6e9ec; --soft: #a3acb5; --lane: #4a525a; --lost: #ff7a66; }
}
text { font: 12px ui-monospace, monospace; fill: var(--front); }
.name, .verdict { font-weight: bold; }
.event { fill: var(--soft); }
.lost { fill: var(--lost); font-weight: bold; }
.lane { stroke: var(--lane); stroke-dasharray: 2 3; }
.sent { stroke: var(--front); marker-end: url(#head); }
.head { fill: var(--front); }
.under { stroke: var(--back); stroke-width: 4px; paint-order: stroke; }
"""


def render(report: Report, stream: TextIO, options: Options) -> None:
    """Write the drawing."""
    del options
    stream.writelines(_drawing(report, history(report, "svg")))


def _drawing(report: Report, replay: Replay) -> Iterator[str]:
    columns = lanes(replay)
    at = {name: _LEFT + _COLUMN // 2 + _COLUMN * number for number, name in enumerate(columns)}
    parts: list[str] = []
    bottom = 3 * _LINE
    for moment in moments(replay):
        bottom = _moment(moment, at, bottom, parts)
    result = [f"Kafka {report.kafka}", *outcome_of(replay).split("; ")]
    longest = max([*result, *(step.event for step in replay.steps)], key=len)
    width = max(2 * _LEFT + _COLUMN * len(columns), int(2 * _LEFT + _LETTER * (len(longest) + 8)))
    height = bottom + _LINE * (len(result) + 2)
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        f' role="img">\n<title>{_text("; ".join(result))}</title>\n<style>{_STYLE}</style>\n'
        '<defs><marker id="head" markerWidth="9" markerHeight="8" refX="8" refY="4" orient="auto">'
        '<path class="head" d="M0,0 L9,4 L0,8 z"/></marker></defs>\n'
    )
    for name, x in at.items():
        yield f'<line class="lane" x1="{x}" y1="{2 * _LINE}" x2="{x}" y2="{bottom}"/>\n'
        yield _label(x, _LINE, name, "name")
    yield from parts
    for number, line in enumerate(result):
        yield _label(_LEFT, bottom + _LINE * (number + 1), line, "verdict", "start")
    yield "</svg>\n"


def _moment(moment: Moment, at: dict[str, int], y: int, parts: list[str]) -> int:
    """Add the drawing of a step; return where the next one begins."""
    parts.append(_label(_LEFT, y + _LINE, moment.title, "event under", "start"))
    y += _LINE
    for source, target, text in moment.messages:
        start, end = at[source], at[target]
        inset = 6 if end > start else -6
        parts.append(
            f'<line class="sent" x1="{start + inset}" y1="{y + _LINE}" x2="{end - inset}" y2="{y + _LINE + 8}"/>\n'
        )
        parts.append(_label((start + end) // 2, y + _LINE - 3, text, "under"))
        y += _LINE + 12
    for name, text in moment.changes.items():
        parts.append(_label(at[name], y + _LINE, text, "under"))
    y += _LINE if moment.changes else 0
    for name, cut in moment.cut.items():
        parts.append(_label(at[name], y + _LINE, cut_in_words(cut), "under lost" if cut[2] else "under"))
    return y + (_LINE if moment.cut else 0) + _LINE // 2


def _label(x: int, y: int, text: str, name: str, anchor: str = "middle") -> str:
    return f'<text class="{name}" x="{x}" y="{y}" text-anchor="{anchor}">{_text(text)}</text>\n'


def _text(text: str) -> str:
    return escape(printable(text))


RENDERER = Renderer(name="svg", render=render, verbs=("simulate",))
