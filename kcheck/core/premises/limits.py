"""The values of settings that each release refuses, by its own configuration classes."""

import re
from collections.abc import Container, Iterator, Mapping
from functools import cache
from typing import NamedTuple

from kcheck.core.premises.listeners import listeners_of, refused_hosts, refused_listeners
from kcheck.core.premises.security import refused_security
from kcheck.core.premises.setting_relations import RefusedSetting, refused_beside_others
from kcheck.core.releases.setting_rules import TABLE
from kcheck.model.behaviour import is_between
from kcheck.model.cluster import PROVIDER
from kcheck.model.java import java_int, java_long
from kcheck.model.release import Release

OF_TOPICS = {
    "log.cleanup.policy": "cleanup.policy", "compression.type": "compression.type",
    "log.cleaner.delete.retention.ms": "delete.retention.ms", "log.segment.delete.delay.ms": "file.delete.delay.ms",
    "log.flush.interval.messages": "flush.messages", "log.flush.interval.ms": "flush.ms",
    "log.index.interval.bytes": "index.interval.bytes", "log.index.size.max.bytes": "segment.index.bytes",
    "message.max.bytes": "max.message.bytes", "log.cleaner.min.compaction.lag.ms": "min.compaction.lag.ms",
    "log.message.timestamp.type": "message.timestamp.type", "min.insync.replicas": "min.insync.replicas",
    "log.cleaner.min.cleanable.ratio": "min.cleanable.dirty.ratio",
    "log.roll.jitter.ms": "segment.jitter.ms", "log.roll.ms": "segment.ms",
}  # fmt: skip
"""The settings that are defaults of topics. A starting broker also checks them as topic configurations."""
BROKER, TOPIC, CLASS = "broker", "topic", "class"
"""Whose settings a rule is about."""
_PLUGINS = (
    "alter.config.policy.class.name", "client.quota.callback.class", "create.topic.policy.class.name",
    "remote.log.storage.manager.class.name",
)  # fmt: skip
"""Settings for a class, without a class in Kafka's jars."""
_SHORT = {"group.consumer.assignors": frozenset({"range", "uniform"})}
"""Short names of classes in 4.0 and newer ones."""
_SHORT_MAX = 32767
_CLASS = re.compile(r"[^\W\d][\w$]*(\.[^\W\d][\w$]*)*")
_OF_LISTENER = re.compile(r"listener\.name\.([^.]+)\.(.+)")
_OF_CLASS = re.compile(r"\.class(\.name)?$|\.reporters$|\.assignors$")
_OF_KAFKA = ("org.apache.kafka.", "kafka.")
_DOUBLE = re.compile(
    r"[+-]?(NaN|Infinity|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[fFdD]?|0[xX][0-9a-fA-F.]+[pP][+-]?[0-9]+[fFdD]?)"
)


class SettingRule(NamedTuple):
    """The values of a setting that a range of releases accepts (ConfigDef.parseType and its validator)."""

    name: str
    """The setting."""
    type: str
    """Its type: int, short, long, double, boolean, string, list, class or password."""
    accepted: str
    """The accepted part of that type, as in `setting_rules`; `-` for all."""


def refused_settings(settings: Mapping[str, str], release: Release) -> Iterator[RefusedSetting]:
    """Yield the settings of a server.properties that end the process of this release."""
    rules = setting_rules(BROKER, release)
    refused = tuple(refused_values(settings, rules))
    yield from refused
    yield from _refused_beyond_rules(settings, release, {one.name for one in refused})


def refused_later(settings: Mapping[str, str], release: Release) -> Iterator[RefusedSetting]:
    """Yield settings that KafkaConfig of this release accepts and that end the process later."""
    listeners = {name.lower() for name, _ in listeners_of(settings)}
    yield from _refused_overrides(settings, setting_rules(BROKER, release), listeners)
    short = _SHORT if is_between(release, "4.0", None) else {}
    classes = {name: known | short.get(name, frozenset()) for name, known in classes_of(release).items()}
    yield from refused_hosts(settings, release)
    yield from refused_security(settings, classes, has_remote_storage=release.has_remote_storage)


def _refused_beyond_rules(
    settings: Mapping[str, str], release: Release, refused: Container[str]
) -> Iterator[RefusedSetting]:
    """Yield settings with valid values that the broker still refuses when it starts.

    Settings that are already `refused` are left out. The broker of 0.10.2 to 4.3.1 checks defaults of topics
    (LogConfig), settings together (KafkaConfig.validateValues), and endpoints (EndPoint.createEndPoint).
    """
    of_topics = setting_rules(TOPIC, release)
    rules = {name: of_topics[topic]._replace(name=name) for name, topic in OF_TOPICS.items() if topic in of_topics}
    yield from (one for one in refused_values(settings, rules) if one.name not in refused)
    yield from refused_beside_others(settings, release)
    yield from refused_listeners(settings, release)


