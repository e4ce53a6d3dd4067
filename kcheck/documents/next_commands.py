"""The next command after findings and pages."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from kcheck.core.start.predictions import LogDirPrediction
from kcheck.core.start.startup import Outcome
from kcheck.core.start.verdicts import log_dir_severity, removed_alone
from kcheck.model.finding import Finding, Severity, is_repairable
from kcheck.model.premises import MAJORITY_KNOWN, SAME_HISTORY, TOPICS_KNOWN, JudgedPremise, PremiseStatus
from kcheck.words import shell_line, shell_word

PLAN_FILE = "plan.json"
"""The plan file in a command, where the user has not named one."""
FOLDER = "DIR"
"""Stands for a directory that the user has not named."""
METADATA = "--metadata"
"""The option of the metadata."""
PATH = "PATH"
"""Stands for a disk of another broker, or a copy of the metadata, that the user has not named."""


Words: TypeAlias = Callable[[str], Iterable[str]]
"""Returns the options that a command of this name repeats."""
_MOVE = "mv "


def repairable_log_dirs(findings: Iterable[Finding]) -> tuple[str, ...]:
    """Return the log dirs with findings that `kcheck repair` has steps for."""
    places = (finding.where.log_dir for finding in findings if is_repairable(finding))
    return tuple(dict.fromkeys(place for place in places if place is not None))


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
    """Return the command that shows the page of the first refuted premise that no repair restores; None without one."""
    rows = (row for row in premises if row.status is PremiseStatus.REFUTED)
    return next((f"kcheck help {_REMEDIES_WITH_PAGE[row.id]}" for row in rows if row.id in _REMEDIES_WITH_PAGE), None)


def others_command(
    arguments: Iterable[str], options: Iterable[str], premises: Iterable[JudgedPremise], others: Sequence[int]
) -> str | None:
    """Return the command that compares the disks of a broker with the `others`; None if no premise needs them."""
    from kcheck.documents.premises import loses, needs_every_disk  # only for bad news

    premises = tuple(premises)
    if not others or not any(loses(row) or needs_every_disk(row) for row in premises):
        return None
    return with_others(arguments, (*options, *unnamed_metadata(premises)), others)


def with_others(arguments: Iterable[str], options: Iterable[str], others: Iterable[int]) -> str:
    """Return `kcheck recover` for one broker and the `others` of its cluster."""
    return shell_line(("kcheck", "recover", *arguments, *(f"{number}={PATH}" for number in others), *options))


def unnamed_metadata(premises: Iterable[JudgedPremise]) -> tuple[str, ...]:
    """Return the words that name the missing metadata; empty if no premise needs metadata."""
    unseen = (row.provide or "" for row in premises if row.status is PremiseStatus.NOT_SEEN)
    return (METADATA, PATH) if any(provide.startswith(METADATA) for provide in unseen) else ()


def wanted_metadata(starts: Iterable[LogDirPrediction], premises: Iterable[JudgedPremise]) -> tuple[str, ...]:
    """Return the words that name the metadata; empty if the files alone show why the broker should not start."""
    premises = tuple(premises)
    return () if _are_bad(starts) and not _ends_by_premise(premises) else unnamed_metadata(premises)


def _are_bad(starts: Iterable[LogDirPrediction]) -> bool:
    """Return whether one of them is worse than info."""
    return any(log_dir_severity(start).rank >= Severity.WARNING.rank for start in starts)


def _ends_by_premise(premises: Iterable[JudgedPremise]) -> bool:
    """Return whether a broker does not start because of a premise, whatever its logs."""
    from kcheck.core.premises.table import why_not_started  # only for bad news

    return why_not_started(premises) is not None


def loses_by_cuts(starts: Iterable[LogDirPrediction]) -> bool:
    """Return whether brokers with known ids load, and lose records only because they truncate corrupt logs.

    No repair saves these records; another broker may have them.
    """
    rows = [*starts]
    losing = [row for start in rows for row in start.partitions if row.lost is not None]
    is_loaded = all(start.outcome is Outcome.OK and start.broker_id is not None for start in rows)
    return is_loaded and bool(losing) and all(row.log is not None and row.log.cuts for row in losing)


def first_of_broker(
    arguments: Iterable[str], options: Words, premises: Iterable[JudgedPremise], others: Sequence[int],
    repairable: Sequence[str] = (),
) -> str | None:  # fmt: skip
    """Return the command that compares a broker with the `others`, or repairs its log dirs; None without need.

    `options` returns the options that a command repeats, by its name.
    """
    premises = tuple(premises)
    compared = others_command(arguments, options("recover"), premises, others)
    if compared is not None:
        return incident_command(premises) or compared
    if not repairable:
        return None
    return shell_line(("kcheck", "repair", *repairable, *options("repair"), "-o", PLAN_FILE))


def next_of_broker(
    verb: str, arguments: Iterable[str], options: Words, starts: Sequence[LogDirPrediction],
    premises: Sequence[JudgedPremise], others: Sequence[int], kept: str | None = None,
) -> str:  # fmt: skip
    """Return the command about one broker that should not start, if `first_of_broker` has none.

    The page of the incident comes first, then the metadata for the same `verb`. An empty `verb` is `kcheck PATH`.
    """
    arguments = tuple(arguments)
    command = incident_command(premises) or kept
    if command is not None:
        return command
    if loses_by_cuts(starts):
        return with_others(arguments, options("recover"), others)
    own, is_by_premise = tuple(options(verb)), _ends_by_premise(premises)
    metadata = () if is_by_premise and METADATA in own else wanted_metadata(starts, premises)
    if metadata:
        return shell_line(("kcheck", *verb.split(), *arguments, *own, *metadata))
    explained = explain_premise(premises)
    if explained is not None and (is_by_premise or not _are_bad(starts)):
        return explained
    after = "repair" if verb else "predict"
    return shell_line(("kcheck", after, *arguments, *options(after)))


def explain_premise(premises: Iterable[JudgedPremise]) -> str | None:
    """Return the command that explains the first refuted premise, or the first unseen one; None if all are proven."""
    rows = sorted(premises, key=lambda row: row.status is not PremiseStatus.REFUTED)
    return next((f"kcheck explain {row.id}" for row in rows if row.status is not PremiseStatus.PROVEN), None)


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
