"""Reasons why there is no way back to a quorum from these disks, and the missing input."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from kcheck.core.rescue.lacking import lacking
from kcheck.core.rescue.quorum_loss import NewVoter, QuorumLoss, RescueNode, is_usable
from kcheck.core.rescue.ways import Way, choices, is_newest, listeners_of
from kcheck.words import agree, counted, listed

_MIGRATING = ("pre-migration", "migration")


class RescueRefusal(NamedTuple):
    """A reason not to touch these disks."""

    name: str
    """A word for scripts."""
    why: str
    """The problem, as a sentence."""
    bring: str
    """The missing input, as a sentence."""
    forced: bool = False
    """True if `--force` passes over it."""


class Rift(NamedTuple):
    """Two copies with different records at an offset where one history would have the same."""

    offset: int
    newest: str
    """The log dir of the newest copy."""
    other: str
    """The log dir of the other one."""


class DiskNews(NamedTuple):
    """The records of brokers that the newest copy does not explain."""

    unknown: tuple[str, ...]
    """The topics that the copy does not have, or has with another id."""
    later: tuple[str, ...]
    """The partitions with a leader epoch above the copy's, or with a number that the copy does not have."""


def refusals_of_news(newest: RescueNode, news: DiskNews) -> Iterator[RescueRefusal]:
    """Yield why the newest copy is older than the disks of brokers, which would lose directories or records."""
    bring = (
        "Name the log dirs of more nodes. One may have a newer copy. Otherwise kcheck recover metadata makes the"
        " metadata again from the disks of the brokers."
    )
    price = "With that copy, a replica without the last records can lead, and the other replicas delete theirs."
    aside = f" Brokers set the directories of {listed(news.unknown, most=3)} aside." if news.unknown else ""
    if news.later:
        why = f"{stale_words(newest.node_id, news)}. {price}{aside}"
        yield RescueRefusal("stale-copy", why, bring, forced=True)
    elif news.unknown:
        yield RescueRefusal(
            "stale-copy",
            f"{stale_words(newest.node_id, news)}.",
            f"{bring} If the topics were deleted, --force makes the plan, and brokers set those directories aside.",
            forced=True,
        )


def stale_words(number: int | None, news: DiskNews) -> str:
    """Return how the newest copy, of a node, is older than disks of brokers."""
    lacks = [f"is older than {listed(news.later, most=3)} on the disks"] if news.later else []
    if news.unknown:
        lacks.append(f"does not have {listed(news.unknown, most=3)}{'' if lacks else ', and disks do'}")
    return f"The newest copy, of node {number}, {' and '.join(lacks)}"


def refusals_of_disks(nodes: Sequence[RescueNode], rifts: Iterable[Rift]) -> Iterator[RescueRefusal]:
    """Yield what is wrong with the disks themselves, whatever is asked of them."""
    clusters = {node.cluster_id: node for node in nodes if node.cluster_id is not None}
    if len(clusters) > 1:
        one, other = [*clusters.values()][:2]
        yield RescueRefusal(
            "two-clusters",
            f"{one.log_dir} is of cluster {one.cluster_id}, {other.log_dir} of cluster {other.cluster_id}.",
            "Name the log dirs of one cluster.",
        )
    for node in nodes:
        if node.cluster_id is None and node.copy is not None:
            bring = "Name the complete log dir, or leave it out."
            yield RescueRefusal("no-cluster-id", f"{node.log_dir} has no meta.properties with a cluster.id.", bring)
        if node.unread is not None and not node.dead:
            yield missing_disk(node.node_id, node.unread)
        if node.changing:
            bring = f"Stop node {node.node_id}, copy its log dir again, and ask again."
            yield RescueRefusal("changing", f"The metadata log in {node.log_dir} changed while kcheck read it.", bring)
    numbers = [node.node_id for node in nodes]
    for number in sorted({number for number in numbers if numbers.count(number) > 1}):
        paths = listed(node.log_dir for node in nodes if node.node_id == number)
        yield RescueRefusal(
            "node-twice", f"Node {number} has two metadata logs: {paths}.", "Name the log dir that it used last."
        )
    for rift in rifts:
        topics = [_topics_of(nodes, log_dir) for log_dir in (rift.newest, rift.other)]
        yield RescueRefusal(
            "two-histories",
            f"{rift.newest} ({topics[0]}) and {rift.other} ({topics[1]}) do not have the same record at offset"
            f" {rift.offset}.",
            "They are two histories of one cluster. Controllers were formatted again, for example. Keep the history"
            " with your topics: move __cluster_metadata-0 of the other nodes elsewhere, and ask again. Do not start any"
            " node before that.",
        )


