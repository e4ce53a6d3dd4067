"""The values in a broker's message (numbers, lists of ids, partitions and paths), as Scala and Java write them."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from kcheck.model.names import parse_directory

Value = int | str | tuple[int, ...]

_INTEGER = re.compile(r"-?\d{1,19}")
_NUMBERS = frozenset(
    (
        "offset",
        "new_offset",
        "log_end_offset",
        "log_start_offset",
        "leader_log_end_offset",
        "leader_log_start_offset",
        "high_watermark",
        "high_watermark_before",
        "start_offset",
        "last_offset",
        "recovery_point",
        "epoch",
        "leader_epoch",
        "previous_epoch",
        "partition_epoch",
        "controller_epoch",
        "broker_epoch",
        "leader",
        "broker",
        "position",
    )
)
_FIRST_NUMBER = re.compile(r"[A-Za-z]{0,30}[(\[]{0,2}(?:offset[=:] ?|messageOffset[=:] ?|id=)?(-?\d{1,19})(?![\w.])")
"""LogOffsetMetadata, Some(5), OptionalLong[5], `20 [0 : 300]`, `(offset=20 segment=[0:300])`."""
_IDS = frozenset(("isr", "isr_before", "elr", "replicas", "brokers", "adding"))
_LIST = re.compile(r"(?:[A-Za-z]{1,20}\()?\[?((?:-?\d{1,10}(?:(?:, ?| )-?\d{1,10}){0,500})?)\]?\)?")
_BASE_OFFSETS = re.compile(r"baseOffset=(\d{1,19})")
_SEGMENT_FILE = re.compile(r"(\d{20})\.(?:log|index|timeindex|txnindex|snapshot)")
_PAIR = re.compile(r"\b([a-zA-Z]{2,20})=(-?\d{1,19})\b")
_PAIR_NAMES = {
    "offset": "offset",
    "endOffset": "end_offset",
    "leaderEpoch": "leader_epoch",
    "logStartOffset": "log_start_offset",
    "logEndOffset": "log_end_offset",
    "highWatermark": "high_watermark",
    "startOffset": "start_offset",
    "epoch": "epoch",
    "leader": "leader",
    "partitionEpoch": "partition_epoch",
}
_ENDS = {"file": " -> ", "partition": " with topic ID "}
"""Texts that can follow a value, before the new name of a file, or the id of a topic."""
_OLD_PARTITION = re.compile(r"\[([\w.-]{1,255}),(\d{1,10})\]")
_TOPIC_ID = re.compile(r"[\w-]{22}:")
_WORDS = re.compile(r"[Tt]opic(?:=|: )([\w.-]{1,255})[,;] ?[Pp]artition(?:=|: )(\d{1,10})")
_PATHS = frozenset(("dir", "directory", "log", "file"))
_OPTION = re.compile(r"(?:Some\((.*)\)|Optional\[(.*)\])")
_NOTHING = frozenset(("None", "null", "Optional.empty"))
"""Texts that Scala and Java write for a missing path."""
_DIRECTORY = re.compile(r"\((?:dir=)?([^,)]{1,1000})")
_PREFIX = re.compile(
    r"\[(?:\w+ )?partition=(?P<named>[^ ,\]]{1,300})(?:, (?:dir|nodeId)=(?P<dir>[^\]]{1,1000}))?\]"
    r"|Partition (?P<old>\[[^\]]{1,300}\]|[\w.-]{1,300}) (?:broker=|on broker )"
    r"|LeaderEpochCache (?P<cache>[\w.-]{1,300})\]"
)
_NODE = re.compile(r"\b(?:broker=|replicaId=|nodeId=|RemoteLogManager=|[a-z]?id=|on [Bb]roker )(\d{1,10})\b")
_LEADER = re.compile(r"\bleaderId=(\d{1,10})\b")


class LogPlace(NamedTuple):
    """The place of a message; None for an unknown part."""

    topic: str | None = None
    partition: int | None = None
    log_dir: str | None = None
    broker: int | None = None
    leader: int | None = None
    """The leader of a fetcher."""


def typed(names: tuple[str, ...], texts: tuple[str, ...]) -> dict[str, Value]:
    """Return the values of a message by name (numbers, tuples of ids), and values within longer texts.

    An incomplete message has fewer texts than names.
    """
    values: dict[str, Value] = {}
    names = names[: len(texts)]
    for name, text in zip(names, texts, strict=True):
        if name not in _PATHS or text not in _NOTHING:
            values.setdefault(name, _value(name, text.strip()))
    for name, text in zip(names, texts, strict=True):
        if "=" in text and name not in ("properties", "error", "partition"):
            for key, number in _PAIR.findall(text[:2000]):
                if key in _PAIR_NAMES:
                    values.setdefault(_PAIR_NAMES[key], int(number))
        if name in ("segments", "segment"):
            offsets = _BASE_OFFSETS.findall(text) or _SEGMENT_FILE.findall(text)
            if offsets:
                values["base_offsets"] = tuple(map(int, offsets))
    return values


def _value(name: str, text: str) -> Value:
    if name in _PATHS and (option := _OPTION.fullmatch(text)) is not None:
        text = option[1] or option[2] or ""
    end = _ENDS.get(name)
    if end is not None:
        text = text.partition(end)[0]
    if name not in _IDS and _INTEGER.fullmatch(text):
        return int(text)
    if name in _NUMBERS and (number := _FIRST_NUMBER.match(text)) is not None:
        return int(number[1])
    if name == "base_offset":
        offset = _BASE_OFFSETS.search(text) or _SEGMENT_FILE.search(text)
        return text if offset is None else int(offset[1])
    if name in _IDS and (ids := _LIST.fullmatch(text)) is not None:
        return tuple(int(number) for number in re.findall(r"-?\d+", ids[1]))
    return text


def partition_of(text: str) -> tuple[str, int] | None:
    """Return the topic and number in a text such as `orders-3`, `[orders,3]`, `ID:orders-3`; None if it is neither."""
    if ("," in text or ";" in text) and (old := _OLD_PARTITION.fullmatch(text) or _WORDS.search(text)) is not None:
        return old[1], int(old[2])
    name = parse_directory((_TOPIC_ID.sub("", text, count=1) if ":" in text else text).strip("'`"))
    return None if name is None else (name.topic, name.partition)


def path_place(path: str, *, is_file: bool) -> LogPlace:
    """Return the partition and log dir of a path (a partition directory, or a file below a log dir)."""
    path = path.strip("'`\"").rstrip("/\\")
    separator = "\\" if "\\" in path and "/" not in path else "/"
    parts = path.split(separator)
    if is_file:
        parts.pop()
    name = parse_directory(parts[-1]) if parts else None
    if is_file and path.endswith(_OF_LOG_DIR) and not path.endswith("leader-epoch-checkpoint"):
        name = None
    if name is None:
        return LogPlace(log_dir=separator.join(parts) or separator) if is_file and parts else LogPlace()
    return LogPlace(name.topic, name.partition, (separator.join(parts[:-1]) or separator) if len(parts) > 1 else None)


_OF_LOG_DIR = ("-checkpoint", "meta.properties", ".lock", ".kafka_cleanshutdown")


def place(values: Mapping[str, Value], prefix: str) -> LogPlace:
    """Return the place of a message, by its prefix and its values."""
    at = _of_prefix(prefix) if prefix else LogPlace()
    for name in ("log", "file", "segment", "partition", "state"):
        text = values.get(name)
        if isinstance(text, str):
            at = _filled(at, _named(name, text))
    directory, foreign = values.get("dir"), values.get("directory")
    if isinstance(foreign, str):
        return at._replace(log_dir=re.split(r"[/\\][^/\\]*$", foreign, maxsplit=1)[0] or None)
    return at._replace(log_dir=directory) if isinstance(directory, str) and at.log_dir is None else at


@lru_cache(maxsize=1024)
def _of_prefix(prefix: str) -> LogPlace:
    """Return the place in a prefix in brackets; most lines have one of a few."""
    node = _NODE.search(prefix) if "d=" in prefix or "r=" in prefix or "roker" in prefix else None
    leader = _LEADER.search(prefix) if "leaderId=" in prefix else None
    head = _PREFIX.search(prefix)
    topic = number = log_dir = None
    if head is not None:
        topic, number = partition_of(head["named"] or head["old"] or head["cache"]) or (None, None)
        log_dir = head["dir"] if "dir=" in head[0] else None
        of_partition = path_place(log_dir or "", is_file=False)
        # LocalLog names the directory of the partition.
        log_dir = of_partition.log_dir if of_partition[:2] == (topic, number) != (None, None) else log_dir
    return LogPlace(topic, number, log_dir, int(node[1]) if node else None, int(leader[1]) if leader else None)


def _named(name: str, text: str) -> LogPlace:
    """Return the place that a value names."""
    if name not in ("partition", "state"):
        path = _DIRECTORY.search(text) if "(" in text else None
        text = text if path is None else path[1]
        inside = path_place(text, is_file=name != "log" and path is None)
        if inside != LogPlace():
            return inside
    named = partition_of(text)
    return LogPlace() if named is None else LogPlace(*named)


def _filled(at: LogPlace, other: LogPlace) -> LogPlace:
    """Return a place with its unknown parts taken from another one."""
    topic, partition = (at if at.topic is not None else other)[:2]
    log_dir = other.log_dir if at.log_dir is None else at.log_dir
    return LogPlace(topic, partition, log_dir, at.broker, at.leader)
