"""`kcheck inspect`: the state of files, partition directories and log dirs."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial

from kcheck.core.replication.lost_transactions import OpenTransaction
from kcheck.core.start.cordoned import is_cordoned
from kcheck.disk.paths import folder_of, join, split
from kcheck.disk.refusals import Refusals
from kcheck.disk.tree import Tree
from kcheck.documents.answer import BrokerAnswer
from kcheck.documents.inspect import item_row
from kcheck.documents.inspection import (
    InspectDetail,
    InspectedFile,
    InspectedItem,
    InspectedLogDir,
    InspectedPartition,
    InspectedSegment,
)
from kcheck.formats import Format
from kcheck.model.cluster import CORDONED
from kcheck.model.entries import Batch, Offset
from kcheck.model.finding import Finding
from kcheck.model.names import local_name, parse_file
from kcheck.model.release import Release
from kcheck.model.report import PartitionFilter, Report
from kcheck.model.unreadable import UnreadableError
from kcheck.model.views import LogDirView, PartitionView
from kcheck.segments.batches import Walk
from kcheck.survey.refused_paths import refused_findings
from kcheck.survey.selection import require_match
from kcheck.survey.survey import Survey, requested_format
from kcheck.verbs.next_starts import NextStarts, next_starts
from kcheck.views.log_dir import LogDirs
from kcheck.views.metadata_at_hand import image_at_hand
from kcheck.views.partition import batches_of
from kcheck.views.targets import Target, TargetKind, other_broker, read_properties, replica_targets

Cordons = Callable[[Target, LogDirView], bool | None]
"""Tells whether a log dir is cordoned; None if that is not known."""
StillOpen = Callable[[PartitionView], tuple[OpenTransaction, ...] | None]
"""Returns the transactions that are open at the end of a partition; None if they are not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection(BrokerAnswer):
    """The answer of `kcheck inspect`."""

    detail: InspectDetail
    """The details in addition to the summaries."""
    items: Iterator[InspectedItem]
    """An item per path, several for a folder of log dirs; read once, in order."""

    def report(self) -> Report:
        """Return the answer as rows."""
        return self.document(
            "inspect",
            body={"items": (item_row(item, self.detail) for item in self.items)},
            kinds={"items": "item", "partitions": "partition"},
        )


def inspect(
    paths: list[str], *, as_kind: str | None, wanted: PartitionFilter, detail: InspectDetail, release: Release,
    still_open: StillOpen | None = None,
) -> Inspection:  # fmt: skip
    """Return an item per path; a log dir is read partition by partition. `still_open` looks for transactions.

    UsageError: a path that does not exist, or a file whose kind neither its name nor `as_kind` gives.
    """
    targets = tuple(target for path in paths for target in replica_targets([path]))
    require_match(targets, wanted)
    kinds = {
        target: requested_format(target.tree, target.path, as_kind)
        for target in targets
        if target.kind is TargetKind.FILE
    }
    log_dirs = LogDirs(release)
    starts = next_starts(paths, targets, wanted, log_dirs)

    def with_open(item: InspectedPartition) -> InspectedPartition:
        return item if still_open is None else item._replace(open=still_open(item.view))

    survey = Survey(
        wanted=wanted, release=release, walk_all=detail.walk_all, log_dirs=log_dirs, settle=starts.settle,
        place=starts.tiered,
    )  # fmt: skip
    return Inspection(
        release=release,
        detail=detail,
        items=(
            item._replace(partitions=map(with_open, item.partitions))
            if isinstance(item, InspectedLogDir)
            else with_open(item)
            if isinstance(item, InspectedPartition)
            else item
            for item in _items(survey, targets, kinds, detail, log_dirs, starts)
        ),
        collected=survey.collected,
        checked=(*paths, *(target.path for target in targets)),
    )


