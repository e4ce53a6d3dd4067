"""recovery.json of `kcheck recover quorum`, `metadata` and `topic`, read again. Every value is checked."""

from collections.abc import Callable
from typing import NamedTuple

from kcheck.core.rescue.progress import PlannedTopic, RescueAction, SavedRescue
from kcheck.core.rescue.ways import Way
from kcheck.errors import UsageError
from kcheck.handouts.quorum_steps import QuorumStep
from kcheck.handouts.saved_plan import JsonObject, commands_here, document_of
from kcheck.model.java import INT_MAX, LONG_MAX
from kcheck.model.names import is_legal_topic

RESCUE_SCHEMAS = {f"kcheck.recovery-{verb}/1": verb for verb in ("quorum", "metadata", "topic")}


class AdoptedDirectory(NamedTuple):
    """A directory that gets the name and the id of a topic."""

    broker_id: int
    log_dir: str
    former: str
    """Its old name."""
    name: str
    """Its new name."""
    end: int
    """The offset after its last record."""


class RescueFiles(NamedTuple):
    """The plan of a rescue."""

    verb: str
    """`quorum`, `metadata` or `topic`."""
    saved: SavedRescue
    """The cluster after the plan."""
    steps: tuple[QuorumStep, ...]
    """The steps."""
    plans: tuple[tuple[int, str], ...]
    """The plan files, in the order of their application, with the node."""
    topic: str = ""
    """The topic that comes back."""
    adopted: tuple[AdoptedDirectory, ...] = ()
    """The directories that become its replicas."""
    leftovers: frozenset[str] = frozenset()
    """The directories that no broker served before."""


def parse_rescue(data: bytes, path: str) -> RescueFiles:
    """Return the plan in the bytes of a recovery.json; UsageError for a wrong value, with its place."""
    document = document_of(data, path)
    verb = RESCUE_SCHEMAS.get(document.value("schema", str))
    if verb is None:
        raise UsageError(f"{path} has no plan of recover quorum, metadata or topic")
    steps = tuple(_step(row, commands_here(document, path)) for row in document.objects("steps"))
    rows = document.objects("plans")
    if verb == "topic":
        plans = tuple(
            (row.number("broker_id", INT_MAX), f"{row.number('broker_id', INT_MAX)}-{_kind(row)}") for row in rows
        )
    else:
        plans = tuple((row.number("node_id", INT_MAX), str(row.number("node_id", INT_MAX))) for row in rows)
    actions = tuple(step.action for step in steps)
    files = RescueFiles(
        verb, SavedRescue(actions), steps, tuple((number, f"plan-{name}.json") for number, name in plans)
    )
    return {"quorum": _quorum, "metadata": _metadata, "topic": _topic}[verb](document, files)


def _step(row: JsonObject, commands: Callable[[JsonObject], tuple[str, ...]]) -> QuorumStep:
    action = row.value("action", str)
    if action not in {*RescueAction}:
        raise UsageError(f"{row.place}.action: {action[:60]!r} is no step")
    return QuorumStep(
        row.value("title", str), commands(row), row.each("notes", str), row.flag("is_text") is True,
        RescueAction(action),
    )  # fmt: skip


def _kind(row: JsonObject) -> str:
    kind = row.value("kind", str)
    if kind not in ("files", "names"):
        raise UsageError(f"{row.place}.kind: {kind[:60]!r} is no kind of plan")
    return kind


def _quorum(document: JsonObject, files: RescueFiles) -> RescueFiles:
    rescue = document.inner("rescue")
    seen = max((row.number("highest_epoch", INT_MAX) for row in document.objects("copies")), default=0)
    renewed = document.flag("dynamic") is True and rescue.value("way", str) in {Way.COPY, Way.VOTERS}
    saved = files.saved._replace(
        controller=rescue.number("controller", INT_MAX),
        epoch=seen + renewed,
        written=seen + 1,
        dead=frozenset(document.numbers("dead")),
    )
    return files._replace(saved=saved)


def _metadata(document: JsonObject, files: RescueFiles) -> RescueFiles:
    place = document.inner("snapshot").number("epoch", INT_MAX) if document.has("snapshot") else 0
    topics = {}
    for row in document.objects("topics"):
        parts = row.objects("partitions")
        offline = frozenset(part.number("partition", INT_MAX) for part in parts if part.flag("offline") is True)
        epochs = {part.number("partition", INT_MAX): part.number("leader_epoch", INT_MAX) for part in parts}
        has_id = document.has("controller") or row.flag("new_id") is not True
        topics[_topic_name(row)] = PlannedTopic(row.value("topic_id", str) if has_id else None, offline, epochs)
    saved = files.saved._replace(
        controller=document.number("controller", INT_MAX) if document.has("controller") else None,
        epoch=place, written=place, topics=topics, has_full_isr=True, brokers=frozenset(document.numbers("brokers")),
        next_producer_id=document.number("next_producer_id", LONG_MAX),
    )  # fmt: skip
    left = frozenset(f"{row.value('log_dir', str)}/{row.value('dir', str)}" for row in document.objects("leftovers"))
    return files._replace(saved=saved, leftovers=left)


def _topic(document: JsonObject, files: RescueFiles) -> RescueFiles:
    name = _topic_name(document)
    adopted = tuple(
        AdoptedDirectory(
            broker_id=row.number("broker_id", INT_MAX),
            log_dir=row.value("log_dir", str),
            former=row.value("dir", str),
            name=row.value("becomes", str),
            end=row.number("end_offset", LONG_MAX),
        )
        for row in document.objects("directories")
        if row.has("becomes")
    )
    topics = {name: PlannedTopic(document.value("topic_id", str), frozenset())}
    saved = files.saved._replace(topics=topics, has_full_isr=True)
    return files._replace(saved=saved, topic=name, adopted=adopted)


def _topic_name(row: JsonObject) -> str:
    name = row.value("topic", str)
    if not is_legal_topic(name):
        raise UsageError(f"{row.place}.topic: {name[:60]!r} is not a topic name")
    return name
