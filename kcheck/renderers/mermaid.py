"""A history as a sequence diagram of Mermaid, which GitHub and GitLab draw in a comment."""

from typing import TextIO

from kcheck.model.report import Report
from kcheck.renderers._contract import Renderer
from kcheck.renderers._space_time import cut_in_words, history, lanes, moments
from kcheck.renderers._text_simulation import outcome_of
from kcheck.screen.options import Options
from kcheck.screen.printable import printable

_KEPT = frozenset(" .,:/+@-_<>=()✗?'")


def render(report: Report, stream: TextIO, options: Options) -> None:
    """Write the diagram."""
    del options
    replay = history(report, "mermaid")
    columns = lanes(replay)
    ids = {name: f"n{number}" for number, name in enumerate(columns)}
    across = f"{ids[columns[0]]},{ids[columns[-1]]}" if len(columns) > 1 else ids[columns[0]]
    lines = ["sequenceDiagram", *(f"participant {ids[name]} as {_text(name)}" for name in columns)]
    for moment in moments(replay):
        lines.append(f"Note over {across}: {_text(moment.title)}")
        lines += [f"{ids[source]}->>{ids[target]}: {_text(text)}" for source, target, text in moment.messages]
        lines += [f"Note over {ids[name]}: {_text(text)}" for name, text in moment.changes.items()]
        lines += [f"Note over {ids[name]}: {_text(cut_in_words(cut))}" for name, cut in moment.cut.items()]
    lines.append(f"Note over {across}: Kafka {_text(report.kafka)}: {_text(outcome_of(replay))}")
    stream.write("\n    ".join(lines) + "\n")


def _text(text: str) -> str:
    """Return a text in which no character means anything to Mermaid."""
    return "".join(c if c.isalnum() or c in _KEPT else f"#{ord(c)};" for c in printable(text))


RENDERER = Renderer(name="mermaid", render=render, verbs=("simulate",))
