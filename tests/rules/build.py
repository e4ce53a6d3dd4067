"""Views for the rules, made from the bytes of files and a few numbers, as a scan would make them."""

from collections.abc import Iterable

from kcheck.core.releases.releases import release
from kcheck.core.start.segments import log_start_offset
from kcheck.formats import (
    clean_shutdown,
    leader_epoch_checkpoint,
    meta_properties,
    metadata_snapshot,
    offset_checkpoint,
    partition_metadata,
    producer_snapshot,
)
from kcheck.model.entries import Batch, Epoch, Offset
from kcheck.model.finding import Finding, Location
from kcheck.model.names import DirectoryState
from kcheck.model.release import Release
from kcheck.model.segments import SegmentView
from kcheck.model.views import FileView, LogDirView, PartitionView, SegmentSummary
from kcheck.registry import discover
from kcheck.rules import Rule, Scope

LOG_DIR = "/data/d1"

NEWEST = release("4.3")

FORMATS = (
    offset_checkpoint, leader_epoch_checkpoint, partition_metadata, meta_properties, clean_shutdown, producer_snapshot,
    metadata_snapshot,
)  # fmt: skip


def rules() -> tuple[Rule, ...]:
    """Return every rule."""
    found = discover("kcheck.rules", "RULE")
    assert all(isinstance(rule, Rule) for rule in found)
    return tuple(rule for rule in found if isinstance(rule, Rule))


def file_view(kind: str, name: str, data: bytes, kafka: str = "4.3", **where: str | int) -> FileView:
    """Return a file of that kind as it is read for a release."""
    form = next(module.FORMAT for module in FORMATS if module.FORMAT.kind == kind)
    reads = None if form.broker_reads is None else form.broker_reads(data, release(kafka))
    place = Location(log_dir=LOG_DIR, file=name, **where)
    return FileView(kind=kind, name=name, where=place, size=len(data), parsed=form.parse(data), reads=reads)


def offsets(name: str, data: bytes, kafka: str = "4.3") -> FileView:
    """Return an offset checkpoint; `name` may be its first word."""
    return file_view(
        "offset-checkpoint", f"{name}-offset-checkpoint" if name.isalpha() or "-" in name else name, data, kafka
    )


def epochs(data: bytes, kafka: str = "4.3") -> FileView:
    """Return the leader-epoch-checkpoint of t-0."""
    return file_view(
        "leader-epoch-checkpoint", "leader-epoch-checkpoint", data, kafka, dir="t-0", topic="t", partition=0
    )


def batch(base_offset: int, last_offset: int, epoch: int | None) -> Batch:
    """Return a batch of which only offsets and epoch matter."""
    return Batch(
        position=0,
        size=61,
        magic=1 if epoch is None else 2,
        base_offset=Offset(base_offset),
        last_offset=Offset(last_offset),
        epoch=None if epoch is None else Epoch(epoch),
        record_count=1,
        max_timestamp=0,
        attributes=0,
        crc=0,
    )


def partition(
    *,
    epoch_file: FileView | None = None,
    log_end: int | None = None,
    first_segment: int = 0,
    log_start: int | None = None,
    recovery_point: int | None = None,
    high_watermark: int | None = None,
    last_batch: Batch | None = None,
    clean: bool | None = None,
    state: DirectoryState = DirectoryState.CURRENT,
    segment_sizes: tuple[int, ...] = (700,),
    name: str = "t-0",
    log_dir: str = LOG_DIR,
    topic_id: str | None = None,
) -> PartitionView:
    """Return a partition directory; its segments are 100 offsets apart."""
    plain = name if state is DirectoryState.CURRENT else name.rpartition(".")[0] or name
    topic, _, number = plain.rpartition("-")
    return PartitionView(
        where=Location(log_dir=log_dir, dir=name, topic=topic, partition=int(number)),
        topic=topic,
        partition=int(number),
        state=state,
        topic_id=topic_id,
        log_start_checkpoint=None if log_start is None else Offset(log_start),
        log_start_offset=log_start_offset(None if log_start is None else Offset(log_start), Offset(first_segment)),
        recovery_point=None if recovery_point is None else Offset(recovery_point),
        high_watermark=None if high_watermark is None else Offset(high_watermark),
        log_end_offset=None if log_end is None else Offset(log_end),
        size=sum(segment_sizes),
        epochs=epoch_file,
        segments=tuple(
            SegmentSummary(base_offset=Offset(first_segment + 100 * i), size=size)
            for i, size in enumerate(segment_sizes)
        ),
        last_batch=last_batch,
        clean_shutdown=clean,
    )


def log_dir(
    *files: FileView,
    path: str = LOG_DIR,
    partitions: tuple[PartitionView, ...] = (),
    unparseable: tuple[str, ...] = (),
    locked_by: int | None = None,
    cluster_id: str | None = None,
    directory_id: str | None = None,
    broker_id: int | None = None,
) -> LogDirView:
    """Return a log dir with these files."""
    return LogDirView(
        where=Location(log_dir=path, broker_id=broker_id),
        cluster_id=cluster_id,
        directory_id=directory_id,
        files={file.name: file for file in files},
        partitions=partitions,
        unparseable=unparseable,
        locked_by=locked_by,
    )


def found_by(rule: Rule, view: object, kafka: Release | str = NEWEST) -> tuple[Finding, ...]:
    """Return what one rule finds; each of them carries the rule's id and name, and meets its precondition."""
    chosen = release(kafka) if isinstance(kafka, str) else kafka
    shown = not isinstance(view, FileView) or view.kind in rule.kinds
    found = tuple(rule.check(view, chosen)) if shown else ()
    assert all((finding.id, finding.name) == (rule.id, rule.name) for finding in found)
    assert not found or rule.when is None or rule.when(view)
    return found


def found_by_all(view: object, scope: Scope, kafka: str = "4.3") -> tuple[Finding, ...]:
    """Return what all rules of that scope find; segments and partitions that were read are shown to more."""
    scopes = {scope}
    if isinstance(view, SegmentView):
        scopes.add(Scope.FAULTY_SEGMENT)
    if isinstance(view, PartitionView) and view.read is not None:
        scopes.add(Scope.READ_PARTITION)
    chosen = release(kafka)
    return tuple(finding for rule in rules() if rule.scope in scopes for finding in found_by(rule, view, chosen))


def ids(findings: Iterable[Finding]) -> list[str]:
    """Return the rules that spoke."""
    return [finding.id for finding in findings]
