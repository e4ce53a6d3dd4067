"""Premises about settings with which a node starts, but does not take part in its cluster."""

from collections.abc import Iterator, Mapping

from kcheck.core.cluster.copies import MetadataCopy
from kcheck.core.premises.facts import BrokerFacts
from kcheck.core.premises.judged import not_seen, proven, refuted
from kcheck.core.premises.listeners import controller_addresses, listeners_of
from kcheck.core.premises.premise import Premise, PremiseCost, PremiseKind
from kcheck.core.premises.voters import listed
from kcheck.core.start.startup import Mode
from kcheck.model.cluster import PROVIDER
from kcheck.model.java import java_int
from kcheck.model.premises import JudgedPremise, PremiseEvidence
from kcheck.words import counted

CONTROLLERS_FOUND, ALLOWED = "P323", "P325"
"""The premises that the settings lead to the controllers, and that these let the broker take part."""
_ADDRESSES = ("controller.quorum.voters", "controller.quorum.bootstrap.servers")
_LEAST = {
    "max.connections": 100, "socket.request.max.bytes": 1 << 16, "initial.broker.registration.timeout.ms": 10_000,
    "broker.session.timeout.ms": 1000, "zookeeper.session.timeout.ms": 1000, "zookeeper.connection.timeout.ms": 1000,
}  # fmt: skip
"""Settings that stop the talk of nodes if they are too low, with a value that is enough."""
_OF_CONTROLLERS = "broker.session.timeout.ms"
"""The one of them that only controllers read."""
_AUTHORIZERS, _ANONYMOUS = (".StandardAuthorizer", ".AclAuthorizer", ".SimpleAclAuthorizer"), "User:ANONYMOUS"
_AUTHORIZER, _SUPER_USERS, _OPEN = "authorizer.class.name", "super.users", "allow.everyone.if.no.acl.found"


