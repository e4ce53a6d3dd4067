"""Settings with which a node of 4.3.1 started, but did not serve its replicas."""

import pytest

from kcheck.core.cluster.copies import MetadataCopy
from kcheck.core.premises.listeners import listening_ports
from kcheck.core.premises.table import judged
from kcheck.core.start.startup import Mode
from kcheck.model.cluster import ControllerRegistration, Voter
from kcheck.model.premises import PremiseStatus
from tests.core.premises.test_premises import KRAFT, copy, facts, image, not_seen, refuted, rows


def test_a_node_with_replicas_that_is_a_controller_alone() -> None:
    """A node of 4.3.1 started with process.roles=controller, and its partitions had no leader."""
    config = {**KRAFT, "process.roles": "controller"}
    given = facts(config=config)
    sentence = "process.roles=controller, but node 1 has 1 replica: no broker serves them"
    assert sentence == refuted(given)["P322"]
    assert "P322" not in refuted(facts(config=config, image=image(2)))
    assert "P322" in rows(facts(), PremiseStatus.PROVEN)
    assert "P322" not in {row.id for row in judged(facts(config=None))}


VOTERS, SERVERS = "controller.quorum.voters", "controller.quorum.bootstrap.servers"
REGISTERED = {100: ControllerRegistration(100, "I", ("CONTROLLER://a:9093",), {})}
STATIC = copy(of=image()._replace(controllers=REGISTERED))
DYNAMIC = STATIC._replace(voter_set=(Voter(100, "D", ("CONTROLLER://a:9093",)),))
FINDS = ("proven", "The settings lead to the controllers.")


def judged_address(settings: dict[str, str], of: MetadataCopy = STATIC, **fields: object) -> tuple[str, str] | None:
    """Return the status and the sentence of P323; None where nothing is compared."""
    given = facts(config={**KRAFT, **settings}, **{"copies": (of,), **fields})
    return next(((str(row.status), row.sentence) for row in judged(given) if row.id == "P323"), None)


def test_ports_that_lead_to_no_controller() -> None:
    """A broker of 4.3.1 with a wrong port waited for its controller and ended; ports may be forwarded, though."""
    words = "whether the node finds its leader is not known"
    wrong = ("not-seen", f"the settings name port 1, but controller 100 listens on 9093: {words}")
    assert judged_address({VOTERS: "100@b:9093"}) == judged_address({SERVERS: "b:9093,c:1"}, DYNAMIC) == FINDS
    assert judged_address({VOTERS: "100@b:1"}) == judged_address({VOTERS: "100@b:1"}, DYNAMIC) == wrong
    every = judged_address({SERVERS: "b:1"}, DYNAMIC)
    assert every == (wrong[0], wrong[1].replace("controller 100 listens", "the controllers listen"))
    assert judged_address({VOTERS: "100@b:1"}, controller_ports={100: frozenset({"1", "2"})}) == FINDS
    assert judged_address({VOTERS: "100@b:1"}, controller_ports={100: frozenset()}) == wrong
    assert judged_address({VOTERS: "100@b:1,100@b:9093"}, DYNAMIC) == FINDS
    assert (
        judged_address({}) is judged_address({VOTERS: "${env:V}"}) is judged_address({VOTERS: "7@b:1"}, DYNAMIC) is None
    )
    assert judged_address({VOTERS: "100@b:1"}, copy()) is None
    both = frozenset({100, 101})
    assert judged_address({VOTERS: "100@b:1,101@b:1"}, STATIC._replace(voters=both)) is None
    assert judged_address({VOTERS: "100@b:1"}, copies=()) is None


def test_the_only_controller_looks_for_no_other() -> None:
    """A node of 4.3.1 that is the only voter of its voter set started; its own port counted as a wrong one before."""
    alone = copy(
        of=image()._replace(controllers={}), voters=frozenset({1}), voter_set=(Voter(1, "D", ("C://a:9093",)),)
    )
    assert judged_address({SERVERS: "a:9093"}, alone) == FINDS
    static = judged_address({SERVERS: "a:9093"}, alone._replace(voter_set=()))
    assert static == ("refuted", "controller.quorum.voters has no 1: the broker does not find that controller")


