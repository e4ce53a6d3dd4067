"""The premise that the settings have their values, and no text that a provider replaces (AbstractConfig)."""

import re
from collections.abc import Iterator, Mapping

from kcheck.core.premises.facts import BrokerFacts
from kcheck.core.premises.judged import not_seen, refuted
from kcheck.core.premises.limits import BROKER, setting_rules
from kcheck.core.premises.premise import Premise, PremiseCost, PremiseKind
from kcheck.model.behaviour import is_between
from kcheck.model.cluster import PROVIDER
from kcheck.model.premises import JudgedPremise, PremiseEvidence
from kcheck.model.release import Release
from kcheck.words import some_of

VALUES_KNOWN = "P357"
"""The premise that the settings have their values."""
_PROVIDERS = "config.providers"
_VARIABLE = re.compile(r"\$\{([^}]*?):[^}]*\}")
"""ConfigTransformer.DEFAULT_PATTERN 2.0 to 4.3.1."""
_OF_LISTENER = re.compile(r"listener\.name\.[^.]+\.")
_SECRET = "password"  # noqa: S105 - the type of a setting
_UNUSED = "broker.rack"
"""A setting without effect on a log, with a variable in many deployments."""
_TYPED = ("boolean", "int", "short", "long", "double", "class")


def values_known(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for settings whose value is a variable, but no secret. The next start depends on these values.

    Without a provider the broker takes the text itself.
    """
    path, open_names = facts.config_path or "", []
    for name, value, of_type in _variables(facts.config or {}, facts.release):
        if name in facts.defined:
            continue
        if of_type in _TYPED and not _is_replaced(value, facts.config or {}, facts.release):
            sentence = (
                f"no config provider replaces {name}={value}, and Kafka {facts.release.name} accepts no such text"
            )
            yield refuted(premise, facts, sentence, PremiseEvidence(path, f"{name}={value}"))
        else:
            open_names.append((name, value))
    if open_names:
        names = some_of([name for name, _ in open_names])
        sentence = f"kcheck does not ask config providers, so the broker's value of {names} is not known"
        evidence = (PremiseEvidence(path, f"{name}={value}") for name, value in open_names)
        yield not_seen(premise, facts, sentence, "settings without variables", *evidence)


def _variables(settings: Mapping[str, str], release: Release) -> Iterator[tuple[str, str, str]]:
    """Yield the settings of a broker that have a variable and are no secret, with the value and the type."""
    rules = setting_rules(BROKER, release)
    for name, text in settings.items():
        rule = rules.get(_OF_LISTENER.sub("", name)) if PROVIDER in text and name != _UNUSED else None
        if rule is not None and rule.type != _SECRET:
            yield name, text.strip(), rule.type


def _is_replaced(value: str, settings: Mapping[str, str], release: Release) -> bool:
    """Return whether the release asks a provider for a part of a value."""
    providers = frozenset(map(str.strip, settings.get(_PROVIDERS, "").split(",")))
    return is_between(release, "2.3", None) and any(name in providers for name in _VARIABLE.findall(value))


TABLE = (
    Premise(
        VALUES_KNOWN, PremiseKind.SETTINGS, "The values of the settings are known.",
        "No setting has a variable of a config provider, except for secrets.",
        "A number, flag or class with a variable that no provider in config.providers replaces. Not seen: the value"
        " from a provider, or another text with a variable. 2.2 and earlier replace nothing.",
        "The broker starts with other values, or ends with an invalid value.",
        "Replace the variables in a copy of server.properties, and name this copy. Or run with --allow P357.",
        "AbstractConfig.resolveConfigVariables 2.3 to 4.3.1", values_known, cost=PremiseCost.UNCOUNTED, may_lack=True,
    ),
)  # fmt: skip
