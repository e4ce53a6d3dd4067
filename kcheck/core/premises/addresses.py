"""Premises about the addresses of a node, which another node may have too."""

from collections.abc import Iterable, Iterator, Mapping

from kcheck.core.premises.facts import BrokerFacts, NodeAddresses
from kcheck.core.premises.judged import not_seen, proven, refuted
from kcheck.core.premises.listeners import addresses_in, addresses_of
from kcheck.core.premises.premise import Premise, PremiseCost, PremiseKind
from kcheck.core.start.startup import Mode
from kcheck.model.behaviour import is_between
from kcheck.model.cluster import ClusterImage
from kcheck.model.premises import JudgedPremise, PremiseEvidence

OF_ZOOKEEPER, OF_KRAFT = "P355", "P356"
"""The premises that no other node has an address of the broker."""


def with_peers(facts: Mapping[object, BrokerFacts]) -> dict[object, BrokerFacts]:
    """Return the facts of brokers, each with the addresses in the settings of the others."""
    stated = {
        broker: NodeAddresses(own.broker_id, addresses_of(own.config), own.config_path or "")
        for broker, own in facts.items()
        if own.config is not None and own.broker_id is not None
    }
    return {
        broker: own._replace(addresses=(*own.addresses, *(row for key, row in stated.items() if key != broker)))
        for broker, own in facts.items()
    }


def registered_addresses(image: ClusterImage, last: Mapping[int, Iterable[str]]) -> Iterator[NodeAddresses]:
    """Yield the addresses that nodes registered; `last` are earlier registrations at ZooKeeper."""
    rows = {number: broker.endpoints for number, broker in image.brokers.items()}
    for number, endpoints in ({**last, **rows}).items():
        yield NodeAddresses(number, addresses_in(endpoints))
    for controller in image.controllers.values():
        yield NodeAddresses(controller.controller_id, addresses_in(controller.endpoints))


def shares_none(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for another node with an address that the settings of the broker take or advertise.

    A broker with ZooKeeper does not register while another runs with that address. KRaft lets both register.
    """
    refuses = facts.mode is Mode.ZOOKEEPER and is_between(facts.release, "2.0", None)
    if facts.config is None or (premise.id == OF_ZOOKEEPER) is not refuses:
        return
    own, path = addresses_of(facts.config), facts.config_path or ""
    stated = {row.node for row in facts.addresses if row.path is not None}
    is_shared = False
    for peer in facts.addresses:
        shared = sorted(own & peer.addresses)
        is_old = peer.path is None and (peer.node in stated or not _counts(peer.node, facts))
        if not shared or peer.node == facts.broker_id or is_old or _is_its_fault(peer, shared, facts):
            continue
        is_shared = True
        evidence = (
            PremiseEvidence(path, shared[0]),
            PremiseEvidence(peer.path or facts.image_path or "", f"node {peer.node} has {shared[0]}"),
        )
        if peer.path is not None:
            sentence = f"{facts.name} and node {peer.node} have the same address {shared[0]} in their settings"
            yield refuted(premise, facts, sentence, *evidence)
        else:
            sentence = (
                f"the settings of {facts.name} have {shared[0]}, which node {peer.node} registered last. Whether that"
                " node has another address now is not known"
            )
            yield not_seen(premise, facts, sentence, f"the log dirs of node {peer.node} with its settings", *evidence)
    if not is_shared and own and facts.addresses:
        yield proven(premise, facts, PremiseEvidence(path, ", ".join(sorted(own))))


def _counts(number: int | None, facts: BrokerFacts) -> bool:
    """Return whether a registered node still matters, as a controller or by a replica."""
    image = facts.image
    if image is None or number in image.controllers or number in facts.voters:
        return True
    return any(number in partition.replicas for *_, partition in image.partitions())


def _is_its_fault(peer: NodeAddresses, shared: Iterable[str], facts: BrokerFacts) -> bool:
    """Return whether the broker had the address before, and the settings of the other node are new."""
    before = {row.node: row.addresses for row in facts.addresses if row.path is None}
    had, had_not = before.get(facts.broker_id, frozenset()), before.get(peer.node, frozenset())
    return peer.path is not None and all(place in had and place not in had_not for place in shared)


_PROOF = "No other node has an address of the listeners, by its settings or its last registration."
_AGAINST = (
    "The settings of another given node have the same host and port. Not seen: a node with replicas that registered"
    " the address, and whose settings are not given."
)
TABLE = (
    Premise(
        OF_ZOOKEEPER, PremiseKind.SETTINGS, "No other broker has an address of the broker.", _PROOF, _AGAINST,
        "The broker that starts second ends, because the end points are already registered.",
        "Correct listeners and advertised.listeners. If the other broker was removed or moved: --allow P355.",
        "KafkaServer.createBrokerInfo 2.0 to 3.9", shares_none, cost=PremiseCost.UNCOUNTED, may_lack=True,
    ),
    Premise(
        OF_KRAFT, PremiseKind.SETTINGS, "No other node has an address of the node.", _PROOF, _AGAINST,
        "Both register. Clients and followers go to the wrong node, and cannot read its partitions.",
        "Correct listeners and advertised.listeners. If the other node was removed or moved: --allow P356.",
        "ClusterControlManager.registerBroker 3.3 to 4.3.1; KafkaServer.createBrokerInfo 0.10 to 1.1", shares_none,
        ends_start=False, cost=PremiseCost.UNCOUNTED, may_lack=True,
    ),
)  # fmt: skip
