"""The public Python API: a function for each command, with its typed result.

Every function takes paths as the command does, and the options that say which Kafka release is modelled and which
partitions are meant. The results are values; `to_dict()` gives the JSON document of the command, and `to_arrow()` its
table where it is one. UsageError: the arguments make no sense.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from kcheck.core.releases import with_profile
from kcheck.model.evidence import AUTO
from kcheck.model.release import Release
from kcheck.model.report import PartitionFilter

if TYPE_CHECKING:
    from kcheck.dumps.filter import DumpDetail, Filter
    from kcheck.model.finding import Chosen
    from kcheck.plans.repair import RepairPlan
    from kcheck.replicas.elections import ClusterElection
    from kcheck.replicas.end_offset import EndOffsets
    from kcheck.replicas.truncation import Truncation
    from kcheck.replicas.verification import Verification
    from kcheck.verbs.check import CheckReport, ReadOptions
    from kcheck.verbs.cluster import ClusterReport
    from kcheck.verbs.dump import Dump
    from kcheck.verbs.inspect import Inspection
    from kcheck.verbs.overview import Overview
    from kcheck.verbs.predict import Prediction
    from kcheck.verbs.preflight import Preflight
    from kcheck.verbs.release import WithOutcomes
    from kcheck.verbs.simulate import (
        Configuration,
        ReleasesCompared,
        SearchBounds,
        Searched,
        SearchesCompared,
        Simulation,
    )
    from kcheck.views.refused_paths import WithFindings

Path = str | os.PathLike[str]
"""A file, a partition directory, a log dir or a folder of log dirs; a replica as a text `BROKER=PATH`."""
EVERY_PARTITION = PartitionFilter()


def release(
    kafka: str | Release = AUTO,
    *,
    paths: Iterable[Path] = (),
    ibp: str | None = None,
    message_format: str | None = None,
    profile: str | None = None,
    config: Path | None = None,
    log: Path | None = None,
) -> Release:
    """Return what a Kafka release does: `4.3`, `3.9.2`; `ibp` and `message_format` as in server.properties.

    `auto` is the newest tested release that the files in `paths` can be of: its `evidence` says why. `profile` forces
    a truncation profile, P0 to P5. `config` and `log` are a server.properties and a broker's own log, plain or .gz,
    that say more. UsageError: a release, a version or a profile that is not known.
    """
    if isinstance(kafka, Release):
        chosen = kafka
        if chosen.evidence is not None:
            from kcheck.disk.refusals import note_again

            note_again(chosen.evidence.refused)
    else:
        from kcheck.verbs.release import NamedFiles
        from kcheck.verbs.release import release as verb

        named = NamedFiles(*(None if path is None else os.fspath(path) for path in (config, log)))
        chosen = verb(_texts(paths), kafka, ibp=ibp, message_format=message_format, named=named)
    return with_profile(chosen, profile) if profile else chosen


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
    """Return what is in files, partition directories and log dirs: `kcheck inspect`."""
    from kcheck.documents.inspection import InspectDetail
    from kcheck.verbs.inspect import inspect as verb

    detail = InspectDetail(segments=segments, epochs=epochs, batches=batches, files=files)
    texts = _texts(paths)
    return _complete(
        lambda: verb(texts, as_kind=as_kind, wanted=partitions, detail=detail, release=release(kafka, paths=texts))
    )


def check(
    *paths: Path,
    depth: str = "headers",
    as_kind: str | None = None,
    reading: "ReadOptions | None" = None,
    metadata: Iterable[Path] = (),
    partitions: PartitionFilter = EVERY_PARTITION,
    kafka: str | Release = AUTO,
) -> "CheckReport":
    """Return what is wrong: `kcheck check`. `depth` is checkpoints, headers, crc or records.

    `metadata` are copies of the cluster's metadata outside of the paths, such as a controller's log dir.
    """
    from kcheck.model.depth import parse_depth
    from kcheck.verbs.check import check as verb

    texts, level, named = _texts(paths), parse_depth(depth), tuple(_texts(metadata))

    def answer(chosen: Release) -> "CheckReport":
        return verb(
            texts, depth=level, as_kind=as_kind, wanted=partitions, release=chosen, reading=reading, metadata=named
        )

    return _compared(kafka, texts, answer)


def predict(
    *paths: Path,
    clean: bool | None = None,
    config: Path | None = None,
    define: Sequence[str] = (),
    metadata: Iterable[Path] = (),
    partitions: PartitionFilter = EVERY_PARTITION,
    kafka: str | Release = AUTO,
) -> "Prediction":
    """Return what the broker does at its next start: `kcheck predict`.

    `clean` overrides .kafka_cleanshutdown, `config` is a server.properties, `define` are settings such as
    `log.index.size.max.bytes=4096`, `metadata` are copies of the cluster's metadata outside of the paths.
    """
    from kcheck.startup.log_manager import StartOptions
    from kcheck.verbs.predict import predict as verb
    from kcheck.views.broker_settings import settings_of

    texts, named = _texts(paths), tuple(_texts(metadata))

    def answer(chosen: Release) -> "Prediction":
        settings = settings_of(texts, None if config is None else os.fspath(config), tuple(define), chosen)
        return verb(texts, StartOptions(clean, settings, chosen, partitions, metadata=named))

    return _compared(kafka, texts, answer, config)


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

    `allow` are kinds of reasons that do not count: loss, stray, elr, offline; the other arguments are those of predict.
    """
    from kcheck.core.preflight import ALLOWED, ReasonKind
    from kcheck.errors import UsageError
    from kcheck.startup.log_manager import StartOptions
    from kcheck.verbs.preflight import log_dirs_of, unresolved
    from kcheck.verbs.preflight import preflight as verb
    from kcheck.views.broker_settings import settings_of

    path, named, allowed = os.fspath(properties), tuple(_texts(metadata)), frozenset(allow)
    for kind in sorted(allowed - set(ALLOWED)):
        raise UsageError(f"--allow {kind}: use {', '.join(ALLOWED)}")

    def answer(chosen: Release) -> "Preflight":
        unknown = unresolved(path, define)
        settings = settings_of([], None if unknown else path, tuple(define), chosen)
        options = StartOptions(clean, settings, chosen, metadata=named)
        return verb(path, options, frozenset(map(ReasonKind, allowed)), unknown)

    return _complete(lambda: answer(release(kafka, paths=log_dirs_of(path), config=path)))


