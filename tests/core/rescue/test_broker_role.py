"""The settings with which a node that was a controller too comes back as a broker."""

from kcheck.core.rescue.broker_role import BrokerRole, as_broker, seat
from tests.core.rescue.nodes import node

BOTH = {
    "process.roles": "broker, controller", "controller.listener.names": "CONTROLLER",
    "listeners": "PLAINTEXT://:9092,controller://:9093", "advertised.listeners": "CONTROLLER://h:9093",
}  # fmt: skip


def test_a_broker_has_no_listener_of_controllers() -> None:
    """Names of listeners are compared as Kafka does, in capitals; a value that becomes empty is to be removed."""
    changed = as_broker(BOTH)
    assert changed == {"process.roles": "broker", "listeners": "PLAINTEXT://:9092", "advertised.listeners": ""}
    assert as_broker({**BOTH, **changed}) == {}
    assert as_broker({**BOTH, "process.roles": "controller"}) == {}
    assert BrokerRole(1, "p", changed).lines[1:] == ("listeners=PLAINTEXT://:9092", "# remove advertised.listeners")


def test_only_a_node_with_known_settings_has_a_role_to_change() -> None:
    assert node(1, settings=BOTH, config="p").role == BrokerRole(1, "p", as_broker(BOTH))
    assert node(1, settings=BOTH).role is None
    assert node(1, settings={"process.roles": "broker"}, config="p").role is None


def test_the_setting_that_names_the_controller() -> None:
    assert seat(201, "h:1", is_dynamic=False) == ("controller.quorum.voters", "201@h:1")
    assert seat(201, None, is_dynamic=True) == ("controller.quorum.bootstrap.servers", "HOST:9093")
