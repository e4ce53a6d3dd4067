"""The steps of a scan of a fleet, each a pure function of its arguments, which any process can run.

They identify log dirs, list their partition directories, check these, and then check each broker. Arguments and
results are small values and Arrow batches.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache, lru_cache, partial
from itertools import groupby, islice
from typing import TYPE_CHECKING

from kcheck.arrow import from_bytes, to_bytes
from kcheck.core.start.predictions import PartitionPrediction
from kcheck.core.start.startup import NOT_SERVED, Mode, Outcome, settings
from kcheck.disk.directory import Directory
from kcheck.disk.paths import join
from kcheck.disk.refusals import Refusals, asked_twice
from kcheck.disk.tree import Tree, bounded, tree_of
from kcheck.documents.next_start import StartEffects
from kcheck.fleet.scan.both_ends import worse_findings
from kcheck.fleet.scan.cluster_metadata import (
    TopicsTold,
    detector_of,
    in_its_cluster,
    log_dir_detector,
)
from kcheck.fleet.scan.identify import Identified, ScanOptions
from kcheck.fleet.scan.predictions import predicted, worse_start
from kcheck.fleet.scan.remembered import how_text, kept_in, known_of, remembered, signature, with_known
from kcheck.fleet.scan.replicas import is_swap, lineage_of_runs, runs_of
from kcheck.fleet.scan.rows import (
    DirectoryRow,
    Item,
    Scanned,
    directory_row,
    items_batch,
    items_of,
    replicas_batch,
)
from kcheck.jobs.guard import guarded
from kcheck.model.finding import Finding, Location
from kcheck.model.names import DirectoryState, parse_directory
from kcheck.model.parsed import BrokerReads, Parsed
from kcheck.model.release import Release
from kcheck.model.unreadable import UnreadableError
from kcheck.model.views import CheckpointOffsets, FileView, LogDirView, PartitionView
from kcheck.replicas.loading import brought_back
from kcheck.replicas.replica import ReplicaState, after_start, logs_of
from kcheck.startup.inputs import Context, load_inputs
from kcheck.startup.log_manager import mode_of_log_dir
from kcheck.survey.recheck import confirmed, suspects
from kcheck.survey.refused_paths import refused_findings
from kcheck.survey.rule_runner import check_partition, topic_ids_of, with_evidence
from kcheck.verbs.batch_reads import with_known_faults
from kcheck.verbs.log_facts import log_facts, looks_between, looks_into_segments
from kcheck.views.log_dir import open_log_dir, wanted_directories
from kcheck.views.partition import as_read_by, try_partition

if TYPE_CHECKING:
    import pyarrow as pa

    from kcheck.survey.segment_scan import SegmentScan

ITEM_COUNT = 256
"""Directories in one task if little is read of each."""
REMOTE_ITEM_COUNT = 4
"""The same in a store, where many tasks wait in parallel."""
_DEEP_SIZE_MAX, _DEEP_COUNT_MAX = 16 << 20, 64
"""Bytes of logs, and directories, in one task if segments are read. A large directory is its own task."""
_BATCH_COUNT = 1024
"""Directories in a batch, at most."""
_SEGMENT_COUNT = 65_536
"""Segments at which a batch is passed on."""
READ_SIZE_MAX = 256 << 20
"""Bytes read from a directory in a store, at most, unless logs are read from their start."""


def list_items(log_dir: Identified, how: ScanOptions) -> tuple[tuple[int, bytes], ...]:
    """Return the wanted partition directories of a log dir, as batches of items, each with its number.

    If the log dir is unchanged since an earlier run, they are the remembered rows.
    """
    how = how.of(log_dir.used, log_dir.lowest)
    tree = tree_of(log_dir.path)
    with suppress(UnreadableError):  # The next listing reports the error.
        tree.hold(log_dir.path)
    # A log dir that cannot be listed has no items; the look at its broker has the finding.
    opened = asked_twice(partial(open_log_dir, tree, log_dir.path, log_dir.broker_id, how.release))
    errors = {name: view.refusal for name, view in opened.view.files.items() if view.refusal is not None}
    refused = json.dumps(errors) if errors else None
    detector = log_dir_detector(log_dir.metadata, opened.view)
    mode = mode_of_log_dir(opened, settings({}, how.release), how.release, detector)
    topics = TopicsTold(log_dir.metadata, opened.view)
    items = (
        Item(
            log_dir.cluster,
            log_dir.broker,
            log_dir.broker_id,
            log_dir.path,
            name,
            opened.view.clean_shutdown,
            *opened.checkpoints.of(directory.topic, directory.partition),
            refused,
            mode,
            topics.source,
            topics.of(directory.topic, directory.partition),
            log_dir.used,
            log_dir.lowest,
        )
        for name, directory in wanted_directories(opened, how.wanted)
    )
    many = REMOTE_ITEM_COUNT if tree.is_remote else ITEM_COUNT
    parts_of = partial(_parts_by_size, tree) if how.depth.reads_segments else partial(_parts, count=many)
    if not how.remembers:
        return tuple((len(part), to_bytes(items_batch(part))) for part in parts_of(items))
    known = remembered(how.since, log_dir.path)
    look = how_text(str(how.depth), how.release, how.other)
    signed: Iterator[Item] = (item._replace(signature=signature(item, look)) for item in items)
    if known.file is not None:
        held = [*signed]
        same = [*known.if_same(log_dir.path, [item.signature for item in held])]
        if same:
            return tuple((batch.num_rows, to_bytes(batch)) for batch in same)
        signed = iter(held)
    # What is known is many directories at once: it costs nothing to look at.
    groups = groupby(signed, key=lambda item: item.signature in known.at)
    parts = (part for is_known, group in groups for part in (_parts(group, many) if is_known else parts_of(group)))
    return tuple((len(part), to_bytes(with_known(part, known))) for part in parts)


def _parts(items: Iterator[Item], count: int) -> Iterator[list[Item]]:
    return iter(lambda: list(islice(items, count)), [])


def _parts_by_size(tree: Tree, items: Iterator[Item]) -> Iterator[list[Item]]:
    """Yield small directories together; in a store each one alone, because its tasks wait in parallel."""
    part: list[Item] = []
    left = _DEEP_SIZE_MAX
    for item in items:
        size = _DEEP_SIZE_MAX if tree.is_remote else sum(tree.sizes(join(item.log_dir, item.name), ".log"))
        if part and (size > left or len(part) == _DEEP_COUNT_MAX):
            yield part
            part, left = [], _DEEP_SIZE_MAX
        part.append(item)
        left -= size
    if part:
        yield part


def scan_items(data: bytes, how: ScanOptions) -> tuple[bytes, ...]:
    """Return the results of a batch of items, as batches of directories.

    Remembered directories are not read again. Their rows are passed on.
    """
    (items,) = from_bytes(data)
    if kept_in(items.schema) is not None:
        return (data,)
    how = how.of(*(items.column(name)[0].as_py() for name in ("kafka", "kafka_lowest")))  # They are of one log dir.
    known = known_of(items)
    if known is None:
        return tuple(map(to_bytes, scan_batches(iter((items,)), how)))
    batches: list[pa.RecordBatch] = []
    rows = items.column("known").to_pylist()
    for is_new, part in groupby(range(items.num_rows), key=lambda at: rows[at] is None):
        first, *others = part
        if is_new:
            batches.extend(scan_batches(iter((items.slice(first, 1 + len(others)),)), how))
        else:
            batches.append(known.slice(rows[first], 1 + len(others)))
    return tuple(map(to_bytes, batches))


def scan_batches(batches: "Iterator[pa.RecordBatch]", how: ScanOptions) -> "Iterator[pa.RecordBatch]":
    """Yield what was found in the directories of batches of items, in their order, in batches of bounded size."""
    segment_scan = _deep(how) if how.depth.reads_segments else None
    held: list[DirectoryRow] = []  # Views are let go one by one: the next one takes the place of the last one.
    segments = 0
    for batch in batches:
        for item in items_of(batch):
            answer = guarded(partial(_bounded, item, segment_scan, how), item.where)
            scanned = Scanned(item, None, complete=False, findings=(answer,)) if isinstance(answer, Finding) else answer
            held.append(directory_row(scanned))
            segments += 0 if scanned.view is None else len(scanned.view.segments)
            if len(held) == _BATCH_COUNT or segments >= _SEGMENT_COUNT:
                yield replicas_batch(held)
                held, segments = [], 0
    if held:
        yield replicas_batch(held)


def _deep(how: ScanOptions) -> "SegmentScan":
    from kcheck.jobs.workers import Workers
    from kcheck.survey.segment_scan import SegmentScan  # imported only if segments are read

    return SegmentScan(how.depth, how.release, Workers(1))


def _bounded(item: Item, segment_scan: "SegmentScan | None", how: ScanOptions) -> Scanned:
    path, tree = join(item.log_dir, item.name), tree_of(item.log_dir)
    disk = tree.directory(path)
    if not tree.is_remote:
        scanned = _scan(disk, item, segment_scan, how)
        suspect = suspects(item.log_dir, scanned.findings)
        if not suspect:
            return scanned
        return scanned._replace(
            findings=confirmed(suspect, scanned.findings, _scan(disk, item, segment_scan, how).findings)
        )
    with bounded(tree, path, None if how.depth.reads_segments else READ_SIZE_MAX):
        return _scan(disk, item, segment_scan, how)


def _scan(disk: Directory, item: Item, segment_scan: "SegmentScan | None", how: ScanOptions) -> Scanned:
    """Look at one directory, as check does, and name each file that was refused."""
    with Refusals() as refused:
        scanned = _scan_directory(disk, item, segment_scan, how)
    more = tuple(refused_findings(refused, scanned.findings))
    return scanned._replace(findings=sorted((*scanned.findings, *more), key=Finding.sort_key)) if more else scanned


def _scan_directory(disk: Directory, item: Item, segment_scan: "SegmentScan | None", how: ScanOptions) -> Scanned:
    directory = parse_directory(item.name)
    assert directory is not None
    where = item.where
    log_dir = _log_dir(item.broker_id, item.log_dir, item.refused, is_clean=item.clean_shutdown)
    offsets = CheckpointOffsets(item.recovery_point, item.log_start, item.high_watermark, item.cleaned)
    # Without it the premises about segments cost more than a tenth of a scan.
    looks = how.depth.reads_segments and looks_into_segments(tree_of(item.log_dir))
    small_files: dict[str, bytes] = {}
    view, unread = try_partition(
        disk, directory, where, log_dir=log_dir, offsets=offsets, walk_all=False, release=how.release,
        ends=looks and looks_between(directory.topic, offsets, None), small_files=small_files,
    )  # fmt: skip
    if view is None:
        return Scanned(item, None, complete=False, findings=unread)
    context = _context_of(item, view, how.release)
    reads = how.depth.verifies
    if item.source is not None:
        view = in_its_cluster(view, item.source, context)
    collected = [*unread]
    if segment_scan is not None:
        (view,) = segment_scan.partitions((view,), lambda _: not unread, collected)

    def at_end(view: PartitionView, release: Release) -> tuple[PartitionPrediction | None, list[Finding]]:
        """Return the next start under a release, and the findings."""
        inputs = load_inputs(offsets, release, clean=item.clean_shutdown)
        around = context if release is how.release else _context_of(item, view, release)

        def predict(*, reads: bool) -> PartitionPrediction | Finding | None:
            return guarded(lambda: predicted(directory, view, inputs, around, complete=not unread, reads=reads), where)

        ids = {view.topic: topic_ids_of(view)}
        of_rules = () if unread else check_partition(view, release)
        findings = [*collected, *(with_evidence(finding, ids) for finding in of_rules)]
        start = predict(reads=reads)
        if isinstance(start, Finding):
            return None, [*findings, start]
        if any(finding.claims for finding in findings):
            # Only for these few a log is read through at any depth.
            reread = predict(reads=True) if _is_unread(start) else start
            known = () if reread is None or isinstance(reread, Finding) else (reread,)
            findings = list(settled(findings, known, release))
        return start, findings

    start, findings = at_end(view, how.release)
    differs = None
    if how.other is not None:
        read = view if unread else as_read_by(view, small_files, offsets, how.other)
        other, of_other = at_end(read, how.other)
        start, differs = worse_start((how.release, start), (how.other, other))
        findings = [*worse_findings((how.release, findings), (how.other, of_other))]
    if start is not None and reads:
        start = with_known_faults(disk, start, view.read)
    has_state = view.where.broker_id is not None and not view.is_metadata_log
    state = _state(view, log_dir, start, how) if has_state else None
    log = None if start is None else log_facts(
        disk, item.log_dir, start, offsets, context.image, clean=item.clean_shutdown, looks=looks,
        broker_id=view.where.broker_id,
    )  # fmt: skip
    return Scanned(item, view, len(unread) == 0, sorted(findings, key=Finding.sort_key), state, start, log, differs)


def _is_unread(start: PartitionPrediction | None) -> bool:
    return start is not None and start.outcome is Outcome.UNKNOWN and start.unread is None


def settled(findings: Iterable[Finding], starts: Iterable[PartitionPrediction], release: Release) -> Iterator[Finding]:
    """Yield the findings, each with an effect that the next start of its partition has, where that is known."""
    starts_by_dir = {start.dir: StartEffects(start, release) for start in starts}
    for finding in findings:
        start = starts_by_dir.get(finding.where.dir or "")
        yield finding if start is None else start.settled(finding)


def _context_of(item: Item, view: PartitionView, release: Release) -> Context:
    """Return the context for the next start of a directory, with the metadata of its cluster."""
    context = context_of_mode(item.mode or "", release)
    if item.source is None or item.of_topic is None or context.mode is not Mode.KRAFT:
        return context
    return context._replace(stray_detector=detector_of(item.source, item.of_topic, view.topic, view.topic_id))


@cache
def context_of_mode(mode: str, release: Release) -> Context:
    """Return how a broker with the settings of every broker starts."""
    return Context(settings({}, release), Mode(mode), release)


@lru_cache(1)  # Directories come log dir by log dir.
def _log_dir(broker_id: int | None, path: str, refused: str | None, *, is_clean: bool) -> LogDirView:
    """Return the view of the log dir of an item."""
    where = Location(broker_id, path)
    errors = json.loads(refused) if refused else {}
    files = {name: _refused(name, error, where) for name, error in errors.items()}
    return LogDirView(where, clean_shutdown=is_clean, files=files)


def _refused(name: str, error: str, where: Location) -> FileView:
    """Return a view of a checkpoint that the broker's reader refuses."""
    return FileView("", name, where, 0, Parsed(None), BrokerReads(None, error))


