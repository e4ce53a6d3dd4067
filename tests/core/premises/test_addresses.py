"""Addresses that two nodes have, and what ZooKeeper must know of TLS and logins.

A broker of 2.8.2 with the address of another one ended. One of 3.9.2 with KRaft started, and five partitions were not
readable. With zookeeper.set.acl a broker of 2.8.2 ended (SecurityException). With zookeeper.ssl.client.enable and the
default socket it started.
"""

from pathlib import Path
from typing import Any

import pytest

import kcheck
from kcheck.core.premises.addresses import registered_addresses
from kcheck.core.premises.facts import BrokerFacts, NodeAddresses
from kcheck.core.premises.listeners import address_of, addresses_in, addresses_of
from kcheck.core.premises.table import judged, judged_together
from kcheck.core.releases.releases import release
from kcheck.core.start.startup import Mode
from kcheck.model.cluster import ControllerRegistration
from kcheck.model.premises import JudgedPremise, PremiseStatus
from kcheck.views.zookeeper_copy import read_zookeeper
from tests.core.premises.test_premises import IDENTITY, KRAFT, facts, image, log_dir
from tests.oracle.incidents.damages.site import property_of, set_property
from tests.oracle.incidents.kept import PLACE, unpacked

TLS = {
    "zookeeper.ssl.client.enable": "true",
    "zookeeper.clientCnxnSocket": "org.apache.zookeeper.ClientCnxnSocketNetty",
}
IDS = ("P354", "P355", "P356")
OTHER = "127.0.0.1:9093"
OF_2_8, OF_1_1 = ({"mode": Mode.ZOOKEEPER, "release": release(kafka)} for kafka in ("2.8", "1.1"))
NOT_SEEN, REFUTED, PROVEN = PremiseStatus.NOT_SEEN, PremiseStatus.REFUTED, PremiseStatus.PROVEN


def broker(number: int = 1, places: str = "PLAINTEXT://127.0.0.1:9092", **fields: Any) -> BrokerFacts:
    """Return a broker with these listeners in a cluster where nodes 1 and 2 have replicas."""
    given = {
        "broker_id": number, "config": {**KRAFT, "node.id": str(number), "listeners": places}, "image": image(1, 2),
        "config_path": f"{number}/server.properties", **fields,
    }  # fmt: skip
    return facts(log_dir(identity={**IDENTITY, "node.id": str(number)}), **given)


def said(rows: tuple[JudgedPremise, ...]) -> list[tuple[str, PremiseStatus]]:
    """Return what the premises of this module say."""
    return [(row.id, row.status) for row in rows if row.id in IDS]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"listeners": "A://h:1,B://:2,C://0.0.0.0:3,D://[::]:4,E://127.0.0.1:0"}, {"h:1"}),
        ({"listeners": "A://H:1,B://127.0.0.1:2"}, {"h:1", "127.0.0.1:2"}),
        ({"listeners": "A://h:1,B://127.0.0.1:2", "advertised.listeners": "A://x:1"}, {"h:1", "x:1"}),
        ({}, set()),
    ],
)
def test_the_addresses_in_settings(settings: dict[str, str], expected: set[str]) -> None:
    """An address of every host is none, and each node may listen on a loopback address that it does not advertise."""
    assert addresses_of(settings) == expected


@pytest.mark.parametrize(
    ("peer", "of", "expected"),
    [
        (NodeAddresses(2, frozenset({OTHER})), {}, [("P356", NOT_SEEN)]),
        (NodeAddresses(2, frozenset({OTHER}), "2.properties"), {}, [("P356", REFUTED)]),
        (NodeAddresses(1, frozenset({OTHER})), {}, [("P356", PROVEN)]),
        (NodeAddresses(2, frozenset({"h:9"})), {}, [("P356", PROVEN)]),
        (NodeAddresses(9, frozenset({OTHER})), {}, [("P356", PROVEN)]),
        (NodeAddresses(9, frozenset({OTHER})), {"image": None}, [("P356", NOT_SEEN)]),
        (NodeAddresses(100, frozenset({OTHER})), {}, [("P356", NOT_SEEN)]),
        (NodeAddresses(2, frozenset({OTHER})), {"config": None}, []),
        (NodeAddresses(2, frozenset({OTHER})), OF_2_8, [("P355", NOT_SEEN)]),
        (NodeAddresses(2, frozenset({OTHER})), OF_1_1, [("P356", NOT_SEEN)]),
    ],
)  # fmt: skip
def test_an_address_of_another_node(peer: NodeAddresses, of: dict[str, Any], expected: list[object]) -> None:
    """A node without replicas, that is no controller, may be gone."""
    assert said(judged(broker(places=f"A://{OTHER}", addresses=(peer,), **of))) == expected