def overview(
    *paths: Path,
    metadata: Iterable[Path] = (),
    partitions: PartitionFilter = EVERY_PARTITION,
    kafka: str | Release = AUTO,
) -> "Overview":
    """Return what is wrong in batch headers, and the verdict on the next start: `kcheck PATH`."""
    from kcheck.startup.log_manager import StartOptions
    from kcheck.verbs.overview import overview as verb
    from kcheck.views.broker_settings import settings_of

    texts, named = _texts(paths), tuple(_texts(metadata))

    def answer(chosen: Release) -> "Overview":
        settings = settings_of(texts, None, (), chosen)
        return verb(texts, StartOptions(None, settings, chosen, partitions, metadata=named))

    return _compared(kafka, texts, answer)


def end_offset(
    *paths: Path,
    epochs: Iterable[int] = (),
    current_leader_epoch: int = -1,
    log_end_offset: int | None = None,
    after_start: bool = False,
    partitions: PartitionFilter = EVERY_PARTITION,
    kafka: str | Release = AUTO,
) -> "EndOffsets":
    """Return what replicas answer to OffsetsForLeaderEpoch: `kcheck end-offset`."""
    from kcheck.replicas.end_offset import EndOffsetQuery, end_offsets

    query = EndOffsetQuery(
        epochs=tuple(epochs),
        current_leader_epoch=current_leader_epoch,
        log_end_offset=log_end_offset,
        after_start=after_start,
    )
    texts = _texts(paths)
    return _compared(kafka, texts, lambda chosen: end_offsets(texts, query, wanted=partitions, release=chosen))


