"""Each release refuses the settings and configurations of topics that `limits` says, and no others of these."""

from collections.abc import Iterable

import pytest

from kcheck.core.premises.limits import (
    BROKER_LIMITS,
    GONE_AUTHORIZERS,
    LISTS,
    TOPIC_LIMITS,
    refused_numbers,
    refused_settings,
)
from kcheck.core.releases.releases import release
from tests.oracle.ask import IS_WHOLE, Ask, assert_equal

pytestmark = pytest.mark.oracle

RELEASES = ("2.8.2", "3.1.2", "3.2.3", "3.3.2", "3.9.2", "4.0.2", "4.1.2", "4.2.1", "4.3.1")
SAMPLE = RELEASES if IS_WHOLE else ("3.9.2", "4.3.1")


@pytest.mark.parametrize("version", SAMPLE)
def test_limits_of_a_broker(version: str, ask: Ask) -> None:
    """A number at each limit and one below, and lists with an empty entry."""
    numbers = [(limit.name, str(limit.lowest - step)) for limit in BROKER_LIMITS for step in (0, 1)]
    lists = [(name, "PLAINTEXT://localhost:9092,") for name in LISTS if "listener" not in name or name == "listeners"]
    cases = [*numbers, *lists]
    answers = ask(version, "Limits.java", (f"broker\t{name}={value}" for name, value in cases))
    ours = [not list(refused_settings({name: value}, release(version))) for name, value in cases]
    assert_equal(cases, ours, [*accepted(answers)])


@pytest.mark.parametrize("version", SAMPLE)
def test_limits_of_a_topic(version: str, ask: Ask) -> None:
    """A number at each limit and one below."""
    cases = [(limit.name, str(limit.lowest - step)) for limit in TOPIC_LIMITS for step in (0, 1)]
    answers = ask(version, "Limits.java", (f"topic\t{name}={value}" for name, value in cases))
    ours = [not list(refused_numbers({name: value}, TOPIC_LIMITS, release(version))) for name, value in cases]
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


def accepted(answers: Iterable[str]) -> Iterable[bool]:
    """Yield whether each answer accepts its case."""
    return (answer == "ok" for answer in answers)
