"""Finds, by the given disks, whether the metadata of a cluster has to be brought back before any election."""

from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import suppress

from kcheck.core.cluster.copies import MetadataCopy, newest_copy
from kcheck.core.election.first_rescue import FirstRescue, MetadataHere, RescueVerb, first_rescue
from kcheck.core.premises.metadata import SAME_HISTORY
from kcheck.core.premises.presence import TOPICS_THERE
from kcheck.core.premises.table import ENDS_START, OF_QUORUM, lacks_majority
from kcheck.disk.paths import join, split
from kcheck.handouts.quorum_steps import rescue_command
from kcheck.model.names import METADATA_DIRECTORY
from kcheck.model.premises import JudgedPremise, PremiseStatus
from kcheck.model.unreadable import UnreadableError
from kcheck.views.metadata_copy import read_copy
from kcheck.views.metadata_paths import MetadataPath, identity_of, paths_beside, without_metadata
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
) -> FirstRescue | None:
    """Return the rescue that comes before any start, with its command; None if none is needed.

    A path that is no log dir says nothing of the metadata of its node. `metadata` are the paths that the user names
    for it. `starts`: whether any broker starts, by its premises. Disks of another node go back first.
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
    refuted = {row.id for row in judged if row.status is PremiseStatus.REFUTED}
    ended = {
        row.broker_id: row.sentence
        for row in reversed(judged)
        if row.broker_id is not None and row.status is PremiseStatus.REFUTED and row.id in ENDS_START - OF_QUORUM
    }
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
        starts=starts,
        outrun=SAME_HISTORY in refuted,
        emptied=TOPICS_THERE in refuted,
        stopped=lacks_majority(refuted),
        ended=tuple(sorted(ended.items())),
        all_lost=kraft and not beside and not znodes and len(lost) == len(every) and not _are_simulated(targets),
    )
    rescue = first_rescue(here)
    if rescue is None:
        return None
    if rescue.first is not None:
        first = next((row for number, row in numbers if number == rescue.first), targets[0])
        return rescue._replace(command=shell_line(("kcheck", "preflight", first.config or first.folder or first.path)))
    own = [row for number, row in numbers if row.broker_id not in (None, number) and row.config is None]
    right = {f"{row.broker_id}={row.path}": f"{_node_of(row)}={row.path}" for row in own}
    words = [*(right.get(word, word) for word in arguments), *(named if rescue.verb is RescueVerb.QUORUM else ())]
    whose = (f"{word} is the disk of node {name.partition('=')[0]}" for word, name in right.items())
    why = ". ".join((*whose, rescue.why))
    return rescue._replace(why=why, command=rescue_command(rescue.verb, words, here.dead))


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
