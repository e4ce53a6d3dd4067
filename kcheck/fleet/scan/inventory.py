"""Finds the log dirs of a fleet, by a layout of directories, folders of log dirs, or an inventory file."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from kcheck.core.releases.releases import release as release_of
from kcheck.disk.paths import join, split
from kcheck.disk.refusals import Refusals
from kcheck.disk.store import mount
from kcheck.disk.tree import real_path, tree_of
from kcheck.errors import KcheckError, NotALogDirError, UsageError
from kcheck.fleet.scan.layouts import Disks, layout_of, matching_directories
from kcheck.jobs.workers import Limits, Workers
from kcheck.model.finding import Finding, Location
from kcheck.model.names import BUNDLE_SUFFIX
from kcheck.model.unreadable import Unreadable, UnreadableCause, UnreadableError
from kcheck.rules import kc001_unreadable
from kcheck.views.targets import TargetKind, targets, unusable
from kcheck.words import shell_word

_NAMES = ("cluster", "broker", "log_dir")
_COLUMNS = (*_NAMES, "kafka")
_EVERY = ("/{log_dir}", "/*")
"""The ends of layouts that match every log dir of a folder."""


class FleetLogDir(NamedTuple):
    """A log dir of a fleet, with its cluster and broker; None if the user named none.

    `folder` is the folder of log dirs, if the user named only that. `kafka` is the release of the broker, if the
    inventory names it.
    """

    path: str
    cluster: str | None = None
    broker: str | None = None
    folder: str | None = None
    kafka: str | None = None
    is_there: bool = False
    """True if this host sees it as a directory, if it was asked."""
    is_beside_all: bool = False
    """True if all log dirs of its folder are in the scan."""


class Inventory(NamedTuple):
    """The log dirs, sorted by path, and a finding for each directory above them that cannot be listed.

    `real` are the paths of the log dirs with every link resolved, in the same order.
    """

    log_dirs: tuple[FleetLogDir, ...]
    findings: tuple[Finding, ...]
    real: tuple[str, ...]


def inventory(roots: Sequence[str], limits: Limits | None = None) -> Inventory:
    """Return the log dirs of the ROOTs, each once; with `limits` a disk that does not answer is a finding.

    UsageError if a path is missing, or a layout or an inventory is invalid. UsageError also if two roots contradict
    each other about one log dir.
    """
    findings: list[Finding] = []
    by_path: dict[str, FleetLogDir] = {}
    with Workers(1, limits=None if any(tree_of(root).is_remote for root in roots) else limits) as workers:
        disks = Disks(workers, findings)
        for root in roots:
            count = len(findings)
            of_root = [*_of(root, disks, findings)]
            paths = disks.ask(real_path, [log_dir.path for log_dir in of_root])
            for log_dir, path in zip(of_root, paths, strict=True):
                known = log_dir if path is None else by_path.setdefault(path, log_dir)
                if (known.cluster, known.broker) != (log_dir.cluster, log_dir.broker):
                    raise UsageError(
                        f"{known.path} belongs to {_owner_words(known)}, but {log_dir.path} to {_owner_words(log_dir)}"
                    )
            if not of_root and len(findings) == count:
                raise NotALogDirError(f"{root}: no log dir is there")
    in_order = sorted((log_dir, path) for path, log_dir in by_path.items())
    return Inventory(tuple(log_dir for log_dir, _ in in_order), tuple(findings), tuple(path for _, path in in_order))


def is_inventory(root: str) -> bool:
    """Return whether a ROOT is the name of an inventory file."""
    return root.endswith((".csv", ".parquet"))


def _owner_words(log_dir: FleetLogDir) -> str:
    names = (("cluster", log_dir.cluster), ("broker", log_dir.broker))
    return " and ".join(f"{name} {value}" for name, value in names if value is not None) or "no broker"


def _of(root: str, disks: Disks, findings: list[Finding]) -> Iterator[FleetLogDir]:
    count = len(findings)
    (named,) = disks.ask(_named, [root])
    if isinstance(named, NotALogDirError) and tree_of(root).is_directory(root):
        example = join(root, "{cluster}", "{broker}", "{log_dir}")
        raise NotALogDirError(f"{named}, or a layout such as {shell_word(example)}") from named
    if isinstance(named, KcheckError):
        raise named
    if named is not None:
        yield from named
    elif len(findings) > count:
        return
    elif is_inventory(root):
        if not tree_of(root).exists(root):
            raise UsageError(f"{root}: no such file or directory")
        yield from _of_file(root, findings)
    elif "{" in root:
        layout = layout_of(root, _NAMES)
        if not tree_of(layout.start).is_directory(layout.start):
            raise unusable(layout.start, f"{root}: {layout.start}: not a directory")
        for path, known in matching_directories(layout, disks):
            yield FleetLogDir(
                path, known.get("cluster"), known.get("broker"), is_beside_all=root.rstrip("/").endswith(_EVERY)
            )
    else:
        example = "/mnt/{broker}/{log_dir}"
        raise unusable(root, f"{root}: not a directory, a layout such as {example}, or a .csv or .parquet file")


def _bundles(root: str) -> list[str]:
    """Return the bundles in a folder."""
    return [join(root, name) for name in sorted(tree_of(root).listing(root).files) if name.endswith(BUNDLE_SUFFIX)]


def _named(root: str) -> tuple[FleetLogDir, ...] | KcheckError | None:
    """Return the log dirs of a ROOT that is a directory, or an error; None if it is something else."""
    try:
        with Refusals() as refused:
            named = targets(_bundles(root) or [root]) if tree_of(root).is_directory(root) else None
        if root in refused:
            return NotALogDirError(f"{root}: {refused[root]}")
    except UnreadableError as error:
        return NotALogDirError(f"{root}: {error}")
    except KcheckError as error:
        return error
    if named is None:
        return None
    if any(target.kind is not TargetKind.LOG_DIR for target in named):
        return UsageError(f"{root}: a partition directory; name its log dir")
    return tuple(
        FleetLogDir(target.path, folder=target.folder, is_beside_all=target.folder is not None) for target in named
    )


def _of_file(path: str, findings: list[Finding]) -> Iterator[FleetLogDir]:
    """Yield the log dirs of an inventory file, with column log_dir, and optional cluster, broker and kafka.

    A missing log dir is reported when it is opened.
    """
    for number, row in enumerate(_csv(path) if path.endswith(".csv") else _parquet(path), start=1):
        log_dir, cluster, broker, kafka = (_text(row.get(name)) for name in ("log_dir", "cluster", "broker", "kafka"))
        if log_dir is None:
            raise UsageError(f"{path}: row {number} names no log_dir")
        if kafka is not None:
            _known(kafka, path, number)
        try:
            mount(log_dir)
        except UsageError:
            raise
        except KcheckError as error:
            why = Unreadable(UnreadableCause.REFUSED, str(error))
            findings.append(kc001_unreadable.finding(Location(log_dir=log_dir), why))
            continue
        yield FleetLogDir(join(*split(log_dir)), cluster, broker, kafka=kafka)


def _known(kafka: str, path: str, number: int) -> None:
    try:
        release_of(kafka)
    except UsageError as error:
        raise UsageError(f"{path}: row {number}: {error}") from error


def _text(value: object) -> str | None:
    """Return the value of a cell, None of an empty one; Parquet has texts as bytes, too."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "surrogateescape")
    return None if value in (None, "") else str(value)


