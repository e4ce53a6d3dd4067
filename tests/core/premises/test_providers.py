"""Settings with variables of config providers, by the configuration classes of each release."""

from pathlib import Path
from typing import Any

import pytest

import kcheck
from kcheck.core.premises.table import judged
from kcheck.core.releases.releases import release
from kcheck.model.finding import Severity
from kcheck.model.premises import PremiseStatus
from tests.core.premises.test_premises import KRAFT, facts
from tests.oracle.incidents.damages.site import set_property
from tests.oracle.incidents.kept import PLACE, unpacked

OF_ENV = {
    "config.providers": "env",
    "config.providers.env.class": "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
}
VARIABLE = "${env:X}"
NOT_SEEN, REFUTED = PremiseStatus.NOT_SEEN, PremiseStatus.REFUTED


@pytest.mark.parametrize(
    ("settings", "kafka", "expected"),
    [
        ({"log.retention.ms": VARIABLE, **OF_ENV}, "4.3", NOT_SEEN),
        ({"log.retention.ms": VARIABLE, **OF_ENV}, "2.3", NOT_SEEN),
        ({"log.retention.ms": VARIABLE, **OF_ENV}, "2.2", REFUTED),
        ({"log.retention.ms": VARIABLE}, "4.3", REFUTED),
        ({"log.retention.ms": "${file:/p:k}", **OF_ENV}, "4.3", REFUTED),
        ({"log.retention.ms": "${X}", **OF_ENV}, "4.3", REFUTED),
        ({"listeners": VARIABLE}, "4.3", NOT_SEEN),
        ({"listener.name.a.ssl.keystore.location": VARIABLE, **OF_ENV}, "4.3", NOT_SEEN),
        ({"ssl.keystore.password": VARIABLE, "broker.rack": VARIABLE, "mine": VARIABLE, **OF_ENV}, "4.3", None),
        ({"log.retention.ms": "1"}, "4.3", None),
        (None, "4.3", None),
    ],
)
def test_a_variable(settings: dict[str, str] | None, kafka: str, expected: PremiseStatus | None) -> None:
    """Kafka 2.3 and later ask the providers in config.providers alone. Others leave the text as it is."""
    config = None if settings is None else {**KRAFT, **settings}
    found = [row.status for row in judged(facts(config=config, release=release(kafka))) if row.id == "P357"]
    assert found == ([] if expected is None else [expected])


def test_a_value_that_the_user_gives() -> None:
    """As by `-D`."""
    given = facts(config={**KRAFT, "log.segment.bytes": VARIABLE}, defined=frozenset({"log.segment.bytes"}))
    assert "P357" not in {row.id for row in judged(given)}


@pytest.mark.parametrize("names", [("node.id", "log.dirs"), ("listeners", "log.retention.ms"), ("process.roles",)])
def test_no_verb_is_green_with_a_variable(
    names: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, the default value or no value counted."""
    unpacked(PLACE / "4.3.1-kraft-nothing-k0.tar.xz", tmp_path)
    monkeypatch.chdir(tmp_path)
    for name, value in {**OF_ENV, **dict.fromkeys(names, VARIABLE)}.items():
        set_property(Path("broker-1/server.properties"), name, value)
    told: dict[str, Any] = {"metadata": ["controller/data1"]}
    assert kcheck.preflight("broker-1/server.properties", **told).may_start is None
    predicted = kcheck.predict("broker-1", **told)
    assert predicted.severity is Severity.ERROR
    assert "P357" in {row.id for row in predicted.premises if row.provide}
    assert "P357" in {row.data.get("premise") for row in kcheck.check("broker-1", **told).findings}
