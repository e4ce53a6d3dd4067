"""What is wrong with log dirs, put together with what a plan needs of them."""

from collections.abc import Iterable

from kcheck.disk.walk import real
from kcheck.errors import UsageError
from kcheck.jobs.workers import Workers
from kcheck.model.depth import Depth
from kcheck.model.finding import Finding
from kcheck.model.names import DirectoryState
from kcheck.model.views import PartitionView
from kcheck.plans.edited_log_dir import EditedLogDir
from kcheck.plans.edited_partition import EditedPartition
from kcheck.startup.log_manager import StartOptions
from kcheck.views.log_dir import LogDir, LogDirs
from kcheck.views.segment_scan import SegmentScan
from kcheck.views.survey import Survey, whole_log_dir
from kcheck.views.targets import Target, broker_of, require_same_broker


def diagnose(
    targets: Iterable[Target], wish: StartOptions, collected: list[Finding], log_dirs: LogDirs
) -> list[EditedLogDir]:
    """Return the log dirs with every finding of `check --depth records` about them; `collected` gets them too."""
    found: list[tuple[Target, LogDir, list[PartitionView]]] = []
    with Workers(1) as workers:
        deep = SegmentScan(Depth.RECORDS, wish.release, workers)
        look = Survey(wanted=wish.wanted, release=wish.release, deepen=deep.partitions, log_dirs=log_dirs)
        for target in targets:
            log_dir, views = look.log_dir(target)
            require_same_broker(target, log_dir.view)
            found.append((target, log_dir, list(views)))
        look.compare()
    collected.extend(look.collected)
    sites = [_site(*each, wish, look.collected) for each in found]
    if len({site.real for site in sites}) < len(sites):
        raise UsageError("a log dir is named twice")
    ids = _topic_ids(sites)
    for site in sites:
        site.siblings = tuple(other for other in sites if other is not site and other.broker == site.broker)
        site.topic_ids = ids
    return sites


def _site(
    target: Target, log_dir: LogDir, views: list[PartitionView], wish: StartOptions, findings: list[Finding]
) -> EditedLogDir:
    whole = whole_log_dir(log_dir, [view._replace(epochs=None, segments=(), last_batch=None) for view in views])
    path = whole.where.log_dir
    own = sorted((each for each in findings if each.where.log_dir == path), key=Finding.sort_key)
    by_dir: dict[str | None, list[Finding]] = {view.where.dir: [] for view in views}
    others: list[Finding] = []
    for each in own:
        by_dir.get(each.where.dir, others).append(each)
    site = EditedLogDir(log_dir, whole, broker_of(target, whole), wish, tuple(others))
    site.real = real(site.path)
    site.partitions = tuple(EditedPartition(site, view, tuple(by_dir[view.where.dir])) for view in views)
    return site


def _topic_ids(sites: list[EditedLogDir]) -> dict[str, dict[str, str]]:
    """Return by topic which ids partition.metadata names, with one path where it does."""
    found: dict[str, dict[str, str]] = {}
    for site in sites:
        for view in site.view.partitions:
            named = view.topic_id is not None and view.state is DirectoryState.CURRENT
            sound = view.metadata is not None and not view.metadata.parsed.defects
            if named and sound:
                path = f"{view.where.log_dir}/{view.where.dir}"
                found.setdefault(view.topic, {}).setdefault(str(view.topic_id), path)
    return found
