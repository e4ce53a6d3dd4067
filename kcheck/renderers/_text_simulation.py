"""The layout of `kcheck simulate`: a column for each replica, time from top to bottom, then the verdict."""

from typing import Any

from kcheck.model.report import Report
from kcheck.screen.page import Page
from kcheck.simulation.promises import PROMISES
from kcheck.words import counted, offset_range

UNCHANGED = "\u00b7"


def simulate(report: Report, page: Page) -> None:
    """Write the table of a history, the releases of a comparison, or the histories that kcheck ships."""
    body: Any = report.body
    if "found" in body:
        _found(report, body, page)
    elif "searches" in body:
        _searches(body["searches"], page)
    elif "histories" in body:
        _histories(body["histories"], page)
    elif "releases" in body:
        _releases(body["releases"], page)
    else:
        _history(report, body, page)


def _found(report: Report, body: Any, page: Page) -> None:
    visited = f"{body['states']} states, {body['depth']} events deep"
    if body["found"] is not None:
        promise = PROMISES[body["promise"]]
        page.wrapped(f"{promise[0].upper()}{promise[1:]}, after {visited}. The shortest history:", style="bold")
        page.line()
        for line in body["found"].splitlines():
            page.line(line)
        return
    scope = "within the budget" if body["complete"] else f"up to {body['depth']} events"
    page.wrapped(f"Kafka {report.kafka} breaks no promise {scope}: {visited}.", style="bold")
    if not body["complete"]:
        page.wrapped("The search ended before every state was visited: raise --states or --depth, or lower the budget.")


def _searches(searches: list[Any], page: Page) -> None:
    page.table(
        ("Kafka", "controller", "broken promise", "events", "states"),
        [(row["kafka"], row["controller"], _broken(row), str(row["depth"]), str(row["states"])) for row in searches],
    )
    page.line()
    for promise in dict.fromkeys(row["promise"] for row in searches if row["promise"] is not None):
        page.wrapped(f"{promise}: {PROMISES[promise]}", hanging="    ")
    if any(row["found"] is not None for row in searches):
        page.wrapped("The shortest history of a release: the same command with --kafka VERSION.")
    if not all(row["found"] is not None or row["complete"] for row in searches):
        page.wrapped("Not all states were visited where it says so: raise --states or --depth, or lower the budget.")


def _broken(search: Any) -> str:
    if search["found"] is not None:
        return str(search["promise"])
    return "none" if search["complete"] else f"none up to {search['depth']} events"


def _histories(histories: list[Any], page: Page) -> None:
    for number, row in enumerate(histories):
        page.line() if number else None
        page.wrapped(f"{row['name']}: {row['title']}", hanging="    ", style="bold")
        for outcome_row in row["outcomes"]:
            page.wrapped(f"{outcome_row['kafka']}: {outcome_row['outcome']}", indent="  ", hanging="    ")
    page.line()
    page.wrapped("run one: kcheck simulate NAME --kafka VERSION, or --kafka all; its page: docs/histories/NAME.md")


def _releases(releases: list[Any], page: Page) -> None:
    page.table(
        ("Kafka", "controller", "outcome"),
        [(row["kafka"], row["controller"], outcome(row["verdict"])) for row in releases],
    )
    for row in releases:
        if row["changed_by"]:
            page.wrapped(f"{row['kafka']}: {'; '.join(row['changed_by'])}", hanging="    ")


def _history(report: Report, body: Any, page: Page) -> None:
    mutant = f", mutant {body['mutant']}" if body["mutant"] else ""
    page.line(
        f"Kafka {report.kafka}{mutant}, {body['controller']} controller: log end/high watermark, new epochs",
        "bold",
    )
    before: dict[str, Any] = {}
    rows = []
    for step in body["steps"]:
        cells = [cell(replica, before.get(name)) for name, replica in step["replicas"].items()]
        partition = (f"{step['leader'] or 'none'} e{step['leader_epoch']}", ",".join(step["isr"]) or "none")
        known = before.get("")
        shown = [UNCHANGED if known and now == known[at] else now for at, now in enumerate(partition)]
        before = {**step["replicas"], "": partition}
        rows.append((step["line"] or "", step["event"], *cells, *shown))
    page.table(("line", "event", *body["brokers"], "leader", "ISR"), rows)
    for step in body["steps"]:
        for note in step["notes"]:
            page.wrapped(f"line {step['line']}: {note}", hanging="    ")
    page.line()
    page.wrapped(outcome(body["verdict"]), style="bold")
    for failed in body["failed_expectations"]:
        page.wrapped(f"line {failed['line']}: {failed['message']}", hanging="    ", style="red")


def cell(replica: Any, before: Any) -> str:
    """Return what a step changes of a replica: log end and high watermark, epochs where they change."""
    if not replica["running"]:
        return "down" if before is None or before["running"] else UNCHANGED
    if replica == before:
        return UNCHANGED
    text = f"{replica['log_end_offset']}/{replica['high_watermark']}"
    epochs = [f"{entry['epoch']}@{entry['start_offset']}" for entry in replica["leader_epochs"]]
    known = [] if before is None else [f"{entry['epoch']}@{entry['start_offset']}" for entry in before["leader_epochs"]]
    if epochs == known:
        return text
    if known and epochs[: len(known)] == known:
        return f"{text} +{',+'.join(epochs[len(known) :])}"
    return f"{text} {','.join(epochs) or 'none'}"


def outcome(verdict: Any) -> str:
    """Return a verdict in words."""
    words = [f"lost: {_records(lost, 'acknowledged record')}" for lost in verdict["lost"]]
    words += [f"withdrawn: {_records(read, 'record')} that consumers read" for read in verdict["withdrawn"]]
    for pair in verdict["diverged"]:
        notice = "" if pair["detected"] else ", and nothing notices"
        words.append(f"{' and '.join(pair['replicas'])} differ from offset {pair['at']}{notice}")
    words += [f"{name} is stuck" for name in verdict["stuck"]]
    words += ["no leader runs"] if verdict["offline"] else []
    return "; ".join(words) or "nothing lost, nothing diverged"


def _records(row: Any, noun: str) -> str:
    return f"{counted(row['to'] - row['from'], noun)} ({offset_range(row['from'], row['to'])})"
