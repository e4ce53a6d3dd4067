"""`kcheck recover topic`: let directories of another time become replicas of the topic that has their name now."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from kcheck import __version__
from kcheck.core.rescue.old_directories import (
    Adoption,
    OldDirectory,
    OldTopic,
    PresentDirectory,
    adoptions,
    order_of_starts,
    refusals_of_topic,
)
from kcheck.core.rescue.progress import RescueAction
from kcheck.disk.identity import known_identities
from kcheck.disk.local import LOCAL
from kcheck.disk.new_files import write_files
from kcheck.disk.paths import join
from kcheck.disk.places import chunks_of, digest_of, digest_of_directory, digest_of_file
from kcheck.documents.next_commands import FOLDER
from kcheck.errors import UsageError
from kcheck.formats import leader_epoch_checkpoint, partition_metadata
from kcheck.formats.leader_epoch_checkpoint import LeaderEpochCheckpoint
from kcheck.formats.partition_metadata import PartitionMetadata
from kcheck.handouts.quorum_steps import QuorumStep
from kcheck.model.cluster import ClusterImage, TopicImage
from kcheck.model.names import (
    LEADER_EPOCHS,
    METADATA_DIRECTORY,
    PARTITION_METADATA,
    DirectoryState,
    log_name,
    segment_bases,
)
from kcheck.model.plan import Change, FileOp, Patch, Plan, Rename, SetAside, Why, Write, digest, edited, serialize_plan
from kcheck.model.plan import listed as listing_digest
from kcheck.model.release import Release
from kcheck.model.report import Report, Row
from kcheck.model.source import Files
from kcheck.model.unreadable import UnreadableError
from kcheck.plans.rescue_answer import RECOVERY, RUNBOOK, RescueAnswer, overruled
from kcheck.segments.header_columns import HeaderReader
from kcheck.views.log_dir import LogDirs
from kcheck.views.metadata_at_hand import image_at_hand
from kcheck.views.targets import Target, TargetKind, paths_of, replica_targets, unusable
from kcheck.words import agree, broker_names, counted, listed, shell_line, shell_word

_EPOCH_AT, _EPOCH_SIZE = 12, 4
"""Position and size of the leader epoch in a batch. It is before the bytes that the CRC covers."""
_MODERN = 2


class TopicPlan(NamedTuple):
    """A plan of a broker that changes either its files, or the names of its directories."""

    broker_id: int
    kind: str
    """`files`, which comes first, or `names`."""
    plan: Plan

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"plan-{self.broker_id}-{self.kind}.json"


@dataclass(frozen=True, kw_only=True)
class TopicRecovery(RescueAnswer):
    """The answer of `kcheck recover topic`."""

    topic: OldTopic
    """The known facts of the topic."""
    options: tuple[str, ...]
    """The options of the command."""
    adoptions: tuple[Adoption, ...]
    """The old directories and the directories that they replace."""
    plans: tuple[TopicPlan, ...]
    """The changes on the disks of each broker, files first, then names."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """The remaining directories of the topic, and the recovered ones."""
        topic = self.topic
        if not topic.old:
            return (f"No directory of {topic.name} is left.",)
        count = counted(len(topic.old), "directory", "directories")
        parts = counted(len(topic.numbers), "partition")
        sentences = [f"{count} of {topic.name} {agree(len(topic.old), 'is', 'are')} left, of {parts}."]
        known = topic.topic
        gone = [] if known is None else sorted(known.partitions.keys() - {*topic.numbers})
        if gone:
            sentences.append(f"Of {agree(len(gone), 'partition', 'partitions')} {listed(gone)} nothing is left.")
        return tuple(sentences)

    @cached_property
    def steps(self) -> tuple[QuorumStep, ...]:
        """The steps, one after the other."""
        if not self.plans:
            return ()
        commands = [
            shell_line(
                ["kcheck", "apply", join(self.folder, plan.name), "--backup", join(self.folder, _backup(plan)), "--yes"]
            )
            for plan in self.plans
        ]
        brokers = order_of_starts(self.topic, self.adoptions)
        undo = shell_line(["kcheck", "undo", join(self.folder, _backup(self.plans[-1]))])
        return (
            QuorumStep(f"Stop {broker_names(brokers)}", action=RescueAction.STOP),
            QuorumStep(
                "Apply the plans of each broker on its machine, in this order", tuple(commands),
                (f"kcheck undo takes them back, the last one first ({undo}), as long as no broker has started.",),
                action=RescueAction.APPLY,
            ),
            QuorumStep(f"Start the brokers in this order: {listed(brokers)}", action=RescueAction.BROKERS),
            QuorumStep(
                "See that the topic has its records",
                (f"kafka-topics.sh --bootstrap-server HOST:9092 --describe --topic {shell_word(self.topic.name)}",),
                ("Set its configuration as it was. Offsets of consumer groups are still in __consumer_offsets.",),
                action=RescueAction.CHECK,
            ),
        )  # fmt: skip

    @property
    def progress_command(self) -> str:
        """The command for the progress with the plan, with the metadata."""
        named = self.options[: 2 * self.options.count("--metadata")]
        return shell_line(["kcheck", "recover", self.folder, "--next", *self.arguments, *named])

    @property
    def next_command(self) -> str | None:
        """The command to type next; None if first something has to be brought."""
        if not self.plans:
            return None
        if self.written:
            return self.first_command
        words = ["kcheck", "recover", "topic", self.topic.name, *self.arguments, *self.options]
        return f"{shell_line(words)} --output-dir {FOLDER}"

    def with_plan(self, out: str) -> "TopicRecovery":
        """Return the answer once its files are written; UsageError if one cannot be, or if there is no plan."""
        if not self.plans:
            return self
        names = (*(plan.name for plan in self.plans), RUNBOOK, RECOVERY)
        planned = replace(self, folder=out, written=tuple(join(out, name) for name in names))
        texts = {plan.name: serialize_plan(plan.plan, kcheck=__version__) for plan in self.plans}
        texts |= planned.documents(f"Recovery of topic {self.topic.name}")
        write_files(out, (), texts, apart_from=self.checked)
        return planned

    def report(self) -> Report:
        """Return the answer as rows."""
        body: Row = {
            "verdict": " ".join(self.sentences),
            "topic": self.topic.name,
            "topic_id": None if self.topic.topic is None else self.topic.topic.topic_id,
            "directories": tuple(_directory_row(row, self.adoptions) for row in self.topic.old),
            **self.last_rows(
                {"broker_id": plan.broker_id, "kind": plan.kind, "operations": len(plan.plan.operations)}
                for plan in self.plans
            ),
        }
        return self.as_report(
            "recovery-topic", self.release.name, body=body, collected=self.collected, checked=self.checked,
            evidence=self.release.evidence,
            kinds={"directories": "directory", "steps": "step", "refusals": "refusal"},
        )  # fmt: skip


def _backup(plan: TopicPlan) -> str:
    return f"backup-{plan.broker_id}-{plan.kind}"


def _directory_row(old: OldDirectory, rows: Iterable[Adoption]) -> Row:
    adopted = next((row for row in rows if row.old == old), None)
    return {
        "broker_id": old.broker_id,
        "log_dir": old.log_dir,
        "dir": old.name,
        "partition": old.partition,
        "topic_id": old.topic_id,
        "epoch": old.epoch,
        "start_offset": old.start,
        "end_offset": old.end,
        "damage": old.damage,
        "becomes": None if adopted is None else adopted.name,
        "rewrites_epochs": None if adopted is None else adopted.rewrites_epochs,
        "left_out": () if adopted is None else adopted.dropped,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicQuestion:
    """A question about the disks."""

    name: str
    """The topic."""
    metadata: tuple[str, ...] = ()
    """Copies of the cluster's metadata outside of the log dirs."""
    topic_id: str | None = None
    """The former id, where directories of several topics of this name are left."""
    force: bool = False
    """True if refusals that a user can overrule count as warnings."""


