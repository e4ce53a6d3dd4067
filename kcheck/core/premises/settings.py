"""Premises about settings that the release refuses."""

from collections.abc import Iterator

from kcheck.core.premises.facts import BrokerFacts
from kcheck.core.premises.judged import proven, refuted
from kcheck.core.premises.limits import TOPIC_LIMITS, refused_numbers, refused_settings
from kcheck.core.premises.premise import Premise, PremiseKind
from kcheck.model.premises import JudgedPremise, PremiseEvidence

_ROLES = "process.roles"
_FIRST_COUNT = 3
"""How many topics the evidence names."""


def known_mode(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for settings without process.roles under a release that only knows KRaft."""
    if facts.config is None or not facts.release.is_kraft_only:
        return
    roles, path = facts.setting(_ROLES), facts.config_path or ""
    if roles is not None:
        yield proven(premise, facts, PremiseEvidence(path, f"{_ROLES}={roles}"))
        return
    old = "Kafka 4.0 and later do not read zookeeper.connect; " if facts.setting("zookeeper.connect") else ""
    yield refuted(premise, facts, f"{old}{_ROLES} is missing", PremiseEvidence(path, f"no {_ROLES}"))


def accepted_settings(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for settings in server.properties that the release refuses."""
    if facts.config is None:
        return
    path, refusals = facts.config_path or "", tuple(refused_settings(facts.config, facts.release))
    for refusal in refusals:
        sentence = f"{refusal.name}={refusal.value}: Kafka {facts.release.name} {refusal.why}"
        yield refuted(premise, facts, sentence, PremiseEvidence(path, f"{refusal.name}={refusal.value}"))
    if not refusals:
        yield proven(premise, facts, PremiseEvidence(path, "no setting below its limit"))


def accepted_topics(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for topics in the metadata with a configuration that the release refuses.

    A broker reads those of every topic when it starts its log manager; a controller alone has none.
    """
    if facts.image is None or facts.roles == {"controller"}:
        return
    refusals: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for (kind, name), config in facts.image.configs.items():
        if kind == "topic" and name in facts.image.topics:
            for refusal in refused_numbers(config, TOPIC_LIMITS, facts.release):
                refusals.setdefault((refusal.name, refusal.why), []).append((name, refusal.value))
    path = facts.image_path or ""
    for (setting, why), topics in refusals.items():
        name, value = topics[0]
        same = len({value for _, value in topics}) == 1
        more = len(topics) - 1
        names = f"{name} and {more} more topic{'s' * (more > 1)} have" if more else f"{name} has"
        amount = f"{setting}={value}" if same else f"too small {setting}, {name} {value}"
        sentence = (
            f"{names} {amount}; Kafka {facts.release.name} {why}: raise the configuration of the topics while the old"
            " release still runs (kafka-configs.sh --alter --entity-type topics)"
        )
        shown = (PremiseEvidence(path, f"{topic} {setting}={number}") for topic, number in topics[:_FIRST_COUNT])
        yield refuted(premise, facts, sentence, *shown)
    if not refusals:
        yield proven(premise, facts, PremiseEvidence(path, "no topic below a limit"))


TABLE = (
    Premise(
        "P501", PremiseKind.SETTINGS, "The release knows the mode of the settings.",
        "process.roles is set, or the release still runs with ZooKeeper.",
        "Settings without process.roles, for 4.0 and later.",
        "The process ends: missing required configuration process.roles.",
        "Migrate to KRaft in 3.9 first, or start the old release.",
        "AbstractKafkaConfig 4.0 to 4.3.1", known_mode,
    ),
    Premise(
        "P502", PremiseKind.SETTINGS, "The release accepts the settings.",
        "No setting in server.properties is below the limit of the release, or names a class that it lacks.",
        "A lower value, or a class that is gone.",
        "The process ends: ConfigException, invalid value.",
        "Correct the setting that the reason names.",
        "AbstractKafkaConfig, KafkaConfig 2.6 to 4.3.1", accepted_settings,
    ),
    Premise(
        "P503", PremiseKind.SETTINGS, "The release accepts the configurations of the topics.",
        "No topic in the metadata has a configuration below the limit of the release.",
        "A lower value in the metadata.",
        "The process ends: error starting LogManager, invalid value.",
        "Raise it by kafka-configs.sh while the old release still runs.",
        "LogConfig, LogManager.fetchTopicConfigOverrides 2.6 to 4.3.1", accepted_topics,
    ),
)  # fmt: skip
