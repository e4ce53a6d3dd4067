"""Shared parts of repairs for names and places of files."""

from collections.abc import Iterable

from kcheck.model.entries import Offset
from kcheck.model.finding import Finding
from kcheck.model.names import INDEX_ENDINGS, ids_differ, log_name, segment_bases
from kcheck.repairs._contract import Evidence, PartitionSite
from kcheck.words import counted

SEGMENT_ENDINGS = (".log", *INDEX_ENDINGS, ".snapshot")

DAMAGE = ("KC141", "KC142", "KC143", "KC144", "KC145", "KC146", "KC147", "KC148", "KC149")
"""The rules about batches that changed after they were written."""

RECORDS = ("KC163", "KC164", "KC165", "KC166", "KC168", "KC169", "KC183")
"""The rules about batches with wrong contents but matching CRCs."""


def path_of(partition: PartitionSite, name: str) -> str:
    """Return the path of a file of a partition, from its log dir on."""
    return f"{partition.dir}/{name}"


def bases(partition: PartitionSite) -> list[Offset]:
    """Return the base offsets of the remaining segments."""
    return segment_bases(partition.names)


def unsettled(partition: PartitionSite, rules: Iterable[str]) -> Finding | None:
    """Return the first finding of some rules that no planned edit settles."""
    wanted = frozenset(rules)
    return next(
        (finding for finding in partition.findings if finding.id in wanted and not partition.settled(finding)), None
    )


def whole_log(partition: PartitionSite) -> Evidence:
    """Return the evidence that every batch of a log was read and is valid, or that the log has none."""
    if not bases(partition):
        return Evidence(partition.dir, None, crc_verified=None, what="the directory has no .log")
    last = bases(partition)[-1]
    return Evidence(
        path_of(partition, log_name(last)), partition.size(log_name(last)), crc_verified=True,
        what=f"all batches of the log are valid ({counted(len(bases(partition)), 'file')}); it ends here",
    )  # fmt: skip


def stands_in(one: PartitionSite, other: PartitionSite) -> bool:
    """Return whether the other directory holds every batch of one, both being of one topic and valid to their ends."""
    are_whole = one.image().fault is None and other.image().fault is None
    return are_whole and not ids_differ(one.view.topic_id, other.view.topic_id) and other.contains(one)