def recover_topic(arguments: Sequence[str], question: TopicQuestion, *, release: Release) -> TopicRecovery:
    """Return how the old directories of a topic serve again; UsageError for a path that is no broker's log dir."""
    targets = replica_targets([*arguments])
    for target in targets:
        if target.kind is not TargetKind.LOG_DIR or target.tree.is_bundle or target.tree.is_remote:
            raise unusable(target.path, f"{target.path}: name the log dirs of each broker as BROKER=PATH")
    log_dirs = LogDirs(release)
    image = image_at_hand(targets, question.metadata, log_dirs, own_only=True)
    topic = _old_topic(targets, question, log_dirs, image)
    refusals, warnings = overruled(refusals_of_topic(topic), force=question.force)
    rows = adoptions(topic)
    options = [word for path in question.metadata for word in ("--metadata", path)]
    options += [] if question.topic_id is None else ["--topic-id", question.topic_id]
    return TopicRecovery(
        release=release, topic=topic, arguments=tuple(arguments),
        options=(*options, *(("--force",) if question.force else ())), adoptions=rows, refusals=refusals,
        warnings=warnings,
        plans=() if refusals else tuple(_plans(rows, release)), checked=paths_of(targets), collected=[],
    )  # fmt: skip


def _old_topic(
    targets: Sequence[Target], question: TopicQuestion, log_dirs: LogDirs, image: ClusterImage | None
) -> OldTopic:
    """Read the directories of a topic, served and unserved.

    In 3.0 and later no broker serves a directory with another topic id than the present topic (KC235).
    """
    topic = None if image is None else image.topics.get(question.name)
    old, present, running = list[OldDirectory](), list[PresentDirectory](), set[int]()
    brokers, clusters, unread = set(), dict[str, str](), list[tuple[str, str]]()
    for target in targets:
        log_dir = log_dirs.open(target)
        if log_dir.unlisted is not None:
            unread.append((target.path, log_dir.unlisted.words))
        if log_dir.view.cluster_id is not None:
            clusters.setdefault(log_dir.view.cluster_id, target.path)
        broker = log_dir.view.where.broker_id
        if broker is None:
            raise UsageError(f"{target.path}: no broker id; write BROKER={target.path}")
        if {name for name, _ in log_dir.directories} - {METADATA_DIRECTORY}:
            brokers.add(broker)
            running |= {broker} if log_dir.view.locked_by is not None else set()
        for name, parts in log_dir.directories:
            if parts.topic != question.name:
                continue
            folder = LOCAL.directory(join(target.path, name))
            is_current = parts.state is DirectoryState.CURRENT
            if is_current and (image is None or _is_of(topic, topic_id_of(folder))):
                sizes = folder.entries().sizes
                size = sum(sizes[log_name(base)] for base in segment_bases(sizes))
                present.append(PresentDirectory(broker, target.path, parts.partition, size))
            elif is_current or parts.state in (DirectoryState.DELETED, DirectoryState.STRAY):
                old.append(_old_directory(broker, target.path, name, parts.partition))
    if question.topic_id is not None:
        old = [row for row in old if row.topic_id == question.topic_id]
    return OldTopic(
        question.name, image, tuple(old), tuple(present), tuple(sorted(brokers)), tuple(sorted(running)), clusters,
        tuple(unread),
    )  # fmt: skip