def test_voters_that_the_settings_lack() -> None:
    """Brokers of 4.3.1 with bootstrap servers, or another id, did not find a static quorum, and ended."""
    sentence = "controller.quorum.voters has no {}: the broker does not find that controller"
    assert judged_address({SERVERS: "a:9093"}) == ("refuted", sentence.format("100"))
    assert judged_address({VOTERS: "9100@a:9093"}) == ("refuted", sentence.format("100"))
    three = STATIC._replace(voters=frozenset({100, 101}))
    assert judged_address({VOTERS: "100@a:9093"}, three) == ("not-seen", sentence.format("101"))


def test_the_ports_of_a_node() -> None:
    settings = {"listeners": "A://h:1,B://:2", "advertised.listeners": "A://x:3"}
    assert listening_ports(settings) == {"1", "2", "3"}
    assert listening_ports({"listeners": "A://h:0,B://:2"}) == frozenset()


def test_an_authorizer_without_super_users() -> None:
    """A node of 4.3.1 waited for ever: its controller refused the registration of User:ANONYMOUS."""
    on = {"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"}
    sentence = "StandardAuthorizer is on without super.users: if no ACL names the brokers, none registers"
    assert sentence == not_seen(facts(config=KRAFT | on))["P325"]
    assert sentence == not_seen(facts(controller_config=on))["P325"]
    for more in (
        {"super.users": "User:a; User:ANONYMOUS"}, {"allow.everyone.if.no.acl.found": "true"},
        {"super.users": "User:a", "listeners": "SSL://:1"}, {"super.users": "${env:U}"},
        {"super.users": "User:a", "principal.builder.class": "x.Y"},
    ):  # fmt: skip
        assert "P325" in rows(facts(config=KRAFT | on | more), PremiseStatus.PROVEN)
    assert "P325" not in {row.id for row in judged(facts(config=None))}


@pytest.mark.parametrize("name", ["kafka.security.authorizer.AclAuthorizer", "kafka.security.auth.SimpleAclAuthorizer"])
def test_an_authorizer_with_zookeeper(name: str) -> None:
    """A broker of 3.9.2 answered UPDATE_METADATA of its controller with CLUSTER_AUTHORIZATION_FAILED."""
    given = facts(mode=Mode.ZOOKEEPER, config={"authorizer.class.name": name}, copies=())
    sentence = (
        f"{name.rpartition('.')[2]} is on without super.users: if no ACL names the brokers, they serve no partition"
    )
    assert sentence == not_seen(given)["P325"]


def test_super_users_that_are_no_broker() -> None:
    """Each node is User:ANONYMOUS on a plain listener. The type of a principal has a capital."""
    on = {"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"}
    sentence = (
        "StandardAuthorizer is on without User:ANONYMOUS in super.users: if no ACL names the brokers, none registers"
    )
    for users in ("User:admin", "user:ANONYMOUS"):
        assert sentence == not_seen(facts(config=KRAFT | on | {"super.users": users}))["P325"]


def test_limits_that_stop_the_talk_of_nodes() -> None:
    """A node of 4.3.1 with max.connections=0, or socket.request.max.bytes=100, could not register."""
    said = "socket.request.max.bytes=100 may be too low for a broker to join its cluster"
    assert said == not_seen(facts(config={**KRAFT, "socket.request.max.bytes": "100"}))["P325"]
    assert "P325" in not_seen(facts(config={**KRAFT, "max.connections": "0"}))
    assert said == not_seen(facts(controller_config={"socket.request.max.bytes": "100"}))["P325"]
    assert "P325" not in not_seen(facts(config={**KRAFT, "max.connections": "100"}))


def test_sessions_that_end_at_once() -> None:
    """Partitions of 3.9.2 had no leader with 100 ms on the controller alone. A broker of 2.8.2 ended with 1 ms."""
    name = "broker.session.timeout.ms"
    of_controller = {"process.roles": "controller", name: "100"}
    assert f"{name}=100 may be too low" in not_seen(facts(controller_config=of_controller))["P325"]
    assert "P325" not in not_seen(facts(config={**KRAFT, name: "100"}))
    for name in ("zookeeper.session.timeout.ms", "zookeeper.connection.timeout.ms"):
        assert "P325" in not_seen(facts(mode=Mode.ZOOKEEPER, config={name: "1"}, copies=()))
