"""Questions about several brokers (the best leaders, and their cost), or about the metadata of controllers."""

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from kcheck.api.answers import Path, compared, complete, metadata_for, release, texts_of
from kcheck.errors import UsageError
from kcheck.model.evidence import AUTO
from kcheck.model.release import Release
from kcheck.model.report import EVERY_PARTITION, PartitionFilter

if TYPE_CHECKING:
    from kcheck.plans.progress import RecoveryProgress
    from kcheck.plans.recover import ClusterRecovery
    from kcheck.plans.recover_metadata import MetadataRecovery
    from kcheck.plans.recover_quorum import QuorumRecovery
    from kcheck.plans.recover_topic import TopicRecovery
    from kcheck.plans.rescue_progress import RescueProgress
    from kcheck.replicas.elect import ClusterElection, ElectionQuestion
    from kcheck.replicas.end_offset import EndOffsets
    from kcheck.replicas.truncation import Truncation
    from kcheck.replicas.verification import Verification
    from kcheck.verbs.cluster import ClusterReport
    from kcheck.verbs.tiered import Tiered


def end_offset(
    *paths: Path,
    epochs: Iterable[int] = (),
    current_leader_epoch: int = -1,
    log_end_offset: int | None = None,
    after_start: bool = False,
    partitions: PartitionFilter = EVERY_PARTITION,
    kafka: str | Release = AUTO,
) -> "EndOffsets":
    """Return the answers of replicas to OffsetsForLeaderEpoch: `kcheck end-offset`."""
    from kcheck.replicas.end_offset import EndOffsetQuery, end_offsets

    query = EndOffsetQuery(
        epochs=_numbers("epochs", epochs),
        current_leader_epoch=current_leader_epoch,
        log_end_offset=log_end_offset,
        after_start=after_start,
    )
    texts = texts_of(paths)
    return compared(kafka, texts, lambda chosen: end_offsets(texts, query, wanted=partitions, release=chosen))


def truncation(
    *replicas: Path,
    leader: str | int | None = None,
    leader_epoch: int | None = None,
    live: bool = False,
    metadata: Iterable[Path] = (),
    partitions: PartitionFilter = EVERY_PARTITION,
    kafka: str | Release = AUTO,
) -> "Truncation":
    """Return the truncation of each follower, and the loss: `kcheck truncation`.

    `leader` is a broker id, `best`, or None for every candidate; with `live` the brokers do not restart before.
    `metadata` are copies of the cluster's metadata outside of the replicas. They list the replicas that can be elected
    cleanly.
    """
    from kcheck.replicas.leader_plans import Election
    from kcheck.replicas.truncation import truncation as verb

    election = Election(leader=None if leader is None else str(leader), leader_epoch=leader_epoch, live=live)
    texts = texts_of(replicas)
    named = metadata_for(texts, metadata)

    def answer(chosen: Release) -> "Truncation":
        return verb(texts, election, wanted=partitions, release=chosen, metadata=named)

    return compared(kafka, texts, answer)


def _numbers(name: str, values: Iterable[int]) -> tuple[int, ...]:
    """Return the ids of an argument. UsageError for another type, as that would name no broker."""
    numbers = tuple(values)
    for number in numbers:
        if not isinstance(number, int):
            raise UsageError(f"{name}: {number!r} is not a number")
    return numbers


def _question(
    texts: list[str],
    metadata: Iterable[Path],
    config: Path | None,
    *,
    dead: Iterable[int] = (),
    incomplete_ok: bool = False,
    aside: Iterable[Path] = (),
) -> "ElectionQuestion":
    """Return the question about the elections of a cluster."""
    from kcheck.replicas.elect import ElectionQuestion

    return ElectionQuestion(
        dead=_numbers("dead", dead),
        incomplete_ok=incomplete_ok,
        metadata=metadata_for(texts, metadata),
        aside=tuple(texts_of(aside)),
        config=None if config is None else os.fspath(config),
    )


