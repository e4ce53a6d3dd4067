"""The znodes of a lost ZooKeeper, and the lines that make them."""

import json
import re

from kcheck.core.rescue.answers import MetadataAnswers, answers_of
from kcheck.core.rescue.rebuild import rebuild
from kcheck.core.rescue.rebuild_refusals import refusals_of_zookeeper
from kcheck.core.rescue.znodes import MadeZnode, znodes, zookeeper_script
from tests.core.rescue.disks import disks, log_dir, partition, replica, wanted

WORD = re.compile(r"""\s*([^"']\S*|"[^"]*"|'[^']*')\s*""")
"""A word of a command of zookeeper-shell.sh (ZooKeeperMain.MyCommandOptions, 3.4 to 3.9)."""
DEFAULT = {"resourceType": 4, "resourceName": "", "name": "log.retention.hours", "value": "48"}


def made(*rows: MadeZnode) -> dict[str, str]:
    """Return what a shell makes of the lines for znodes."""
    words = [WORD.findall(line) for line in zookeeper_script(rows).splitlines()]
    assert [line[0] for line in words] == ["create"] * len(words)
    assert {len(line) for line in words} == {3}
    return {path: data for _, path, data in words}


def test_a_topic_has_its_replicas_its_state_and_its_settings() -> None:
    """Its leader epoch is above those of the disks, and its id is the one that its directories have."""
    held = disks({("t", 0): partition(replica(1, "id-t"), replica(2, "id-t", epoch=7))})
    answers = MetadataAnswers(records=(("ConfigRecord", DEFAULT),))
    rows = made(*znodes(rebuild(held, wanted()._replace(answers=answers)), held))
    assert [path for path in rows if path.startswith(("/config/users", "/kafka-acl"))] == []
    assert json.loads(rows["/brokers/topics/t"]) == {
        "version": 3, "partitions": {"0": [1, 2]}, "adding_replicas": {}, "removing_replicas": {}, "topic_id": "id-t",
    }  # fmt: skip
    state = json.loads(rows["/brokers/topics/t/partitions/0/state"])
    assert (state["leader"], state["leader_epoch"], state["controller_epoch"]) == (-1, 8, 1000)
    assert json.loads(rows["/config/topics/t"])["config"] == {"retention.ms": "-1", "retention.bytes": "-1"}
    assert json.loads(rows["/config/brokers/<default>"])["config"] == {"log.retention.hours": "48"}
    assert rows["/controller_epoch"] == "1000"
    block = json.loads(rows["/latest_producer_id_block"])
    assert int(block["block_end"]) - int(block["block_start"]) == 999


def test_a_topic_without_an_id_gets_none() -> None:
    """Releases before 2.8 have no ids; later ones give it one."""
    held = disks({("t", 0): partition(replica(1, None))})
    topic = json.loads(made(*znodes(rebuild(held, wanted()), held))["/brokers/topics/t"])
    assert (topic["version"], "topic_id" in topic) == (2, False)


def test_parents_come_before_their_children() -> None:
    """A shell makes one znode a line."""
    held = disks({("a", 0): partition(), ("a-b", 0): partition()})
    seen = set[str]()
    for path in made(*znodes(rebuild(held, wanted()), held)):
        parent = path.rpartition("/")[0]
        assert not parent or parent in seen
        seen.add(path)


def test_a_value_with_blanks_and_quotes_is_one_word() -> None:
    held = disks({("t", 0): partition()})
    value = "a 'b' \"c\""
    answers = MetadataAnswers(records=(("ConfigRecord", {**DEFAULT, "value": value}),))
    rows = made(*znodes(rebuild(held, wanted()._replace(answers=answers)), held))
    assert json.loads(rows["/config/brokers/<default>"])["config"] == {"log.retention.hours": value}


def test_disks_of_kraft_and_answers_that_no_znode_has_are_refused() -> None:
    of_kraft = disks(log_dirs=(log_dir(1)._replace(version=1),))
    assert [row.name for row in refusals_of_zookeeper(of_kraft, wanted())] == ["kraft-disks"]
    of_zookeeper = disks(log_dirs=(log_dir(1)._replace(version=0),))
    for name, expected in (("a/b", ["answers"]), ("a b", []), ("..", ["answers"]), ("\n", ["answers"])):
        acl = {"resource_type": "GROUP", "resource_name": name, "principal": "User:alice", "operation": "READ"}
        asked = wanted()._replace(answers=answers_of({"acls": [acl]}, b""))
        assert [row.name for row in refusals_of_zookeeper(of_zookeeper, asked)] == expected
    assert [*refusals_of_zookeeper(of_zookeeper, wanted())] == []


def test_acls_credentials_and_quotas_are_znodes_too() -> None:
    """As AclAuthorizer and ZkAdminManager of 2.8.2 and 3.9.2 write them: test_zookeeper_lost.py compares them."""
    acl = {"resource_type": "TRANSACTIONAL_ID", "resource_name": "a 'b", "principal": "User:alice", "operation": "READ"}
    other = {**acl, "operation": "IDEMPOTENT_WRITE", "permission_type": "DENY", "host": "h"}
    prefixed = {**acl, "pattern_type": "PREFIXED", "resource_type": "TOPIC", "resource_name": "p"}
    keys = {"salt": "YQ==", "stored_key": "Yg==", "server_key": "Yw=="}
    scram = {"user": "a b*~", "mechanism": "SCRAM-SHA-256", **keys}
    quotas = [
        {"entity": {"user": "a b*~"}, "key": "producer_byte_rate", "value": 1024},
        {"entity": {"user": None, "client-id": "c"}, "key": "request_percentage", "value": 12.5},
        {"entity": {"ip": None}, "key": "connection_creation_rate", "value": 3},
    ]
    held = disks({("t", 0): partition()})
    document = {"acls": [acl, other, prefixed], "scram": [scram], "quotas": quotas}
    rows = made(*znodes(rebuild(held, wanted(answers_of(document, b""))), held))
    found = {path: json.loads(data) for path, data in rows.items() if data.startswith("{")}
    entry = {"principal": "User:alice", "permissionType": "Allow", "operation": "Read", "host": "*"}
    denied = {**entry, "permissionType": "Deny", "operation": "IdempotentWrite", "host": "h"}
    assert found['"/kafka-acl/TransactionalId/a \'b"'] == {"version": 1, "acls": [entry, denied]}
    assert found["/kafka-acl-extended/prefixed/Topic/p"] == {"version": 1, "acls": [entry]}
    assert found["/config/users/a%20b%2A%7E"]["config"] == {
        "SCRAM-SHA-256": "salt=YQ==,stored_key=Yg==,server_key=Yw==,iterations=4096", "producer_byte_rate": "1024",
    }  # fmt: skip
    assert found["/config/users/<default>/clients/c"]["config"] == {"request_percentage": "12.5"}
    assert found["/config/users/<default>"]["config"] == {}
    assert found["/config/ips/<default>"]["config"] == {"connection_creation_rate": "3"}
    assert made(MadeZnode("/kafka-acl/Group/a b", "")) == {"'/kafka-acl/Group/a b'": '""'}
