"""The pages of docs/histories: each is written from the runs of a history that kcheck ships."""

from collections.abc import Sequence
from io import StringIO
from itertools import groupby

from kcheck.renderers import Options, text
from kcheck.renderers._text_simulation import outcome_of
from kcheck.simulation.history import ShippedHistory
from kcheck.simulation.replay import Replay
from kcheck.verbs.simulate import ReleasesCompared, histories, simulate

FOLDER = "docs/histories"
NOTICE = "<!-- python -m tests.docs.generate writes this page"


def history_pages() -> dict[str, str]:
    """Return the page of each history, and their index, by path."""
    shipped = histories()
    lines = "".join(f"- [{history.name}]({history.name}.md): {history.title}\n" for history in shipped)
    index = (
        "# Histories\n\nHow a partition loses records, diverges or gets stuck, and which release of Kafka ended it."
        " Each runs with\n`kcheck simulate NAME`; [simulate](../simulate.md) has the language.\n\n"
        f"{lines}\n{NOTICE} from kcheck/histories: change those, not this. -->\n"
    )
    return {f"{FOLDER}/README.md": index} | {f"{FOLDER}/{history.name}.md": _page(history) for history in shipped}


def _page(history: ShippedHistory) -> str:
    kafka = history.outcomes[0][0]
    run = StringIO()
    text.RENDERER.render(simulate(history.name, kafka=kafka).report(), run, Options(width=80))
    compared = simulate(history.name, kafka="all")
    assert isinstance(compared, ReleasesCompared)
    return (
        f"# {history.name}: {history.title}\n\n{history.page}\n\n"
        f"## Outcome by release\n\n| Kafka | Outcome |\n| --- | --- |\n{_outcomes(compared.replays)}\n"
        f"## Under Kafka {kafka}\n\n```text\n{run.getvalue()}```\n\n"
        f"## The history\n\nRun it: `kcheck simulate {history.name} --kafka {kafka}`\n\n```text\n{history.text}```\n\n"
        f"{NOTICE} from kcheck/histories/{history.name}.history: change that, not this. -->\n"
    )


def _outcomes(replays: Sequence[Replay]) -> str:
    """Return a row for each range of releases with the same outcome."""
    rows = ""
    for words, group in groupby(replays, outcome_of):
        names = [run.rules.release.name for run in group]
        rows += f"| {names[0]}{f' to {names[-1]}' if len(names) > 1 else ''} | {words} |\n"
    return rows