def refused_values(settings: Mapping[str, str], rules: Mapping[str, SettingRule]) -> Iterator[RefusedSetting]:
    """Yield the settings whose type or validator refuses their value.

    Of a value that a configuration provider gives nothing is known.
    """
    for name, text in settings.items():
        rule, value = rules.get(name), text.strip()
        why = None if rule is None or PROVIDER in value else refusal(rule, value)
        if why is not None:
            yield RefusedSetting(name, value, why)


def _refused_overrides(
    settings: Mapping[str, str], rules: Mapping[str, SettingRule], listeners: Container[str]
) -> Iterator[RefusedSetting]:
    """Yield settings of a single listener or mechanism with a refused value.

    AbstractConfig.valuesWithPrefixOverride 1.0 to 4.3.1.
    """
    own = dict[str, SettingRule]()
    for name in settings:
        match = _OF_LISTENER.fullmatch(name)
        if match is not None and match[1] in listeners:
            rule = rules.get(match[2]) or rules.get(match[2].partition(".")[2])
            if rule is not None:
                own[name] = rule
    yield from refused_values(settings, own)


@cache
def classes_of(release: Release) -> Mapping[str, frozenset[str]]:
    """Return the classes in Kafka's jars, by setting or by the end of its name."""
    classes: dict[str, set[str]] = {name: set() for name in _PLUGINS if name in setting_rules(BROKER, release)}
    for line in TABLE.split("\n"):
        if line.startswith(f"{CLASS} "):
            _, name, *fields = line.split(" ")
            for of_type, _, since, until in zip(*[iter(fields)] * 4, strict=True):
                if is_between(release, since, None if until == "-" else until):
                    classes.setdefault(name, set()).add(of_type)
    return {name: frozenset(of_type) for name, of_type in classes.items()}


def foreign_classes(settings: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the settings that name a class of another project, with that class."""
    for name, text in settings.items():
        for value in map(str.strip, text.split(",")) if _OF_CLASS.search(name) else ():
            if value and _CLASS.fullmatch(value) and "." in value and not value.startswith(_OF_KAFKA):
                yield name, value


@cache
def setting_rules(kind: str, release: Release) -> Mapping[str, SettingRule]:
    """Return the accepted values of the settings of a broker or topic, by the name of the setting."""
    rules = {}
    for line in TABLE.split("\n"):
        if line.startswith(kind):
            _, name, *fields = line.split(" ")
            for of_type, accepted, since, until in zip(*[iter(fields)] * 4, strict=True):
                if is_between(release, since, None if until == "-" else until):
                    rules[name] = SettingRule(name, of_type, accepted)
    return rules


def refusal(rule: SettingRule, value: str) -> str | None:
    """Return the accepted values, in words, if a value is refused; None if it is accepted."""
    match rule.type:
        case "boolean":
            return None if value.lower() in ("true", "false") else "accepts true or false"
        case "int" | "short" | "long":
            number = java_long(value) if rule.type == "long" else java_int(value)
            if number is None or (rule.type == "short" and not -_SHORT_MAX - 1 <= number <= _SHORT_MAX):
                return f"accepts an integer (type {rule.type})"
            return _out_of_range(rule.accepted, number)
        case "double":
            if not _DOUBLE.fullmatch(value):
                return "accepts a number"
            return None if "x" in value.lower() else _out_of_range(rule.accepted, float(value.rstrip("fFdD")))
        case _:
            return _no_word(rule, value)


def _out_of_range(accepted: str, number: float) -> str | None:
    """Return why a number is refused; None if it is not. `accepted` is `2..9`, `2..` or `2..9|-1`."""
    span, _, other = accepted.partition("|")
    if accepted == "-" or (other and number == int(other)):
        return None
    low, _, high = span.partition("..")
    if number < float(low):
        return f"refuses less than {low}"
    return f"refuses more than {high}" if high and number > float(high) else None


def _no_word(rule: SettingRule, value: str) -> str | None:
    """Return why a text or a list of texts is refused; None if it is not."""
    accepted = rule.accepted.removeprefix("!")
    if accepted != rule.accepted and not value:
        return "refuses an empty value"
    given = [part.strip() for part in value.split(",") if value] if rule.type == "list" else [value]
    if rule.type == "class" and not _CLASS.fullmatch(value):
        return "accepts the name of a class"
    if accepted in ("", "-", ","):
        return "refuses an empty entry" if accepted == "," and "" in given else None
    words = accepted.removeprefix("%").split("|")
    if accepted.startswith("%"):
        given = [part.upper() for part in given]
    return None if set(given) <= set(words) else f"accepts {', '.join(words[:-1])} or {words[-1]}"
