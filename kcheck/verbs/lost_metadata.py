"""Finds, by the given disks, whether the metadata of a cluster has to be brought back before any election."""

from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import suppress

from kcheck.core.cluster.copies import MetadataCopy, newest_copy
from kcheck.core.cluster.quorum import oldest_elected, rival_copy
from kcheck.core.election.first_rescue import FirstRescue, MetadataHere, RescueVerb, first_rescue, if_lost
from kcheck.core.premises.age import OLDER_METADATA
from kcheck.core.premises.table import with_premises
from kcheck.core.rescue.refusals import DiskNews, stale_words
from kcheck.disk.paths import join, split
from kcheck.handouts.quorum_steps import rescue_command
from kcheck.model.names import METADATA_DIRECTORY
from kcheck.model.premises import JudgedPremise, PremiseStatus
from kcheck.model.unreadable import UnreadableError
from kcheck.views.metadata_copy import read_copy
from kcheck.views.metadata_paths import (
    MetadataPath,
    identity_of,
    nodes_without_metadata,
    paths_beside,
    without_metadata,
)
from kcheck.views.rescue_nodes import later_on_disks
from kcheck.views.settings_files import configured_voters, number_of
from kcheck.views.targets import Target, TargetKind, has_no_disk, replica_targets
from kcheck.views.zookeeper_copy import is_zookeeper
from kcheck.words import shell_line


def rescue_first(
    arguments: Sequence[str],
    metadata: Sequence[str],
    dead: Iterable[int],
    *,
    copies: Iterable[MetadataCopy],
    premises: Iterable[JudgedPremise],
    starts: bool,
    kraft: bool,
    compares: bool = False,
) -> FirstRescue | None:
    """Return the rescue that comes before any start, with its command; None if none is needed.

    A path that is no log dir says nothing of the metadata of its node. `metadata` are the paths that the user names
    for it. `starts`: whether any broker starts, by its premises. Disks of another node go back first. No controller may
    lead with metadata that is older than the disks of two brokers, or with `compares` of one.
    """
    given_up = tuple(dead)
    znodes = [path for path in metadata if is_zookeeper(path)]
    named = tuple(_log_dirs(path for path in metadata if path not in znodes))
    every = replica_targets([*arguments, *named])
    targets = tuple(target for target in every if target.kind is TargetKind.LOG_DIR)
    beside = tuple(paths_beside(targets))
    lost = tuple(without_metadata(targets))
    known, judged = tuple(copies), tuple(premises)
    damaged = (*(copy for copy in known if not copy.decides), *_damaged(beside, {copy.path for copy in known}))
    newest = newest_copy(tuple(copy for copy in known if copy.decides) or damaged)
    numbers = [(_node_of(row), row) for row in targets]
    without = {row.path for row in lost}
    here = MetadataHere(
        voters=frozenset() if newest is None else newest.voters,
        holders=frozenset(
            number
            for number, row in numbers
            if number is not None and row.tree.is_directory(join(row.path, METADATA_DIRECTORY))
        ),
        without=frozenset(number for number, row in numbers if number is not None and row.path in without),
        away=frozenset(number for number, row in numbers if number is not None and has_no_disk(row.tree, row.path)),
        unnamed=configured_voters(targets) - {number for number, _ in numbers} - {*given_up},
        dead=frozenset(given_up),
        damaged=frozenset(copy.node_id for copy in damaged if copy.node_id is not None),
        rival=None if (rival := rival_copy(known)) is None else rival.node_id,
        behind=newest is not None and _are_behind(newest, known, targets),
        starts=starts,
        all_lost=kraft and not beside and not znodes and len(lost) == len(every) and not _are_simulated(targets),
    )
    rescue = first_rescue(with_premises(here, judged))
    newer = {row.broker_id for row in judged if row.status is PremiseStatus.REFUTED and row.id == OLDER_METADATA}
    compares = compares or (kraft and len(newer) > 1)
    if newest is not None and newest.decides and (compares if rescue is None else rescue.verb is RescueVerb.QUORUM):
        owners = (number for number, row in numbers if join(row.path, METADATA_DIRECTORY) == newest.path)
        news = later_on_disks(newest.image, targets)
        rescue = _of_stale(next(owners, newest.node_id), news, rescue, topics=compares)
    if rescue is None:
        return None
    if rescue.first is not None:
        first = next((row for number, row in numbers if number == rescue.first), targets[0])
        words = ["kcheck", "preflight", first.config or first.folder or first.path]
        if rescue.verb is RescueVerb.FORMAT and newest is not None:
            words += ["--metadata", split(newest.path)[0]]
        return rescue._replace(command=shell_line(words))
    more = named if rescue.verb is RescueVerb.QUORUM else ()
    znode = () if kraft or rescue.verb is not RescueVerb.METADATA else ("--zookeeper",)
    return _by_owners(rescue, numbers, (*arguments, *more, *znode), given_up)