def _csv(path: str) -> Iterator[Mapping[str, object]]:
    try:
        text = tree_of(path).read_whole(path, follow=True).decode("utf-8-sig", "surrogateescape")
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        _columns(path, reader.fieldnames or ())
        for number, row in enumerate(reader, start=1):
            if None in row or None in row.values():
                raise UsageError(f"{path}: row {number} has not as many cells as there are columns")
            yield row
    except (UnreadableError, csv.Error) as error:
        raise UsageError(f"{path}: {error}") from error


def _parquet(path: str) -> Iterator[Mapping[str, object]]:
    import pyarrow as pa  # only for an inventory of this kind
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(pa.BufferReader(tree_of(path).read_whole(path, follow=True))) as file:
            _columns(path, file.schema_arrow.names)
            for batch in file.iter_batches(columns=[name for name in _COLUMNS if name in file.schema_arrow.names]):
                yield from batch.to_pylist()
    except (UnreadableError, pa.ArrowException, OSError) as error:
        raise UsageError(f"{path}: {error}") from error


def _columns(path: str, names: Sequence[str]) -> None:
    optional = "columns cluster, broker and kafka are optional"
    if "log_dir" not in names:
        raise UsageError(f"{path} has no column log_dir; {optional}")
    unknown = [name for name in names if name not in _COLUMNS]
    if unknown:  # A misspelt name would leave each broker without its release.
        raise UsageError(f"{path}: {unknown[0]!r} is not one of the columns {', '.join(_COLUMNS)}")
