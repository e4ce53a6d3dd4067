"""A premise about one broker's disks that are given as two brokers, as of a cloned host."""

from collections.abc import Iterable, Iterator, Mapping

from kcheck.core.premises.facts import BrokerFacts, Clone, LogDirFacts
from kcheck.core.premises.held import of_states
from kcheck.core.premises.judged import not_seen, refuted
from kcheck.core.premises.premise import Premise, PremiseKind
from kcheck.model.cluster import is_reserved
from kcheck.model.names import META_PROPERTIES, DirectoryState
from kcheck.model.premises import JudgedPremise, PremiseEvidence
from kcheck.words import some_of

GIVEN_ONCE = "P378"
"""The premise that the disks of a broker are given once."""


def with_clones(facts: Mapping[object, BrokerFacts]) -> dict[object, BrokerFacts]:
    """Return the facts of brokers, each with the log dirs of others that are copies of its own."""
    return {
        broker: own._replace(
            clones=tuple(clone for key, other in facts.items() if key != broker for clone in _clones(own, other))
        )
        for broker, own in facts.items()
    }


def _clones(own: BrokerFacts, other: BrokerFacts) -> Iterator[Clone]:
    """Yield the pairs of log dirs that two brokers have with one identity.

    A log dir without directory.id is the same if a partition is in both. A broker with one disk of another one has
    the wrong id (P102).
    """
    is_one = own.broker_id is not None and own.broker_id == other.broker_id
    for here in _of_its_broker(own):
        for there in _of_its_broker(other):
            if here.path == there.path or _cluster_of(here) != _cluster_of(there):
                continue
            number = here.directory_id
            if number is not None and number == there.directory_id and not is_reserved(number):
                yield Clone(here.path, there.path, f"directory.id {number}", number, is_one=is_one)
            elif is_one and (both := _held((here,)) & _held((there,))):
                names = some_of([f"{topic}-{partition}" for topic, partition in sorted(both)])
                yield Clone(here.path, there.path, names, None, is_one=True)


def _of_its_broker(facts: BrokerFacts) -> list[LogDirFacts]:
    """Return the given log dirs whose meta.properties names the broker."""
    return [row for row in facts.log_dirs if row.is_given and row.node_id == facts.broker_id is not None]


def _cluster_of(log_dir: LogDirFacts) -> str | None:
    return (log_dir.identity or {}).get("cluster.id")


def _held(log_dirs: Iterable[LogDirFacts]) -> set[tuple[str, int]]:
    return {(*partition,) for partition in of_states(log_dirs, {DirectoryState.CURRENT})}


def given_once(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for log dirs of other brokers that are copies of own ones. P106 names the owner that registered."""
    brokers = () if facts.newest is None else facts.newest.image.brokers.values()
    registered = {directory for broker in brokers for directory in broker.log_dirs}
    for clone in facts.clones:
        evidence = tuple(PremiseEvidence(f"{path}/{META_PROPERTIES}", clone.says) for path in (clone.path, clone.other))
        same = f"{clone.path} and {clone.other} have the same {clone.says}"
        if clone.is_one:
            sentence = f"{facts.name} is given twice: {same}"
            yield refuted(premise, facts, sentence, *evidence, log_dir=clone.path)
        elif clone.directory_id not in registered:
            sentence = f"{same}. Which of them is the disk of its broker is not known"
            yield not_seen(premise, facts, sentence, "--metadata with a controller's log dir", *evidence)


TABLE = (
    Premise(
        GIVEN_ONCE, PremiseKind.IDENTITY, "The disks of the broker are given once.",
        "No log dir of another given broker is a copy, by its directory.id or its partitions.",
        "Another folder has log dirs of the broker with the same directory.id or partitions. Not seen: the copy has"
        " another node id.",
        "Controllers refuse the host that starts second (DuplicateBrokerRegistrationException). A host that runs alone"
        " leads with the records of its own disks.",
        "A copy is no second replica. Find out which disks are the newest. Name only these, and start no broker with"
        " the others.",
        "ClusterControlManager.registerBroker 3.3 to 4.3.1; KafkaZkClient.registerBroker 0.8.2 to 3.9", given_once,
    ),
)  # fmt: skip
