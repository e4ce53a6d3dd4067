"""The layout of `kcheck explain` and `kcheck rules`: pages of rules, of premises, and of messages of brokers."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from kcheck.disk.package_data import log_catalogue
from kcheck.documents.next_commands import incident_topic, page_command
from kcheck.messages.catalogue import LogRule
from kcheck.model.report import Report
from kcheck.rules import Rule
from kcheck.screen.page import Page
from kcheck.verbs.explain import RulePages

if TYPE_CHECKING:
    from kcheck.core.premises.premise import Premise

_SEE = re.compile(r"^See: operations/([\w-]+)\.md", re.MULTILINE)
"""The reference to a page of docs/operations in a page of a rule."""


def rules(report: Report, page: Page) -> None:
    """Write a table of rules."""
    assert isinstance(report.answer, RulePages)
    rows = [(rule.id, rule.name, rule.severity, rule.scope) for rule in report.answer.rules]
    page.table(("id", "name", "severity", "scope"), rows)


def explain(report: Report, page: Page) -> None:
    """Write the pages of rules, or what the messages say."""
    answer = report.answer
    if isinstance(answer, RulePages):
        _pages(answer.rules, page)
        page.line() if answer.rules and answer.premises else None
        _premises(answer.premises, page)
        if answer.log_rules:
            page.line() if answer.rules or answer.premises else None
            _messages(answer.log_rules, page)
        return
    from kcheck.renderers._text_log import explained_log  # only for messages of a log

    explained_log(report, page)


def _pages(rules: Iterable[Rule], page: Page) -> None:
    for number, rule in enumerate(rules):
        page.line() if number else None
        page.line(f"{rule.id} {rule.name} ({rule.severity}, {rule.scope})", "bold")
        page.line()
        text = _SEE.sub(lambda match: f"More: kcheck help {incident_topic(match[1])}", rule.page.strip())
        for at, paragraph in enumerate(text.split("\n\n")):
            page.line() if at else None
            for item in re.split(r"\n(?=- )", paragraph):
                page.wrapped(" ".join(item.split()), hanging="  " if item.startswith("- ") else "")


def _premises(premises: "Iterable[Premise]", page: Page) -> None:
    """Write what green answers rest on, and what is true without it."""
    for number, premise in enumerate(premises):
        page.line() if number else None
        page.line(f"{premise.id} (a premise of green answers: {premise.kind})", "bold")
        page.line()
        page.wrapped(premise.sentence)
        facts = {
            "Proven": premise.proof,
            "Refuted": premise.against,
            "If it is not true": premise.refutation,
            "What to do": premise.remedy,
            "Kafka": premise.kafka,
        }
        for title, words in facts.items():
            page.line()
            page.wrapped(f"{title}: {words}")
        command = page_command(premise.id)
        if command is not None:
            page.line()
            page.line(f"More: {command}")


def _messages(rules: Iterable[LogRule], page: Page) -> None:
    """Write what messages of brokers mean, with their wordings."""
    from kcheck.documents.explain import look  # only for messages
    from kcheck.messages.values import LogPlace

    for number, rule in enumerate(rules):
        page.line() if number else None
        page.line(f"{rule.id} ({rule.severity}, a message of a broker: {rule.group})", "bold")
        meaning(rule, look(rule, LogPlace(), {}), page)
        page.line("  Wordings:")
        for wording in log_catalogue().of_rule(rule):
            text = f"{','.join(wording.levels)} {wording.releases}: {wording.pattern}"
            page.wrapped(text, indent="    ", hanging="      ")


def meaning(rule: LogRule, command: str | None, page: Page) -> None:
    """Write the meaning of a message, and the command that shows more."""
    page.wrapped(rule.means, indent="  ")
    for title, words in (("Kafka next", rule.next), ("Look", command), ("On disk", ", ".join(rule.findings))):
        if words:
            page.wrapped(f"{title}: {words}", indent="  ", hanging="    ")
