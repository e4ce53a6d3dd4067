"""Gathers what a server.properties and a broker's own log, which the user names, tell about its release."""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from kcheck.core.releases.release_evidence import Clue, EvidenceKind, line_named, line_of_software
from kcheck.disk.log_text import BROKEN_TEXT, parts
from kcheck.disk.tree import tree_of
from kcheck.errors import UsageError
from kcheck.model.unreadable import UnreadableError
from kcheck.views.targets import read_properties

_VERSION = re.compile(rb"Kafka version ?: ([0-9][0-9.]{1,15}(?:-[a-z0-9]{1,12})?)")
"""AppInfoParser; in 2.0 and earlier with a space before the colon."""
_BROKER = re.compile(rb"\[(?:Kafka|Broker|KafkaRaft)Server (?:id|nodeId)=([0-9]{1,10})\]")
_VERSION_SIZE_MAX = 60
"""The largest size of a hit at the border of two parts."""
_LOG_SIZE_MAX = 64 << 20
"""Number of searched bytes, the last ones of a plain log, the first ones of a compressed one."""


def of_config(path: str, broker_id: int | None = None) -> Iterator[Clue]:
    """Yield what a server.properties says; UsageError if it cannot be read."""
    settings = read_properties(path)
    roles = settings.get("process.roles", "").strip()
    yield Clue(EvidenceKind.PROCESS_ROLES if roles else EvidenceKind.NO_PROCESS_ROLES, path, broker_id)
    protocol = line_named(settings.get("inter.broker.protocol.version", "").strip())
    if protocol is not None:
        yield Clue(EvidenceKind.PROTOCOL, path, broker_id, first=protocol)


class BrokerLogFacts(NamedTuple):
    """The facts in a broker's log about its broker."""

    version: str | None = None
    """The version of the last start; None if the log has no start."""
    broker_id: int | None = None
    """The id that the broker names; None if it names none."""

    @property
    def line(self) -> str | None:
        """The line of releases of the version; None if it is not known."""
        return None if self.version is None else line_of_software(self.version)


def of_broker_log(path: str) -> Iterator[Clue]:
    """Yield the version of the last start in a broker's log, plain or .gz; UsageError if it cannot be read."""
    try:
        facts = broker_log_facts(path)
    except UnreadableError as error:
        raise UsageError(f"{path}: {error}") from error
    if facts.line is None:
        raise UsageError(f'{path}: no line "Kafka version: ..." of a known release')
    yield Clue(EvidenceKind.BROKER_LOG, path, first=facts.line, last=facts.line)


def broker_log_facts(path: str) -> BrokerLogFacts:
    """Return the facts in a broker's log about its broker, plain or .gz; UnreadableError if it cannot be read."""
    with tree_of(path).open(path, follow=True) as source:
        return facts_in(parts(source, max(0, source.size - _LOG_SIZE_MAX)))


def facts_in(log: Iterable[bytes]) -> BrokerLogFacts:
    """Return the facts in the first bytes of a log about its broker, given part by part."""
    version, broker, left, kept = None, None, _LOG_SIZE_MAX, b""
    # Where the text ends early, what came before it counts.
    with suppress(*BROKEN_TEXT):
        for part in log:
            data = kept + part
            version = next((hit[1] for hit in reversed([*_VERSION.finditer(data)])), version)
            broker = next((hit[1] for hit in _BROKER.finditer(data)), broker)
            kept, left = data[-_VERSION_SIZE_MAX:], left - len(part)
            if left <= 0:
                break
    return BrokerLogFacts(None if version is None else version.decode(), None if broker is None else int(broker))
