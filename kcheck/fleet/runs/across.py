"""The premises that several replicas of a partition show together, from the tables of a run.

A scan judges the other premises, broker by broker.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import combinations

from kcheck.core.election.plans import CopyState
from kcheck.core.premises.facts import BrokerFacts, LogDirFacts, LogFacts
from kcheck.core.premises.followers import STARTS_TOGETHER, with_followers
from kcheck.core.premises.log_ranges import ENDS_THERE
from kcheck.core.premises.names import OWN_NAME, with_names
from kcheck.core.premises.short_leaders import FOLLOWS_NO_SHORTER, with_leaders
from kcheck.core.premises.table import BY_ID
from kcheck.core.replication.log_names import differs
from kcheck.core.start.startup import Mode
from kcheck.fleet.runs.election_rows import PartitionRows
from kcheck.model.cluster import STATIC
from kcheck.model.entries import Epoch, Offset
from kcheck.model.names import TopicPartition
from kcheck.model.premises import JudgedPremise
from kcheck.replicas.candidates import ClusterHere, ReplicaCopy
from kcheck.replicas.replica import ReplicaState
from kcheck.replicas.unserved_copies import shared_batches

_PREMISES = tuple(BY_ID[number] for number in (ENDS_THERE, STARTS_TOGETHER, FOLLOWS_NO_SHORTER))


def premises_across(
    rows: PartitionRows, copies: Iterable[ReplicaCopy], unread: Collection[int], here: ClusterHere
) -> tuple[JudgedPremise, ...]:
    """Return the premises of brokers that the replicas of a partition refute, or leave open, together.

    `here` has the metadata of that partition. The logs of `unread` brokers after their start are not known.
    """
    served = [copy for copy in copies if copy.role is CopyState.CURRENT and copy.state.broker_id not in unread]
    if len({copy.state.log_end_offset for copy in served}) < 2 and not any(_hides(copy.state) for copy in served):
        return ()
    places = {(row["broker_id"], row["dir"]): row["log_dir"] for row in rows.replicas}
    logs = dict(_logs(TopicPartition(rows.topic, rows.partition), served, places))
    facts: dict[object, BrokerFacts] = {number: _broker(number, log, here) for number, log in logs.items()}
    compared = with_leaders(with_followers(facts))
    changed = (own for number, own in compared.items() if own.logs != facts[number].logs)
    return tuple(row for own in changed for premise in _PREMISES for row in premise.judge(premise, own))


def differing_logs(rows: PartitionRows, copies: Iterable[ReplicaCopy]) -> tuple[tuple[int, LogFacts], ...]:
    """Return the replicas of a partition by broker, if two have different batches that all replicas have.

    Only then a directory may have the name of another partition.
    """
    served = [copy for copy in copies if copy.role is CopyState.CURRENT]
    shared = [shared_batches(copy.state) for copy in served]
    if not any(differs(one, other) for one, other in combinations(filter(None, shared), 2)):
        return ()
    places = {(row["broker_id"], row["dir"]): row["log_dir"] for row in rows.replicas}
    return tuple(
        (
            number,
            LogFacts(
                TopicPartition(rows.topic, rows.partition),
                places[number, copy.dir],
                batches=copy.state.batches,
                is_compacted=copy.state.is_compacted,
            ),
        )
        for copy in served
        if (number := copy.state.broker_id) is not None
    )


def names_across(logs: Iterable[tuple[int, LogFacts]], here: ClusterHere) -> Iterator[JudgedPremise]:
    """Yield the directories with the records of another partition, by the `differing_logs` of a cluster."""
    of_brokers: dict[int, list[LogFacts]] = {}
    for number, log in logs:
        of_brokers.setdefault(number, []).append(log)
    mode = Mode.KRAFT if here.kraft else Mode.ZOOKEEPER
    facts: dict[object, BrokerFacts] = {
        number: BrokerFacts(broker_id=number, release=here.release, mode=mode, log_dirs=(), logs=tuple(own))
        for number, own in of_brokers.items()
    }
    for own in with_names(facts).values():
        yield from BY_ID[OWN_NAME].judge(BY_ID[OWN_NAME], own)


def _hides(state: ReplicaState) -> bool:
    """Return whether the log start is above 0, and no leader epoch shows who raised that."""
    return not state.cache and state.log_start_offset > 0


def _logs(
    partition: TopicPartition, served: Iterable[ReplicaCopy], places: Mapping[tuple[int | None, str | None], str]
) -> Iterator[tuple[int, LogFacts]]:
    """Yield the logs that brokers load, by broker; `places` are the log dirs by broker and directory."""
    for copy in served:
        state, number, end = copy.state, copy.state.broker_id, copy.state.log_end_offset
        if number is not None and end is not None:
            epoch = Epoch(state.cache[-1].epoch) if state.cache else None
            yield number, LogFacts(
                partition, places[number, copy.dir], topic_id=state.topic_id, epoch=epoch, end=end,
                loses=state.lost is not None, start=state.log_start_offset, hides=_hides(state),
                replica=state.as_follower(state.high_watermark or Offset(0)),
            )  # fmt: skip


def _broker(number: int, log: LogFacts, here: ClusterHere) -> BrokerFacts:
    image, registered = here.image, None if here.image is None else here.image.brokers.get(number)
    settings = None if image is None else image.configs.get(STATIC)
    is_clean = here.brokers[number].start.clean
    return BrokerFacts(
        broker_id=number,
        release=here.release,
        mode=Mode.KRAFT if here.kraft else Mode.ZOOKEEPER,
        log_dirs=(
            LogDirFacts(log.log_dir, clean=is_clean, shutdown_epoch=None if registered is None else registered.epoch),
        ),
        config=settings,
        controller_config=settings,
        image=image,
        logs=(log,),
    )
