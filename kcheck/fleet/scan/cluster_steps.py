"""The steps of a scan that read the metadata of clusters, first each copy, then the newest of each cluster."""

from collections.abc import Mapping, Sequence

from kcheck.core.cluster.copies import MetadataCopy
from kcheck.core.premises.clusters import NodeCluster, contested_cluster
from kcheck.disk.paths import join
from kcheck.disk.tree import bounded, tree_of
from kcheck.fleet.scan.cluster_metadata import (
    ClusterCopies,
    ClusterFacts,
    ClusterKey,
    as_tables,
    cluster_facts,
    copy_text,
    source_of,
)
from kcheck.fleet.scan.identify import Identified, ScanOptions
from kcheck.fleet.scan.steps import READ_SIZE_MAX
from kcheck.model.cluster import ClusterImage, is_reserved
from kcheck.model.names import METADATA_DIRECTORY
from kcheck.views.metadata_copy import complete_copy

_SHOWN_COUNT = 3
"""Number of log dirs that prove the cluster of a name."""


def read_metadata(log_dir: Identified, _: ScanOptions) -> str | None:
    """Return the copy of the metadata in a log dir, as `copy_text` does; None if it does not decide."""
    path = join(log_dir.path, METADATA_DIRECTORY)
    tree = tree_of(path)
    with bounded(tree, path, READ_SIZE_MAX):
        copy = complete_copy(tree, path, log_dir.broker_id)
    return None if copy is None else copy_text(copy)


def look_at_cluster(
    cluster: ClusterCopies, how: ScanOptions
) -> tuple[ClusterFacts | None, tuple[tuple[str, bytes], ...]]:
    """Return the facts of a cluster's metadata for its log dirs, and rows of tables."""
    facts, rows = cluster_facts(cluster, *how.of_cluster(cluster.cluster))
    return facts, as_tables(rows)


def clusters_of(log_dirs: Sequence[Identified], copies: Mapping[str, str]) -> list[ClusterCopies]:
    """Return the clusters with metadata; `copies` come from `read_metadata`, by log dir."""
    holders: dict[ClusterKey, list[Identified]] = {}
    names: dict[ClusterKey, dict[int, str | None]] = {}
    for log_dir in log_dirs:
        key = (log_dir.cluster, log_dir.cluster_id)
        if log_dir.cluster_id is not None and log_dir.path in copies:
            holders.setdefault(key, []).append(log_dir)
        if log_dir.broker_id is not None:
            names.setdefault(key, {})[log_dir.broker_id] = log_dir.broker
    return [
        ClusterCopies(
            *key, tuple(copies[log_dir.path] for log_dir in same), tuple(log_dir.broker for log_dir in same),
            tuple(names.get(key, {}).items()), tuple(names.get((key[0], None), {}).items()),
        )
        for key, same in holders.items()
    ]  # fmt: skip


def informed(log_dirs: Sequence[Identified], facts: Mapping[ClusterKey, ClusterFacts | None]) -> list[Identified]:
    """Return log dirs with the facts of their clusters' metadata."""
    passing = {log_dir.group for log_dir in log_dirs if log_dir.lacks_topic_id}

    def with_source(log_dir: Identified) -> Identified:
        known = facts.get((log_dir.cluster, log_dir.cluster_id))
        if known is None:
            return log_dir
        source = source_of(known, log_dir.broker_id, keeps_strays=log_dir.group in passing)
        return log_dir._replace(metadata=source)

    contested, listed = _contested(log_dirs, facts), _listed(facts)

    def clusters_of_log_dir(log_dir: Identified) -> tuple[tuple[str, str], ...]:
        owner = listed.get(log_dir.directory_id or "")
        is_foreign = owner is not None and log_dir.cluster_id not in (None, owner[1])
        return (owner,) if owner is not None and is_foreign else contested.get(log_dir.cluster, ())

    return [with_source(log_dir)._replace(clusters=clusters_of_log_dir(log_dir)) for log_dir in log_dirs]


def _listed(facts: Mapping[ClusterKey, ClusterFacts | None]) -> dict[str, tuple[str, str]]:
    """Return the metadata that list a log dir, with their cluster id, by the directory id."""
    return {
        directory_id: (known.path, cluster_id)
        for (_, cluster_id), known in facts.items()
        if known is not None and cluster_id is not None
        for _, _, directory_ids in known.registrations.values()
        for directory_id in directory_ids
        if not is_reserved(directory_id)
    }


def _contested(
    log_dirs: Sequence[Identified], facts: Mapping[ClusterKey, ClusterFacts | None]
) -> dict[str | None, tuple[tuple[str, str], ...]]:
    """Return paths with the cluster id for the log dirs of a name with several ids."""
    nodes: dict[str | None, list[NodeCluster]] = {}
    for log_dir in log_dirs:
        if log_dir.cluster is not None and log_dir.cluster_id is not None:
            nodes.setdefault(log_dir.cluster, []).append(NodeCluster(log_dir.path, log_dir.cluster_id, None))
    newest: dict[str | None, dict[str, tuple[MetadataCopy, ...]]] = {}
    for (cluster, cluster_id), known in facts.items():
        if known is not None and cluster_id is not None:
            copy = MetadataCopy(known.path, known.node_id, known.epoch, known.end, 0, frozenset(), ClusterImage({}))
            newest.setdefault(cluster, {})[cluster_id] = (copy,)
    return {
        cluster: tuple(
            (evidence.path, evidence.says)
            for evidence in contested_cluster(own, newest.get(cluster, {}), one_cluster=True)[:_SHOWN_COUNT]
        )
        for cluster, own in nodes.items()
    }
