"""Premises about settings that the release refuses."""

from collections.abc import Iterator, Mapping

from kcheck.core.premises.facts import BrokerFacts, LogDirFacts, enables_migration
from kcheck.core.premises.judged import not_seen, proven, refuted
from kcheck.core.premises.limits import (
    TOPIC,
    foreign_classes,
    refused_later,
    refused_settings,
    refused_values,
    setting_rules,
)
from kcheck.core.premises.listeners import unreached_controller
from kcheck.core.premises.premise import Premise, PremiseKind
from kcheck.core.premises.security import left_to_the_jvm
from kcheck.core.start.node_settings import stated_id
from kcheck.model.cluster import PROVIDER
from kcheck.model.premises import JudgedPremise, PremiseEvidence
from kcheck.model.release import Release

_ROLES = "process.roles"
_FIRST_COUNT = 3
"""Number of topics that the evidence names."""


def known_mode(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for settings of a mode that the release does not know, or that the disks do not have."""
    if facts.config is None or not facts.release.has_kraft:
        return
    roles, path = facts.setting(_ROLES), facts.config_path or ""
    if roles is None and facts.release.is_kraft_only:
        old = "Kafka 4.0 and later do not read zookeeper.connect; " if facts.setting("zookeeper.connect") else ""
        yield refuted(premise, facts, f"{old}{_ROLES} is missing", PremiseEvidence(path, f"no {_ROLES}"))
        return
    shown = PremiseEvidence(path, f"no {_ROLES}" if roles is None else f"{_ROLES}={roles}")
    other = next((row for row in facts.log_dirs if row.version is not None and _is_of_other_mode(row, facts)), None)
    if other is None:
        yield proven(premise, facts, shown)
        return
    if roles is not None:
        sentence = f"{other.path} is a ZooKeeper broker's, but {_ROLES} is set: Kafka {facts.release.name} refuses it"
    else:
        then = "the broker refuses it" if facts.release.refuses_kraft_disks else "the broker would join ZooKeeper"
        sentence = f"{other.path} was formatted for KRaft, but {_ROLES} is missing: {then}"
    yield refuted(premise, facts, sentence, shown, PremiseEvidence(other.path, f"version={other.version}"))


def _is_of_other_mode(log_dir: LogDirFacts, facts: BrokerFacts) -> bool:
    """Return whether a log dir is of the mode that the settings do not have; a migration has both."""
    if facts.setting(_ROLES) is not None:
        return log_dir.version == 0 and facts.release.refuses_zookeeper_disks
    return log_dir.version == 1 and not enables_migration(facts.config or {})


def accepted_settings(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for settings in server.properties that the release refuses."""
    if facts.config is None:
        return
    path, refusals = facts.config_path or "", tuple(refused_settings(facts.config, facts.release))
    refusals = refusals or tuple(refused_later(facts.config, facts.release))
    unreached = unreached_controller(facts.config)
    if not refusals and unreached is not None and not any(copy.voter_set for copy in facts.copies):
        refusals = (unreached,)
    for refusal in refusals:
        sentence = f"{refusal.name}={refusal.value}: Kafka {facts.release.name} {refusal.why}"
        yield refuted(premise, facts, sentence, PremiseEvidence(path, f"{refusal.name}={refusal.value}"))
    for place in facts.doubled:
        name = "metadata.log.dir" if place == facts.setting("metadata.log.dir") else "log.dirs"
        sentence = f"{name}: {place} is the log dir of an earlier entry; Kafka {facts.release.name} refuses that"
        yield refuted(premise, facts, sentence, PremiseEvidence(path, f"{name} has {place}"))
    if facts.refused_line is not None:
        line = f"line {facts.refused_line} has a Unicode escape without four hexadecimal digits"
        yield refuted(premise, facts, f"{path}: {line}", PremiseEvidence(path, line))
    if not refusals and not facts.doubled and facts.refused_line is None:
        yield proven(premise, facts, PremiseEvidence(path, "the release accepts each setting"))


def refused_start(node_id: int, settings: Mapping[str, str], release: Release) -> str | None:
    """Return why a node with this disk does not start with settings; None without a reason."""
    number = stated_id(settings)
    if number is not None and number != node_id:
        return f"node.id={number}, but meta.properties node.id={node_id}"
    refusals = (*refused_settings(settings, release), *refused_later(settings, release))
    return next((f"{refusal.name}={refusal.value}: {refusal.why}" for refusal in refusals), None)


def loaded_stores(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for missing and corrupt key stores, on the host of the broker."""
    if not facts.stores:
        return
    path = facts.config_path or ""
    for row in facts.stores:
        if row.fault is not None:
            evidence = PremiseEvidence(path, f"{row.setting}={row.path}")
            yield refuted(premise, facts, f"{row.setting}={row.path}: {row.path} {row.fault}", evidence)
    if all(row.fault is None for row in facts.stores):
        yield proven(premise, facts, *(PremiseEvidence(row.path, row.setting) for row in facts.stores))


def loaded_classes(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for settings that name classes outside of Kafka.

    No file of a log dir shows whether the broker can load them.
    """
    if facts.config is None:
        return
    path = facts.config_path or ""
    foreign = tuple(PremiseEvidence(path, f"{name}={value}") for name, value in foreign_classes(facts.config))
    if foreign:
        sentence = "whether the broker can load the classes that are not Kafka's own is not known"
        yield not_seen(premise, facts, sentence, None, *foreign)
    hidden = [PremiseEvidence(path, f"{name}={value}") for name, value in facts.config.items() if PROVIDER in value]
    if hidden:
        yield not_seen(premise, facts, f"{hidden[0].says} is the value of a provider, and not known", None, *hidden)
    left = tuple(PremiseEvidence(path, f"{name}={value}") for name, value in left_to_the_jvm(facts.config))
    if left:
        sentence = f"whether the JVM has what {left[0].says} needs is not known"
        yield not_seen(premise, facts, sentence, None, *left)


def accepted_topics(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for topics in the metadata with a configuration that the release refuses.

    A broker reads the configurations of all topics when it starts its log manager. A controller alone has no log
    manager.
    """
    if facts.image is None or facts.roles == {"controller"}:
        return
    refusals: dict[tuple[str, str], list[tuple[str, str]]] = {}
    rules = setting_rules(TOPIC, facts.release)
    for (kind, name), config in facts.image.configs.items():
        if kind == "topic" and name in facts.image.topics:
            for refusal in refused_values(config, rules):
                refusals.setdefault((refusal.name, refusal.why), []).append((name, refusal.value))
    path = facts.image_path or ""
    for (setting, why), topics in refusals.items():
        name, value = topics[0]
        same = len({value for _, value in topics}) == 1
        more = len(topics) - 1
        names = f"{name} and {more} more topic{'s' * (more > 1)} have" if more else f"{name} has"
        amount = f"{setting}={value}" if same else f"a {setting} that is refused, {name} {value}"
        sentence = (
            f"{names} {amount}; Kafka {facts.release.name} {why}. Raise the configuration of the topics while the old"
            " release still runs (kafka-configs.sh --alter --entity-type topics)"
        )
        shown = (PremiseEvidence(path, f"{topic} {setting}={number}") for topic, number in topics[:_FIRST_COUNT])
        yield refuted(premise, facts, sentence, *shown)
    if not refusals:
        yield proven(premise, facts, PremiseEvidence(path, "the release accepts the configuration of each topic"))


TABLE = (
    Premise(
        "P501", PremiseKind.SETTINGS, "The settings are for the mode of the release and of the disks.",
        "process.roles is set, or the release still runs with ZooKeeper and meta.properties has version 0.",
        "Settings without process.roles, for 4.0 and later or with disks of KRaft. In 3.3 and earlier also settings "
        "with it, with disks of ZooKeeper.",
        "The process ends: process.roles is missing, or meta.properties has the wrong version. In 3.6 and earlier a "
        "broker with disks of KRaft joins ZooKeeper.",
        "Start it with the server.properties of its mode. For 4.0, migrate to KRaft in 3.9 first.",
        "AbstractKafkaConfig 4.0 to 4.3.1; MetaPropertiesEnsemble.verify 3.7 to 3.9, MetaProperties.parse 3.0 to 3.3",
        known_mode,
    ),
    Premise(
        "P502", PremiseKind.SETTINGS, "The release accepts the settings.",
        "The release accepts the value of each setting in server.properties, alone and together with the others.",
        "A value of another type or beyond the range, or a contradiction of two settings. Also a missing class of "
        "Kafka, a listener without its key, and a log dir by two paths. Or the only voter has a wrong port.",
        "The process ends: ConfigException, invalid value, or requirement failed.",
        "Correct the setting that the reason names.",
        "KafkaConfig.validateValues, AbstractKafkaConfig, ConfigDef.parseType, LogManager.createAndValidateLogDirs "
        "0.10.2 to 4.3.1; DefaultSslEngineFactory, JaasConfig 2.8 to 4.3.1",
        accepted_settings,
    ),
    Premise(
        "P503", PremiseKind.SETTINGS, "The release accepts the configurations of the topics.",
        "Each configuration of each topic in the metadata has a value that the release accepts.",
        "A value in the metadata that it refuses.",
        "The process ends: error starting LogManager, invalid value.",
        "Change it by kafka-configs.sh while the old release still runs.",
        "LogConfig, LogManager.fetchTopicConfigOverrides 0.10.2 to 4.3.1", accepted_topics,
    ),
    Premise(
        "P504", PremiseKind.SETTINGS, "The broker can load the classes that the settings name.",
        "server.properties is given, and names classes of Kafka alone, and algorithms that every JVM has.",
        "Nothing. No file here shows the jars of the broker, the logins of its JVM, or values of a provider.",
        "The process ends: ClassNotFoundException, or no entry in the JAAS configuration.",
        "Look for their jars in libs/ of the broker, and for java.security.auth.login.config. Then start.",
        "AbstractConfig.getConfiguredInstances, ConfigDef.parseType 0.10.2 to 4.3.1; JaasContext, SslFactory",
        loaded_classes,
    ),
    Premise(
        "P318", PremiseKind.SETTINGS, "The listeners can load their keys and certificates.",
        "On the host of the broker, each store of a TLS listener is a file of its type.",
        "A missing or empty store, or one of another type. Not looked at on other hosts, or in a container.",
        "The process ends: failed to load SSL keystore.",
        "Restore the file, or correct the setting.",
        "DefaultSslEngineFactory, SslFactory 1.0 to 4.3.1", loaded_stores,
    ),
)  # fmt: skip
