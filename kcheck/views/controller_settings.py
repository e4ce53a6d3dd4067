"""Reads the settings of controllers for elections, which are in their server.properties, not in metadata.

A KRaft controller decides by its own file (ControllerServer 3.3 to 4.3.1). With ZooKeeper any broker can be the
controller, and does the same (KafkaController 0.8.2 to 3.9).
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from kcheck.core.rescue.broker_role import VOTERS, roles_of
from kcheck.core.start.node_settings import ids_of_voters
from kcheck.disk.paths import join, split
from kcheck.disk.tree import Tree, real_path, tree_of
from kcheck.errors import UsageError
from kcheck.model.cluster import (
    AUTO_REBALANCE,
    DELETES_TOPICS,
    IMBALANCE,
    MIN_ISR,
    PROVIDER,
    STATIC,
    UNCLEAN,
    ClusterImage,
)
from kcheck.model.names import METADATA_DIRECTORY
from kcheck.views.metadata_paths import identity_of
from kcheck.views.targets import SERVER_PROPERTIES, Target, TargetKind, log_dirs_in, read_properties, replica_targets

_DECISIVE = (UNCLEAN, MIN_ISR, AUTO_REBALANCE, IMBALANCE, DELETES_TOPICS)


def controller_settings(
    targets: Iterable[Target], named: Iterable[str] = (), config: str | None = None
) -> Mapping[str, Mapping[str, str]]:
    """Return the given settings of nodes that can be the controller, by path.

    They come from `config`, or they name a log dir of targets or of the given metadata, or are next to it. A value from
    a config provider is missing.
    """
    return {
        path: said
        for path, said in _settings(targets, named, config)
        if "controller" in said.get("process.roles", "controller") and PROVIDER not in said.get(UNCLEAN, "")
    }


def seats_in(seen: Mapping[str, Mapping[str, str]]) -> Iterator[frozenset[int]]:
    """Yield the voters in each of `controller_settings`, for `with_electors`."""
    return (ids_of_voters(said.get(VOTERS, "")) for said in seen.values() if "controller" in roles_of(said))


def with_settings(image: ClusterImage, seen: Mapping[str, Mapping[str, str]]) -> ClusterImage:
    """Return metadata with the first of `controller_settings`, and unclean elections if any of them allows these."""
    if not seen:
        return image
    first = next(iter(seen.values()))
    decisive = {name: first[name].strip() for name in _DECISIVE if name in first}
    if any(said.get(UNCLEAN, "").strip().lower() == "true" for said in seen.values()):
        decisive[UNCLEAN] = "true"
    return image._replace(configs={**image.configs, STATIC: decisive}, settings=tuple(seen))


def settings_of_copies(paths: Iterable[str]) -> Mapping[str, Mapping[str, str]]:
    """Return the `controller_settings` next to copies of the metadata log, by their directories."""
    return controller_settings(Target(TargetKind.PARTITION, path, tree=tree_of(path)) for path in paths)


def _settings(
    targets: Iterable[Target], named: Iterable[str], config: str | None
) -> Iterator[tuple[str, Mapping[str, str]]]:
    if config is not None:
        yield config, read_properties(config)
    for target in (*targets, *_targets_of(named)):
        if target.config is not None:
            yield target.config, read_properties(target.config)
        is_in_log = split(target.log_dir)[1] == METADATA_DIRECTORY
        yield from _beside(target.tree, split(target.log_dir)[0] if is_in_log else target.log_dir, target.folder)


def _targets_of(named: Iterable[str]) -> Iterator[Target]:
    """Yield the log dirs of metadata that the user names; ZooKeeper's data has none."""
    for path in named:
        with suppress(UsageError):
            yield from replica_targets([path])


def _beside(tree: Tree, log_dir: str, folder: str | None) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield each server.properties near a node's log dir that lists it, or has its node id, by path."""
    parent = split(log_dir)[0]
    for place in dict.fromkeys((parent if folder is None else folder, parent)):
        path = join(place, SERVER_PROPERTIES)
        with suppress(UsageError):
            if not tree.exists(path):
                continue
            said = read_properties(path)
            listed = {real_path(one) for one in log_dirs_in(tree_of(path), path, said)}
            own = identity_of(tree, log_dir).node_id
            named = (said.get("node.id") or said.get("broker.id") or "").strip()
            if tree.real(log_dir) in listed or (own is not None and named == str(own)):
                yield path, said
