"""The rules listed and explained."""

from collections.abc import Iterable

from kcheck.core.releases import NEWEST_TESTED
from kcheck.errors import UsageError
from kcheck.model.report import Report, Row
from kcheck.rules._contract import Rule
from kcheck.tables import rules as rules_table
from kcheck.views.rule_runner import all_rules


def every_rule() -> Report:
    """Return the answer of `kcheck rules`."""
    return _report("rules", all_rules())


def one_rule(wanted: str) -> Report:
    """Return the answer of `kcheck explain`; UsageError lists the known."""
    found = [rule for rule in all_rules() if wanted.lower() in (rule.id.lower(), rule.name)]
    if not found:
        known = ", ".join(rule.id for rule in all_rules())
        raise UsageError(f"{wanted} is not a rule; known are {known}")
    return _report("explain", tuple(found))


def rule_pages(ids: Iterable[str]) -> tuple[Row, ...]:
    """Return these rules as `kcheck explain` shows them; nothing for an id that is not known."""
    wanted = {*ids}
    return tuple(_row(rule) for rule in all_rules() if rule.id in wanted)


def _report(verb: str, rules: tuple[Rule, ...]) -> Report:
    rows = tuple(_row(rule) for rule in rules)
    return Report(
        verb=verb,
        kafka=NEWEST_TESTED,
        body={"rules": rows},
        table="rules",
        columns=rules_table.TABLE.columns,
        kinds={"rules": "rule"},
    )


def _row(rule: Rule) -> Row:
    page = (rule.page or "").strip()
    return {
        "id": rule.id,
        "name": rule.name,
        "severity": str(rule.severity),
        "scope": str(rule.scope),
        "title": page.splitlines()[0] if page else "",
        "page": page,
    }
