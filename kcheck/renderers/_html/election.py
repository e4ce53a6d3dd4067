"""The page of `elect`, with the verdict, the courses, and the logs of the worst partitions side by side."""

from collections.abc import Iterable, Iterator, Sequence

from kcheck.core.election.plans import PartitionElection, is_at_stake
from kcheck.core.election.scenarios import harm
from kcheck.documents.election_words import UNTIL_RESCUE, nothing_at_stake
from kcheck.errors import UsageError
from kcheck.model.report import Report, Row
from kcheck.renderers._election_rows import (
    PARTITION_TITLES,
    SCENARIO_TITLES,
    Election,
    LogLine,
    candidate_table,
    compares_leaders,
    extent,
    log_lines,
    offsets,
    partition_cells,
    repair_commands,
    scenario_rows,
    warnings,
)
from kcheck.renderers._html.head import foot, head
from kcheck.renderers._html.parts import Html, caption, plain, table, text
from kcheck.renderers._html.script import SCRIPT
from kcheck.renderers._html.style import STYLE
from kcheck.replicas.elect import ClusterElection
from kcheck.screen.page import cell

_ROW_COUNT, _PICTURE_COUNT = 1000, 20
"""Maximum number of partitions in the table, and of those whose logs are drawn."""
_WORDS = {"lost": "loses", "fetched": "fetches"}
_VERDICTS = {"kept": "clean", "lost": "error", "fetched": "fetched"}
"""The parts of a log as classes of the style."""


def page(report: Report) -> Iterator[Html]:
    """Yield the page, section by section."""
    answer = _one_cluster(report.answer)
    yield head("Leaders and their cost", STYLE, SCRIPT)
    notes = "".join(f'<p class="note">{text(words)}</p>\n' for words in warnings(answer))
    yield (
        f'<header><h1>Leaders and their cost</h1>\n<p class="facts">Elections of Kafka {text(report.kafka)}</p>\n'
        f"{notes}<p><strong>{text(answer.verdict)}</strong></p></header>\n<main>\n"
    )
    steps = "\n".join(map(text, repair_commands(answer)))
    if steps:
        yield _section("repairs", "Repair first", f"<pre>{steps}</pre>\n")
    ways = _table("ways", "The loss of each way to go on", SCENARIO_TITLES, scenario_rows(answer))
    yield _section("ways", "Ways to go on", ways)
    rows = answer.partitions
    at_stake = [*rows] if len(rows) == 1 else sorted(filter(is_at_stake, rows), key=harm)
    count = len(at_stake) + (0 if isinstance(answer, ClusterElection) else answer.left_out)
    if rows and not at_stake:
        yield f"<p>{nothing_at_stake(answer.partitions) if answer.rescue is None else UNTIL_RESCUE}</p>\n"
    elif rows:
        shown = at_stake[:_ROW_COUNT]
        said = caption(len(shown), count, "partition")
        cells = (partition_cells(row, is_compared=compares_leaders(answer)) for row in shown)
        yield _section("stake", "At stake", _table("at-stake", said, PARTITION_TITLES, cells))
        yield _section("logs", "Logs side by side", *map(_partition, range(_PICTURE_COUNT), at_stake))
    yield foot("", SCRIPT)


def _one_cluster(answer: object) -> Election:
    """Return the election of a cluster; UsageError for several clusters."""
    if isinstance(answer, ClusterElection):
        return answer
    from kcheck.fleet.runs.elect import RunElection  # only for a run

    if not isinstance(answer, RunElection):
        raise UsageError("--format html is for one cluster; name it with --cluster")
    return answer


def _section(name: str, title: str, *parts: Html) -> Html:
    return f'<section aria-labelledby="{name}-h"><h2 id="{name}-h">{title}</h2>\n{"".join(parts)}</section>\n'


def _table(name: str, said: str, titles: Sequence[str], rows: Iterable[Sequence[object]]) -> Html:
    titles = tuple(title or "way" for title in titles)
    cells: list[Row] = [dict(zip(titles, map(cell, row), strict=True)) for row in rows]
    return table(name, said, [plain(title, title) for title in titles], cells)


def _partition(at: int, partition: PartitionElection) -> Html:
    """Return one partition: its candidates, and the logs if there is a leader to recommend."""
    name, best = partition.name, partition.recommended
    titles, cells = candidate_table(partition)
    parts = [f"<h3>{text(name)}</h3>\n", _table(f"candidates-{at}", f"Candidates of {name}", titles, cells)]
    parts += [
        f'<p class="note">{text(candidate.problem)}</p>\n' for candidate in partition.candidates if candidate.problem
    ]
    if best is not None:
        parts.append(_picture(f"{name} if broker {best.broker_id} leads", log_lines(partition, best)))
    return "".join(parts)


def _picture(title: str, logs: list[LogLine]) -> Html:
    """Return the logs one below the other, on one scale of offsets, with the same in words."""
    start, end = extent(logs)
    lines = "".join(_line(log, start, max(end - start, 1)) for log in logs)
    return f'<figure class="chart"><figcaption>{text(title)}</figcaption>\n<ul>\n{lines}</ul></figure>\n'


def _line(log: LogLine, start: int, length: int) -> Html:
    said = f"holds {log.words}" if log.end > log.start else log.words
    for part in log.parts:
        if part.kind != "kept":
            said += f"; {_WORDS[part.kind]} {offsets(part.start, part.end)}"
    pieces = "".join(
        f'<rect class="{_VERDICTS[part.kind]}" x="{100 * (part.start - start) / length:.2f}" y="0"'
        f' width="{max(100 * (part.end - part.start) / length, 0.6):.2f}" height="10"/>'
        for part in reversed(log.parts)
    )
    label = f"broker {log.broker_id}"
    return (
        f'<li><span class="label">{label}</span><svg viewBox="0 0 100 10" preserveAspectRatio="none" role="img"'
        f' aria-label="{label}: {said}">{pieces}</svg><span class="said">{said}</span></li>\n'
    )
