"""Human-readable text: as wide as the terminal; on a pipe without color and without line breaks."""

from collections.abc import Callable, Sequence
from typing import TextIO, TypeAlias

from kcheck.core.releases.releases import lines
from kcheck.documents.next_commands import needs_words
from kcheck.model.finding import Finding, Severity, is_repairable
from kcheck.model.report import Report
from kcheck.registry import plug
from kcheck.renderers._contract import Renderer
from kcheck.renderers._next_command import next_command
from kcheck.screen.options import Options
from kcheck.screen.page import Page
from kcheck.words import agree, counted, release_words

Layout: TypeAlias = Callable[[Report, Page], Sequence[Finding] | None]
"""Writes an answer; returns the findings that it has not shown, None if it has shown none."""


def render(report: Report, stream: TextIO, options: Options) -> None:
    """Write the layout of the command, then the findings it has not shown, their number, and what to type next."""
    page = Page(stream, options)
    if report.evidence is not None:
        page.begin(release_words(report.evidence, lines()[-1]))
    lists_infos = options.infos or report.verb == "tiered"  # objects without a record are its subject
    shown = report if lists_infos else report._replace(keep=_above_info(report.keep))
    left = _layout(report.verb)(shown, page)
    page.write_title()
    left = shown.findings() if left is None else left  # complete now that the answer has been read
    page.line() if left and left[0].where.log_dir is None else None
    page.findings(left)
    command = next_command(report)
    _totals(report, page, command or "", are_counted=not lists_infos)
    needs = None if command is None else needs_words(command)
    if needs is not None:
        page.line()
        page.wrapped(needs)
    page.next_commands(() if command is None else (command,))


def brief(report: Report, stream: TextIO, options: Options) -> None:
    """Write a plan in brief, for the operator who confirms it."""
    from kcheck.renderers._text_plan import summary

    summary(report, Page(stream, options))


def _above_info(keep: Callable[[Finding], bool]) -> Callable[[Finding], bool]:
    return lambda finding: finding.severity is not Severity.INFO and keep(finding)


def _totals(report: Report, page: Page, command: str, *, are_counted: bool) -> None:
    """Write how many findings there are of each severity; info findings that are counted only get their own line.

    Repairable ones are not counted where a recovery of several brokers comes next.
    """
    has_elsewhere = bool(report.elsewhere) and report.verb != "fleet-diff"  # that layout says it in its last line
    summary = report.summary() if has_elsewhere else report._replace(elsewhere={}).summary()
    infos = 0 if has_elsewhere or not are_counted else summary.pop(Severity.INFO, 0)
    counts = [_count(name, count) for name, count in reversed(summary.items()) if count]
    if not counts and not infos:
        return
    page.line()
    if counts:
        is_planned = command.startswith("kcheck recover ")  # its plan has the repairs that are left
        mended = 0 if has_elsewhere or is_planned else sum(map(is_repairable, report.findings()))
        page.line(", ".join([*counts, *([f"{mended} repairable"] if mended else ())]))
    if infos:
        option = "--all" if report.verb in _WITHOUT_SEVERITY else "--severity info"
        way = "" if report.typed is None else f": {option} lists {agree(infos, 'it', 'them')}"
        page.line(f"{infos} info{way}")


_WITHOUT_SEVERITY = ("end-offset", "predict", "preflight", "verify")
"""The verbs of the commands that have --all, but not --severity."""


def _count(name: str, count: int) -> str:
    return f"{count} {name}" if name in ("info", "fatal") else counted(count, name)


_MODULES = {
    "elect": "election", "recovery-next": "recovery", "recover-run": "recovery", "recovery-quorum": "rescue",
    "recovery-metadata": "rescue", "recovery-topic": "rescue", "rules": "explain", "simulate": "simulation",
    "verify": "verification",
}  # fmt: skip
"""The modules of layouts that are not named like their verbs."""


def _layout(verb: str) -> Layout:
    """Return the layout of a verb, a function with its name; imports no other."""
    name = verb.replace("-", "_")
    module = "fleet" if verb.startswith("fleet-") else _MODULES.get(verb, name)
    layout: Layout = plug("kcheck.renderers", f"_text_{module}", name)
    return layout


RENDERER = Renderer(name="text", render=render)