def _state(
    view: PartitionView, log_dir: LogDirView, start: PartitionPrediction | None, how: ScanOptions
) -> ReplicaState:
    """Return a replica after the next start of its broker.

    Its batches are read again only if all of them were read. If some segments are unreadable, the epochs of the file
    replace the batches' epochs. If some batches have no epoch, all are read again, because only their CRCs differ. A
    log that gets a swap as a segment is read again too.
    """
    reads = how.depth.verifies
    is_dropped = start is not None and start.outcome in NOT_SERVED
    if (is_dropped or view.state is not DirectoryState.CURRENT) and (reads or log_dir.clean_shutdown):
        return brought_back(view, log_dir, how.release)
    state = after_start(view, log_dir, start, how.release, reads=reads)
    if not view.is_read:
        return state
    lacks_some = any(segment.lacks_epochs for segment in view.read or ()) or any(is_swap(log) for log in state.logs)
    known = None if lacks_some else lineage_of_runs(runs_of(view), state.first_segment, state.log_end_offset)
    return state._replace(logs=state.logs or logs_of(view), lineage=known)


def compare_partitions(data: bytes, how: ScanOptions) -> tuple[bytes, ...]:
    """Compare the replicas of partitions, from batches of `replica_groups`, to rows of `comparison`."""
    from kcheck.fleet.scan.comparison import compare  # worth its import where partitions are compared

    if how.auto is None:
        return tuple(map(to_bytes, compare(from_bytes(data), how.release)))
    return tuple(
        to_bytes(compared)
        for part in from_bytes(data)
        for cluster, of_cluster in _by_cluster(part)
        for compared in compare((of_cluster,), *how.of_cluster(cluster))
    )


def _by_cluster(partitions: "pa.RecordBatch") -> "Iterator[tuple[str | None, pa.RecordBatch]]":
    """Yield the partitions of each cluster, which come sorted by cluster."""
    clusters = partitions.column("cluster").to_pylist()
    for cluster, same in groupby(range(partitions.num_rows), key=clusters.__getitem__):
        first, *others = same
        yield cluster, partitions.slice(first, 1 + len(others))
