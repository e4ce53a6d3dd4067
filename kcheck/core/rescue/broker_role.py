"""The settings with which a node that was a broker and a controller comes back as a broker alone.

A broker refuses listeners of controllers in `listeners` and `advertised.listeners`, and a place among the voters
(KafkaConfig.validateValues 3.3 to 4.3.1). The names of controller listeners stay, with their protocols.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

PLACE = "HOST:9093"
"""Stands for the address of a controller that is not known."""
ROLES, VOTERS, SERVERS = "process.roles", "controller.quorum.voters", "controller.quorum.bootstrap.servers"
_NAMES = "controller.listener.names"
_LISTENERS = ("listeners", "advertised.listeners", "early.start.listeners")
_BROKER, _CONTROLLER = "broker", "controller"


class BrokerRole(NamedTuple):
    """The settings of a node that change."""

    node_id: int
    path: str
    """Its server.properties."""
    settings: Mapping[str, str]
    """The new values, by name."""

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines for its server.properties; an empty value is a line to remove."""
        return tuple(f"{name}={value}" if value else f"# remove {name}" for name, value in self.settings.items())


def seat(controller: int, address: str | None, *, is_dynamic: bool) -> tuple[str, str]:
    """Return the setting with which every node finds the only controller, and the value."""
    return (SERVERS, address or PLACE) if is_dynamic else (VOTERS, f"{controller}@{address or PLACE}")


def roles_of(settings: Mapping[str, str]) -> frozenset[str]:
    """Return the roles in process.roles; none if they are not known."""
    return frozenset(_words(settings.get(ROLES, "")))


def as_broker(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the changes in the settings of a broker, after which its node has no other role."""
    if _BROKER not in roles_of(settings):
        return {}
    names = {name.upper() for name in _words(settings.get(_NAMES, ""))}
    changed = {ROLES: _BROKER} if _CONTROLLER in roles_of(settings) else {}
    for key in _LISTENERS:
        words = [*_words(settings.get(key, ""))]
        kept = [word for word in words if word.partition("://")[0].upper() not in names]
        if kept != words:
            changed[key] = ",".join(kept)
    return changed


def _words(value: str) -> Iterator[str]:
    return filter(None, map(str.strip, value.split(",")))