def _items(
    survey: Survey,
    targets: tuple[Target, ...],
    kinds: dict[Target, Format],
    detail: InspectDetail,
    log_dirs: LogDirs,
    starts: NextStarts,
) -> Iterator[InspectedItem]:
    """Yield an item per target, then compare the log dirs of each broker and name what was refused."""
    with Refusals() as refused:
        cordons = _cordons(targets, log_dirs)
        for target in targets:
            yield from _items_of(survey, target, kinds, detail, cordons)
        survey.compare()
    survey.collected.extend(_of_other_brokers(targets, log_dirs, starts))
    survey.collected.extend(refused_findings(refused, survey.collected))


def _of_other_brokers(targets: tuple[Target, ...], log_dirs: LogDirs, starts: NextStarts) -> Iterator[Finding]:
    """Yield the refuted premise of each log dir whose given broker is not the one in meta.properties."""
    here = (target for target in targets if target.kind is TargetKind.LOG_DIR)
    if any(other_broker(target, log_dirs.open(target).view) is not None for target in here):
        from kcheck.core.premises.identity import NODE_ID  # only for ids that differ

        yield from (finding for finding in starts.premises() if finding.data["premise"] == NODE_ID)


def _cordons(targets: tuple[Target, ...], log_dirs: LogDirs) -> Cordons:
    """Return the function that tells whether a log dir is cordoned; it reads the metadata when it is first asked."""
    image = cache(partial(image_at_hand, targets, (), log_dirs))

    def cordoned(target: Target, view: LogDirView) -> bool | None:
        if not log_dirs.release.cordons_log_dirs:
            return None
        setting = None if target.config is None else read_properties(target.config).get(CORDONED)
        return is_cordoned(view, image(), setting)

    return cordoned


def _items_of(
    survey: Survey, target: Target, kinds: dict[Target, Format], detail: InspectDetail, cordons: Cordons
) -> Iterator[InspectedItem]:
    match target.kind:
        case TargetKind.LOG_DIR:
            log_dir, views = survey.log_dir(target)
            yield InspectedLogDir(
                log_dir.view, map(partial(_partition, target.tree, detail), views), cordons(target, log_dir.view)
            )
        case TargetKind.PARTITION:
            yield from (_partition(target.tree, detail, view, target.path) for view in survey.partition(target))
        case TargetKind.FILE:
            yield from _file(survey, target, kinds[target], detail)


def _partition(tree: Tree, detail: InspectDetail, view: PartitionView, path: str | None = None) -> InspectedPartition:
    """Return a partition; if its files cannot be read, the survey has the finding."""
    folder = folder_of(view.where)
    item = InspectedPartition(folder if path is None else path, view)
    try:
        if detail.files:
            names = tree.listing(folder).files
            item = item._replace(files=tuple((name, tree.size(join(folder, name))) for name in names))
        if detail.batches:
            bases = (segment.base_offset for segment in view.segments)
            item = item._replace(
                batches=tuple(batch for base in bases for batch in batches_of(tree.directory(folder), base))
            )
    except UnreadableError:
        pass
    return item


def _file(survey: Survey, target: Target, kind: Format, detail: InspectDetail) -> Iterator[InspectedItem]:
    if kind.parse is not None:
        view = survey.file(target, kind)
        if view is not None:
            yield InspectedFile(target.path, view, kind)
        return
    try:
        yield _segment(target.tree, target.path, detail)
    except UnreadableError as error:
        survey.unreadable(target, error)


def _segment(tree: Tree, path: str, detail: InspectDetail) -> InspectedSegment:
    """Read a single `.log` from its beginning."""
    base = parse_file(local_name(split(path)[1])).offset
    headers: list[Batch] = []
    count, timestamp, end = 0, -1, base
    with tree.open(path, follow=True) as source:
        walk = Walk(source)
        for batch in walk:
            count, end = count + 1, Offset(batch.last_offset + 1)
            timestamp = max(timestamp, -1 if batch.max_timestamp is None else batch.max_timestamp)
            if detail.batches:
                headers.append(batch)
    return InspectedSegment(
        path=path,
        base_offset=base,
        end_offset=end,
        size=source.size,
        valid_size=walk.position,
        stopped_by=walk.corrupt,
        batch_count=count,
        max_timestamp=timestamp if count else None,
        batches=tuple(headers) if detail.batches else None,
    )
