"""`kcheck rules` and `kcheck explain`: the rules and their pages."""

from collections.abc import Iterable
from dataclasses import dataclass

from kcheck.core.releases import NEWEST_TESTED
from kcheck.documents.answer import Answer
from kcheck.errors import UsageError
from kcheck.model.report import Report, Row
from kcheck.rules._contract import Rule
from kcheck.tables import rules as rules_table
from kcheck.views.rule_runner import all_rules


@dataclass(frozen=True, slots=True, kw_only=True)
class RulePages(Answer):
    """What `kcheck rules` and `kcheck explain` answer."""

    verb: str
    """The command: `rules` or `explain`."""
    rules: tuple[Rule, ...]
    """The rules, by id."""

    def report(self) -> Report:
        """Return the answer as rows."""
        return Report(
            verb=self.verb,
            kafka=NEWEST_TESTED,
            body={"rules": tuple(map(_row, self.rules))},
            table="rules",
            columns=rules_table.TABLE.columns,
            kinds={"rules": "rule"},
        )


def every_rule() -> RulePages:
    """Return the answer of `kcheck rules`."""
    return RulePages(verb="rules", rules=all_rules())


def named_rules(wanted: Iterable[str]) -> RulePages:
    """Return the answer of `kcheck explain`; UsageError if there is no such rule."""
    known = {name: rule for rule in all_rules() for name in (rule.id.lower(), rule.name)}
    for name in wanted:
        if name.lower() not in known:
            from difflib import get_close_matches  # only for the message

            alike = [other for other in known if other.startswith("kc") is name.lower().startswith("kc")]
            nearest = get_close_matches(name.lower(), alike, cutoff=0)
            shown = ", ".join(f"{known[near].id} {known[near].name}" for near in nearest)
            raise UsageError(f"no rule {name}; nearest: {shown}; kcheck rules lists all")
    return RulePages(verb="explain", rules=tuple(dict.fromkeys(known[name.lower()] for name in wanted)))


def rule_pages(ids: Iterable[str]) -> tuple[Row, ...]:
    """Return these rules as `kcheck explain` shows them; skip unknown ids."""
    wanted = {*ids}
    return tuple(_row(rule) for rule in all_rules() if rule.id in wanted)


def _row(rule: Rule) -> Row:
    page = rule.page.strip()
    return {
        "id": rule.id,
        "name": rule.name,
        "severity": str(rule.severity),
        "scope": str(rule.scope),
        "title": page.splitlines()[0] if page else "",
        "page": page,
    }
