"""`kcheck rules` and `kcheck explain`: the pages of rules and premises, and which arguments are broker messages."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from kcheck.core.releases.releases import NEWEST_TESTED
from kcheck.disk.package_data import log_catalogue
from kcheck.disk.paths import can_be_path
from kcheck.documents.answer import Answer
from kcheck.errors import UsageError
from kcheck.messages.catalogue import LogRule
from kcheck.model.report import Report, Row
from kcheck.rules import Rule
from kcheck.survey.rule_runner import all_rules, rule_named, rule_names
from kcheck.tables import rules as rules_table
from kcheck.words import near, some_of

if TYPE_CHECKING:
    from kcheck.core.premises.premise import Premise

_STDIN = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class RulePages(Answer):
    """The answer of `kcheck rules`, and of `kcheck explain` about rules."""

    verb: str
    """The command: `rules` or `explain`."""
    rules: tuple[Rule, ...]
    """The rules, by id."""
    log_rules: tuple[LogRule, ...] = ()
    """The rules of broker messages, by id."""
    premises: "tuple[Premise, ...]" = ()
    """The premises, in the order of the arguments."""

    def report(self) -> Report:
        """Return the answer as rows."""
        messages: dict[str, object] = {}
        if self.log_rules:
            from kcheck.documents.explain import rule_row  # only for messages

            messages = {"log_rules": tuple(rule_row(rule, log_catalogue()) for rule in self.log_rules)}
        if self.premises:
            messages["premises"] = tuple(map(_premise_row, self.premises))
        return self.as_report(
            self.verb,
            NEWEST_TESTED,
            body={"rules": tuple(map(_row, self.rules)), **messages},
            table="rules",
            columns=rules_table.TABLE.columns,
            kinds={"rules": "rule", "log_rules": "log-rule", "premises": "premise"},
        )


class Asked(NamedTuple):
    """The arguments of `kcheck explain`, by kind."""

    rules: tuple[str, ...] = ()
    """Ids and names of rules, and ids of premises."""
    logs: tuple[str, ...] = ()
    """Logs of brokers; `-` is stdin."""
    texts: tuple[str, ...] = ()
    """Lines that were pasted."""
    directories: tuple[str, ...] = ()
    """Log dirs and partition directories."""

    @property
    def is_rules(self) -> bool:
        """True if rules are asked for, not messages."""
        return bool(self.rules)


_DIGITS = str.maketrans("oil", "011")
"""Letters that mean a digit in an id that was typed."""
_PREFIX = re.compile(r"KC\d{1,2}")
_PREMISE = re.compile(r"P\d{3}")


def asked(arguments: Iterable[str]) -> Asked:
    """Return the arguments by kind; UsageError for a wrong id, a missing file, or rules among messages."""
    rules: list[str] = []
    logs: list[str] = []
    texts: list[str] = []
    directories: list[str] = []
    for argument in arguments:
        if is_rule(argument):
            rules.append(argument)
        elif not argument.strip():
            raise UsageError("an argument is empty; name a rule, a log, or paste a line")
        elif argument == _STDIN:
            logs.append(argument)
        elif not can_be_path(argument):
            texts.append(argument)
        else:
            from kcheck.disk.tree import logs_in, tree_of  # only for paths and lines

            tree = tree_of(argument)
            if tree.exists(argument):
                (directories if tree.is_directory(argument) else logs).append(argument)
                logs += logs_in(argument)
            else:
                texts.append(_pasted(argument))
    if rules and (logs or texts or directories):
        raise UsageError("explain rules and log lines in separate commands")
    if directories and not logs and not texts:
        raise UsageError(f"{directories[0]}: a directory; add a broker's log, or use kcheck inspect")
    if not rules and not logs and not texts:
        raise UsageError("nothing to explain: name a rule, a log, or paste a line; for example kcheck explain KC201")
    return Asked(tuple(rules), tuple(logs), tuple(texts), tuple(directories))


def _pasted(argument: str) -> str:
    """Return an argument that is a line, with a space, a dot or a colon; UsageError for anything else.

    A missing file is an error too.
    """
    if any(character.isspace() for character in argument.strip()):
        return argument
    if "/" in argument or argument.endswith((".log", ".gz")):
        raise UsageError(f"{argument}: no such file or directory")
    if "." in argument or ":" in argument:
        return argument
    raise _no_rule(argument)


def is_rule(name: str) -> bool:
    """Return whether a text is the id or name of a rule, a prefix of ids, or a message's or premise's id."""
    if name.lower() in rule_names() or name.upper() in log_catalogue().rules:
        return True
    return bool(_of_prefix(name) or _premises((name,)))


def every_rule() -> RulePages:
    """Return the answer of `kcheck rules`."""
    return RulePages(verb="rules", rules=all_rules())


def explained(wanted: Asked) -> RulePages:
    """Return the answer of `kcheck explain` about rules."""
    return named_rules(wanted.rules)


def named_rules(wanted: Iterable[str]) -> RulePages:
    """Return the answer of `kcheck explain`; a prefix such as KC2 lists its rules. UsageError: no such rule."""
    wanted, known = tuple(wanted), rule_names()
    if all(map(_of_prefix, wanted)):
        return RulePages(verb="rules", rules=tuple(rule for name in wanted for rule in _of_prefix(name)))
    premises = _premises(wanted)
    ids = {premise.id for premise in premises}
    wanted = tuple(name for name in wanted if name.upper() not in ids)
    messages: Mapping[str, LogRule] = {}
    for name in wanted:
        if name.lower() in known:
            continue
        messages = log_catalogue().rules
        if name.upper() not in messages:
            raise _no_rule(name)
    return RulePages(
        verb="explain",
        rules=tuple(dict.fromkeys(rule_named(name) for name in wanted if name.lower() in known)),
        log_rules=tuple(dict.fromkeys(messages[name.upper()] for name in wanted if name.upper() in messages)),
        premises=premises,
    )


def _premises(names: Iterable[str]) -> "tuple[Premise, ...]":
    """Return the premises with these ids; skip other names."""
    ids = [name.upper() for name in names if _PREMISE.fullmatch(name.upper())]
    if not ids:
        return ()
    from kcheck.core.premises.table import BY_ID  # only for premises

    return tuple(BY_ID[premise] for premise in dict.fromkeys(ids) if premise in BY_ID)


def _of_prefix(name: str) -> tuple[Rule, ...]:
    """Return the rules whose ids begin with a prefix of one or two digits; none for another name."""
    if not _PREFIX.fullmatch(name.upper()):
        return ()
    return all_rules((name,))


def _no_rule(name: str) -> UsageError:
    """Return the error for a name that no rule has; it names similar ones."""
    shown = rule_names() | {key.lower(): key for key in log_catalogue().rules}
    typed = name.lower()
    prefix = next((prefix for prefix in ("kc", "l") if typed.startswith(prefix) and typed[-1:].isalnum()), "")
    corrected = prefix + typed[len(prefix) :].translate(_DIGITS)
    similar = [shown[corrected]] if corrected in shown else [*dict.fromkeys(shown[key] for key in near(typed, shown))]
    if similar:
        return UsageError(f"no rule {name}; did you mean {some_of(similar)}?")
    return UsageError(f"no rule, message or file {name}; kcheck rules lists the rules")


def rule_pages(ids: Iterable[str]) -> tuple[Row, ...]:
    """Return these rules as `kcheck explain` shows them; skip unknown ids."""
    wanted = {*ids}
    return tuple(_row(rule) for rule in all_rules() if rule.id in wanted)


def _premise_row(premise: "Premise") -> Row:
    return {
        "id": premise.id,
        "kind": str(premise.kind),
        "sentence": premise.sentence,
        "proof": premise.proof,
        "against": premise.against,
        "refutation": premise.refutation,
        "remedy": premise.remedy,
        "source": premise.kafka,
        "docs": "premises.html",
    }


def _row(rule: Rule) -> Row:
    page, operation = rule.page.strip(), rule.operation
    return {
        "id": rule.id,
        "name": rule.name,
        "severity": str(rule.severity),
        "scope": str(rule.scope),
        "title": page.splitlines()[0] if page else "",
        "page": page,
        "docs": f"rules.html#{rule.id.lower()}",
        "operation": None if operation is None else operation.replace(".md", ".html"),
    }
