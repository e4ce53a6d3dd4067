"""The log dirs of one broker name different brokers or clusters, so the broker does not start.

What is wrong: Each log dir has a meta.properties with the id of the broker and of the cluster. They must be equal in
all log dirs of a broker. A disk of another broker or cluster was mounted, a volume was reused, or a log dir was never
formatted. Or the file is lost.

What the broker does:

- Different node.id or broker.id: It does not start, in 0.9 and later.
- Different cluster.id: It does not start, in 2.4 and later.
- A log dir without the file: It does not start with KRaft. With ZooKeeper it starts, except from 2.8 to 3.6 where the
  file exists and is empty. In 3.9 and earlier only other log dirs show that a log dir belongs to KRaft. For a broker
  that was migrated from ZooKeeper, the cluster metadata in one of them shows it.
- Any other difference, such as directory.id after a downgrade: It does not start with ZooKeeper (2.8 to 3.6) or KRaft
  (2.8 to 3.3). Other releases ignore it.

What to do: Find out whose disk it is before you change anything. Its partitions belong to that broker. If only the file
is wrong or missing, take another log dir of this broker. Copy its version, node.id (or broker.id) and cluster.id. Do
not copy directory.id.

See: operations/dead-disk.md
"""

from collections.abc import Iterable, Iterator, Sequence

from kcheck.core.start.identity import KRAFT_VERSION, Identity, identity
from kcheck.model.finding import Finding, Location, Severity
from kcheck.model.names import META_PROPERTIES
from kcheck.model.release import Release
from kcheck.model.views import LogDirView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import kafka
from kcheck.words import listed


def check(views: tuple[LogDirView, ...], release: Release) -> Iterable[Finding]:
    """Compare what the log dirs say about themselves."""
    identities_known = [known for known in map(identity, views) if known is not None]
    differences = [*_different_ids(identities_known, release)]
    for what, identities, values in differences or _different_otherwise(identities_known, release):
        words = listed(
            f"{value} in {known.view.where.log_dir}" for known, value in zip(identities, values, strict=True)
        )
        yield _finding(identities[-1].file.where, f"the log dirs have different {what}: {words}", release)
    for view in views:
        lacks = None if identity(view) is not None else _lacks(view, identities_known, release)
        if lacks is not None:
            others = tuple(str(known.view.where.log_dir) for known in identities_known)
            other = f"; readable in {listed(others)}" if others else ""
            yield _finding(view.where, f"{view.where.log_dir} has {lacks}{other}", release, others)


def _lacks(view: LogDirView, identities: list[Identity], release: Release) -> str | None:
    """Return which identity a log dir lacks; None if the broker starts anyway."""
    if not identities and (META_PROPERTIES in view.files or not (view.files and view.partitions)):
        return None  # Alone it may hold copies of partitions and not be a log dir; KC121 reports an empty file.
    if META_PROPERTIES in view.unparseable:
        return None  # KC301 reports a directory of that name.
    if META_PROPERTIES in view.unread:
        return None  # KC001 reports it. The broker takes only this log dir offline.
    if not view.files and not view.partitions:
        return None  # Its disk may not be mounted; KC315 reports that.
    if release.is_kraft_only or (identities and _of_kraft(identities) and release.needs_meta_properties_in_kraft):
        return "no readable meta.properties"
    compared = META_PROPERTIES in view.files and release.compares_meta_properties
    return "an empty meta.properties" if compared else None


Difference = tuple[str, list[Identity], list[str]]


def _different_ids(identities: list[Identity], release: Release) -> Iterator[Difference]:
    yield from _different("broker ids", [(known, known.broker_id) for known in identities])
    if release.compares_cluster_ids:
        yield from _different("cluster ids", [(known, known.get("cluster.id")) for known in identities])


def _different_otherwise(identities: list[Identity], release: Release) -> Iterator[Difference]:
    if release.compares_meta_properties_in_kraft if _of_kraft(identities) else release.compares_meta_properties:
        for key in sorted({key for known in identities for key, _ in known.properties}):
            yield from _different(f"values of {key}", [(known, known.get(key) or "none") for known in identities])


def _of_kraft(identities: list[Identity]) -> bool:
    return all(known.version >= KRAFT_VERSION for known in identities) or any(
        known.view.of_kraft for known in identities
    )


def _different(what: str, values: Sequence[tuple[Identity, object]]) -> Iterator[Difference]:
    known = [(owner, str(value)) for owner, value in values if value is not None]
    if len({value for _, value in known}) > 1:
        yield what, [owner for owner, _ in known], [value for _, value in known]


def _finding(where: Location, message: str, release: Release, readable_in: tuple[str, ...] = ()) -> Finding:
    return RULE.finding(
        where,
        message,
        effect=f"{kafka(release)} does not start.",
        advice="Find out whose disk it is before you change anything. If only the file is wrong, copy version, "
        "node.id (or broker.id) and cluster.id from another log dir of this broker. Do not copy directory.id.",
        data={"readable_in": readable_in},
    )


RULE = Rule(severity=Severity.FATAL, scope=Scope.BROKER, check=check)