def test_the_settings_of_both_decide() -> None:
    """Where one of them had the address before, the other one is wrong. Two that exchange addresses are right."""
    registered = (NodeAddresses(1, frozenset({"127.0.0.1:9092"})), NodeAddresses(2, frozenset({OTHER})))

    def together(*places: str, known: bool = True) -> list[list[tuple[str, PremiseStatus]]]:
        both = {
            number: broker(number, f"A://{place}", addresses=registered if known else ())
            for number, place in enumerate(places, 1)
        }
        return [said(rows) for rows in judged_together(both, ()).values()]

    assert together(OTHER, OTHER) == [[("P356", REFUTED)], [("P356", PROVEN)]]
    assert together(OTHER, OTHER, known=False) == [[("P356", REFUTED)], [("P356", REFUTED)]]
    assert together(OTHER, "127.0.0.1:9092") == [[("P356", PROVEN)], [("P356", PROVEN)]]
    without = {1: broker(), 2: broker(2, config=None), 3: broker(3, broker_id=None)}
    assert [said(rows) for rows in judged_together(without, ()).values()] == [[], [], [("P356", REFUTED)]]


@pytest.mark.parametrize(
    ("settings", "kafka", "expected"),
    [
        ({"zookeeper.set.acl": "true"}, "2.8", ["P354"]),
        ({"zookeeper.set.acl": "false"}, "2.8", []),
        ({"zookeeper.ssl.client.enable": "true"}, "2.8", []),
        (TLS, "2.8", ["P354"]),
        (TLS, "2.4", []),
        ({"zookeeper.set.acl": "true", **TLS}, "2.8", ["P354", "P354"]),
        (
            {
                "zookeeper.set.acl": "true", **TLS, "zookeeper.ssl.keystore.location": "/k",
            },
            "2.8", ["P354"],
        ),
    ],
)  # fmt: skip
def test_a_session_with_zookeeper(settings: dict[str, str], kafka: str, expected: list[str]) -> None:
    """The JVM has the login, and ZooKeeper knows its own listeners: no file here shows either."""
    given = broker(config=settings, mode=Mode.ZOOKEEPER, release=release(kafka))
    assert [name for name, _ in said(judged(given))] == expected
    assert not said(judged(given._replace(mode=Mode.KRAFT, release=release("3.9"))))


@pytest.mark.parametrize(
    ("packed", "kafka", "refuted"),
    [("4.3.1-kraft-nothing-k0", None, "P356"), ("3.9.2-zk-nothing-k7", "3.9", "P355")],
)
def test_a_broker_with_the_address_of_another(
    packed: str, kafka: str | None, refuted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Preflight has the registration alone, which lacks what the other one has now. With both settings it is known."""
    unpacked(PLACE / f"{packed}.tar.xz", tmp_path)
    monkeypatch.chdir(tmp_path)
    metadata = "controller/data1" if kafka is None else "zookeeper"
    told: dict[str, Any] = {"metadata": [metadata], **({} if kafka is None else {"kafka": kafka})}
    settings, theirs = Path("broker-1/server.properties"), Path("broker-2/server.properties")

    def statuses() -> list[set[str]]:
        rows = (kcheck.preflight(settings, **told).premises, kcheck.predict("broker-1", "broker-2", **told).premises)
        return [{str(row.status) for row in of if row.id == refuted and row.broker_id == 1} for of in rows]

    assert statuses() == [{"proven"}, {"proven"}]
    set_property(settings, "advertised.listeners", property_of(theirs, "listeners"))
    assert statuses() == [{"not-seen"}, {"refuted"}]
    assert [kcheck.preflight(settings, **told).may_start, kcheck.predict(settings, **told).severity] == [None, "error"]


def test_the_endpoints_of_stopped_brokers(tmp_path: Path) -> None:
    """Their znodes are gone, and the logs still have them; garbage has none."""
    folder = unpacked(PLACE / "3.9.2-zk-nothing-k7.tar.xz", tmp_path).folder
    endpoints = read_zookeeper(str(folder / "zookeeper")).endpoints
    stated = {number: property_of(folder / f"broker-{number}/server.properties", "listeners") for number in (1, 2)}
    assert {number: (place,) for number, place in stated.items()} == endpoints
    assert addresses_in([*endpoints[1], "garbage"]) == {str(stated[1]).removeprefix("PLAINTEXT://")}


def test_a_registered_controller_has_addresses() -> None:
    """3.7 and later."""
    controller = ControllerRegistration(100, "I", (f"CONTROLLER://{OTHER}",), {})
    given = image(1, 2)._replace(controllers={100: controller})
    assert [NodeAddresses(1, frozenset()), NodeAddresses(100, frozenset({OTHER}))] == [*registered_addresses(given, {})]


@pytest.mark.parametrize(
    ("settings", "address"),
    [
        ({}, None),
        ({"listeners": "PLAINTEXT://:9092"}, None),
        ({"listeners": "PLAINTEXT://kafka-1:0"}, None),
        ({"listeners": "CONTROLLER://c:9093,EXTERNAL://b:9094", "controller.listener.names": "CONTROLLER"}, "b:9094"),
        ({"listeners": "PLAINTEXT://0.0.0.0:9092", "advertised.listeners": "PLAINTEXT://[::2]:9095"}, "[::2]:9095"),
        ({"listeners": "PLAINTEXT://kafka-1:9092"}, "kafka-1:9092"),
    ],
)
def test_the_address_for_clients(settings: dict[str, str], address: str | None) -> None:
    """The advertised one first; the listener of a controller takes no client."""
    assert address_of(settings) == address
