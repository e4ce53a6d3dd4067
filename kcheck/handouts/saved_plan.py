"""election-plan.json and recovery.json, read again. Every value is checked, as they may have been edited."""

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from kcheck.core.election.progress import SavedStep
from kcheck.core.election.recovery_plan import PlannedFollower, PlannedPartition, SavedPlan, ServedRange
from kcheck.core.election.steps import RecoveryAction
from kcheck.core.replication.truncation_plans import OffsetRange
from kcheck.errors import UsageError, why_not_text
from kcheck.model.entries import UNDEFINED_EPOCH, Epoch, Offset
from kcheck.model.java import INT_MAX, LONG_MAX
from kcheck.model.names import TopicPartition, is_legal_topic
from kcheck.model.plan import ELECTION_SCHEMA, RECOVERY_SCHEMA
from kcheck.model.report import Row
from kcheck.records.json_reader import read_json
from kcheck.words import partition_name, shell_word

_TYPES: dict[type[object], str] = {dict: "an object", list: "an array", str: "a string", int: "an integer"}
_SHOWN_MAX = 60
T = TypeVar("T")


def serialize(plan: SavedPlan, *, is_ordered: bool = True) -> str:
    """Return the text of election-plan.json, a partition a line; without an order if the plan starts no broker."""
    head = {
        "schema": ELECTION_SCHEMA,
        "kafka": plan.kafka,
        "start_order": plan.order if is_ordered else (),
        "able_to_start": plan.order,
        "dead": plan.dead,
        "paths": plan.paths,
        "metadata": plan.metadata,
        "saved": plan.saved,
        "broker_epochs": [
            {"broker_id": number, "broker_epoch": epoch} for number, epoch in sorted(plan.broker_epochs.items())
        ],
    }
    rows = ",\n".join(json.dumps(_partition_row(partition)) for partition in plan.partitions)
    return f'{json.dumps(head)[:-1]}, "partitions": [\n{rows}\n]}}\n'


def _partition_row(partition: PlannedPartition) -> Row:
    row = partition._asdict()
    row["followers"] = [
        {
            "broker_id": follower.broker_id,
            "truncate_to": follower.truncate_to,
            "lost": None if follower.lost is None else {"from": follower.lost.start, "to": follower.lost.end},
            "follows": follower.follows,
            "log_end_offset": follower.log_end_offset,
        }
        for follower in partition.followers
    ]
    row["served"] = [{"epoch": epoch, "from": start, "to": end} for epoch, start, end in partition.served]
    return row


def parse_plan(data: bytes, path: str) -> SavedPlan:
    """Return the plan in the bytes of an election-plan.json; UsageError with the fault and its place."""
    document = document_of(data, path)
    schema = document.value("schema", str)
    if schema != ELECTION_SCHEMA:
        raise UsageError(f"{path}.schema: {schema[:_SHOWN_MAX]!r}; this kcheck reads {ELECTION_SCHEMA}")
    epochs = document.objects("broker_epochs")
    partitions = tuple(map(_partition, document.objects("partitions")))
    names = Counter((partition.topic, partition.partition) for partition in partitions)
    for (topic, partition), count in names.items():
        if count > 1:
            raise UsageError(f"{path}.partitions: {partition_name(topic, partition)} is there {count} times")
    order = document.numbers("start_order")
    return SavedPlan(
        kafka=document.value("kafka", str),
        order=document.numbers("able_to_start") if document.has("able_to_start") else order,
        dead=document.numbers("dead"),
        paths=document.each("paths", str),
        saved=document.optional("saved", str),
        broker_epochs={row.number("broker_id", INT_MAX): row.number("broker_epoch", LONG_MAX) for row in epochs},
        partitions=partitions,
        metadata=document.each("metadata", str) if document.has("metadata") else (),
    )


def schema_of(data: bytes, path: str) -> str:
    """Return the schema in the bytes of a recovery.json; UsageError without one."""
    return document_of(data, path).value("schema", str)


