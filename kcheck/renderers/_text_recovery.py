"""The layout of `kcheck recover`: what it costs, the steps with a command a line, the partitions that matter."""

import re
from collections.abc import Iterable, Iterator, Sequence

from kcheck.core.election.plans import is_at_stake
from kcheck.core.election.progress import PlanState, SavedStep
from kcheck.core.election.steps import RecoveryAction
from kcheck.documents.election_words import fenced_words, gap_words, why_first
from kcheck.documents.next_commands import FOLDER
from kcheck.documents.premises import losing_premises
from kcheck.handouts.step_words import CANNOT_BE_UNDONE
from kcheck.model.report import EVERY_PARTITION, Report
from kcheck.plans.lost_by_plan import LOST_TITLE, lost_by_plan
from kcheck.plans.progress import RecoveryProgress
from kcheck.plans.recover import ClusterRecovery
from kcheck.plans.rescue_progress import RescueProgress
from kcheck.renderers._election_rows import (
    PARTITION_TITLES,
    compares_leaders,
    interrupted,
    legend,
    partition_cells,
    warnings,
    worst,
)
from kcheck.renderers._text_rescue import stepwise
from kcheck.screen.page import Page, cell
from kcheck.words import agree, counted, listed, other_end_words, some_of

_LOST_COUNT = 10
_FILE = re.compile(rf" {FOLDER}/\S+\.(?:json|csv)\b")
"""A file that a step needs, and that is not written yet."""
_PLACES = (
    "Type each step on the host of its broker. Relative paths begin here. bin/ and config/ are in Kafka's directory."
)
_FENCED_ALONE = "The plan checks this order. Once they are fenced, --next reads the ISR, and plans again if it differs."


def recovery(report: Report, page: Page) -> None:
    """Write the decision."""
    answer = report.answer
    assert isinstance(answer, ClusterRecovery)
    brokers, partitions = len(answer.election.brokers), len(answer.election.partitions)
    page.line(f"recovery of {counted(brokers, 'broker')}, {counted(partitions, 'partition')}", "bold")
    page.line()
    interrupted(answer.election, page)
    _sentences(answer, page)
    for cause in answer.causes:
        page.wrapped(cause)
    if answer.election.if_lost is not None:
        page.wrapped(answer.election.if_lost.sentence)
    _exit_code(answer, page)
    _steps(answer, page)
    if any(step.kind is RecoveryAction.START for plan in (answer, *answer.case_plans) for step in plan.steps):
        page.line()
        page.wrapped(_PLACES if answer.written else f"{_PLACES}{_files_words(answer)}")
    if answer.again is not None:
        page.line()
        page.wrapped("Once every broker here can start, ask again:")
        page.line(f"  {answer.again}")
    shown = answer.election.rescue is None and not answer.first.brokers
    if shown and not answer.waits_for_disks:
        _costs(answer, page)
    _cases(answer, page, shown=shown)
    words = [*dict.fromkeys((*map(_not_known, answer.not_known), *_warnings(answer)))]
    if words:
        page.line()
    for text in words:
        page.wrapped(text, hanging="  ", style="yellow")
    if answer.written:
        page.line()
        page.wrapped(f"Written: {', '.join(map(cell, answer.written))}.", hanging="  ")


def _cases(answer: ClusterRecovery, page: Page, *, shown: bool) -> None:
    """Write the plan of each case that no file here decides, with its losses where they are `shown`."""
    for number, (case, recovery) in enumerate(zip(answer.cases, answer.case_plans, strict=True)):
        page.line()
        condition = f"If {case.condition} (see {case.decided_by})"
        if _is_same(recovery, answer):
            page.wrapped(f"{condition}: the same loss, and the same steps.", style="bold")
            continue
        page.wrapped(f"{condition}:", style="bold")
        _sentences(recovery, page)
        _steps(recovery, page)
        if recovery.written:
            page.line()
            page.wrapped("Follow these steps with:")
            page.line(f"  {recovery.next_command}")
        if shown and answer.waits_for_disks and number == 0:
            _costs(recovery, page)
        elif shown:
            _lost(recovery, page)


def _is_same(case: ClusterRecovery, answer: ClusterRecovery) -> bool:
    """Return whether a case has no files of its own, and changes neither the sentences nor the steps."""
    rows = [(plan.sentences, [(text.title, text.needs, text.final) for text in plan.texts]) for plan in (case, answer)]
    return rows[0] == rows[1] and not case.written


def _files_words(answer: ClusterRecovery) -> str:
    """Return which command writes the files that the steps name, after a space; empty if they name none."""
    texts = (text for plan in (answer, *answer.case_plans) for text in plan.texts)
    is_named = any(_FILE.search(command) for text in texts for command in text.commands)
    return " The command below Next writes the files in DIR." if is_named else ""


