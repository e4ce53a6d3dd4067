"""The page of a history, with one step at a time by keyboard. On paper and without JavaScript it shows all."""

from collections.abc import Iterable, Iterator, Sequence

from kcheck.documents.simulation import ROLES
from kcheck.model.report import Report
from kcheck.renderers._html.head import foot, head
from kcheck.renderers._html.parts import Html, text
from kcheck.renderers._html.style import STYLE
from kcheck.renderers._space_time import Moment, cut_in_words, history, moments
from kcheck.renderers._text_simulation import epochs_of, leader_of, outcome_of
from kcheck.simulation.decisions import Decision, rule_of
from kcheck.simulation.state import Node, names_of

_STYLE = f"""{STYLE}
.steps {{ list-style: none; padding: 0; margin: 0; }}
.steps > li {{ border-top: 1px solid var(--line); padding: .25rem 0 1rem; }}
.steps h2 {{ border: 0; margin: .75rem 0 .25rem; font-family: ui-monospace, monospace; }}
.steps th, .steps td {{ overflow-wrap: anywhere; }}
.steps tr.changed th:first-child::before {{ content: "\\25B6\\A0"; }}
.steps .cut {{ font-weight: 700; }}
#control {{ display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: 1rem 0; }}
#control button {{ font: inherit; color: inherit; background: var(--panel); border: 1px solid var(--soft);
  border-radius: .35rem; padding: .35rem .7rem; cursor: pointer; }}
#control button:disabled {{ opacity: .5; cursor: default; }}
#control[hidden] {{ display: none; }}
@media screen {{ .stepping .steps > li:not(.now) {{ display: none; }} }}
@media print {{ #control {{ display: none; }} .steps > li {{ break-inside: avoid; }} }}
"""
_SCRIPT = """
"use strict";
(() => {
  const steps = [...document.querySelectorAll(".steps > li")];
  const control = document.getElementById("control");
  const [first, previous, next, last] = control.querySelectorAll("button");
  let now = 0;
  const show = (at) => {
    steps[now].classList.remove("now");
    now = Math.max(0, Math.min(at, steps.length - 1));
    steps[now].classList.add("now");
    document.getElementById("where").textContent = `Step ${now + 1} of ${steps.length}`;
    first.disabled = previous.disabled = now === 0;
    next.disabled = last.disabled = now === steps.length - 1;
  };
  const moves = {
    ArrowRight: () => now + 1, ArrowDown: () => now + 1, ArrowLeft: () => now - 1, ArrowUp: () => now - 1,
    Home: () => 0, End: () => steps.length - 1,
  };
  document.addEventListener("keydown", (event) => {
    const move = moves[event.key];
    if (!move || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    show(move());
  });
  [first, previous, next, last].forEach((button, at) => {
    button.addEventListener("click", () => show(moves[["Home", "ArrowLeft", "ArrowRight", "End"][at]]()));
  });
  control.hidden = false;
  document.body.classList.add("stepping");
  show(0);
})();
"""


def page(report: Report) -> Iterator[Html]:
    """Yield the page, step by step."""
    replay = history(report, "html")
    result, names = text(outcome_of(replay)), replay.script.names
    title = f"A history under Kafka {text(report.kafka)}"
    yield head(title, _STYLE, _SCRIPT)
    controller = "kraft" if replay.rules.election.kraft else "zookeeper"
    yield f'<header><h1>{title}</h1>\n<p class="facts">{controller} controller.</p>\n'
    yield f'<p class="note"><strong>How it ends:</strong> {result}.</p>\n'
    for failed in replay.failed:
        yield f'<p class="note">Line {failed.line}: {text(failed.message)}.</p>\n'
    yield (
        '<div id="control" role="group" aria-label="Steps" hidden><button type="button">First</button>'
        '<button type="button">Previous</button><button type="button">Next</button>'
        '<button type="button">Last</button><output id="where" aria-live="polite"></output>'
        "<span>Arrow keys, Home and End move too.</span></div></header>\n"
        '<main><ol class="steps">\n'
    )
    for moment in moments(replay):
        yield _step(moment, names)
    yield f"</ol>{foot('', _SCRIPT)}"


def _step(moment: Moment, names: Sequence[str]) -> Html:
    step, controller = moment.step, moment.step.state.controller
    rows = "".join(_replica(name, node, moment) for name, node in zip(names, step.state.nodes, strict=True))
    isr, elr = (", ".join(names_of(ids, names)) for ids in (controller.seats.isr, controller.seats.elr))
    sent = [f"{text(source)} → {text(target)}: {text(said)}" for source, target, said in moment.messages]
    return (
        f"<li><h2>{text(moment.title)}</h2>\n"
        f"<p>Leader {text(leader_of(step, names) or 'none')}, epoch {text(controller.leader_epoch)},"
        f" in sync {text(isr or 'none')}{text(', eligible ' + elr if elr else '')}.</p>\n"
        '<table class="data static"><thead><tr><th>Replica</th><th>Role</th><th>Log</th><th>High watermark</th>'
        f"<th>Epochs</th></tr></thead><tbody>{rows}</tbody></table>\n"
        f"{_list('Messages', sent)}{_list('Decided by', map(_rule, step.decided_by))}"
        f"{_list('Notes', map(text, step.notes))}</li>\n"
    )


def _replica(name: str, node: Node, moment: Moment) -> Html:
    changed = name in moment.changes
    cut = f' <span class="cut">{text(cut_in_words(moment.cut[name]))}</span>' if name in moment.cut else ""
    cells = {
        "Role": text(ROLES[node.mode] if node.running else "down"),
        "Log": f"{node.log_start_offset} to {node.log_end_offset}{cut}",
        "High watermark": text(node.high_watermark),
        "Epochs": text(", ".join(epochs_of(node)) or "none"),
    }
    said = "".join(f'<td data-label="{label}"><div>{cell}</div></td>' for label, cell in cells.items())
    name_cell = f'<th scope="row">{text(name)}{" (changed)" if changed else ""}</th>'
    row = '<tr class="changed">' if changed else "<tr>"
    return f"{row}{name_cell}{said}</tr>"


def _rule(decision: Decision) -> Html:
    """Return a rule with a link to Kafka's page about it; the page itself loads nothing."""
    rule = rule_of(decision)
    return f'{text(str(decision))} (<a href="{text(rule.link)}">{text(rule.reference or "documentation")}</a>)'


def _list(title: str, items: Iterable[Html]) -> Html:
    lines = "".join(f"<li>{item}</li>" for item in items)
    return f"<h3>{title}</h3><ul>{lines}</ul>\n" if lines else ""