def truncation(
    *replicas: Path,
    leader: str | int | None = None,
    leader_epoch: int | None = None,
    live: bool = False,
    metadata: Iterable[Path] = (),
    partitions: PartitionFilter = EVERY_PARTITION,
    kafka: str | Release = AUTO,
) -> "Truncation":
    """Return where each follower truncates, and what is lost: `kcheck truncation`.

    `leader` is a broker id, `best`, or None for every candidate; with `live` the brokers do not restart before.
    `metadata` are copies of the cluster's metadata outside of the replicas: they say who can be elected cleanly.
    """
    from kcheck.replicas.leader_plans import Election
    from kcheck.replicas.truncation import truncation as verb

    election = Election(leader=None if leader is None else str(leader), leader_epoch=leader_epoch, live=live)
    texts, named = _texts(replicas), tuple(_texts(metadata))

    def answer(chosen: Release) -> "Truncation":
        return verb(texts, election, wanted=partitions, release=chosen, metadata=named)

    return _compared(kafka, texts, answer)


def elect(
    *brokers: Path,
    dead: Iterable[int] = (),
    incomplete_ok: bool = False,
    metadata: Iterable[Path] = (),
    aside: Iterable[Path] = (),
    config: Path | None = None,
    save_lost: Path | None = None,
    out: Path | None = None,
    partitions: PartitionFilter = EVERY_PARTITION,
    kafka: str | Release = AUTO,
) -> "ClusterElection":
    """Return who should lead each partition, and in which order brokers should start: `kcheck elect`.

    `dead` are the brokers that are given up; with `incomplete_ok` a leader is recommended although replicas of other
    brokers are not known. `metadata` are copies of the cluster's metadata outside of the log dirs. `aside` are texts
    `BROKER=PATH`: partition directories that were moved aside, or what holds them. `config` is a controller's
    server.properties, where none is among the paths. `save_lost` is a directory for
    copies of the batches that the election of some candidate would cut, `out` one for the plan.
    """
    from kcheck.replicas.elections import ElectionQuestion
    from kcheck.replicas.elections import elect as verb

    texts = _texts(brokers)
    question = ElectionQuestion(
        dead=tuple(dead),
        incomplete_ok=incomplete_ok,
        metadata=tuple(_texts(metadata)),
        aside=tuple(_texts(aside)),
        config=None if config is None else os.fspath(config),
    )
    elected = _compared(kafka, texts, lambda chosen: verb(texts, question, wanted=partitions, release=chosen))
    elected = elected if save_lost is None else elected.with_saved(os.fspath(save_lost))
    return elected if out is None else elected.with_plan(os.fspath(out))


def verify(
    plan: Path,
    *brokers: Path,
    metadata: Iterable[Path] = (),
    partitions: PartitionFilter = EVERY_PARTITION,
    kafka: str | Release = AUTO,
) -> "Verification":
    """Return what became of a plan: `kcheck verify`. `plan` is the directory that `elect` wrote for `out`.

    `metadata` are copies of the cluster's metadata outside of the log dirs.
    """
    from kcheck.replicas.verification import verify as verb

    texts, folder, named = _texts(brokers), os.fspath(plan), tuple(_texts(metadata))

    def answer(chosen: Release) -> "Verification":
        return verb(folder, texts, wanted=partitions, release=chosen, metadata=named)

    return _compared(kafka, texts, answer)


def cluster(
    *paths: Path,
    at: int | None = None,
    history: str | None = None,
    fetchers: int | None = None,
    brokers: bool = False,
    partitions: PartitionFilter = EVERY_PARTITION,
    kafka: str | Release = AUTO,
) -> "ClusterReport":
    """Return what the controllers know: `kcheck cluster`.

    `at` is the offset of the last metadata record that counts, or the zxid of ZooKeeper's last transaction. `history`
    is a partition as TOPIC-N, `fetchers` the brokers' num.replica.fetchers. With `brokers` the one table of the answer
    is that of the brokers.
    """
    from kcheck.verbs.cluster import ClusterQuestion, kraft_paths, partition_named
    from kcheck.verbs.cluster import cluster as verb

    wanted_history = None if history is None else partition_named(history)
    question = ClusterQuestion(at=at, history=wanted_history, fetchers=fetchers, brokers=brokers)
    texts = _texts(paths)

    def answer() -> "ClusterReport":
        return verb(texts, question, wanted=partitions, release=release(kafka, paths=kraft_paths(texts)))

    return _complete(answer)