def _costs(answer: ClusterRecovery, page: Page) -> None:
    """Write the losses of a plan, partition by partition."""
    if answer.wanted != EVERY_PARTITION:
        page.line()
        page.wrapped("The steps are for every partition. The lists have only the wanted ones.")
    _lost(answer, page)
    _at_stake(answer, page)


def _sentences(answer: ClusterRecovery, page: Page) -> None:
    """Write the decision; only a loss is red."""
    for sentence in answer.sentences:
        page.wrapped(sentence, style="bold red" if sentence in answer.losses else "bold")


def _exit_code(answer: ClusterRecovery, page: Page) -> None:
    """Write why the exit code is 1, although the plan loses nothing."""
    if answer.election.rescue is not None or not answer.texts or answer.is_safe:
        return
    if answer.start_of_all.is_safe:
        page.wrapped("Replicas on other brokers are not known, so the exit code is 1 (0 with --incomplete-ok).")
        return
    plan = answer.scenario("plan")
    if plan.lost.records == 0 and plan.offline_partitions == 0:
        page.wrapped("Starting everything now is not safe, so the exit code is 1 (0 with --fail-on never).")


def recovery_next(report: Report, page: Page) -> None:
    """Write how far a plan is, and what to do now."""
    answer = report.answer
    if isinstance(answer, RescueProgress):
        _rescue_next(answer, page)
        return
    assert isinstance(answer, RecoveryProgress)
    interrupted(answer.now.election, page)
    for sentence in answer.sentences:
        page.wrapped(sentence, style="bold")
    if answer.state is PlanState.STOP:
        _steps(answer.now, page)
    elif answer.at is not None:
        step = answer.steps[answer.at if answer.then is None else answer.then]
        if answer.first is not None:
            _commands(answer.first.commands, page)
        if answer.waits_for_nodes:
            page.line()
            page.wrapped(f"Go on once {answer.until}.")
            return
        if answer.state is PlanState.NEXT:
            _next_step(step, page)
            page.line()
            page.wrapped(f"Go on once {step.until}{':' if step.check else '.'}")
        _commands(step.check, page)


def _next_step(step: SavedStep, page: Page) -> None:
    """Write the condition, the loss and the commands of a step."""
    if step.needs not in ("", "nothing"):
        page.wrapped(f"Needs: {step.needs}.")
    if step.final is not None:
        page.wrapped(f"{CANNOT_BE_UNDONE}: {step.final}.", style="red")
    if step.where:
        page.wrapped(f"Type this on {step.where}:")
    _commands(step.commands, page)


def _rescue_next(answer: RescueProgress, page: Page) -> None:
    for sentence in answer.sentences:
        page.wrapped(sentence, style="bold")
    steps = answer.later if answer.state is PlanState.DONE else answer.shown
    if steps:
        page.line()
        stepwise(steps, page, first=1 + len(answer.steps) - len(steps) if answer.at is None else 1 + answer.at)
    if answer.until is not None:
        page.line()
        page.wrapped(f"Go on once {answer.until}.")


def _not_known(text: str) -> str:
    """Return an unseen fact, as a sentence that says once that it is not known."""
    return f"{text[:1].upper()}{text[1:]}." if "not known" in text else f"Not known: {text}."


def _commands(commands: Iterable[str], page: Page) -> None:
    """Write commands as they are typed, a line each, never wrapped."""
    for at, command in enumerate(commands):
        if at == 0:
            page.line()
        page.line(f"  {command}")


def _warnings(answer: ClusterRecovery) -> Iterator[str]:
    """Yield what the decision rests on; what is said already is left out."""
    election = answer.election
    said = {
        *map(why_first, election.repairs),
        *map(gap_words, election.gaps),
        *losing_premises(election.uncounted),
    }
    is_assumed = bool(answer.steps) and election.rescue is None
    if is_assumed and not election.is_fenced_alone:
        said.update(fenced_words(election.fenced, election.release))  # The order is among the unseen facts.
    yield from (words for words in warnings(election) if words not in said)
    if len(election.fenced) > 1 and is_assumed and election.is_fenced_alone:
        yield _FENCED_ALONE