def parse_steps(data: bytes, path: str) -> tuple[SavedStep, ...]:
    """Return the steps in the bytes of a recovery.json; UsageError with the fault and its place."""
    document = document_of(data, path)
    schema = document.value("schema", str)
    if schema != RECOVERY_SCHEMA:
        raise UsageError(f"{path}.schema: {schema[:_SHOWN_MAX]!r}; this kcheck reads {RECOVERY_SCHEMA}")
    return tuple(_step(row, commands_here(document, path)) for row in document.objects("steps"))


def parse_cases(data: bytes, path: str) -> tuple[str, ...]:
    """Return the conditions of the cases in the bytes of a recovery.json; UsageError with the fault and its place."""
    document = document_of(data, path)
    return tuple(row.value("if", str) for row in document.objects("cases")) if document.has("cases") else ()


def commands_here(document: "JsonObject", path: str) -> Callable[["JsonObject"], tuple[str, ...]]:
    """Return a function for the commands of a step. Files of a plan that was moved since have their present paths.

    `path` leads to the document, in the directory of the plan.
    """
    written = document.each("written", str) if document.has("written") else ()
    former, folder = (name.rpartition("/")[0] for name in (*written[:1], path, path)[:2])
    name = re.escape(former)
    file = re.compile(rf"(?<!\S)(?:'{name}/([^'\s]+)'|{name}/(\S+))")

    def moved(row: "JsonObject") -> tuple[str, ...]:
        commands = row.each("commands", str)
        if not former or former == folder:
            return commands
        return tuple(file.sub(lambda found: shell_word(f"{folder}/{found[1] or found[2]}"), line) for line in commands)

    return moved


def _step(row: "JsonObject", commands: Callable[["JsonObject"], tuple[str, ...]]) -> SavedStep:
    kind = row.value("action", str)
    if kind not in [*RecoveryAction]:
        raise UsageError(f"{row.place}.action: {kind[:_SHOWN_MAX]!r} is no step")
    return SavedStep(
        kind=RecoveryAction(kind),
        brokers=row.numbers("brokers"),
        partitions=tuple(map(_name, row.each("partition_names", str))),
        is_again=row.flag("again") is True,
        title=row.value("title", str),
        commands=commands(row),
        until=row.value("until", str),
        check=row.each("check", str),
        directories=row.each("directories", str) if row.has("directories") else (),
        needs=row.optional("needs", str) or "",
        where=row.optional("where", str) or "",
        final=row.value("final", str) if row.flag("is_loss") is True else None,
    )


def _name(text: str) -> TopicPartition:
    topic, _, number = text.rpartition("-")
    return TopicPartition(topic, int(number) if number.isascii() and number.isdecimal() else -1)


def parse_assignments(data: bytes, path: str) -> dict[tuple[str, int], tuple[int, ...]]:
    """Return the replicas of the partitions in a restore.json; UsageError with the fault and its place."""
    rows = document_of(data, path).objects("partitions")
    return {(row.value("topic", str), row.number("partition", INT_MAX)): row.numbers("replicas") for row in rows}


def document_of(data: bytes, path: str) -> "JsonObject":
    """Return the object in the bytes of a JSON file; UsageError for other bytes."""
    try:
        return JsonObject(path, read_json(data.decode()))
    except ValueError as error:
        raise UsageError(f"{path}: {why_not_text(error)}") from error


def _partition(row: "JsonObject") -> PlannedPartition:
    topic = row.value("topic", str)
    if not is_legal_topic(topic):
        raise UsageError(f"{row.place}.topic: {topic[:_SHOWN_MAX]!r} is not a topic name")
    return PlannedPartition(
        topic=topic,
        partition=row.number("partition", INT_MAX),
        topic_id=row.optional("topic_id", str),
        leader=row.number("leader", INT_MAX),
        log_end_offset=row.offset("log_end_offset"),
        epoch_floor=Epoch(row.number("epoch_floor", INT_MAX, least=UNDEFINED_EPOCH)),
        high_watermark=row.offset("high_watermark"),
        replicas=row.numbers("replicas"),
        followers=tuple(map(_follower, row.objects("followers"))),
        later=row.number("later", INT_MAX) if row.has("later") else None,
        allowed_unclean=row.flag("allowed_unclean"),
        as_good=row.numbers("as_good") if row.has("as_good") else (),
        served=tuple(map(_served, row.objects("served"))) if row.has("served") else (),
    )