def tiered(
    *replicas: Path,
    store: Path | None = None,
    layout: str | None = None,
    price: float | None = None,
    manifests: bool = False,
    metadata: Iterable[Path] = (),
    partitions: PartitionFilter = EVERY_PARTITION,
    kafka: str | Release = AUTO,
) -> "Tiered":
    """Return the contents of remote storage, and its readers: `kcheck tiered`.

    `store` is a folder, a URL or a listing of the store. `price` is the price of a GB in a month, in USD. `layout`
    is a regular expression for the keys of another plugin, with the named groups offset, segment and suffix.
    `manifests` compares the `.log` objects of the Aiven plugin with their manifests.
    """
    from kcheck.verbs.tiered import tiered as verb

    texts = texts_of(replicas)
    named = metadata_for(texts, metadata)
    place = None if store is None else os.fspath(store)

    def answer(chosen: Release) -> "Tiered":
        return verb(
            texts, wanted=partitions, release=chosen, store=place, layout=layout, price=price, manifests=manifests,
            metadata=named,
        )  # fmt: skip

    return compared(kafka, texts, answer)


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
    """Return the best leader of each partition, and the order of starts: `kcheck elect`.

    Repairs without loss come first (`repairs`) if they let a broker start, or save records from its next start.
    `dead` are the brokers that are given up; with `incomplete_ok` a leader is recommended although replicas of other
    brokers are not known. `metadata` are copies of the cluster's metadata outside of the log dirs. `aside` are texts
    `BROKER=PATH`: partition directories that were moved aside, or their folders. `config` is a controller's
    server.properties, where none is among the paths. `save_lost` is a directory for
    copies of the batches that the election of some candidate would cut, `out` one for the plan. The plan is of every
    partition, so UsageError for `out` with `partitions`.
    """
    from kcheck.plans.first_repairs import elect as verb
    from kcheck.plans.recovery_output import with_election_plan
    from kcheck.replicas.election_output import require_whole, with_saved

    folder = None if out is None else os.fspath(out)
    require_whole(partitions, folder)
    texts = texts_of(brokers)
    question = _question(texts, metadata, config, dead=dead, incomplete_ok=incomplete_ok, aside=aside)
    elected = compared(kafka, texts, lambda chosen: verb(texts, question, wanted=partitions, release=chosen))
    elected = elected if save_lost is None else with_saved(elected, os.fspath(save_lost))
    return elected if folder is None else with_election_plan(elected, folder)


def recover(
    *brokers: Path,
    dead: Iterable[int] = (),
    incomplete_ok: bool = False,
    metadata: Iterable[Path] = (),
    aside: Iterable[Path] = (),
    config: Path | None = None,
    out: Path | None = None,
    partitions: PartitionFilter = EVERY_PARTITION,
    kafka: str | Release = AUTO,
) -> "ClusterRecovery":
    """Return the steps for a cluster with the smallest loss: `kcheck recover`.

    The arguments are those of `elect`. `out` is a directory for the runbook, the files of Kafka's tools, and the
    records that the plan gives up.
    """
    from kcheck.plans.recover import recover as verb
    from kcheck.plans.recovery_output import with_plan

    texts = texts_of(brokers)
    question = _question(texts, metadata, config, dead=dead, incomplete_ok=incomplete_ok, aside=aside)
    answer = compared(kafka, texts, lambda chosen: verb(texts, question, wanted=partitions, release=chosen))
    return answer if out is None else with_plan(answer, os.fspath(out))


def recovery_progress(
    plan: Path,
    *brokers: Path,
    metadata: Iterable[Path] = (),
    config: Path | None = None,
    partitions: PartitionFilter = EVERY_PARTITION,
    kafka: str | Release = AUTO,
) -> "RecoveryProgress":
    """Return how far a cluster is with a plan, and what to do now: `kcheck recover PLAN --next`.

    `plan` is the directory that `recover` wrote for `out`.
    """
    from kcheck.plans.next_step import next_step

    texts, folder = texts_of(brokers), os.fspath(plan)
    question = _question(texts, metadata, config)
    return compared(kafka, texts, lambda chosen: next_step(folder, texts, question, wanted=partitions, release=chosen))


def rescue_progress(
    plan: Path, *nodes: Path, metadata: Iterable[Path] = (), kafka: str | Release = AUTO
) -> "RescueProgress":
    """Return the progress with the plan of a rescue, and the next step (`kcheck recover PLAN --next`).

    `plan` is the directory that `recover_quorum`, `recover_metadata` or `recover_topic` wrote for `out`. `metadata` are
    copies of the cluster's metadata outside of the log dirs.
    """
    from kcheck.plans.rescue_progress import rescue_next

    texts, folder, named = texts_of(nodes), os.fspath(plan), texts_of(metadata)
    return complete(lambda: rescue_next(folder, texts, named, release(kafka, paths=texts)))


def recover_quorum(
    *nodes: Path,
    dead: Iterable[int] = (),
    voter: str | None = None,
    way: str | None = None,
    force: bool = False,
    out: Path | None = None,
    kafka: str | Release = AUTO,
) -> "QuorumRecovery":
    """Return how to bring back controllers that lost their majority: `kcheck recover quorum`.

    `nodes` are the log dirs of every controller and broker, as texts `NODE=PATH`. `dead` are nodes that never come
    back, `voter` is the controller that is to lead, as NODE or NODE@HOST:PORT. `way` is static, identity, copy or
    voters. `out` is a directory for the plan of each node and the runbook.
    """
    from kcheck.core.rescue.ways import Way
    from kcheck.plans.recover_quorum import QuorumQuestion, new_voter
    from kcheck.plans.recover_quorum import recover_quorum as verb

    if way is not None and way not in {*Way}:
        raise UsageError(f"--way {way}: use one of {', '.join(Way)}")
    wanted = None if voter is None else new_voter(voter)
    question = QuorumQuestion(_numbers("dead", dead), wanted, None if way is None else Way(way), force)
    texts = texts_of(nodes)
    answer = complete(lambda: verb(texts, question, release=release(kafka, paths=texts)))
    return answer if out is None else answer.with_plan(os.fspath(out))