def _steps(answer: ClusterRecovery, page: Page) -> None:
    width = len(str(len(answer.texts)))
    is_started, first = False, answer.nodes_first
    if answer.texts:
        page.line()
    if first is not None:
        page.wrapped(f"{0:>{width}}. {first.title}.", hanging=" " * (width + 2))
        for command in first.commands:
            page.line(f"{' ' * (width + 4)}{command}")
    for place, text in enumerate(answer.texts, start=1):
        page.wrapped(f"{place:>{width}}. {text.title}.", hanging=" " * (width + 2))
        kind = answer.steps[place - 1].kind
        if kind in (RecoveryAction.SET_ASIDE, RecoveryAction.STOP, RecoveryAction.FOLLOW):
            page.wrapped(f"Needs: {text.needs}.", indent=" " * (width + 2))
        if kind is RecoveryAction.START and not is_started:
            needs = text.needs if first is None else text.needs.partition("; ")[2]
            if needs:
                page.wrapped(f"Needs: {needs}.", indent=" " * (width + 2))
            is_started = True
        for command in text.commands:
            page.line(f"{' ' * (width + 4)}{command}")
        if text.is_loss:
            page.wrapped(f"{CANNOT_BE_UNDONE}: {text.final}.", indent=" " * (width + 2), style="red")


def _lost(answer: ClusterRecovery, page: Page) -> None:
    """Write the partitions that lose records by the plan, and where each replica ends."""
    rows = lost_by_plan(answer.election, answer.steps, answer.wanted)
    shown = rows if page.every else rows[:_LOST_COUNT]
    if not shown:
        return
    page.line()
    page.line(LOST_TITLE, "bold")
    for row in shown:
        page.wrapped(row.sentence, indent="  ", hanging="    ")
        for words in row.replicas:
            page.wrapped(f"{words}.", indent="    ", hanging="      ")
    if more := len(rows) - len(shown):
        page.line(f"  {counted(more, 'more partition')} {agree(more, 'loses', 'lose')} records; --all lists them.")


def _at_stake(answer: ClusterRecovery, page: Page) -> None:
    rows = answer.election.partitions if page.every and answer.wanted == EVERY_PARTITION else answer.at_stake
    if answer.wanted == EVERY_PARTITION and not page.every:
        _leaders(answer, page)
    if not rows:
        return
    shown, more = worst(rows, every=page.every)
    page.line()
    if answer.election.repairs:
        page.wrapped("The table is for the disks after the repairs.")
    page.table(
        PARTITION_TITLES,
        [partition_cells(partition, is_compared=compares_leaders(answer.election)) for partition in shown],
    )
    page.wrapped(legend(answer.election))
    if more:
        page.wrapped(more)


def _leaders(answer: ClusterRecovery, page: Page) -> None:
    """Write who leads the partitions that the table leaves out, once the plan is done."""
    is_plan = any(step.kind is RecoveryAction.START for step in answer.steps)
    rows = [
        (row.planned, row.name)
        for row in (answer.election.partitions if is_plan else ())
        if row.seats is not None and row.planned is not None and not is_at_stake(row)
    ]
    safe, risked = ([row for row in rows if (row[1] in answer.risked) is is_risked] for is_risked in (False, True))
    if not rows:
        return
    page.line()
    words = [_led_words(safe, agree(len(safe), "loses nothing", "lose nothing"))] if safe else []
    words += [_led_words(risked, "can lose records that are not on these disks")] if risked else []
    page.wrapped(f"{' '.join(words)} --all has every partition.")


def _led_words(rows: Sequence[tuple[int, str]], fate: str) -> str:
    """Return the sentences about the leaders of partitions with one fate."""
    leads: dict[int, list[str]] = {}
    for number, name in rows:
        leads.setdefault(number, []).append(name)
    words = [f"broker {number} leads {some_of(names)}" for number, names in sorted(leads.items())]
    which = agree(len(rows), "This partition", "These partitions")
    return f"By this plan {listed(words, most=len(words))}. {which} {fate}."


def recover_run(report: Report, page: Page) -> None:
    """Write what tables decide for each cluster, and what reads its disks."""
    from kcheck.fleet.runs.recover import RunRecovery  # only for a run

    answer = report.answer
    assert isinstance(answer, RunRecovery)
    page.line(f"recovery of {counted(len(answer.clusters), 'cluster')}, by {cell(answer.run.path)}", "bold")
    for decision in answer.clusters:
        page.line()
        page.line(f"cluster {cell(decision.cluster)}, Kafka {decision.release.name}", "bold")
        differs = other_end_words(decision.release.evidence)
        if differs:
            page.wrapped(differs, indent="  ", hanging="    ", style="yellow")
        for sentence in decision.sentences:
            page.wrapped(sentence, indent="  ")
        for number, step in enumerate(decision.steps, start=1):
            page.wrapped(f"{number}. {step.title}.", indent="  ", hanging="     ")
            for command in step.commands:
                page.line(f"       {command}")
        left = decision.step_count - len(decision.steps)
        if left:
            page.wrapped(f"{counted(left, 'more step')} in the plan.", indent="  ")
        for text in decision.not_known:
            page.wrapped(f"Not known: {text}.", indent="  ", hanging="    ", style="yellow")
        page.line("  Read the disks with:")
        page.line(f"    {decision.command}")
