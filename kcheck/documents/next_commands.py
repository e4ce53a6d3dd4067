"""The next command after findings and pages."""

from collections.abc import Collection, Iterable

from kcheck.core.start.predictions import LogDirPrediction
from kcheck.core.start.startup import Mode, Outcome
from kcheck.core.start.verdicts import SEVERITIES, removed_alone
from kcheck.model.finding import Finding, Severity, is_repairable
from kcheck.model.premises import MAJORITY_KNOWN, SAME_HISTORY, TOPICS_KNOWN, JudgedPremise, PremiseStatus
from kcheck.words import shell_word

PLAN_FILE = "plan.json"
"""The plan file in a command, where the user has not named one."""
FOLDER = "DIR"
"""Stands for a directory that the user has not named."""


_MOVE = "mv "


def repairable_log_dirs(findings: Iterable[Finding]) -> tuple[str, ...]:
    """Return the log dirs with findings that `kcheck repair` has steps for."""
    places = (finding.where.log_dir for finding in findings if is_repairable(finding))
    return tuple(dict.fromkeys(place for place in places if place is not None))


def arguments_of(log_dirs: Collection[str], arguments: Collection[str]) -> tuple[str, ...]:
    """Return the user's arguments that lead to these log dirs; without such arguments, the log dirs.

    A repair needs all log dirs of a broker, and its settings.
    """
    places = {argument: f"{argument.partition('=')[2] or argument}/".replace("//", "/") for argument in arguments}
    chosen = [argument for argument, place in places.items() if any(f"{one}/".startswith(place) for one in log_dirs)]
    if len(arguments) == 1 or not log_dirs:
        return tuple(arguments) if log_dirs else ()
    is_whole = all(any(f"{one}/".startswith(places[argument]) for argument in chosen) for one in log_dirs)
    return tuple(chosen) if is_whole else tuple(log_dirs)


def are_decided_together(findings: Iterable[Finding]) -> bool:
    """Return whether one course is for several brokers, because each of them has something wrong."""
    wrong = (row.where.broker_id for row in findings if row.severity is not Severity.INFO)
    return len({*wrong} - {None}) > 1


def keeping_command(starts: Iterable[LogDirPrediction]) -> str | None:
    """Return the command that keeps -delete directories; None if they are not the only loss of the next start.

    None also for paths that no shell can move.
    """
    removed = removed_alone(starts)
    if not removed or any("://" in path for path in removed):
        return None
    names = (shell_word(path) if path.endswith("-delete") else f"{shell_word(path)}/*-delete" for path in removed)
    return f"{_MOVE}{' '.join(names)} {FOLDER}/"


def incident_command(premises: Iterable[JudgedPremise]) -> str | None:
    """Return the command that shows the page of the first premise that no repair restores; None without one.

    The premise is refuted. If none is, no majority of the controllers is known.
    """
    premises = (*premises,)
    refuted = [row for row in premises if row.status is PremiseStatus.REFUTED]
    rows = refuted or [row for row in premises if row.may_lose_history]
    return next((f"kcheck help {_REMEDIES_WITH_PAGE[row.id]}" for row in rows if row.id in _REMEDIES_WITH_PAGE), None)


def loses_by_cuts(starts: Iterable[LogDirPrediction]) -> bool:
    """Return whether brokers with known ids load, and lose records only because they truncate corrupt logs.

    No repair saves these records; another broker may have them.
    """
    rows = [*starts]
    losing = [row for start in rows for row in start.partitions if row.lost is not None]
    is_loaded = all(start.outcome is Outcome.OK and start.broker_id is not None for start in rows)
    return is_loaded and bool(losing) and all(row.log is not None and row.log.cuts for row in losing)


def verb_after_start(starts: Iterable[LogDirPrediction], premises: Iterable[JudgedPremise]) -> str | None:
    """Return the verb for a next start that fails or loses (`repair` or `recover`).

    None if the files are good, and only a premise is not seen. A refuted premise, a truncation and a stray directory
    need other disks, which `recover` compares. The rest is in files.
    """
    rows = [*starts]
    strays = [row for start in rows if start.mode is Mode.ZOOKEEPER for row in start.partitions]
    if any(row.outcome is Outcome.STRAY for row in strays):
        return "repair"  # the files of ZooKeeper can prove the topic id
    if any(row.status is PremiseStatus.REFUTED for row in premises) or loses_by_cuts(rows):
        return "recover"
    bad = [row for start in rows for row in start.partitions if SEVERITIES[row.outcome].rank >= Severity.WARNING.rank]
    bad += [row for start in rows for row in start.partitions if row.lost is not None]
    if not bad and all(SEVERITIES[start.outcome].rank < Severity.WARNING.rank for start in rows):
        return None
    is_stray = bool(bad) and all(row.outcome is Outcome.STRAY and row.topic_id is not None for row in bad)
    return "recover" if is_stray else "repair"


def needs_words(command: str) -> str | None:
    """Return the condition before a next command, as sentences; None without one."""
    return "Stop the broker first. DIR must be outside of its log dirs." if command.startswith(_MOVE) else None


def explain_command(findings: Iterable[Finding]) -> str | None:
    """Return the command that explains the worst finding; None if all are info."""
    worst = max(findings, key=lambda finding: finding.severity.rank, default=None)
    return None if worst is None or worst.severity is Severity.INFO else f"kcheck explain {worst.id}"


_PAGES = {
    "P109": "moved-by-hand", "P202": "lost-quorum", "P205": "lost-quorum", "P309": "lost-zookeeper",
    "P316": "old-copy", "P701": "old-copy",
}  # fmt: skip
"""The pages of `kcheck help` about the incident of a premise."""
_REMEDIES_WITH_PAGE = {
    **dict.fromkeys((SAME_HISTORY, "P202", MAJORITY_KNOWN, "P205", TOPICS_KNOWN), "lost-quorum"), "P301": "dead-disk",
}  # fmt: skip
"""The pages that the remedies of premises name."""


def page_words(premise: str) -> str:
    """Return the sentence that names the page of a premise, after a space; empty without a page."""
    command = page_command(premise)
    return "" if command is None else f" Read {command}."


def page_command(premise: str) -> str | None:
    """Return the command that shows the page of a premise; None without a page."""
    return f"kcheck help {_PAGES[premise]}" if premise in _PAGES else None


def incident_topic(page: str) -> str:
    """Return the topic of `kcheck help` that is a page of docs/operations; `fleet` is a command."""
    return "every-night" if page == "fleet" else page