def _topics_of(nodes: Sequence[RescueNode], log_dir: str) -> str:
    """Return how many topics the copy in a log dir has."""
    copies = [node.copy for node in nodes if node.log_dir == log_dir and node.copy is not None]
    return counted(len(copies[0].image.topics) if copies else 0, "topic")


def missing_disk(number: int, path: str) -> RescueRefusal:
    """Return the refusal where the disk of a node may be elsewhere."""
    return RescueRefusal(
        "missing-disk",
        f"{path} of node {number} is missing or empty.",
        f"Mount the disk of node {number}, which can have a newer copy and records. If the disk is lost, give the node"
        f" up (--dead {number}). Format only the disk of a new controller (kafka-storage.sh format).",
    )


NO_COPY = RescueRefusal(
    "no-metadata",
    "No log dir here has a copy of the metadata.",
    "Name the log dirs of every controller and broker. Each has a copy in __cluster_metadata-0. If all of them lost it,"
    " kcheck recover metadata makes it again from the disks of the brokers.",
)
"""The refusal where no copy is given."""


def refusals_of_quorum(loss: QuorumLoss) -> Iterator[RescueRefusal]:
    """Yield why a new quorum is not needed, or not proven to be safe.

    If the metadata log names the voters, brokers may continue to run. They have no leader to fetch from.
    """
    for node in loss.nodes:
        if node.running and (not loss.is_dynamic or loss.is_voter(node) or node.copy is None):
            bring = f"Stop node {node.node_id}, and ask again."
            yield RescueRefusal("running", f"A process runs on {node.log_dir}.", bring)
    if not loss.voters:
        bring = "Name the log dir of a controller, or of a broker that ran longer."
        yield RescueRefusal("no-voters", "The newest copy does not name the controllers.", bring)
    elif loss.has_majority:
        here = [node.node_id for node in loss.survivors if is_usable(node)]
        left = f"{counted(len(here), 'controller')} of {len(loss.voters)} {_are(here)} left ({listed(here)})"
        bring = "Start them: they elect a leader without help."
        if loss.older:
            first = [number for number in here if number not in loss.older]
            bring = (
                f"Start {listed(first)} first, with {listed(loss.older[: loss.majority - 1])}, and the others once a"
                f" controller leads. Otherwise they can elect a leader without the last records of {listed(first)}."
            )
        if loss.is_stale:
            bring = "Do not start them. They would elect replicas without the last records, or set directories aside."
        others = [row.node_id for row in loss.nodes if loss.is_voter(row) and not (loss.can_vote(row) or row.dead)]
        if others:
            bring += f" Do not start {listed(others)} before. kcheck cluster shows the voters of that copy."
        if loss.damaged:
            bring += f" Start {listed(loss.damaged)} last, because of the corrupt copy."
        corrupt = [*_corrupt_paths(loss.survivors)]
        if corrupt:
            bring += f" First move {listed(corrupt)} elsewhere: a node with a corrupt snapshot ends, or loads a part."
        yield RescueRefusal("majority", f"{left}: a majority.", bring, forced=True)
    for node in () if loss.has_majority else loss.strangers:
        known = loss.voting_directory(node)
        yield RescueRefusal(
            "directory-id",
            f"{node.log_dir} has directory.id {node.directory_id}. Controller {node.node_id} votes with {known} alone.",
            f"For the former disk, write directory.id={known} into meta.properties, and ask again. For a disk that was"
            " formatted again, --force counts the controller as lost.",
            forced=True,
        )
    if loss.unnamed:
        one = loss.unnamed[0]
        names = f"{agree(len(loss.unnamed), 'Node', 'Nodes')} {listed(loss.unnamed)}"
        yield RescueRefusal(
            "unnamed-nodes",
            f"{names} may have seen a higher epoch or a newer copy.",
            f"Name {agree(len(loss.unnamed), 'its', 'their')} log dirs ({one}=PATH), or give up what never comes"
            f" back (--dead {one}).",
        )
    yield from _of_newest(loss)


def _corrupt_paths(nodes: Iterable[RescueNode]) -> Iterator[str]:
    """Yield the corrupt snapshots of nodes, or the metadata log that lacks its first part."""
    for copy in (node.copy for node in nodes if node.copy is not None):
        yield from [copy.path] if copy.lacks_base else (f"{copy.path}/{name}" for name in copy.corrupt_snapshots)


def _are(numbers: Sequence[int]) -> str:
    return agree(len(numbers), "is", "are")


