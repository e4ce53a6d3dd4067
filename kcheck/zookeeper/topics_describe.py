"""The output of `kafka-topics --describe` (TopicCommand 0.8.2 to 4.3), with leaders, replicas and ISR, but no epochs.

Also the same facts as JSON, as scripts keep them. It is `{"topics": [{"topic", "topicId", "partitions": [{"partition",
"leader", "replicas", "isr", "elr", "lastKnownElr"}]}]}`, or only the partitions, each with its topic.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from kcheck.model.cluster import (
    DECISIVE_CONFIGS,
    NO_LEADER,
    RETENTION_CONFIGS,
    ClusterImage,
    PartitionRegistration,
    TopicImage,
)
from kcheck.model.java import INT_MAX, java_bytes, java_int
from kcheck.model.parsed import DEFECT_COUNT_MAX, Defect, Parsed

_CELL = re.compile(
    r"(?:^|\s)(Topic|TopicId|PartitionCount|ReplicationFactor|Configs|MarkedForDeletion|Partition|Leader|Replicas|Isr|"
    r"Adding Replicas|Removing Replicas|Elr|LastKnownElr|Offline):"
)
"""The name of a cell. Tabs are often lost when the text is copied from a terminal."""
_CONFIG = re.compile(r",\s*(?=[A-Za-z][\w.-]*=)")
"""Between two configurations; the values of some have commas."""
_UNKNOWN = "N/A"
_TEXT = re.compile(r"^[ \t]*Topic:[^\n]*\sPartition(?:Count)?:", re.MULTILINE)
_JSON = re.compile(r'\s*(?:\{.*?"topics"\s*:\s*\[|\[\s*\{[^{}]*"partitions?"\s*:)', re.DOTALL)

_JsonFields = Mapping[str, Any]


def is_description(begin: str) -> bool:
    """Return whether a text with this beginning is output of kafka-topics --describe."""
    return _JSON.match(begin) is not None or _TEXT.search(begin) is not None


def parse(data: bytes) -> Parsed[ClusterImage]:
    """Return the topics, and a defect for each of the first invalid lines, topics or partitions.

    No defect quotes the text, because a configuration can be a secret.
    """
    text = data.decode("utf-8-sig", "replace")
    described = _Described()
    if text.lstrip().startswith(("{", "[")):
        described.take_json(text)
    else:
        described.take_lines(text)
    return Parsed(described.image(), tuple(described.defects))


class _Described:
    """Collects topics from lines or JSON, which have them in any order."""

    def __init__(self) -> None:
        self.defects: list[Defect] = []
        self._topics: dict[str, TopicImage] = {}
        self._partitions: dict[str, dict[int, PartitionRegistration]] = {}
        self._counts: dict[str, tuple[int, int]] = {}
        self._configs: dict[tuple[str, str], Mapping[str, str]] = {}

    def _defect(self, message: str, line: int) -> None:
        if len(self.defects) < DEFECT_COUNT_MAX:
            self.defects.append(Defect(message, 0, line, 1))

    def image(self) -> ClusterImage:
        """Return the topics; add a defect for each whose partitions are not all listed."""
        for name, (count, line) in self._counts.items():
            listed = len(self._partitions.get(name, ()))
            if listed != count:
                self._defect(f"the topic has {count} partitions, but {listed} are listed", line)
        topics = {}
        for name in {**self._topics, **self._partitions}:
            topic = self._topics.get(name, TopicImage(name, None, {}))
            topics[name] = topic._replace(partitions=self._partitions.get(name, {}))
        return ClusterImage(
            topics=topics,
            topics_by_id={topic.topic_id: topic for topic in topics.values() if topic.topic_id is not None},
            configs=self._configs,
        )

    def take_lines(self, text: str) -> None:
        """Read the lines of topics and partitions, and pass over others."""
        for number, line in enumerate(text.splitlines(), 1):
            cells = _cells(line)
            if "Topic" not in cells:
                continue
            try:
                if "Partition" in cells:
                    listed = self._partitions.setdefault(cells["Topic"], {})
                    listed[_number(cells, "Partition")] = _partition_of_line(cells)
                elif "PartitionCount" in cells:
                    self._take_topic(cells, number)
            except ValueError as error:
                self._defect(str(error), number)

    def _take_topic(self, cells: Mapping[str, str], line: int) -> None:
        name = cells["Topic"]
        self._counts[name] = _number(cells, "PartitionCount"), line
        deleting = cells.get("MarkedForDeletion") == "true"
        self._topics[name] = TopicImage(name, cells.get("TopicId"), {}, deleting)
        pairs = (config.partition("=") for config in _CONFIG.split(cells.get("Configs", "")))
        configs = {name: value for name, _, value in pairs if name in DECISIVE_CONFIGS | RETENTION_CONFIGS}
        if configs:
            self._configs["topic", name] = configs

    def take_json(self, text: str) -> None:
        """Read topics with their partitions, or partitions with the names of their topics."""
        try:
            whole = json.loads(text)
        except (ValueError, RecursionError):
            whole = None
        entries = whole.get("topics") if isinstance(whole, dict) else whole
        if not isinstance(entries, list):
            self._defect("the text is no JSON with topics", 1)
            return
        for entry in entries:
            try:
                self._take_entry(entry)
            except ValueError as error:
                self._defect(str(error), 1)

    def _take_entry(self, entry: object) -> None:
        if not isinstance(entry, dict):
            raise ValueError("an entry is no JSON object")  # noqa: TRY004  the data is wrong, not the program
        name, topic_id = entry.get("topic", entry.get("name")), entry.get("topicId")
        if not isinstance(name, str) or not isinstance(topic_id, str | None):
            raise ValueError("an entry has no name of a topic")  # noqa: TRY004  the data is wrong
        name = java_bytes(name).decode()
        listed = self._partitions.setdefault(name, {})
        if topic_id is not None:
            self._topics[name] = TopicImage(name, java_bytes(topic_id).decode(), {})
        for row in _rows(entry):
            listed[_id(row, "partition")] = _partition_of_json(row)


def _rows(entry: _JsonFields) -> Iterator[_JsonFields]:
    rows = [entry] if "partition" in entry else entry.get("partitions")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ValueError("the partitions of a topic are missing or make no sense")
    yield from rows


def _cells(line: str) -> dict[str, str]:
    matches = list(_CELL.finditer(line))
    ends = [*(match.start() for match in matches), len(line)][1:]
    return {match[1]: line[match.end() : end].strip() for match, end in zip(matches, ends, strict=True)}


def _partition_of_line(cells: Mapping[str, str]) -> PartitionRegistration:
    leader = cells.get("Leader", "none")
    return PartitionRegistration(
        replicas=_ids(cells, "Replicas"),
        isr=_ids(cells, "Isr"),
        leader=NO_LEADER if leader == "none" or leader.startswith("-") else _number(cells, "Leader"),
        adding=_ids(cells, "Adding Replicas"),
        removing=_ids(cells, "Removing Replicas"),
        elr=_ids(cells, "Elr"),
        last_known_elr=_ids(cells, "LastKnownElr"),
    ).with_last_leader()


def _ids(cells: Mapping[str, str], name: str) -> tuple[int, ...]:
    """Return a list of broker ids, empty if the release does not print it or does not know it."""
    text = cells.get(name, "")
    brokers = text.split(",") if text not in ("", _UNKNOWN) else ()
    return tuple(_number({name: broker.strip()}, name) for broker in brokers)


def _number(cells: Mapping[str, str], name: str) -> int:
    number = java_int(cells[name])
    if number is None or number < 0:
        raise ValueError(f"the {name} is no number")
    return number


def _partition_of_json(row: _JsonFields) -> PartitionRegistration:
    leader = row.get("leader")
    return PartitionRegistration(
        replicas=_json_ids(row, "replicas"),
        isr=_json_ids(row, "isr"),
        leader=NO_LEADER if leader in (None, "none", NO_LEADER) else _id(row, "leader"),
        elr=_json_ids(row, "elr"),
        last_known_elr=_json_ids(row, "lastKnownElr"),
    ).with_last_leader()


def _json_ids(row: _JsonFields, name: str) -> tuple[int, ...]:
    """Return a list of broker ids; empty without one."""
    numbers = row.get(name)
    if not isinstance(numbers, list | None):
        raise ValueError(f"the {name} is no list")  # noqa: TRY004  the data is wrong
    return tuple(_id({name: number}, name) for number in numbers or ())


def _id(row: _JsonFields, name: str) -> int:
    number = row.get(name)
    if type(number) is not int or not 0 <= number <= INT_MAX:
        raise ValueError(f"the {name} is no number")
    return number
