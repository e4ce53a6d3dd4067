"""Questions about the rules of kcheck, and the meaning of rules, messages and logs of brokers."""

from typing import TYPE_CHECKING

from kcheck.api.answers import Path, texts_of
from kcheck.model.evidence import AUTO

if TYPE_CHECKING:
    from kcheck.verbs.explain import RulePages
    from kcheck.verbs.explain_log import LogExplanation


def all_rules() -> "RulePages":
    """Return all rules: `kcheck rules`."""
    from kcheck.verbs.explain import every_rule

    return every_rule()


def explain(*arguments: Path, since: int | None = None, kafka: str = AUTO) -> "RulePages | LogExplanation":
    """Return the meaning of rules, pasted log lines or logs of brokers: `kcheck explain`.

    With a log, kcheck compares the log with the log dirs among the arguments. `since`, a time in ms since 1970, leaves
    out earlier messages. `kafka` is the release of the broker, by default the release in its log.
    """
    from kcheck.verbs.explain import asked, explained
    from kcheck.verbs.explain_log import explain_log

    wanted = asked(texts_of(arguments))
    if wanted.is_rules:
        return explained(wanted)
    return explain_log(wanted.logs, wanted.texts, wanted.directories, kafka=kafka, since=since)
