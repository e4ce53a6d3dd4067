"""The exit codes of every command, as help, man pages and the documentation print them."""

from typing import NamedTuple


class ExitCode(NamedTuple):
    """An exit code that all commands share."""

    code: int
    short: str
    """Its meaning in the short help of a command; empty where that depends on the command."""
    words: str


CODES = (
    ExitCode(0, "", "finished; nothing at or above --fail-on, no loss, as planned"),
    ExitCode(1, "", "finished; the answer is bad news"),
    ExitCode(2, "usage", "usage: wrong argument, no such path, output not writable; nothing was read or changed"),
    ExitCode(3, "not all could be read", "not all could be read, or kcheck failed; the rest is reported"),
    ExitCode(130, "", "^C (128 + the signal); what kcheck has read until then is reported"),
)

_NO_FINDING, _FINDING = "no finding at or above --fail-on", "a finding at or above --fail-on"

ANSWERS: dict[str, tuple[str, str | None]] = {
    "overview": ("nothing known at or above --fail-on", "a finding, loss or failed start at or above --fail-on"),
    "check": (_NO_FINDING, _FINDING),
    "inspect": (_NO_FINDING, _FINDING),
    "cluster": (_NO_FINDING, _FINDING),
    "end-offset": (_NO_FINDING, _FINDING),
    "predict": ("nothing known to be lost", "records lost or a log dir not served"),
    "preflight": ("no record is lost", "the broker should not start, or that is not known"),
    "tiered": (_NO_FINDING, "a finding at or above --fail-on, or not all is known"),
    "truncation": (
        "no committed record lost",
        "the leader, or the best one, loses committed records, or a log may lack some",
    ),
    "elect": ("the plan loses no record", "it loses records or leaders, or a repair or another disk comes first"),
    "recover": ("starting all is safe", "records or leaders are at stake, or a step comes first; with --next: stop"),
    "recover-topic": ("there is a plan", "refused: something has to be brought first"),
    "recover-metadata": ("there is a plan", "refused: something has to be brought first"),
    "recover-quorum": ("there is a plan", "refused: something has to be brought first"),
    "verify": ("as planned", "not as planned"),
    "repair": ("each finding has a step", "a finding at or above --fail-on has no step"),
    "apply": ("applied", None),
    "undo": ("restored", None),
    "dump": ("no damage", "a file is corrupt"),
    "explain": ("explained", "a log with a fatal message"),
    "capture": ("the bundle is complete", None),
    "export": ("every record exported", "some records could not be exported"),
    "rules": ("listed", None),
    "schema": ("shown", None),
    "demo": ("all steps ran", None),
    "help": ("shown", None),
    "version": ("shown", None),
    "manual": ("written", None),
    "simulate run": ("every expectation holds", "an expect line fails"),
    "simulate list": ("listed", None),
    "simulate search": ("every promise holds within the bounds", "a history that breaks a promise"),
    "simulate script": ("printed", None),
    "simulate write": ("written", "an expect line fails"),
    "fleet scan": (_NO_FINDING, _FINDING),
    "fleet report": (_NO_FINDING, _FINDING),
    "fleet diff": ("no finding at or above --fail-on is new", "a finding at or above --fail-on is new"),
    "fleet trend": ("no finding at or above --fail-on is new", "a finding at or above --fail-on is new"),
    "fleet sql": ("printed", None),
    "fleet publish": ("published", None),
    "fleet prune": ("pruned", None),
    "fleet submit": ("as fleet scan", "as fleet scan"),
}
"""The meaning of 0 and 1 for each command; None if it never ends with 1."""


def short_line(command: str) -> str:
    """Return the exit codes of a command in one sentence."""
    zero, one = ANSWERS[command]
    parts = [f"0 {zero}", *([] if one is None else [f"1 {one}"])]
    return ", ".join([*parts, *(f"{row.code} {row.short}" for row in CODES if row.short)])


def rows(command: str) -> list[tuple[str, str]]:
    """Return the exit codes of a command, each with its meaning."""
    zero, one = ANSWERS[command]
    own = {0: zero, 1: one}
    return [(str(row.code), own.get(row.code, row.words) or "") for row in CODES if own.get(row.code, "") is not None]
