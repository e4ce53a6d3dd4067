"""What `kafka-topics --describe` prints (TopicCommand 0.8.2 to 4.3): leaders, replicas and ISR, but no epochs."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from kcheck.model.java import java_int
from kcheck.model.parsed import Defect, Parsed
from kcheck.model.zookeeper_cluster import DECISIVE_CONFIGS

_CELL = re.compile(
    r"(?:^|\s)(Topic|TopicId|PartitionCount|ReplicationFactor|Configs|MarkedForDeletion|Partition|Leader|Replicas|Isr|"
    r"Adding Replicas|Removing Replicas|Elr|LastKnownElr|Offline):"
)
"""The name of a cell; tabs are often lost when somebody copies the text from a terminal."""
_CONFIG = re.compile(r",\s*(?=[A-Za-z][\w.-]*=)")
"""Between two configurations; the values of some have commas."""
_UNKNOWN = "N/A"


class DescribedPartition(NamedTuple):
    """One partition."""

    leader: int
    """The broker that leads it; -1 if none does."""
    replicas: tuple[int, ...]
    """The brokers of its replicas, the preferred leader first."""
    isr: tuple[int, ...]
    """The replicas in sync."""
    adding: tuple[int, ...] = ()
    """Those that a reassignment adds (2.6 and later)."""
    removing: tuple[int, ...] = ()
    """Those that a reassignment removes (2.6 and later)."""
    elr: tuple[int, ...] | None = None
    """The eligible leader replicas (3.8 and later); None if unknown."""
    last_known_elr: tuple[int, ...] | None = None
    """The last known ELR (3.8 and later); None if unknown."""


class DescribedTopic(NamedTuple):
    """One topic."""

    topic_id: str | None
    """Its id (2.8 and later)."""
    partition_count: int | None
    """The number of its partitions; None if the text has no line of the topic, for example with --unavailable."""
    configs: Mapping[str, str]
    """Its decisive configurations."""
    deleting: bool
    """Whether its deletion is pending."""
    partitions: Mapping[int, DescribedPartition]
    """The partitions that the text lists."""


def is_description(data: bytes) -> bool:
    """Whether bytes begin like the output of kafka-topics --describe."""
    return data.lstrip().startswith(b"Topic:")


def parse(data: bytes) -> Parsed[dict[str, DescribedTopic]]:
    """Return the topics by name, and a defect for each line of a topic or partition that makes no sense.

    No defect quotes the text: a configuration can be a secret.
    """
    topics: dict[str, DescribedTopic] = {}
    partitions: dict[str, dict[int, DescribedPartition]] = {}
    defects = []
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        cells = _cells(line)
        if "Topic" not in cells:
            continue
        name = cells["Topic"]
        try:
            if "Partition" in cells:
                partitions.setdefault(name, {})[_number(cells, "Partition")] = _partition(cells)
            elif "PartitionCount" in cells:
                topics[name] = _topic(cells)
        except ValueError as error:
            defects.append(Defect(str(error), 0, number, 1))
    for name, listed in partitions.items():
        topics[name] = topics.get(name, DescribedTopic(None, None, {}, False, {}))._replace(partitions=listed)
    return Parsed(topics, tuple(defects))


def _cells(line: str) -> dict[str, str]:
    matches = list(_CELL.finditer(line))
    ends = [*(match.start() for match in matches), len(line)][1:]
    return {match[1]: line[match.end() : end].strip() for match, end in zip(matches, ends, strict=True)}


def _topic(cells: Mapping[str, str]) -> DescribedTopic:
    pairs = (config.partition("=") for config in _CONFIG.split(cells.get("Configs", "")))
    return DescribedTopic(
        topic_id=cells.get("TopicId"),
        partition_count=_number(cells, "PartitionCount"),
        configs={name: value for name, _, value in pairs if name in DECISIVE_CONFIGS},
        deleting=cells.get("MarkedForDeletion") == "true",
        partitions={},
    )


def _partition(cells: Mapping[str, str]) -> DescribedPartition:
    leader = cells.get("Leader", "none")
    return DescribedPartition(
        leader=-1 if leader == "none" or leader.startswith("-") else _number(cells, "Leader"),
        replicas=_ids(cells, "Replicas") or (),
        isr=_ids(cells, "Isr") or (),
        adding=_ids(cells, "Adding Replicas") or (),
        removing=_ids(cells, "Removing Replicas") or (),
        elr=_ids(cells, "Elr"),
        last_known_elr=_ids(cells, "LastKnownElr"),
    )


def _ids(cells: Mapping[str, str], name: str) -> tuple[int, ...] | None:
    """Return a list of broker ids; None if the release does not print it or does not know it."""
    text = cells.get(name, _UNKNOWN)
    if text == _UNKNOWN:
        return None
    return tuple(_number({name: broker.strip()}, name) for broker in text.split(",")) if text else ()


def _number(cells: Mapping[str, str], name: str) -> int:
    number = java_int(cells[name])
    if number is None or number < 0:
        raise ValueError(f"the {name} is no number")
    return number