def rescue_if_lost(
    arguments: Sequence[str], metadata: Sequence[str], dead: Iterable[int], copies: Iterable[MetadataCopy]
) -> FirstRescue | None:
    """Return the rescue that comes first if the controllers that are not here are lost, with its command.

    `copies` are of one cluster. None if a majority of its controllers is here, or ZooKeeper has its metadata.
    """
    known, given_up = tuple(copy for copy in copies if copy.decides), frozenset(dead)
    newest = newest_copy(known)
    if newest is None or any(map(is_zookeeper, metadata)):
        return None
    words = [*arguments, *_log_dirs(metadata)]
    targets = tuple(row for row in replica_targets(words) if row.kind is TargetKind.LOG_DIR)
    holders = frozenset(copy.node_id for copy in known if copy.node_id is not None)
    without = nodes_without_metadata(targets)
    rescue = if_lost(newest.voters, holders, given_up, without)
    if rescue is None:
        return None
    numbers = [(_node_of(row), row) for row in targets]
    return _by_owners(rescue, numbers, words, given_up | (newest.voters - holders - without))


def _are_behind(newest: MetadataCopy, copies: Iterable[MetadataCopy], targets: Sequence[Target]) -> bool:
    """Return whether a majority of the controllers lacks metadata that brokers acted on, by their disks."""
    oldest = oldest_elected([copy for copy in copies if copy.decides], newest.voters)
    if oldest is None or (oldest.epoch, oldest.end) >= (newest.epoch, newest.end):
        return False
    news = later_on_disks(oldest.image, targets)
    return bool(news.later) or any(topic in newest.image.topics for topic in news.unknown)


def _by_owners(
    rescue: FirstRescue, numbers: Iterable[tuple[int | None, Target]], words: Iterable[str], dead: Iterable[int]
) -> FirstRescue:
    """Return a rescue with the command. Each disk has the node of its meta.properties there."""
    own = [(number, row) for number, row in numbers if row.broker_id not in (None, number) and row.config is None]
    right = {f"{row.broker_id}={row.path}": f"{number}={row.path}" for number, row in own}
    whose = (f"{word} is the disk of node {name.partition('=')[0]}" for word, name in right.items())
    command = rescue_command(rescue.verb, [right.get(word, word) for word in words], dead)
    return rescue._replace(why=". ".join((*whose, rescue.why)), command=command)


def _of_stale(holder: int | None, news: DiskNews, rescue: FirstRescue | None, *, topics: bool) -> FirstRescue | None:
    """Return the rescue if the newest copy is older than the disks, and no controller may lead.

    With `topics` the directories of unknown topics are enough. Such a topic may also be deleted.
    """
    if not news.later and not (news.unknown and (topics or rescue is not None)):
        return rescue
    start = "Do not start any node" if rescue is None else rescue.why
    if rescue is None and not news.later:
        start = "Brokers set these directories aside. Do not start any node, unless the topics were deleted"
    return FirstRescue(RescueVerb.METADATA, f"{stale_words(holder, news)}. {start}. Without a newer copy")


def _node_of(target: Target) -> int | None:
    """Return the node of a disk by its meta.properties, or else as named, or by settings."""
    own = identity_of(target.tree, target.path).node_id
    return number_of(target) if own is None else own


def _damaged(beside: Iterable[MetadataPath], known: Container[str]) -> Iterator[MetadataCopy]:
    """Yield the copies that do not decide, read again."""
    for path in beside:
        if path.path not in known:
            with suppress(UnreadableError):
                copy = read_copy(path.tree, path.path, path.node_id)
                if not copy.decides:
                    yield copy


def _are_simulated(targets: Iterable[Target]) -> bool:
    """Return whether `kcheck simulate` or `kcheck demo` wrote log dirs: it writes no metadata."""
    from kcheck.simulation.directories import CLUSTER_ID  # only where no disk has metadata

    return any(identity_of(target.tree, target.path).cluster_id == CLUSTER_ID for target in targets)


def _log_dirs(paths: Iterable[str]) -> Iterator[str]:
    """Yield the log dirs of copies of the metadata, because a rescue needs every log dir of the node."""
    for path in paths:
        folder, name = split(path)
        yield folder if name == METADATA_DIRECTORY else path