def _follower(row: "JsonObject") -> PlannedFollower:
    lost = _range(row.inner("lost")) if row.has("lost") else None
    return PlannedFollower(
        row.number("broker_id", INT_MAX), row.offset("truncate_to"), lost, row.flag("follows") is not False,
        row.offset("log_end_offset") if row.has("log_end_offset") else None,
    )  # fmt: skip


def _served(row: "JsonObject") -> ServedRange:
    return ServedRange(Epoch(row.number("epoch", INT_MAX)), *_range(row))


def _range(row: "JsonObject") -> OffsetRange:
    start, end = (Offset(row.number(name, LONG_MAX)) for name in ("from", "to"))
    if end <= start:
        raise UsageError(f"{row.place}: {start} to {end} is no range")
    return OffsetRange(start, end)


class JsonObject:
    """A JSON object that knows its place in the file."""

    def __init__(self, place: str, value: object) -> None:
        """Take a value; UsageError if it is no object."""
        self.place = place
        self._fields: dict[str, object] = _typed(value, dict, place)

    def has(self, name: str) -> bool:
        """Return whether a field is there, and not null."""
        return self._fields.get(name) is not None

    def value(self, name: str, kind: type[T]) -> T:
        """Return a field."""
        return _typed(self._fields.get(name), kind, f"{self.place}.{name}")

    def optional(self, name: str, kind: type[T]) -> T | None:
        """Return a field; None if it is missing or null."""
        return self.value(name, kind) if self.has(name) else None

    def number(self, name: str, most: int, *, least: int = 0) -> int:
        """Return a number from `least` to `most`."""
        return _within(self.value(name, int), f"{self.place}.{name}", most, least)

    def flag(self, name: str) -> bool | None:
        """Return a truth value; None if it is missing or null."""
        value = self._fields.get(name)
        if value is not None and not isinstance(value, bool):
            raise UsageError(f"{self.place}.{name}: {repr(value)[:_SHOWN_MAX]}; must be true or false")
        return value

    def offset(self, name: str) -> Offset | None:
        """Return an offset; None if it is missing or null."""
        return Offset(self.number(name, LONG_MAX)) if self.has(name) else None

    def inner(self, name: str) -> "JsonObject":
        """Return an object."""
        return JsonObject(f"{self.place}.{name}", self._fields.get(name))

    def each(self, name: str, kind: type[T]) -> tuple[T, ...]:
        """Return the values of an array."""
        return self._mapped(name, lambda value, place: _typed(value, kind, place))

    def numbers(self, name: str) -> tuple[int, ...]:
        """Return an array of ids."""
        return self._mapped(name, lambda value, place: _within(_typed(value, int, place), place, INT_MAX, 0))

    def objects(self, name: str) -> tuple["JsonObject", ...]:
        """Return an array of objects."""
        return self._mapped(name, lambda value, place: JsonObject(place, value))

    def _mapped(self, name: str, of: Callable[[object, str], T]) -> tuple[T, ...]:
        values = enumerate(self.value(name, list))
        return tuple(of(value, f"{self.place}.{name}[{number}]") for number, value in values)


def _typed(value: object, kind: type[T], place: str) -> T:
    if not isinstance(value, kind) or isinstance(value, bool):
        shown = _TYPES.get(type(value)) or ("missing" if value is None else repr(value)[:_SHOWN_MAX])
        raise UsageError(f"{place}: {shown}; must be {_TYPES[kind]}")
    return value


def _within(number: int, place: str, most: int, least: int) -> int:
    if not least <= number <= most:
        raise UsageError(f"{place}: out of range, {least} to {most}")
    return number
