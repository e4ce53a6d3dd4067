"""Each release refuses the settings and configurations of topics that `limits` says, and no others of these."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from kcheck.core.premises.limits import (
    BROKER,
    CLASS,
    OF_TOPICS,
    TOPIC,
    SettingRule,
    classes_of,
    refusal,
    refused_settings,
    setting_rules,
)
from kcheck.core.premises.table import judged
from kcheck.core.releases.releases import release
from kcheck.model.premises import PremiseStatus
from tests.core.premises.test_premises import facts
from tests.core.premises.test_setting_relations import CASES, KRAFT, ZOOKEEPER, settings
from tests.oracle.ask import IS_WHOLE, Ask, assert_equal
from tests.oracle.settings import rules_of

pytestmark = pytest.mark.oracle

RELEASES = ("2.4.1", "2.8.2", "3.1.2", "3.2.3", "3.3.2", "3.6.2", "3.9.2", "4.0.2", "4.1.2", "4.2.1", "4.3.1")
CONTROLLER = KRAFT | {"listeners": "CONTROLLER://localhost:9093", "controller.quorum.voters": "1@localhost:9093"}
MODES = {
    "zookeeper": ZOOKEEPER,
    "broker": KRAFT,
    "controller": CONTROLLER | {"process.roles": "controller"},
    "combined": CONTROLLER | {
        "process.roles": "broker,controller", "listeners": "PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093",
    },
}  # fmt: skip
"""The settings that a node has in each mode."""
CLASSES = ("authorizer.class.name", "group.consumer.assignors", "group.share.assignors")
"""Names of classes that are no class by their type."""
OF_OTHERS = ("process.roles", "node.id", "controller.quorum.voters=1@", "zookeeper.metadata.migration.enable",
             "remote.log.storage.system.enable")  # fmt: skip
"""What other premises or classes judge: the mode, the place of a node among the voters, remote storage."""
NUMBERS = ("0", "1", "2", "3", "48", "1000", "100000", "1048576", "-1", "-2")
WORDS = (
    "", ",", "x,", "x", "x:y", "x:y,x:z", "x:5", "0", "none", "2.8", "9.9", "PLAINTEXT", "CONTROLLER", "SSL", "GSSAPI",
    "A://:1", "PLAINTEXT://:0", "PLAINTEXT://0.0.0.0:9092", "PLAINTEXT://a:1,PLAINTEXT://b:2", "PLAINTEXT:SSL",
    "CONTROLLER://localhost:9093", "PLAINTEXT://a:1,SSL://b:1", "PLAINTEXT://a:1,SSL://b:2", "2@x", "2@x:1", "delete",
)  # fmt: skip
SAMPLE = RELEASES if IS_WHOLE else ("3.9.2", "4.3.1")


@pytest.mark.parametrize("version", SAMPLE)
def test_the_rules_are_those_of_the_release(version: str) -> None:
    """The table says of each setting what Kafka's classes have."""
    table = {
        f"{kind} {' '.join(rule)}"
        for kind in (BROKER, TOPIC)
        for rule in setting_rules(kind, release(version)).values()
    }
    table |= {
        f"{CLASS} {setting} {name} -" for setting, names in classes_of(release(version)).items() for name in names
    }
    assert table == set(rules_of(version))


@pytest.mark.parametrize("version", SAMPLE)
@pytest.mark.parametrize("mode", MODES if IS_WHOLE else ["broker"])
def test_every_setting_of_a_node(mode: str, version: str, ask: Ask) -> None:
    """Values at each limit and beyond it, of another type and of other settings, and none; one at a time."""
    if (version < "3.3") if mode != "zookeeper" else (version >= "4"):
        return  # the release has no such mode
    of, base = release(version), MODES[mode]
    cases = [
        {**base, rule.name: value}
        for rule in setting_rules(BROKER, of).values()
        for value in (*values_of(rule), *more_values_of(rule))
        if not f"{rule.name}={value}".startswith(OF_OTHERS)
    ]
    cases += [{name: value for name, value in base.items() if name != left} for left in base if left not in OF_OTHERS]
    answers = ask(version, "Limits.java", [f"broker{_given(case)}" for case in cases])
    as_topics = ask(version, "Limits.java", [f"topic{_as_topic(case, base)}" for case in cases])
    refused = [{"ok"} != {*both} for both in zip(answers, as_topics, strict=True)]
    assert_equal(cases, [any(refused_settings(case, of)) for case in cases], refused)


