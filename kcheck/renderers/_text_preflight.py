"""The layout of `kcheck preflight`: whether the broker may start, and what speaks against it."""

from kcheck.core.premises.table import BY_ID
from kcheck.core.start.preflight import ReasonKind
from kcheck.documents.premises import notes
from kcheck.model.report import Report
from kcheck.renderers._text_predict import unserved_lines
from kcheck.screen.page import Page
from kcheck.verbs.preflight import Preflight

_ANSWERS = {True: "may start", False: "should not start", None: "not known"}


def preflight(report: Report, page: Page) -> None:
    """Write whether the broker may start, then a line for each reason against it.

    A note counts only if the broker sees the same as kcheck.
    """
    answer = report.answer
    assert isinstance(answer, Preflight)
    good = answer.may_start
    page.line(_ANSWERS[good], "bold" if good else "bold red")
    remedies = {reason.premise: reason for reason in answer.reasons if reason.kind is not ReasonKind.UNKNOWN}
    for reason in answer.reasons:
        parts = (reason.log_dir, None if reason.partition is None else reason.partition.dir)
        place = "/".join(part for part in parts if part is not None)
        allowed = " (allowed)" if answer.accepts(reason) else ""
        kind = " ".join(str(part) for part in (reason.kind, reason.premise) if part is not None)
        page.wrapped(f"{kind}{allowed} {place}{': ' if place else ''}{reason.why}", indent="  ", hanging="    ")
        if reason.premise is not None and remedies.get(reason.premise) is reason:  # below the last one of its kind
            page.wrapped(BY_ID[reason.premise].remedy, indent="    ")
    for note in notes(answer.premises):
        page.wrapped(note, indent="  ", hanging="    ")
    if answer.if_lost is not None:
        page.wrapped(answer.if_lost.sentence, indent="  ", hanging="    ")
    unserved_lines(answer.unserved, page)
    if answer.unresolved:
        page.wrapped(f"from config providers, not resolved: {', '.join(answer.unresolved)}", hanging="    ")
    if good:
        page.wrapped(f"not looked at: {'; '.join(answer.not_looked_at)}", hanging="    ")
