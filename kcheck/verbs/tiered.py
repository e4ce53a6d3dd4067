"""`kcheck tiered`: what is in remote storage, who can read it, and what is missing in the store."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from kcheck.core.start.unserved import ImageOf
from kcheck.core.tiered.reports import RemoteReplica, RemoteReport, remote_report
from kcheck.core.tiered.store import objects_by_segment, stored_bytes
from kcheck.documents.answer import BrokerAnswer
from kcheck.documents.remote_log import local_start_of, remote_row, span_rows
from kcheck.model.depth import Depth
from kcheck.model.finding import Finding
from kcheck.model.release import Release
from kcheck.model.remote_log import MetadataState, Store, StoredLog
from kcheck.model.report import PartitionFilter, Report, Row
from kcheck.model.views import PartitionView
from kcheck.survey.rule_runner import check_store
from kcheck.verbs.check import check
from kcheck.views.log_dir import LogDirs
from kcheck.views.remote_store import store_objects

REMOTE_RULES = (*(f"KC24{number}" for number in range(10)), "KC411")
"""The rules about remote storage."""
_GB = 1_000_000_000


class TieredReplica(NamedTuple):
    """One replica of a partition in remote storage."""

    view: PartitionView
    """The replica."""
    report: RemoteReport
    """What becomes of the remote part if it leads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiered(BrokerAnswer):
    """What `kcheck tiered` answers."""

    replicas: tuple[TieredReplica, ...]
    """The replicas, by partition and broker."""
    store: Store | None
    """The store; None if nobody looked."""
    price: float | None
    """USD for a GB and month; None if no price is known."""

    @property
    def stored(self) -> int | None:
        """The size of all objects of segments in bytes; None if nobody looked at the store."""
        return None if self.store is None else stored_bytes(self.store.objects.values())

    @property
    def cost(self) -> float | None:
        """What they cost in USD a month; None if that is not known."""
        return None if self.price is None or self.stored is None else self.stored / _GB * self.price

    def report(self) -> Report:
        """Return the answer as rows."""
        store: Row | None = None
        if self.store is not None:
            store = {
                "place": self.store.place,
                "segments": len(self.store.objects),
                "bytes": self.stored,
                "usd_a_month": self.cost,
            }
        return self.document(
            "tiered",
            body={"store": store, "replicas": tuple(map(_row, self.replicas))},
            kinds={"replicas": "replica"},
        )


def _row(replica: TieredReplica) -> Row:
    view, report = replica
    return {
        "topic": view.topic,
        "partition": view.partition,
        "broker_id": view.where.broker_id,
        "log_start_offset": view.log_start_offset,
        "log_end_offset": view.log_end_offset,
        "remote": remote_row(view),
        "deletes_if_leading": span_rows(report.deleted_offsets),
        "gaps": span_rows(report.gaps),
        "unreadable": span_rows(report.unreadable),
        "without_metadata": span_rows(report.without_metadata),
    }


class _StoreWatch:
    """Keeps the replicas in remote storage, and looks into the store after the last of them."""

    def __init__(self, place: str | None, log_dirs: LogDirs) -> None:
        self.replicas: list[TieredReplica] = []
        self.store: Store | None = None
        self._place, self._log_dirs = place, log_dirs
        self._clusters: set[str | None] = set()

    def take(self, cluster_id: str | None, view: PartitionView) -> None:
        """Look at one partition directory."""
        self._clusters.add(cluster_id)
        start, local_start = view.log_start_offset, local_start_of(view)
        if view.remote is not None and start is not None and local_start is not None:
            replica = RemoteReplica(start, local_start, view.leader_epochs)
            slim = view._replace(files=frozenset(), metadata=None, last_batch=None, read=None)
            self.replicas.append(TieredReplica(slim, remote_report(view.remote, replica)))

    def findings(self, images: ImageOf, release: Release) -> Iterable[Finding]:
        """Yield what is wrong in the store."""
        del images
        if self._place is None:
            return
        objects, named, is_complete = objects_by_segment(store_objects(self._place)), set[str](), True
        for cluster_id in self._clusters:
            states, ids = self._metadata(cluster_id)
            named |= ids
            is_complete = is_complete and states <= {MetadataState.READ, MetadataState.MISSING}
        now_ms = int(time.time() * 1000)
        self.store = Store(self._place, objects, frozenset(named), is_complete, now_ms)
        logs = {
            (view.topic, view.partition): StoredLog(view.topic, view.partition, view.remote, objects, now_ms)
            for view, _ in self.replicas
            if view.remote is not None
        }
        yield from check_store(self.store, logs.values(), release)

    def _metadata(self, cluster_id: str | None) -> tuple[set[MetadataState], set[str]]:
        """Return how much of the metadata of a cluster is known, and the segments that it names."""
        remote = self._log_dirs.remote
        folded = () if remote is None else remote.all_metadata(cluster_id)
        states, ids = set[MetadataState](), set[str]()
        for part in folded:
            states.add(part.state)
            ids.update(segment.segment_id for segments in part.logs.values() for segment in segments)
        return states or {MetadataState.NOT_GIVEN}, ids


def tiered(
    arguments: list[str],
    *,
    wanted: PartitionFilter,
    release: Release,
    store: str | None = None,
    price: float | None = None,
    metadata: tuple[str, ...] = (),
) -> Tiered:
    """Return the remote part of every replica, and what is wrong with it.

    `store` is a folder, a URL or a listing of the store. UsageError: a path that does not exist.
    """
    log_dirs = LogDirs(release)
    watch = _StoreWatch(store, log_dirs)
    checked = check(
        arguments, depth=Depth.HEADERS, as_kind=None, wanted=wanted, release=release, log_dirs=log_dirs,
        metadata=metadata, watch=watch,
    )  # fmt: skip
    shown = ("KC00", *REMOTE_RULES)
    return Tiered(
        release=release,
        collected=[finding for finding in checked.collected if finding.id.startswith(shown)],
        checked=checked.checked,
        replicas=tuple(sorted(watch.replicas, key=_place)),
        store=watch.store,
        price=price,
    )


def _place(replica: TieredReplica) -> tuple[str, int, int]:
    view = replica.view
    return view.topic, view.partition, -1 if view.where.broker_id is None else view.where.broker_id