def _is_of(topic: TopicImage | None, own: str | None) -> bool:
    """Return whether a broker accepts a directory with a topic id as one of a present topic."""
    return topic is not None and (None in (own, topic.topic_id) or own == topic.topic_id)


def topic_id_of(folder: Files) -> str | None:
    """Return the id in partition.metadata; None without one."""
    try:
        return partition_metadata.parse(folder.read_whole(PARTITION_METADATA)).value.topic_id
    except UnreadableError:
        return None


def _old_directory(broker: int, log_dir: str, name: str, number: int) -> OldDirectory:
    """Read all batches of a directory."""
    folder = LOCAL.directory(join(log_dir, name))
    sizes = folder.entries().sizes
    bases = segment_bases(sizes)
    end, epoch, producer_id, damage = (bases[0] if bases else 0), -1, -1, None
    for base in bases:
        with folder.open(log_name(base)) as source:
            reader = HeaderReader(source, verify=True)
            for columns in reader:
                if len(columns.position):
                    end, epoch = int(columns.last_offset[-1]) + 1, max(epoch, int(columns.epoch.max()))
                    producer_id = max(producer_id, int(columns.producer_id.max()))
                    if columns.valid is not None and not bool(columns.valid.all()):
                        damage = damage or f"{log_name(base)} has a batch whose CRC does not match"
            if reader.position < source.size:
                damage = damage or f"{log_name(base)} has no valid batch at position {reader.position}"
    return OldDirectory(
        broker, log_dir, name, number, topic_id_of(folder), epoch, bases[0] if bases else 0, end, producer_id, damage,
        tuple(sorted(sizes)),
    )  # fmt: skip


