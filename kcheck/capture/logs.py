"""Rewrites the messages of a broker's log for a bundle, from the wordings of the catalog.

Nothing of a line is copied. The texts come from the catalog. Of the values, only numbers, ids, releases, names of
partitions and paths below a log dir are written. Every other value is `x`.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta

from kcheck.capture.contents import How, content_of
from kcheck.messages.catalogue import Wording
from kcheck.messages.lines import OF_CONFIGURATION, LogEvent
from kcheck.messages.values import LogPlace, partition_of
from kcheck.model.names import is_legal_topic, parse_directory
from kcheck.words import partition_name

HIDDEN = "x"
"""Stands for a value that does not go in."""
_PARTITIONS = ("partition", "log", "other_log", "partitions")
_PATHS = ("file", "other_file", "dir", "other_dir", "log", "other_log", "path", "directory", "renamed_to", "target")
_SEGMENTS = ("segment", "segments")
_TOPIC_ID = re.compile(r"[A-Za-z0-9_-]{22}")
_RELEASE = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){1,3}")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS_MAX = 253_402_300_799_999
_LEVELS = ("INFO", "WARN", "ERROR", "FATAL")


def redacted(events: Iterable[LogEvent], rename: Callable[[str], str]) -> Iterator[str]:
    """Yield a line for each message that the catalog has; `rename` is applied to topics."""
    time = 0
    for event in events:
        time = event.time if event.time is not None and 0 <= event.time <= _MS_MAX else time
        if event.wording is not None:
            yield _line(event, event.wording, time, rename)
        elif event.rule is not None and event.rule.id == OF_CONFIGURATION:
            yield f"\tbroker.id = {event.place.broker}\n"


def _line(event: LogEvent, wording: Wording, time: int, rename: Callable[[str], str]) -> str:
    """Return a message in the layout of Kafka's own log4j.properties."""
    moment = (_EPOCH + timedelta(milliseconds=time)).isoformat(" ", "milliseconds")[:23].replace(".", ",")
    level = event.level if event.level in _LEVELS else _LEVELS[0]
    simple = (event.logger or "").rpartition(".")[2]
    logger = simple if simple in wording.classes else wording.classes[0]
    values = [_value(name, event, rename) for name in wording.names]
    text = "".join(piece for pair in zip(wording.literals, (*values, ""), strict=True) for piece in pair)
    before = f"{wording.levels[-1]}: " if wording.is_thrown else _prefix(event.place, rename)
    return f"[{moment}] {level} {before}{text} ({logger})\n"


def _prefix(place: LogPlace, rename: Callable[[str], str]) -> str:
    """Return a prefix that says where the message belongs."""
    if place.topic is not None:
        log_dir = "" if place.log_dir is None else f", dir={_log_dir_name(place.log_dir)}"
        return f"[Log partition={partition_name(rename(place.topic), place.partition)}{log_dir}] "
    if place.leader is not None:
        return f"[ReplicaFetcher replicaId={place.broker or 0}, leaderId={place.leader}] "
    return "" if place.broker is None else f"[KafkaServer id={place.broker}] "


def _value(name: str, event: LogEvent, rename: Callable[[str], str]) -> str:
    """Return a value as it goes in."""
    value = event.values.get(name)
    if isinstance(value, int):
        return str(value)
    offsets = event.values.get("base_offsets")
    if name in _SEGMENTS and isinstance(offsets, tuple):
        return ", ".join(f"baseOffset={offset}" for offset in offsets)
    if isinstance(value, tuple):
        return f"[{', '.join(map(str, value))}]"
    return HIDDEN if value is None else _text(name, value, event.place, rename)


def _text(name: str, value: str, place: LogPlace, rename: Callable[[str], str]) -> str:
    if name in _PATHS and place.log_dir is not None:
        path = _path(value, place.log_dir, rename)
        if path is not None:
            return path
    if name in _PARTITIONS:
        some = (
            [partition_of(part.strip()) for part in value.split(",")] if name == "partitions" else [partition_of(value)]
        )
        return ",".join(HIDDEN if one is None else partition_name(rename(one[0]), one[1]) for one in some)
    if name == "topic" and is_legal_topic(value):
        return rename(value)
    is_kept = (name == "topic_id" and _TOPIC_ID.fullmatch(value)) or (name == "version" and _RELEASE.fullmatch(value))
    return value if is_kept else HIDDEN


def _path(path: str, log_dir: str, rename: Callable[[str], str]) -> str | None:
    """Return a path below a log dir with its names in a bundle; None for any other path."""
    path = path.strip("'`\"").rstrip("/")
    if path != log_dir and not path.startswith(f"{log_dir}/"):
        return None
    parts = [_part(part, rename) for part in path[len(log_dir) + 1 :].split("/") if part]
    return "/".join((_log_dir_name(log_dir), *parts))


def _log_dir_name(log_dir: str) -> str:
    """Return the last name of an absolute path, as a bundle has it."""
    name = log_dir.rstrip("/").rpartition("/")[2]
    return name if name and log_dir.startswith("/") else HIDDEN


def _part(name: str, rename: Callable[[str], str]) -> str:
    """Return the name of a partition directory or of a file that Kafka knows."""
    parsed = parse_directory(name)
    if parsed is not None and name.startswith(parsed.topic):
        return rename(parsed.topic) + name[len(parsed.topic) :]
    return name if content_of(name.removesuffix(".tmp")).how is not How.NAME else HIDDEN