def replicas_served(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for replicas of a node that is a controller alone. Such a process opens only the metadata log."""
    partitions = () if facts.image is None else facts.image.partitions()
    assigned = sum(facts.broker_id in partition.replicas for *_, partition in partitions)
    if not facts.roles or not assigned:
        return
    roles = f"process.roles={','.join(sorted(facts.roles))}"
    evidence = PremiseEvidence(facts.config_path or "", roles)
    if "broker" in facts.roles:
        yield proven(premise, facts, evidence)
    else:
        sentence = f"{roles}, but node {facts.broker_id} has {counted(assigned, 'replica')}: no broker serves them"
        yield refuted(premise, facts, sentence, evidence)


def finds_controllers(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for the controllers in the settings. Only controller.quorum.voters leads to them without a voter set.

    A broker needs the address of the leader in that list. One reachable entry of a bootstrap list is enough.
    """
    settings, newest = facts.config or {}, facts.newest
    said = next((f"{name}={settings[name]}" for name in _ADDRESSES if settings.get(name, "").strip()), None)
    if said is None or newest is None or PROVIDER in said:
        return
    evidence = PremiseEvidence(facts.config_path or "", said)
    lacking = newest.voters - facts.configured_voters
    if lacking and "controller" not in facts.roles and not newest.voter_set:
        sentence = f"controller.quorum.voters has no {listed(lacking)}: the broker does not find that controller"
        if lacking == newest.voters:
            yield refuted(premise, facts, sentence, evidence)
        else:
            yield not_seen(premise, facts, sentence, "settings with all controllers", evidence)
        return
    wrong, is_known = _wrong_port(newest, settings, facts)
    if wrong is not None:
        yield not_seen(premise, facts, wrong, "settings with the addresses of the controllers", evidence)
    elif is_known:
        yield proven(premise, facts, evidence)


def _wrong_port(newest: MetadataCopy, settings: Mapping[str, str], facts: BrokerFacts) -> tuple[str | None, bool]:
    """Return the first wrong port in the settings in words, and whether the ports of the controllers are known.

    The only controller of a voter set elects itself, and looks for no other.
    """
    if facts.voters == {facts.broker_id} and newest.voter_set:
        return None, True
    registered = {row.controller_id: row.endpoints for row in newest.image.controllers.values()}
    registered |= {row.voter_id: row.endpoints for row in newest.voter_set}
    known = {number: frozenset(end.rpartition(":")[2] for end in ends) for number, ends in registered.items()}
    known |= {number: ports for number, ports in facts.controller_ports.items() if ports}
    known = {number: ports for number, ports in known.items() if number != facts.broker_id}
    entries = [row for row in controller_addresses(settings) if row[0] is None or row[0] in known]
    if not entries or not facts.voters <= known.keys() | {facts.broker_id}:
        return None, False
    every = frozenset[str]().union(*known.values())
    wrong = [(number, port) for number, port in entries if port not in (every if number is None else known[number])]
    is_one_enough = bool(newest.voter_set) or entries[0][0] is None
    if not wrong or (is_one_enough and len(wrong) < len(entries)):
        return None, True
    number, port = wrong[0]
    ports = ", ".join(sorted(every if number is None else known[number]))
    whose = "the controllers listen" if number is None else f"controller {number} listens"
    sentence = f"the settings name port {port}, but {whose} on {ports}: whether the node finds its leader is not known"
    return sentence, True


def may_take_part(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for authorizers without the right super users, and for limits so low that nodes cannot talk.

    Such an authorizer refuses each broker that no ACL names.
    """
    places = ((facts.config_path or "", facts.config or {}), ("controller", facts.controller_config or {}))
    for path, settings in places:
        for name, least in _LEAST.items():
            value = java_int(settings.get(name, "").strip())
            is_read = name != _OF_CONTROLLERS or "controller" in settings.get("process.roles", "")
            if value is not None and value < least and is_read:
                evidence = PremiseEvidence(path, f"{name}={value}")
                sentence = f"{name}={value} may be too low for a broker to join its cluster"
                yield not_seen(premise, facts, sentence, f"settings with {name} of {least} or more", evidence)
        name = settings.get(_AUTHORIZER, "").strip()
        if not name.endswith(_AUTHORIZERS):
            continue
        evidence = PremiseEvidence(path, f"{_AUTHORIZER}={name}")
        lacking = _lacking_users(settings)
        if lacking is None or settings.get(_OPEN, "").strip().lower() == "true":
            yield proven(premise, facts, evidence)
        else:
            then = "none registers" if facts.mode is Mode.KRAFT else "they serve no partition"
            sentence = f"{name.rpartition('.')[2]} is on without {lacking}: if no ACL names the brokers, {then}"
            yield not_seen(premise, facts, sentence, f"settings with {lacking}", evidence)


def _lacking_users(settings: Mapping[str, str]) -> str | None:
    """Return the missing part of super.users; None if the brokers can be among these.

    Every node is User:ANONYMOUS on a listener without TLS and SASL (DefaultKafkaPrincipalBuilder).
    """
    users = frozenset(user.strip() for user in settings.get(_SUPER_USERS, "").split(";")) - {""}
    is_plain = all(protocol == "PLAINTEXT" for _, protocol in listeners_of(settings))
    if not users:
        return _SUPER_USERS
    known = not is_plain or settings.get("principal.builder.class", "").strip() or PROVIDER in "".join(users)
    return None if known or _ANONYMOUS in users else f"{_ANONYMOUS} in {_SUPER_USERS}"


TABLE = (
    Premise(
        "P322", PremiseKind.SETTINGS, "A node with replicas has the role of a broker.",
        "process.roles contains broker, or the metadata assigns no replica to the node.",
        "Only the role controller, but replicas in the metadata.",
        "The process starts as a controller alone. No broker serves the replicas of the node.",
        "Correct process.roles and listeners.",
        "KafkaRaftServer 3.0 to 4.3.1", replicas_served,
    ),
    Premise(
        CONTROLLERS_FOUND, PremiseKind.SETTINGS, "The settings lead to the controllers.",
        "controller.quorum.voters has each voter, or the metadata has a voter set. The settings next to a controller's"
        " log dir, or its registration, name each port. One entry of controller.quorum.bootstrap.servers is enough.",
        "No voter is in controller.quorum.voters, and the metadata has no voter set. Not seen: other ports, or"
        " only some of the voters.",
        "The broker waits for the controllers for ever, or ends after a minute.",
        "Correct the addresses. If the ports are forwarded: --allow P323.",
        "RaftControllerNodeProvider, KafkaRaftClient 3.7 to 4.3.1", finds_controllers,
        cost=PremiseCost.UNCOUNTED, may_lack=True,
    ),
    Premise(
        ALLOWED, PremiseKind.SETTINGS, "The controllers let the broker take part.",
        "An authorizer has super.users, or allow.everyone.if.no.acl.found is true. User:ANONYMOUS is one of them"
        " on listeners without TLS and SASL.",
        "Nothing, because ACLs are not read. Not seen: an authorizer of Kafka without both, or a low max.connections,"
        " socket.request.max.bytes or initial.broker.registration.timeout.ms. Or a low timeout of sessions.",
        "Controllers refuse the registration for ever, or never get the request. A broker with ZooKeeper refuses what"
        " the controller sends, and serves no partition.",
        "Name the principal of the brokers in super.users. If ACLs allow ClusterAction: --allow P325.",
        "ControllerApis.handleBrokerRegistration, StandardAuthorizer 3.3 to 4.3.1; SimpleAclAuthorizer 0.9 to 2.8,"
        " AclAuthorizer 2.4 to 3.9", may_take_part,
        cost=PremiseCost.UNCOUNTED, may_lack=True,
    ),
)  # fmt: skip