def _plans(rows: Sequence[Adoption], release: Release) -> Iterator[TopicPlan]:
    """Yield the plans of each broker. A directory is renamed after its files are changed."""
    for broker in sorted({row.old.broker_id for row in rows}):
        own = [row for row in rows if row.old.broker_id == broker]
        log_dirs = tuple(dict.fromkeys(LOCAL.real(row.old.log_dir) for row in own))
        identities = known_identities([(LOCAL, path) for path in log_dirs])
        files, names = [], []
        for row in own:
            changes = [*_file_operations(row)]
            files += changes
            names += [_renamed(row, changes)] if row.old.name != row.name else []
        yield TopicPlan(broker, "files", Plan(release.name, log_dirs, tuple(files), identities))
        if names:
            yield TopicPlan(broker, "names", Plan(release.name, log_dirs, tuple(names), identities))


def _file_operations(row: Adoption) -> Iterator[FileOp]:
    """Yield the changes of the files, and the present directory that moves into the backup."""
    log_dir = LOCAL.real(row.old.log_dir)
    folder = join(log_dir, row.old.name)
    if row.present is not None:
        path = join(LOCAL.real(row.present.log_dir), row.name)
        why = Why(None, "it is empty: the old directory takes its place")
        yield SetAside(path, digest_of_directory(LOCAL, path), None, why, directory=True)
    for name in row.dropped:
        path = join(folder, name)
        why = Why(None, "the broker makes it again from the segments")
        yield SetAside(path, digest_of_file(LOCAL, path), None, why, directory=False)
    data = partition_metadata.serialize(PartitionMetadata(0, row.topic_id))
    yield from _written(join(folder, PARTITION_METADATA), data, "the topic has this id now")
    if row.rewrites_epochs:
        data = leader_epoch_checkpoint.serialize(LeaderEpochCheckpoint(0, (0,), (row.old.start,)))
        yield from _written(join(folder, LEADER_EPOCHS), data, "all batches have leader epoch 0")
        for base in segment_bases(row.old.files):
            yield from _rewritten(join(folder, log_name(base)))


def _written(path: str, data: bytes, reason: str) -> Iterator[FileOp]:
    before = digest_of_file(LOCAL, path) if LOCAL.exists(path) else None
    if before != digest(data):
        yield Write(path, before, digest(data), Why(None, reason), data)


def _rewritten(path: str) -> Iterator[FileOp]:
    """Yield the patch that gives every batch of a segment epoch 0; no CRC changes."""
    changes = []
    with LOCAL.open(path) as source:
        for columns in HeaderReader(source, verify=False):
            for position, epoch, magic in zip(columns.position, columns.epoch, columns.magic, strict=True):
                if int(magic) >= _MODERN and int(epoch) != 0:
                    old = int(epoch).to_bytes(_EPOCH_SIZE, "big", signed=True)
                    changes.append(Change(int(position) + _EPOCH_AT, old, bytes(_EPOCH_SIZE)))
    if changes:
        before = digest_of_file(LOCAL, path)
        why = Why(None, "the topic has a lower leader epoch now, so followers would never come into sync")
        patch = Patch(path, before, before, why, tuple(changes))
        yield patch._replace(after=digest_of(edited(patch, chunks_of(LOCAL, path))))


def _renamed(row: Adoption, changes: Iterable[FileOp]) -> Rename:
    """Return the operation that gives a directory its new name, once its files are changed."""
    path = join(LOCAL.real(row.old.log_dir), row.old.name)
    entries = LOCAL.directory(path).entries()
    sizes: dict[str, int | None] = {**entries.sizes, **dict.fromkeys(entries.directories)}
    for change in changes:
        folder, _, name = change.path.rpartition("/")
        if folder == path:
            sizes.pop(name, None)
            if change.after is not None:
                sizes[name] = change.after.size
    whole = listing_digest(sizes.items())
    return Rename(path, whole, whole, Why(None, f"the broker serves it as {row.name}"), row.name, directory=True)
