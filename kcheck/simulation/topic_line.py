"""The settings of the topic of a history, and the line that has them."""

from collections.abc import Callable
from typing import Any, NamedTuple

from kcheck.simulation.state import Acks
from kcheck.simulation.words import Words

_FLAGS = {"true": True, "false": False, "on": True, "off": False}
ACKS = {"0": Acks.NONE, "1": Acks.LEADER, "all": Acks.ALL, "-1": Acks.ALL}
"""The acknowledgments that a producer waits for, by word."""
_VALUES = {"unclean": "true or false", "elr": "true or false", "acks": "0, 1 or all", "kraft": "kraft or zookeeper"}


class TopicSettings(NamedTuple):
    """The settings of the topic and its cluster; None for the release's default."""

    rf: int | None = None
    """The number of replicas; None if every broker has one."""
    min_isr: int = 1
    unclean: bool | None = None
    acks: Acks = Acks.ALL
    """The acknowledgments that a producer waits for, unless its line has others."""
    message_format: str | None = None
    elr: bool | None = None
    """True if the cluster keeps eligible leader replicas."""
    lag_time_max: int | None = None
    """replica.lag.time.max.ms."""
    checkpoint_interval: int | None = None
    """replica.high.watermark.checkpoint.interval.ms; None if only lines of the history write high watermarks."""
    kraft: bool | None = None
    """True if a KRaft controller leads the cluster."""


def _count(value: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) < 10):
        raise ValueError(value)
    return int(value)


_SETTINGS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "rf": ("rf", _count),
    "min.isr": ("min_isr", _count),
    "min.insync.replicas": ("min_isr", _count),
    "unclean": ("unclean", _FLAGS.__getitem__),
    "unclean.leader.election.enable": ("unclean", _FLAGS.__getitem__),
    "acks": ("acks", lambda value: ACKS[value]),
    "message.format": ("message_format", str),
    "elr": ("elr", _FLAGS.__getitem__),
    "replica.lag.time.max.ms": ("lag_time_max", _count),
    "replica.high.watermark.checkpoint.interval.ms": ("checkpoint_interval", _count),
    "mode": ("kraft", lambda value: {"kraft": True, "zookeeper": False}[value]),
}


def with_setting(topic: TopicSettings, words: Words) -> TopicSettings:
    """Take a setting such as `min.isr=2`, and return the settings with it."""
    name, equals, value = words.take("a setting").partition("=")
    setting = _SETTINGS.get(name)
    if setting is None or not equals:
        words.fail(f"a setting: {', '.join(f'{known}=' for known in _SETTINGS)}")
    field, parse_value = setting
    try:
        return topic._replace(**{field: parse_value(value)})
    except (ValueError, KeyError):
        words.fail(f"another value of {name}: {_VALUES.get(field, 'a number')}")
