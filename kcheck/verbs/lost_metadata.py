"""Finds, by the given disks, whether the metadata of a cluster has to be brought back before any election."""

from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import suppress

from kcheck.core.cluster.copies import MetadataCopy, newest_copy
from kcheck.core.election.first_rescue import FirstRescue, MetadataHere, RescueVerb, first_rescue
from kcheck.core.premises.table import with_premises
from kcheck.disk.paths import split
from kcheck.handouts.quorum_steps import rescue_command
from kcheck.model.names import METADATA_DIRECTORY
from kcheck.model.premises import JudgedPremise
from kcheck.model.unreadable import UnreadableError
from kcheck.views.metadata_copy import read_copy
from kcheck.views.metadata_paths import MetadataPath, identity_of, paths_beside, without_metadata
from kcheck.views.targets import Target, TargetKind, replica_targets
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
    znodes = [path for path in metadata if is_zookeeper(path)]
    named = tuple(_log_dirs(path for path in metadata if path not in znodes))
    every = replica_targets([*arguments, *named])
    targets = tuple(target for target in every if target.kind is TargetKind.LOG_DIR)
    beside = tuple(paths_beside(targets))
    lost = tuple(without_metadata(targets))
    known = tuple(copies)
    damaged = (*(copy for copy in known if not copy.decides), *_damaged(beside, {copy.path for copy in known}))
    newest = newest_copy(tuple(copy for copy in known if copy.decides) or damaged)
    here = MetadataHere(
        voters=frozenset() if newest is None else newest.voters,
        holders=frozenset(path.node_id for path in beside if path.node_id is not None),
        without=frozenset(row.node_id for row in lost if row.node_id is not None),
        dead=frozenset(dead),
        damaged=frozenset(copy.node_id for copy in damaged if copy.node_id is not None),
        starts=starts,
        all_lost=kraft and not beside and not znodes and len(lost) == len(every) and not _are_simulated(targets),
    )
    rescue = first_rescue(with_premises(here, premises))
    if rescue is None:
        return None
    if rescue.first is not None:
        (first, *_) = (row for row in targets if identity_of(row.tree, row.path).node_id == rescue.first)
        return rescue._replace(command=shell_line(("kcheck", "preflight", first.config or first.folder or first.path)))
    words = [*arguments, *(named if rescue.verb is RescueVerb.QUORUM else ())]
    return rescue._replace(command=rescue_command(rescue.verb, words, here.dead))


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