def dump(
    *paths: Path, as_kind: str | None = None, rows: "Filter | None" = None, detail: "DumpDetail | None" = None
) -> "Dump":
    """Return every batch, record or index entry of files: `kcheck dump`."""
    from kcheck.dumps.filter import DumpDetail, Filter
    from kcheck.verbs.dump import dump as verb

    return _complete(
        lambda: verb(_texts(paths), as_kind=as_kind, wanted=rows or Filter(), shown=detail or DumpDetail())
    )


def repair(
    *paths: Path,
    against: Sequence[Path] = (),
    accept_loss: bool = False,
    tidy: bool = False,
    config: Path | None = None,
    define: Sequence[str] = (),
    keep: "Chosen | None" = None,
    metadata: Iterable[Path] = (),
    partitions: PartitionFilter = EVERY_PARTITION,
    kafka: str | Release = AUTO,
) -> "RepairPlan":
    """Return a plan for what is wrong: `kcheck repair`. Nothing on disk changes.

    The plan leaves out what the next start makes good itself, unless `tidy`.
    `against` are replicas of other brokers that can prove what is committed; `keep` chooses findings by rule and
    severity; `metadata` are copies of the cluster's metadata outside of the paths.
    """
    from kcheck.plans.repair import repair as verb
    from kcheck.startup.log_manager import StartOptions
    from kcheck.views.broker_settings import settings_of

    texts, every = _texts(paths), keep or (lambda *_: True)

    def answer() -> "RepairPlan":
        chosen = release(kafka, paths=texts, config=config)
        settings = settings_of(texts, None if config is None else os.fspath(config), tuple(define), chosen)
        options = StartOptions(None, settings, chosen, partitions, metadata=tuple(_texts(metadata)))
        return verb(texts, _texts(against), options, accept_loss=accept_loss, tidy=tidy, keep=every)

    return _complete(answer)


def simulate(
    history: Path, *, kafka: str | None = None, ibp: str | None = None, mutant: str | None = None
) -> "Simulation | ReleasesCompared":
    """Return what a history does: `kcheck simulate`. `history` is a file, or the name of one that kcheck ships.

    With `all` for `kafka` the answer has a replay for every line of releases. `mutant` switches off a condition of
    Kafka. UsageError: it cannot be read, or the mutant is not known.
    """
    from kcheck.verbs.simulate import simulate as verb

    return verb(os.fspath(history), kafka=kafka, ibp=ibp, mutant=mutant)


def search(
    history: "Path | Configuration",
    bounds: "SearchBounds | None" = None,
    *,
    kafka: str | None = None,
    mutant: str | None = None,
) -> "Searched | SearchesCompared":
    """Return the shortest history that breaks a promise: `kcheck simulate --search`; for `all` for `kafka` by release.

    It begins where `history` ends, or with the settings of a configuration. `bounds` are the budget of faults and how
    many events and states are visited. `mutant` switches off a condition of Kafka.
    """
    from kcheck.verbs.simulate import ALL, Configuration, SearchBounds, search_all, text_at
    from kcheck.verbs.simulate import search as verb

    if isinstance(history, Configuration):
        beginning, name = history.beginning(), "the configuration"
    else:
        name = os.fspath(history)
        beginning = text_at(name)
    bounds = bounds or SearchBounds()
    if kafka == ALL:
        return search_all(beginning, name, bounds, mutant=mutant)
    return verb(beginning, name, bounds, kafka=kafka, mutant=mutant)


def _compared(
    kafka: str | Release, texts: list[str], answer: "Callable[[Release], WithOutcomes]", config: Path | None = None
) -> "WithOutcomes":
    """Return the answer for a release, and where it differs at the other end of the range that the files fit."""
    from kcheck.verbs.release import with_other_end

    return _complete(lambda: with_other_end(release(kafka, paths=texts, config=config), answer))


def _complete(answer_of: "Callable[[], WithFindings]") -> "WithFindings":
    from kcheck.views.refused_paths import complete

    return complete(answer_of)


def _texts(paths: Iterable[Path]) -> list[str]:
    return [os.fspath(path) for path in paths]
