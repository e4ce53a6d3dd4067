"""What a green answer of preflight does not promise."""

from collections.abc import Mapping

import pytest

from kcheck.core.premises.outside import not_looked_at
from kcheck.core.releases.releases import release

FREE = "whether the listeners find their addresses and ports free"
TLS = {"listeners": "SSL://:9093", "ssl.keystore.location": "/k.jks", "ssl.truststore.location": "/t.jks"}


@pytest.mark.parametrize(
    ("settings", "clauses"),
    [
        ({}, []),
        ({"zookeeper.connect": "zk1:2181, zk2:2181/kafka"},
         ["whether ZooKeeper at zk1:2181, ZooKeeper at zk2:2181 can be reached"]),
        ({"zookeeper.connect": "a:1", "zookeeper.set.acl": "true"},
         ["whether ZooKeeper at a:1 can be reached", "whether the JVM has the login that zookeeper.set.acl needs"]),
        ({"process.roles": "broker", "controller.quorum.voters": "7@c:9093", "node.id": "1"},
         ["whether the controller at c:9093 can be reached"]),
        ({"process.roles": "broker,controller", "controller.quorum.voters": "1@a:9093", "node.id": "1"}, []),
        ({"process.roles": "broker,controller", "controller.quorum.voters": "1@a:1,2@b:1", "node.id": "1"},
         ["whether the controller at b:1 can be reached"]),
        ({"process.roles": "broker", "controller.quorum.bootstrap.servers": "c:1"},
         ["whether the controller at c:1 can be reached"]),
        (TLS, ["whether the password of ssl.keystore.location, ssl.truststore.location fit"]),
        ({**TLS, "ssl.truststore.location": ""}, ["whether the password of ssl.keystore.location fits"]),
    ],
)  # fmt: skip
def test_clauses(settings: Mapping[str, str], clauses: list[str]) -> None:
    """One about the host, one about the servers that the node cannot do without, and about its stores."""
    assert [FREE, *clauses] == [*not_looked_at(settings, release("2.0.1"))]


def test_followers_of_old_releases() -> None:
    """A broker of 1.1.1 ended after its start, because its leader had come back with an older disk."""
    clause = "whether the log of each leader is as long as the log here, or the broker ends"
    assert [FREE, clause] == [*not_looked_at({}, release("2.0.0"))]
    assert [FREE] == [*not_looked_at({"unclean.leader.election.enable": "true"}, release("2.0.0"))]
