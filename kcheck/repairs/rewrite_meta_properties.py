"""Rewrite meta.properties from the other log dirs of the same broker.

This applies if the file is corrupt, or missing while other log dirs have one. If another log dir has the same
directory.id, the repair changes only that line. The repair requires that no partition is in both log dirs. Then neither
is a copy of the other. If the metadata gives all partitions of one log dir another id, the repair writes that id.

In all other cases the repair leaves directory.id out, and the broker creates a new id when it starts. The broker also
tells the controller the log dir of each of its partitions. Until the second start a partition without another replica
in sync may have no leader. The controller sees its directory as missing.

The log dirs of one broker are known from a server.properties, or from `BROKER=PATH`. A corrupt file does not name its
broker.
"""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from kcheck.formats import meta_properties
from kcheck.formats.meta_properties import MetaProperties
from kcheck.model.finding import Finding
from kcheck.model.names import LIVE, META_PROPERTIES, DirectoryState
from kcheck.repairs._contract import (
    Evidence,
    Impact,
    LogDirSite,
    Refused,
    Repair,
    RepairOutcome,
    RepairScope,
    RepairStep,
    WriteEdit,
)
from kcheck.words import partition_name

_OWN = ("version", "node.id", "broker.id", "cluster.id")
"""The properties that all log dirs of a broker share."""

_DIRECTORY_ID = "directory.id"


def plan(log_dir: LogDirSite, findings: tuple[Finding, ...]) -> Iterator[RepairOutcome]:
    """Yield the new file."""
    finding = findings[0]
    if finding.id == "KC306":
        yield _without_directory_id(log_dir, finding)
    elif finding.id == "KC121" or finding.where.file is None:
        yield _from_siblings(log_dir, finding)
    else:
        yield Refused(finding, "the files do not show whose disk this is")


def _from_siblings(log_dir: LogDirSite, finding: Finding) -> RepairOutcome:
    sound = []
    for sibling in log_dir.siblings:
        data = sibling.read(META_PROPERTIES)
        parsed = None if data is None else meta_properties.parse(data)
        if parsed is not None and not parsed.defects:
            sound.append((sibling.view.where.log_dir, parsed.value.properties))
    shared = [{key: properties[key] for key in _OWN if key in properties} for _, properties in sound]
    if not shared:
        return Refused(finding, "no other log dir of this broker is known; name all of them as BROKER=PATH")
    if any(properties != shared[0] for properties in shared):
        return Refused(finding, "the other log dirs of this broker name different brokers or clusters")
    written = meta_properties.serialize(MetaProperties(shared[0]))
    words = ", ".join(f"{key} {value}" for key, value in shared[0].items())
    evidence = tuple(Evidence(f"{path}/{META_PROPERTIES}", None, crc_verified=None, what=words) for path, _ in sound)
    reason = "name the broker and the cluster; the broker creates a new directory.id"
    return RepairStep(finding, (WriteEdit(META_PROPERTIES, written),), reason, evidence)


def _without_directory_id(log_dir: LogDirSite, finding: Finding) -> RepairOutcome:
    twin = next(
        (candidate for candidate in log_dir.siblings if candidate.view.directory_id == log_dir.view.directory_id), None
    )
    if twin is None or log_dir.read(META_PROPERTIES) is None:
        return Refused(finding, "no other log dir of this broker is known; name all of them as BROKER=PATH")
    shared = min(_partitions_in(log_dir) & _partitions_in(twin), default=None)
    if shared is not None:
        return Refused(finding, f"{partition_name(*shared[:2])} is in both log dirs, and one of them may be a copy")
    if _registered_id(log_dir) is None and _registered_id(twin) is not None:
        log_dir, twin = twin, log_dir
    known, data = _registered_id(log_dir), log_dir.read(META_PROPERTIES)
    assert data is not None
    value = meta_properties.parse(data).value
    own = {} if known is None else {_DIRECTORY_ID: known}
    left = {key: candidate for key, candidate in value.properties.items() if key != _DIRECTORY_ID}
    written = meta_properties.serialize(value._replace(properties={**left, **own}))
    what = f"the same directory.id {log_dir.view.directory_id}; no partition is in both log dirs"
    path, then = f"{twin.view.where.log_dir}/{META_PROPERTIES}", "the broker creates a new one"
    evidence = [Evidence(path, None, crc_verified=None, what=what)]
    if known is not None:
        then = "write the registered id"
        source = next(row.view.in_cluster.source for row in log_dir.partitions if row.view.in_cluster is not None)
        evidence.append(Evidence(source, None, crc_verified=None, what=f"directory id {known} of all its partitions"))
    reason = f"remove the directory.id of another log dir; {then}"
    return RepairStep(finding, (WriteEdit(META_PROPERTIES, written),), reason, tuple(evidence), log_dir=log_dir)


def _registered_id(log_dir: LogDirSite) -> str | None:
    """Return the directory.id of a log dir by the metadata.

    None if its partitions have several ids there. None for the id of another log dir, or if not all are named.
    """
    every = (log_dir, *log_dir.siblings)
    here, *others = [_assigned(site) for site in every]
    taken = {site.view.directory_id for site in every}.union(*others)
    return min(here) if len(here) == 1 and taken.isdisjoint(here) and log_dir.is_with_all_siblings else None


def _assigned(log_dir: LogDirSite) -> set[str]:
    """Return the directory ids that the metadata gives the partitions of a log dir."""
    rows = (row.view.in_cluster for row in log_dir.partitions)
    return {row.directory_id for row in rows if row is not None and row.directory_id is not None}


def _partitions_in(log_dir: LogDirSite) -> set[tuple[str, int, DirectoryState]]:
    return {
        (partition.topic, partition.partition, partition.state)
        for partition in log_dir.view.partitions
        if partition.state in LIVE
    }


def _names_sibling(finding: Finding, topic_ids: AbstractSet[str]) -> bool:
    """Return whether another log dir of the broker has a file to copy."""
    del topic_ids
    return finding.id != "KC305" or bool(finding.data["readable_in"])


REPAIR = Repair(
    name="rewrite-meta-properties",
    rank=35,
    scope=RepairScope.LOG_DIR,
    rules=("KC121", "KC305", "KC306"),
    plan=plan,
    impact=Impact.CHECKPOINT,
    page=__doc__,
    has_evidence=_names_sibling,
)
