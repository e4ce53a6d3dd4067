"""The znodes of a lost ZooKeeper, and the lines that make them."""

import json
import re

from kcheck.core.rescue.answers import MetadataAnswers
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
    user = ("UserScramCredentialRecord", {"name": "alice"})
    answers = MetadataAnswers(records=(("ConfigRecord", DEFAULT), user))
    rows = made(*znodes(rebuild(held, wanted()._replace(answers=answers)), held))
    assert [path for path in rows if path.startswith("/config/users")] == []
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
    acl = MetadataAnswers(records=(("AccessControlEntryRecord", {"id": "a"}),))
    asked = wanted()._replace(answers=acl)
    assert [row.name for row in refusals_of_zookeeper(of_zookeeper, asked)] == ["answers"]
    assert [*refusals_of_zookeeper(of_zookeeper, wanted())] == []
