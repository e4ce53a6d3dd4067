"""The znodes of a cluster whose ZooKeeper is lost, from the metadata that the disks of its brokers give.

Brokers make every other znode when they start. Tested with 2.4.1, 2.6.3 and 2.8.2
(`tests/oracle/clusters/test_zookeeper_lost.py`).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from kcheck.core.rescue.answers import BROKER
from kcheck.core.rescue.held import HeldDisks
from kcheck.core.rescue.rebuild import BLOCK, Rebuild, RebuiltTopic
from kcheck.model.cluster import NO_LEADER

_CONTROLLER_EPOCH = 1000
"""Above the epoch of every former controller, because brokers refuse requests of an older one."""
_WITHOUT_ID, _WITH_ID = 2, 3
"""Versions of the znode of a topic, by Kafka 2.4 and 2.8. Earlier releases ignore the version."""


class MadeZnode(NamedTuple):
    """A znode of a plan."""

    path: str
    data: str


def znodes(plan: Rebuild, disks: HeldDisks) -> tuple[MadeZnode, ...]:
    """Return the znodes, each after its parents."""
    made: dict[str, str] = {}
    for path, data in _leaves(plan, disks):
        parts = path.split("/")
        for count in range(2, len(parts)):
            made.setdefault("/".join(parts[:count]), "")
        made[path] = data
    return tuple(MadeZnode(path, made[path]) for path in sorted(made, key=lambda path: path.split("/")))


def zookeeper_script(rows: Sequence[MadeZnode]) -> str:
    """Return the lines for zookeeper-shell.sh, where a blank ends a word, so that no data has a blank."""
    return "".join(" ".join(("create", row.path, row.data or _NOTHING)) + "\n" for row in rows)


_NOTHING = '""'


def _leaves(plan: Rebuild, disks: HeldDisks) -> Iterator[tuple[str, str]]:
    yield "/cluster/id", _json({"version": "1", "id": disks.cluster_id})
    yield "/controller_epoch", str(_CONTROLLER_EPOCH)
    first = plan.next_producer_id
    last = {"block_start": str(first), "block_end": str(first + BLOCK - 1)}
    yield "/latest_producer_id_block", _json({"version": 1, "broker": disks.brokers[0], **last})
    for topic in plan.topics:
        yield from _of_topic(topic)
        yield f"/config/topics/{topic.name}", _json({"version": 1, "config": dict(topic.configs)})
    configs: dict[str, dict[str, str]] = {}
    for name, data in plan.records:
        if name == "ConfigRecord" and data["resourceType"] == BROKER:
            configs.setdefault(data["resourceName"] or "<default>", {})[data["name"]] = data["value"]
    for broker, config in configs.items():
        yield f"/config/brokers/{broker}", _json({"version": 1, "config": config})


def _of_topic(topic: RebuiltTopic) -> Iterator[tuple[str, str]]:
    path = f"/brokers/topics/{topic.name}"
    replicas = {str(number): list(part.replicas) for number, part in topic.partitions.items()}
    changes: dict[str, object] = {"adding_replicas": {}, "removing_replicas": {}}
    known = {} if topic.has_new_id else {"topic_id": topic.topic_id}
    version = _WITHOUT_ID if topic.has_new_id else _WITH_ID
    yield path, _json({"version": version, "partitions": replicas, **changes, **known})
    for number, part in topic.partitions.items():
        state = {
            "controller_epoch": _CONTROLLER_EPOCH, "leader": NO_LEADER, "version": 1, "leader_epoch": part.leader_epoch,
            "isr": list(part.isr),
        }  # fmt: skip
        yield f"{path}/partitions/{number}/state", _json(state)


def _json(value: Mapping[str, object]) -> str:
    """Return JSON as one word of zookeeper-shell.sh, without a blank or an apostrophe."""
    return json.dumps(value, separators=(",", ":")).replace(" ", r"\u0020").replace("'", r"\u0027")