def recover_metadata(
    *nodes: Path,
    answers: Path | None = None,
    dead: Iterable[int] = (),
    voter: str | None = None,
    standalone: bool = False,
    bootstrap: bool = False,
    zookeeper: bool = False,
    force: bool = False,
    out: Path | None = None,
    kafka: str | Release = AUTO,
) -> "MetadataRecovery":
    """Return metadata made again from the disks of brokers: `kcheck recover metadata`.

    `nodes` are the log dirs of every broker and of a new, formatted controller, as texts `NODE=PATH`. `answers` is a
    file with facts that only the user knows. `dead` are nodes that never come back. `voter` is the new controller, as
    NODE or NODE@HOST:PORT. With `standalone` the cluster is one broker, for reading. With `bootstrap` the controller
    gets the metadata as its first records, and starts before the brokers. With `zookeeper` there
    is no controller, and an empty ZooKeeper gets the metadata. `out` is a directory for the plan of each node, the
    answers file and the runbook. After a refusal the answers file there is kept, and read again.
    """
    from kcheck.core.rescue.answers import NONE
    from kcheck.plans.recover_metadata import MetadataQuestion, kept_answers, read_answers
    from kcheck.plans.recover_metadata import recover_metadata as verb
    from kcheck.plans.recover_quorum import new_voter

    path = os.fspath(answers) if answers is not None else None if out is None else kept_answers(os.fspath(out))
    question = MetadataQuestion(
        dead=_numbers("dead", dead),
        voter=None if voter is None else new_voter(voter),
        answers=NONE if path is None else read_answers(path),
        answers_path=path,
        standalone=standalone,
        bootstrap=bootstrap,
        zookeeper=zookeeper,
        force=force,
    )
    texts = texts_of(nodes)
    answer = complete(lambda: verb(texts, question, release=release(kafka, paths=texts)))
    return answer if out is None else answer.with_plan(os.fspath(out))


def recover_topic(
    topic: str,
    *brokers: Path,
    metadata: Iterable[Path] = (),
    topic_id: str | None = None,
    force: bool = False,
    out: Path | None = None,
    kafka: str | Release = AUTO,
) -> "TopicRecovery":
    """Return how old directories of a topic serve again: `kcheck recover topic`.

    `brokers` are the log dirs of every broker, as texts `BROKER=PATH`, with `-delete` or `-stray` directories.
    `topic_id` is the former id, where several topics had this name. `out` is a directory for the plans of each broker.
    """
    from kcheck.plans.recover_topic import TopicQuestion
    from kcheck.plans.recover_topic import recover_topic as verb

    texts = texts_of(brokers)
    question = TopicQuestion(name=topic, metadata=metadata_for(texts, metadata), topic_id=topic_id, force=force)
    answer = complete(lambda: verb(texts, question, release=release(kafka, paths=texts)))
    return answer if out is None else answer.with_plan(os.fspath(out))


def verify(
    plan: Path,
    *brokers: Path,
    metadata: Iterable[Path] = (),
    partitions: PartitionFilter = EVERY_PARTITION,
    kafka: str | Release = AUTO,
) -> "Verification":
    """Return the result of a plan: `kcheck verify`. `plan` is the directory that `elect` wrote for `out`.

    `metadata` are copies of the cluster's metadata outside of the log dirs.
    """
    from kcheck.replicas.verification import verify as verb

    texts, folder = texts_of(brokers), os.fspath(plan)
    named = metadata_for(texts, metadata)

    def answer(chosen: Release) -> "Verification":
        return verb(folder, texts, wanted=partitions, release=chosen, metadata=named)

    return compared(kafka, texts, answer)


def cluster(
    *paths: Path,
    at: int | None = None,
    history: str | None = None,
    fetchers: int | None = None,
    brokers: bool = False,
    partitions: PartitionFilter = EVERY_PARTITION,
    kafka: str | Release = AUTO,
) -> "ClusterReport":
    """Return the metadata of the controllers: `kcheck cluster`.

    `at` is the offset of the last metadata record that counts, or the zxid of ZooKeeper's last transaction. `history`
    is a partition as TOPIC-N, `fetchers` the brokers' num.replica.fetchers. With `brokers` the one table of the answer
    lists the brokers.
    """
    from kcheck.verbs.cluster import ClusterQuestion, kraft_paths, partition_named
    from kcheck.verbs.cluster import cluster as verb

    wanted_history = None if history is None else partition_named(history)
    question = ClusterQuestion(at=at, history=wanted_history, fetchers=fetchers, brokers=brokers)
    texts = texts_of(paths)

    def answer() -> "ClusterReport":
        return verb(texts, question, wanted=partitions, release=release(kafka, paths=kraft_paths(texts)))

    return complete(answer)