def _of_newest(loss: QuorumLoss) -> Iterator[RescueRefusal]:
    """Yield what is wrong with the newest copy."""
    newest, copy = loss.newest, loss.copy
    damaged = [node for node in loss.nodes if node.copy is not None and not is_usable(node)]
    for node in damaged:
        assert node.copy is not None
        if node is newest or node.age > newest.age:
            defect = node.copy.defects[0]
            yield RescueRefusal(
                "damaged",
                f"The copy of node {node.node_id} may be the newest, and cannot be read in full: "
                f"{defect.place}: {defect.why}.",
                "Name the log dirs of more nodes. One may have an intact copy that is as new. Otherwise kcheck"
                " recover metadata makes the metadata again, from the disks of the brokers and the rest of this copy.",
                forced=node is not newest,
            )
    if copy.in_transaction:
        yield RescueRefusal(
            "open-transaction",
            f"The newest copy, of node {newest.node_id}, ends inside of a metadata transaction.",
            "Name the log dirs of more nodes. One may have its end. The new controller would abort it.",
            forced=True,
        )
    if copy.image.migration in _MIGRATING:
        yield RescueRefusal(
            "migrating",
            "The cluster has not finished its migration from ZooKeeper.",
            "Go back to ZooKeeper, which still has all metadata.",
        )


def refusals_of_way(
    loss: QuorumLoss, wanted: NewVoter | None, target: RescueNode | None, way: Way | None
) -> Iterator[RescueRefusal]:
    """Yield why a controller cannot lead on a way; without a way, on any."""
    if target is None or (target.node_id in loss.copy.image.brokers and not loss.is_voter(target)):
        yield _no_controller(loss, wanted)
        return
    if target.cluster_id is None and target.copy is None and target.unread is None:
        bring = f"Format it with kafka-storage.sh and cluster id {loss.newest.cluster_id or 'ID'}."
        yield RescueRefusal("no-cluster-id", f"{target.log_dir} has no meta.properties with a cluster.id.", bring)
    number = target.node_id
    possible = {choice.way: choice.why_not for choice in choices(loss, target)}
    why_not = None if way is None else possible[way]
    if way is not None and why_not is not None:
        is_stale = not is_newest(loss, target) and target.copy is not None and is_usable(target)
        names = _lost_by(loss, target)
        yield RescueRefusal(
            "way",
            f"--way {way}: {why_not}{names}.",
            f"Use --way copy: it takes the copy of node {loss.newest.node_id}." if is_stale else "Leave out --way.",
            forced=is_stale and way in ((Way.VOTERS,) if loss.is_dynamic else (Way.STATIC,)),
        )
    if loss.is_dynamic and not listeners_of(loss, target, wanted):
        yield RescueRefusal(
            "no-address",
            f"The address of controller {number} is not known.",
            f"Name it: --voter {number}@HOST:PORT.",
        )
    if loss.is_dynamic and target.directory_id is None:
        bring = "Format it with kafka-storage.sh of Kafka 3.9 or a later release."
        yield RescueRefusal("no-directory-id", f"{target.log_dir} has no directory.id.", bring)


def _no_controller(loss: QuorumLoss, wanted: NewVoter | None) -> RescueRefusal:
    new = [node.node_id for node in loss.nodes if node.copy is None and not node.dead and node.unread is None]
    free = max((200, *loss.voters, *loss.copy.image.brokers)) + 1
    is_broker = wanted is not None and wanted.node_id in loss.copy.image.brokers
    number = wanted.node_id if wanted is not None and not is_broker else new[0] if new else free
    joins = " --no-initial-controllers" if loss.is_dynamic else ""
    cluster_id = loss.newest.cluster_id or "ID"
    command = f"kafka-storage.sh format --cluster-id {cluster_id}{joins} --config controller.properties"
    bring = f"Format the disk of a new controller ({command}), and name it: {number}=PATH --voter {number}."
    if wanted is None and len(new) > 1:
        bring = f"Name the controller that is to lead: --voter {number}."
    why = "No controller is here that can lead." if wanted is None else f"Node {number} is no controller that is here."
    return RescueRefusal("no-controller", why, bring)


def _lost_by(loss: QuorumLoss, target: RescueNode) -> str:
    """Return the loss if a controller leads that lacks records."""
    if target.copy is None or is_newest(loss, target):
        return ""
    gap = lacking(target.copy, loss.copy)
    topics = f", among them the topics {listed(gap.created)}" if gap.created else ""
    return f": it lacks {counted(gap.records, 'record')}{topics}"
