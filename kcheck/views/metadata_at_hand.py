"""The given metadata of a cluster, in the log dirs of a command, or in paths that the user names."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from kcheck.core.cluster.copies import LostCopy, MetadataCopy, decides_alone, newest_copy
from kcheck.core.cluster.znode_tree import chroot_of
from kcheck.errors import UsageError
from kcheck.model.cluster import ClusterImage, MetadataProblem
from kcheck.model.premises import PremiseEvidence
from kcheck.model.zookeeper_metadata import ZookeeperCopy
from kcheck.views.controller_settings import controller_settings, with_settings
from kcheck.views.log_dir import LogDirs
from kcheck.views.metadata_copy import read_copy
from kcheck.views.metadata_paths import identity_of, paths_beside, paths_of_clusters, without_metadata
from kcheck.views.settings_files import settings_path
from kcheck.views.targets import Target, TargetKind, read_properties, replica_targets


class NamedMetadata(NamedTuple):
    """The metadata that the user names."""

    copies: dict[str, tuple[MetadataCopy, ...]]
    """Copies of KRaft logs, by cluster id."""
    zookeeper: ZookeeperCopy | None
    """The metadata in ZooKeeper; of several paths the first."""
    lost: tuple[LostCopy, ...] = ()
    """The log dirs that have none."""

    @property
    def clusters(self) -> tuple[PremiseEvidence, ...]:
        """The clusters that they are of, with their paths."""
        named = [PremiseEvidence(copy.path, cluster) for cluster, copies in self.copies.items() for copy in copies]
        if self.zookeeper is not None and self.zookeeper.metadata.cluster_id is not None:
            named.append(PremiseEvidence(self.zookeeper.path, self.zookeeper.metadata.cluster_id))
        return tuple(named)

    @property
    def cluster_ids(self) -> list[str]:
        """The clusters that they say they are of."""
        cluster_id = None if self.zookeeper is None else self.zookeeper.metadata.cluster_id
        return [*self.copies, *(() if cluster_id is None else (cluster_id,))]


def named_metadata(paths: tuple[str, ...], targets: Sequence[Target] = (), config: str | None = None) -> NamedMetadata:
    """Return the metadata in the paths, and the paths without any, or with corrupt metadata.

    The settings of `targets`, or `config`, name the chroot in ZooKeeper.

    UsageError: another path without metadata, or whose metadata is of no known cluster.
    """
    znodes, kraft = _by_kind(paths, targets, config)
    whole = [copy for copy in znodes if not copy.metadata.problems]
    damaged = [_damaged(copy.path, None, copy.metadata.problems[0]) for copy in znodes if copy.metadata.problems]
    copies, corrupt = named_copies(kraft)
    lost = without_metadata(replica_targets([*kraft]))
    return NamedMetadata(copies, whole[0] if whole else None, (*lost, *corrupt, *damaged))


def _damaged(path: str, node_id: int | None, problem: MetadataProblem) -> LostCopy:
    return LostCopy(path, node_id, damage=f"{problem.place}: {problem.why}")


def named_copies(paths: tuple[str, ...]) -> tuple[dict[str, tuple[MetadataCopy, ...]], tuple[LostCopy, ...]]:
    """Return the copies that the user names, by cluster id, and the corrupt ones.

    A log dir that lost its copy has none. UsageError for a path without metadata, or with metadata of an unknown
    cluster.
    """
    copies: dict[str, tuple[MetadataCopy, ...]] = {}
    damaged = []
    targets = replica_targets([*paths])
    lost = {copy.path for copy in without_metadata(targets)}
    present = [target for target in targets if target.path not in lost]
    for path in paths_of_clusters(present) if present else ():
        if path.cluster_id is None:
            raise UsageError(f"--metadata {path.path}: no meta.properties next to it names its cluster")
        copy = read_copy(path.tree, path.path, path.node_id, only=path.only)
        if not copy.decides:
            damaged.append(_damaged(path.path, path.node_id, copy.defects[0]))
            continue
        copies[path.cluster_id] = (*copies.get(path.cluster_id, ()), copy)
    return copies, tuple(damaged)


def image_at_hand(
    targets: Iterable[Target], named: tuple[str, ...], log_dirs: LogDirs, config: str | None = None,
    *, own_only: bool = False,
) -> ClusterImage | None:  # fmt: skip
    """Return the newest metadata in the log dirs of targets and in more named paths; None without any.

    It is `with_settings` of the controllers, `config` among them. A path can also be from ZooKeeper. Corrupt metadata
    does not count. Metadata of another cluster than every log dir counts, because a premise compares the ids.
    UsageError for a named path without metadata, or with `own_only` for metadata of another cluster.
    """
    targets = tuple(targets)
    image = _image(targets, named, log_dirs, config, own_only=own_only)
    return None if image is None else with_settings(image, controller_settings(targets, named, config))


def _image(
    targets: tuple[Target, ...], named: tuple[str, ...], log_dirs: LogDirs, config: str | None, *, own_only: bool
) -> ClusterImage | None:
    znodes, kraft = _by_kind(named, targets, config)
    if not log_dirs.release.kraft_is_production_ready and not znodes:
        return None
    around = {
        target.log_dir: target._replace(kind=TargetKind.LOG_DIR, path=target.log_dir)
        for target in targets
        if target.kind is not TargetKind.FILE
    }
    copies, _ = named_copies(kraft)
    ids = NamedMetadata(copies, znodes[0] if znodes else None).cluster_ids
    own = {identity_of(target.tree, path).cluster_id for path, target in around.items()} if named else set()
    theirs = sorted(cluster for cluster in own if cluster)
    if own_only and ids and theirs and ids[0] not in theirs:
        raise UsageError(f"--metadata is of cluster {ids[0]}, the log dirs are of {', '.join(theirs)}")
    copies = {cluster: rows for cluster, rows in copies.items() if cluster in own or not own & copies.keys()}
    in_zookeeper = znodes[0].metadata if znodes else None
    beside = paths_beside(around.values()) if log_dirs.release.kraft_is_production_ready else ()
    copies_beside = (log_dirs.copy(path.tree, path.path, path.node_id) for path in beside)
    newest = newest_copy((*chain.from_iterable(copies.values()), *(copy for copy in copies_beside if copy is not None)))
    if in_zookeeper is not None and not decides_alone(newest, in_zookeeper.image):
        return None if in_zookeeper.problems else in_zookeeper.image
    return None if newest is None else newest.image


def _by_kind(
    named: tuple[str, ...], targets: Sequence[Target], config: str | None
) -> tuple[list[ZookeeperCopy], tuple[str, ...]]:
    """Return the copies in the paths of ZooKeeper, and the other paths."""
    if not named:
        return [], ()
    from kcheck.views.zookeeper_copy import is_zookeeper, zookeeper_copy  # its formats: only if something is named

    of_zookeeper = [path for path in named if is_zookeeper(path)]
    wanted = _chroot(targets, config) if of_zookeeper else None
    copies = [zookeeper_copy(path, wanted) for path in of_zookeeper]
    return copies, tuple(path for path in named if path not in of_zookeeper)


def _chroot(targets: Iterable[Target], config: str | None) -> str | None:
    """Return the path in zookeeper.connect that most settings have; None if no settings are known."""
    paths = (target.config or config or settings_path((target,)) for target in targets)
    settings = (read_properties(path) for path in dict.fromkeys(paths) if path is not None)
    connects = (said["zookeeper.connect"] for said in settings if "zookeeper.connect" in said)
    most = Counter(map(chroot_of, connects)).most_common(1)
    return most[0][0] if most else None
