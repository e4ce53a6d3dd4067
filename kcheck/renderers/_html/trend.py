"""The counts of a run as tiles, each with its trend over the last runs."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from kcheck.renderers._html.parts import (
    SEVERITIES,
    Html,
    HtmlColumn,
    counts,
    fold,
    number,
    plain,
    severity,
    table,
    text,
)
from kcheck.words import moment

_SHOWN = (
    ("losing_partitions", "lose records by the next start"),
    ("start_all_committed", "committed records lost if everything starts now"),
    ("committed_lost", "committed records lost under every leader"),
    ("committed_on_one_disk", "committed records on one disk only"),
    ("partitions", "partition dirs scanned"),
)


class _Tile(NamedTuple):
    """A count: its field in the rows of the trend, its label, and its number now."""

    name: str
    label: Html
    amount: object


def tiles(body: Any, summary: Any) -> Html:
    """Return the counts, and below them the runs whose counts they follow."""
    runs: Sequence[Any] = body.get("trend", ())
    now = {**body["loss"], "losing_partitions": body["partitions_losing"], "partitions": body["rows"]["partitions"]}
    several = [_Tile(name, severity(name), summary[name]) for name in SEVERITIES]
    several += [_Tile(name, f'<span class="soft">{label}</span>', now[name]) for name, label in _SHOWN]
    lines = "".join(f"<li>{tile.label}<b>{number(tile.amount)}</b>{_line(tile.name, runs)}</li>" for tile in several)
    return f'<ul class="tiles" aria-label="Counts">{lines}</ul>\n{_runs(runs)}'


def _line(name: str, runs: Sequence[Any]) -> Html:
    """Return a bar for each run, oldest first."""
    if not runs:
        return ""
    highest = max(run[name] or 0 for run in runs) or 1
    width = 100 / max(len(runs), 10)
    bars = "".join(
        f'<rect class="{name}" x="{at * width:.2f}" width="{width * 0.8:.2f}" y="{24 - height:.2f}"'
        f' height="{height:.2f}"><title>{text(run["run"])}: {number(run[name])}</title></rect>'
        for at, run in enumerate(runs)
        for height in [max(24 * (run[name] or 0) / highest, 0.75)]
    )
    said = ", ".join(number(run[name]) for run in runs)
    return (
        f'<svg class="trend" viewBox="0 0 100 24" preserveAspectRatio="none" role="img"'
        f' aria-label="Last {len(runs)} runs: {said}">{bars}</svg>'
    )


def _runs(runs: Sequence[Any]) -> Html:
    if not runs:
        return ""
    depths = sorted({str(run["depth"]) for run in runs})
    note = f"; their depths differ: {', '.join(depths)}" if len(depths) > 1 else ""
    columns = [
        plain("Run", "run"), HtmlColumn("Ended", lambda run: text(moment(run["ended"])), lambda run: run["ended"]),
        plain("Depth", "depth"), HtmlColumn("Complete", lambda run: "yes" if run["finished"] else "no"),
        *(counts(name.capitalize(), name) for name in SEVERITIES),
        counts("Losing", "losing_partitions"), counts("Lost if all start", "start_all_committed"),
        counts("Lost under every leader", "committed_lost"), counts("On one disk", "committed_on_one_disk"),
        counts("Partition dirs", "partitions"),
    ]  # fmt: skip
    said = f"The last {len(runs)} runs, newest first"
    shown = table("runs", said, columns, [*reversed(runs)])
    return fold(f"Bars: the last {len(runs)} runs, oldest first{note}", shown)
