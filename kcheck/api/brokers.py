"""Questions about the files of a broker (contents, findings, next start, repair)."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from kcheck.api.answers import Path, compared, complete, metadata_for, release, texts_of
from kcheck.model.evidence import AUTO
from kcheck.model.release import Release
from kcheck.model.report import EVERY_PARTITION, PartitionFilter

if TYPE_CHECKING:
    from kcheck.dumps.filter import DumpDetail, Filter
    from kcheck.model.finding import Chosen
    from kcheck.plans.repair import RepairPlan
    from kcheck.verbs.check import CheckReport, ReadOptions
    from kcheck.verbs.dump import Dump
    from kcheck.verbs.export import Export
    from kcheck.verbs.inspect import Inspection
    from kcheck.verbs.overview import Overview
    from kcheck.verbs.prediction import Prediction
    from kcheck.verbs.preflight import Preflight


def inspect(
    *paths: Path,
    segments: bool = False,
    epochs: bool = False,
    batches: bool = False,
    files: bool = False,
    as_kind: str | None = None,
    partitions: PartitionFilter = EVERY_PARTITION,
    kafka: str | Release = AUTO,
) -> "Inspection":
    """Return the contents of files, partition directories and log dirs: `kcheck inspect`."""
    from kcheck.documents.inspection import InspectDetail
    from kcheck.replicas.coordinators import transactions_of
    from kcheck.verbs.inspect import inspect as verb

    detail = InspectDetail(segments=segments, epochs=epochs, batches=batches, files=files)
    texts = texts_of(paths)
    return complete(
        lambda: verb(
            texts,
            as_kind=as_kind,
            wanted=partitions,
            detail=detail,
            release=release(kafka, paths=texts),
            still_open=transactions_of,
        )
    )


def check(
    *paths: Path,
    depth: str = "headers",
    as_kind: str | None = None,
    reading: "ReadOptions | None" = None,
    metadata: Iterable[Path] = (),
    config: Path | None = None,
    partitions: PartitionFilter = EVERY_PARTITION,
    kafka: str | Release = AUTO,
) -> "CheckReport":
    """Return the findings: `kcheck check`. `depth` is checkpoints, headers, crc or records.

    `metadata` are copies of the cluster's metadata outside of the paths, such as a controller's log dir. `config` is a
    server.properties.
    """
    from kcheck.model.depth import parse_depth
    from kcheck.replicas.coordinators import CoordinatorCheck
    from kcheck.verbs.check import check as verb

    texts, level = texts_of(paths), parse_depth(depth)
    named = metadata_for(texts, metadata)

    def answer(chosen: Release) -> "CheckReport":
        return verb(
            texts,
            depth=level,
            as_kind=as_kind,
            wanted=partitions,
            release=chosen,
            reading=reading,
            metadata=named,
            config=None if config is None else os.fspath(config),
            watch=CoordinatorCheck(level),
        )

    return compared(kafka, texts, answer)


def predict(
    *paths: Path,
    clean: bool | None = None,
    config: Path | None = None,
    define: Sequence[str] = (),
    metadata: Iterable[Path] = (),
    partitions: PartitionFilter = EVERY_PARTITION,
    kafka: str | Release = AUTO,
) -> "Prediction":
    """Return the next start of the broker: `kcheck predict`.

    `clean` overrides .kafka_cleanshutdown. `config` is a server.properties, and `define` are settings such as
    `log.index.size.max.bytes=4096`. `metadata` are copies of the cluster's metadata outside of the paths.
    """
    from kcheck.startup.options import StartOptions
    from kcheck.verbs.predict import predict as verb
    from kcheck.views.broker_settings import settings_of

    texts = texts_of(paths)
    named = metadata_for(texts, metadata)

    def answer(chosen: Release) -> "Prediction":
        settings = settings_of(texts, None if config is None else os.fspath(config), tuple(define), chosen)
        named_config = None if config is None else os.fspath(config)
        return verb(texts, StartOptions(clean, settings, chosen, partitions, metadata=named, config=named_config))

    return compared(kafka, texts, answer, config)


def preflight(
    properties: Path,
    *,
    allow: Iterable[str] = (),
    metadata: Iterable[Path] = (),
    clean: bool | None = None,
    define: Sequence[str] = (),
    kafka: str | Release = AUTO,
) -> "Preflight":
    """Return whether the broker with this server.properties may start: `kcheck preflight`.

    A bundle or folder means the server.properties at its top.
    `allow` are reasons that do not count: loss, stray, elr, offline, or ids of premises. The other arguments are those
    of predict.
    """
    from kcheck.core.premises.table import PREMISES
    from kcheck.core.start.preflight import ALLOWED
    from kcheck.errors import UsageError
    from kcheck.startup.options import StartOptions
    from kcheck.verbs.preflight import configuration_in, log_dirs_of, unresolved
    from kcheck.verbs.preflight import preflight as verb
    from kcheck.verbs.release import of_worse_end
    from kcheck.views.broker_settings import settings_of

    path, named, allowed = configuration_in(os.fspath(properties)), tuple(texts_of(metadata)), frozenset(allow)
    for kind in sorted(allowed - {*ALLOWED, *(premise.id for premise in PREMISES)}):
        raise UsageError(f"--allow {kind}: use {', '.join(ALLOWED)}, or the id of a premise")

    def answer(chosen: Release) -> "Preflight":
        unknown = unresolved(path, define)
        settings = settings_of([], None if unknown else path, tuple(define), chosen)
        options = StartOptions(clean, settings, chosen, metadata=named)
        return verb(path, options, allowed, unknown)

    chosen = partial(release, kafka, paths=log_dirs_of(path), config=path)
    return complete(lambda: of_worse_end(chosen(), answer))


def overview(
    *paths: Path,
    metadata: Iterable[Path] = (),
    partitions: PartitionFilter = EVERY_PARTITION,
    kafka: str | Release = AUTO,
) -> "Overview":
    """Return the findings in batch headers, and the verdict on the next start: `kcheck PATH`."""
    from kcheck.model.depth import Depth
    from kcheck.replicas.coordinators import CoordinatorCheck
    from kcheck.startup.options import StartOptions
    from kcheck.verbs.overview import overview as verb
    from kcheck.views.broker_settings import settings_of
    from kcheck.views.log_dir import LogDirs

    texts = texts_of(paths)
    named = metadata_for(texts, metadata)

    def answer(chosen: Release) -> "Overview":
        settings = settings_of(texts, None, (), chosen)
        opened = LogDirs(chosen)
        options = StartOptions(None, settings, chosen, partitions, metadata=named)
        said = verb(texts, options, opened, CoordinatorCheck(Depth.HEADERS))
        if not said.can_elect:
            return said
        from kcheck.errors import UsageError
        from kcheck.plans.agreed_advice import agreed
        from kcheck.plans.recover import recover
        from kcheck.replicas.elect import ElectionQuestion

        try:
            question = ElectionQuestion(metadata=named)
            recovery = recover(texts, question, wanted=partitions, release=chosen, log_dirs=opened)
        except UsageError:  # A log dir does not say whose it is: each is still looked at alone.
            return said
        if len(recovery.election.brokers) < 2:
            return said
        checked = replace(said.check, collected=agreed(said.check.collected, recovery))
        return replace(said, check=checked, start_of_all=recovery.start_of_all)

    return compared(kafka, texts, answer)


def dump(
    *paths: Path, as_kind: str | None = None, rows: "Filter | None" = None, detail: "DumpDetail | None" = None
) -> "Dump":
    """Return every batch, record or index entry of files: `kcheck dump`."""
    from kcheck.dumps.filter import DumpDetail, Filter
    from kcheck.verbs.dump import dump as verb

    return complete(
        lambda: verb(texts_of(paths), as_kind=as_kind, wanted=rows or Filter(), shown=detail or DumpDetail())
    )


def export(
    *paths: Path,
    committed: bool = False,
    start: int | None = None,
    end: int | None = None,
    group: str | None = None,
    offsets: Iterable[Path] = (),
    partitions: PartitionFilter = EVERY_PARTITION,
) -> "Export":
    """Return logs whose records can be read one by one, in a form that a producer takes: `kcheck export`.

    `committed` leaves out the records of transactions that were not committed. Only offsets from `start` on, and below
    `end`, are read. `group` is a consumer group whose offsets are translated; `offsets` are more log dirs that may have
    them.
    """
    from kcheck.exports.records import ExportChoice
    from kcheck.model.entries import Offset
    from kcheck.replicas.group_offsets import offsets_of_group
    from kcheck.verbs.export import export as verb

    texts = texts_of(paths)
    first, stop = (None if offset is None else Offset(offset) for offset in (start, end))
    of_group = partial(offsets_of_group, [*texts, *texts_of(offsets)])
    wanted = ExportChoice(committed=committed, start=first, end=stop)
    return complete(lambda: verb(texts, wanted=wanted, partitions=partitions, group=group, committed=of_group))


def repair(
    *paths: Path,
    against: Sequence[Path] = (),
    accept_loss: bool = False,
    tidy: bool = False,
    adopt: bool = False,
    store: Path | None = None,
    config: Path | None = None,
    define: Sequence[str] = (),
    keep: "Chosen | None" = None,
    metadata: Iterable[Path] = (),
    partitions: PartitionFilter = EVERY_PARTITION,
    kafka: str | Release = AUTO,
) -> "RepairPlan":
    """Return a plan of repairs: `kcheck repair`. Nothing on disk changes.

    The plan leaves out repairs that the next start makes itself, unless `tidy`. With `adopt`, directories of a topic's
    former id become replicas of the topic that has the name now.
    `against` are replicas of other brokers, which can prove that records are committed. `store` is a remote store, a
    folder or a URL, which can prove leader epochs. `keep` chooses findings by rule and severity. `metadata` are copies
    of the cluster's metadata outside of the paths.
    """
    from kcheck.plans.repair import repair as verb
    from kcheck.startup.options import StartOptions
    from kcheck.views.broker_settings import settings_of

    texts, every = texts_of(paths), keep or (lambda *_: True)

    def answer() -> "RepairPlan":
        chosen = release(kafka, paths=texts, config=config)
        settings = settings_of(texts, None if config is None else os.fspath(config), tuple(define), chosen)
        named = None if config is None else os.fspath(config)
        options = StartOptions(None, settings, chosen, partitions, metadata=metadata_for(texts, metadata), config=named)
        place = None if store is None else os.fspath(store)
        return verb(
            texts, texts_of(against), options, accept_loss=accept_loss, tidy=tidy, adopt=adopt, store=place, keep=every
        )

    return complete(answer)
