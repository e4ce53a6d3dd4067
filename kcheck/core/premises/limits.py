"""The values of settings that each release refuses, by its own configuration classes."""

import re
from collections.abc import Callable, Container, Iterator, Mapping
from typing import NamedTuple

from kcheck.core.premises.listeners import refused_listeners
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
GONE_AUTHORIZERS: Mapping[str, Callable[[Release], bool]] = {
    "kafka.security.auth.SimpleAclAuthorizer": lambda release: release.has_no_simple_acl_authorizer,
    "kafka.security.authorizer.AclAuthorizer": lambda release: release.has_no_zookeeper_authorizer,
}
"""The values of authorizer.class.name that Kafka has removed, and which releases lack them."""
BROKER, TOPIC = "broker", "topic"
"""Whose settings a rule is about."""
_SHORT_MAX = 32767
_CLASS = re.compile(r"[^\W\d][\w$]*(\.[^\W\d][\w$]*)*")
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
    authorizer = settings.get("authorizer.class.name", "").strip()
    is_gone = GONE_AUTHORIZERS.get(authorizer)
    if is_gone is not None and is_gone(release):
        yield RefusedSetting("authorizer.class.name", authorizer, "has no such class")


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


def foreign_classes(settings: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the settings that name a class of another project, with that class."""
    for name, text in settings.items():
        for value in map(str.strip, text.split(",")) if _OF_CLASS.search(name) else ():
            if value and _CLASS.fullmatch(value) and "." in value and not value.startswith(_OF_KAFKA):
                yield name, value


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
