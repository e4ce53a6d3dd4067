"""Each release refuses the settings and configurations of topics that `limits` says, and no others of these."""

from collections.abc import Iterable, Iterator

import pytest

from kcheck.core.premises.limits import (
    BROKER,
    GONE_AUTHORIZERS,
    LISTS,
    TOPIC,
    SettingRule,
    refusal,
    refused_settings,
    setting_rules,
)
from kcheck.core.releases.releases import release
from tests.core.premises.test_contradictions import CASES, KRAFT, ZOOKEEPER, settings
from tests.oracle.ask import IS_WHOLE, Ask, assert_equal
from tests.oracle.settings import rules_of

pytestmark = pytest.mark.oracle

RELEASES = ("2.8.2", "3.1.2", "3.2.3", "3.3.2", "3.9.2", "4.0.2", "4.1.2", "4.2.1", "4.3.1")
NOT_ALONE = frozenset({"process.roles", "node.id", "broker.id"})
"""Settings of which Kafka names another one when it refuses a value."""
SAMPLE = RELEASES if IS_WHOLE else ("3.9.2", "4.3.1")


@pytest.mark.parametrize("version", SAMPLE)
def test_the_rules_are_those_of_the_release(version: str) -> None:
    """The table says of each setting what Kafka's classes have."""
    table = {
        f"{kind} {' '.join(rule)}"
        for kind in (BROKER, TOPIC)
        for rule in setting_rules(kind, release(version)).values()
    }
    assert table == set(rules_of(version))


@pytest.mark.parametrize("version", SAMPLE)
@pytest.mark.parametrize("kind", [BROKER, TOPIC])
def test_values_at_each_limit(kind: str, version: str, ask: Ask) -> None:
    """A value at the limit of each rule, one beyond it, and one of another type; Kafka names the setting it refuses."""
    cases = [
        (rule, value)
        for rule in setting_rules(kind, release(version)).values()
        for value in values_of(rule)
        if rule.name not in NOT_ALONE
    ]
    answers = ask(version, "Limits.java", (f"{kind}\t{rule.name}={value}" for rule, value in cases))
    refused = [f"for configuration {rule.name}:" in answer for (rule, _), answer in zip(cases, answers, strict=True)]
    assert_equal(cases, [refusal(rule, value) is not None for rule, value in cases], refused)


def values_of(rule: SettingRule) -> Iterator[str]:
    """Yield values at and beyond what a rule accepts."""
    span = rule.accepted.partition("|")[0]
    if ".." in span:
        low, _, high = span.partition("..")
        yield from (low, str(int(low) - 1), *((high, str(int(float(high)) + 1)) if high else ()))
    elif rule.accepted not in ("-", "!"):
        yield from (rule.accepted.removeprefix("%").split("|")[0], "no such word")
    if rule.type in ("boolean", "int", "short", "long", "double"):
        yield from ("x", "")


@pytest.mark.parametrize("version", SAMPLE)
def test_lists_with_an_empty_entry(version: str, ask: Ask) -> None:
    """Since 4.2 they end the process."""
    cases = [(name, "PLAINTEXT://localhost:9092,") for name in LISTS if "listener" not in name or name == "listeners"]
    answers = ask(version, "Limits.java", (f"broker\t{name}={value}" for name, value in cases))
    ours = [not list(refused_settings({name: value}, release(version))) for name, value in cases]
    assert_equal(cases, ours, [*accepted(answers)])


@pytest.mark.parametrize("version", SAMPLE)
def test_classes_that_are_gone(version: str, ask: Ask) -> None:
    """The authorizers of ZooKeeper mode."""
    answers = ask(version, "Limits.java", (f"class\t{name}" for name in GONE_AUTHORIZERS))
    assert [not is_gone(release(version)) for is_gone in GONE_AUTHORIZERS.values()] == [*accepted(answers)]


@pytest.mark.parametrize("version", SAMPLE)
def test_settings_that_are_unknown_are_warnings(version: str, ask: Ask) -> None:
    """Settings that a release has removed do not end its process, and those of a mode that it lacks neither."""
    settings = ("zookeeper.connect=x:1", "log.message.format.version=2.8", "inter.broker.protocol.version=3.3")
    cases = [f"broker\t{setting}" for setting in settings if "inter" not in setting or version >= "3.3"]
    assert ask(version, "Limits.java", cases) == ["ok"] * len(cases)


@pytest.mark.parametrize("version", SAMPLE)
def test_settings_that_contradict_each_other(version: str, ask: Ask) -> None:
    """Each release accepts and refuses what kcheck says, in each mode that it has."""
    modes = [*([ZOOKEEPER] if version < "4.0" else []), *([KRAFT] if version >= "3.3" else [])]
    cases = [settings(mode, added) for mode in modes for of, added, _ in CASES if mode in of]
    away = "\t".join(f"-{name}" for name in KRAFT)
    lines = ["\t".join(f"{name}={value}" for name, value in case.items()) for case in cases]
    answers = ask(version, "Limits.java", (f"broker\t{away}\t{line}" for line in lines))
    assert_equal(cases, [not [*refused_settings(case, release(version))] for case in cases], [*accepted(answers)])


def accepted(answers: Iterable[str]) -> Iterable[bool]:
    """Yield whether each answer accepts its case."""
    return (answer == "ok" for answer in answers)