def _given(case: dict[str, str]) -> str:
    """Return the settings of a case as Limits.java reads them."""
    return "".join(f"\t{name}={case[name]}" if name in case else f"\t-{name}" for name in {**KRAFT, **case})


def _as_topic(case: dict[str, str], base: dict[str, str]) -> str:
    """Return what the start checks as configuration of a topic, too."""
    own = ((name, value) for name, value in case.items() if name in OF_TOPICS and name not in base)
    return "".join(f"\t{OF_TOPICS[name]}={value}" for name, value in own)


@pytest.mark.parametrize("version", SAMPLE)
def test_values_at_each_limit(version: str, ask: Ask) -> None:
    """A value at the limit of each rule, one beyond it, and one of another type; Kafka names the setting it refuses."""
    cases = [(rule, value) for rule in setting_rules(TOPIC, release(version)).values() for value in values_of(rule)]
    answers = ask(version, "Limits.java", (f"{TOPIC}\t{rule.name}={value}" for rule, value in cases))
    refused = [f"for configuration {rule.name}:" in answer for (rule, _), answer in zip(cases, answers, strict=True)]
    assert_equal(cases, [refusal(rule, value) is not None for rule, value in cases], refused)


def values_of(rule: SettingRule) -> Iterator[str]:
    """Yield values at and beyond what a rule accepts."""
    span = rule.accepted.partition("|")[0]
    if ".." in span:
        low, _, high = span.partition("..")
        yield from (low, str(int(low) - 1), *((high, str(int(float(high)) + 1)) if high else ()))
    elif rule.accepted not in ("-", "!", ",", "!,"):
        yield from (rule.accepted.lstrip("%!").split("|")[0], "no such word")
    if rule.type in ("boolean", "int", "short", "long", "double"):
        yield from ("x", "")


def more_values_of(rule: SettingRule) -> Iterator[str]:
    """Yield values of all kinds of settings, for what a node refuses beyond the rule."""
    if rule.type in ("int", "short", "long", "double"):
        yield from NUMBERS
    elif rule.type == "class":
        yield from ("x,y", "a b", "")
    elif rule.type != "boolean" and rule.name not in CLASSES:
        yield from WORDS


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


@pytest.mark.parametrize("version", [version for version in SAMPLE if version >= "2.3"])
def test_variables_of_config_providers(version: str, ask: Ask, tmp_path: Path) -> None:
    """Providers in config.providers replace a variable, and the text of any other variable counts."""
    values = tmp_path / "values.properties"
    values.write_text("key=5\n", "utf-8")
    mode = ZOOKEEPER if version < "3.3" else KRAFT
    of_file = {
        "config.providers": "file",
        "config.providers.file.class": "org.apache.kafka.common.config.provider.FileConfigProvider",
    }
    hidden = {"num.io.threads": f"${{file:{values}:key}}"}
    other = {"num.io.threads": "${a:b}"}
    cases = [{**mode, **added} for added in ({**of_file, **hidden}, hidden, {**of_file, **other})]
    away = "\t".join(f"-{name}" for name in KRAFT)
    lines = ["\t".join(f"{name}={value}" for name, value in case.items()) for case in cases]
    answers = ask(version, "Limits.java", (f"broker\t{away}\t{line}" for line in lines))
    assert [answer == "ok" for answer in answers] == [True, False, False]
    judgements = [judged(facts(config=case, release=release(version))) for case in cases]
    said = [row.status for rows in judgements for row in rows if row.id == "P357"]
    assert said == [PremiseStatus.NOT_SEEN, PremiseStatus.REFUTED, PremiseStatus.REFUTED]
