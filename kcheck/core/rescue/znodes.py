"""The znodes of a cluster whose ZooKeeper is lost, from the metadata that the disks of its brokers give.

Brokers make every other znode when they start. Tested with 2.4.1, 2.6.3, 2.8.2 and 3.9.2
(`tests/oracle/clusters/test_zookeeper_lost.py`).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from kcheck.core.rescue.answers import BROKER, PREFIXED, SCRAM_NAMES, acl_words
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
    return "".join(" ".join(("create", _word(row.path), row.data or _NOTHING)) + "\n" for row in rows)


def _word(path: str) -> str:
    """Return a path as one word of zookeeper-shell.sh (ZooKeeperMain.MyCommandOptions)."""
    return path if " " not in path else f"'{path}'" if "'" not in path else f'"{path}"'


_NOTHING = '""'


def is_znode_name(name: str) -> bool:
    """Return whether a znode of that name can exist, and can be written in one word of zookeeper-shell.sh."""
    is_quotable = " " not in name or not {"'", '"'} <= {*name}
    return name not in ("", ".", "..") and "/" not in name and name.isprintable() and is_quotable


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
    yield from _of_access(plan.records)


def _of_access(records: Sequence[tuple[str, Mapping[str, Any]]]) -> Iterator[tuple[str, str]]:
    """Yield the ACLs, SCRAM credentials and quotas, as AclAuthorizer and ZkAdminManager write them."""
    acls: dict[str, list[Mapping[str, str]]] = {}
    configs: dict[str, dict[str, str]] = {}
    for name, data in records:
        if name == "AccessControlEntryRecord":
            path, entry = _acl(data)
            acls.setdefault(path, []).append(entry)
        elif name == "UserScramCredentialRecord":
            keys = {"salt": "salt", "stored_key": "storedKey", "server_key": "serverKey", "iterations": "iterations"}
            value = ",".join(f"{key}={data[field]}" for key, field in keys.items())
            configs.setdefault(f"/config/users/{_sanitized(data['name'])}", {})[SCRAM_NAMES[data["mechanism"]]] = value
        elif name == "ClientQuotaRecord":
            path = _quota_path(data["entity"])
            user, clients, _ = path.partition("/clients/")
            if clients and user != "/config":
                configs.setdefault(user, {})  # As after its last setting is deleted: a broker reads JSON there.
            configs.setdefault(path, {})[data["key"]] = _number(data["value"])
    for path, entries in acls.items():
        yield path, _json({"version": 1, "acls": entries})
    for path, config in configs.items():
        yield path, _json({"version": 1, "config": config})


def _acl(data: Mapping[str, Any]) -> tuple[str, Mapping[str, str]]:
    """Return the znode of a resource, and one of its entries."""
    resource, operation, permission = acl_words(data)
    store = "/kafka-acl-extended/prefixed" if data["patternType"] == PREFIXED else "/kafka-acl"
    entry = {"principal": data["principal"], "permissionType": permission, "operation": operation, "host": data["host"]}
    return f"{store}/{resource}/{data['resourceName']}", entry


def _quota_path(entity: Sequence[Mapping[str, str | None]]) -> str:
    """Return the znode of the quotas of a user, a client, a client of a user, or an address (DynamicConfig)."""
    names = {row["entityType"]: row["entityName"] for row in entity}
    parts = [
        f"{folder}/{'<default>' if names[kind] is None else _sanitized(str(names[kind]))}"
        for kind, folder in {"user": "users", "client-id": "clients", "ip": "ips"}.items()
        if kind in names
    ]
    return f"/config/{'/'.join(parts)}"


def _sanitized(name: str) -> str:
    """Return a name as Sanitizer.sanitize writes it, which is the URL encoding with %20 for a blank."""
    return quote(name, safe="", errors="replace").replace("~", "%7E")


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)


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
