"""A cluster whose metadata is lost on all nodes, and the metadata that kcheck makes again from the brokers' disks."""

import json
import shutil
from pathlib import Path
from typing import Any

import kcheck
from kcheck.disk.local import LOCAL
from kcheck.model.cluster import ClusterImage
from kcheck.plans.recover_metadata import MetadataRecovery
from kcheck.views.metadata_copy import read_copy
from tests.oracle.clusters.lost_quorum import (
    BROKERS,
    METADATA,
    Access,
    Nodes,
    access_of,
    followed,
    next_kind,
    same,
    wait_leads,
)
from tests.oracle.kafka import wait_for

NEW = 201
"""The new controller."""


def before(base: Path) -> ClusterImage:
    """Return the metadata that is lost."""
    return read_copy(LOCAL, str(base / "now" / "node-101" / "data" / METADATA), 101).image


def without_metadata(nodes: Nodes, *each: int) -> None:
    """Let brokers have no copy of the metadata."""
    for number in each:
        shutil.rmtree(nodes.metadata(number))


def with_controller(nodes: Nodes) -> None:
    """Format the disk of a new controller, which is the only voter."""
    nodes.add(NEW, voters=[NEW])
    nodes.format(NEW, *(("--standalone",) if nodes.dynamic else ()))


def answers(nodes: Nodes, base: Path, folder: Path, **more: Any) -> Path:
    """Return the answers of a user who knows the order of replicas and the configurations."""
    kcheck.recover_metadata(*nodes.arguments(NEW, *BROKERS), out=folder, **more)
    document = json.loads((folder / "answers.json").read_text())
    known = before(base)
    for name, topic in document["topics"].items():
        parts = known.topics[name].partitions
        topic["replicas"] = {str(number): list(part.replicas) for number, part in parts.items()}
        if not name.startswith("__"):
            topic["configs"] = dict(known.configs.get(("topic", name), {}))
    document["broker_configs"] = {name: dict(row) for (kind, name), row in known.configs.items() if kind == "broker"}
    document |= access_answers(access_of(base / "now" / "node-101" / "data" / METADATA))
    path = folder / "changed.json"
    path.write_text(json.dumps(document))
    return path


def access_answers(rows: Access) -> dict[str, Any]:
    """Return the answers of a user who knows the ACLs, credentials and quotas."""
    known = dict(rows)
    acl, quota = known["AccessControlEntryRecord"], known["ClientQuotaRecord"]
    entry = {"resource_type": "TOPIC", "operation": "READ", "resource_name": acl["resourceName"]}
    entity = {row["entityType"]: row["entityName"] for row in quota["entity"]}
    scram = known.get("UserScramCredentialRecord")
    keys = {"salt": "salt", "stored_key": "storedKey", "server_key": "serverKey", "iterations": "iterations"}
    return {
        "acls": [{**entry, "principal": acl["principal"]}],
        "quotas": [{"entity": entity, "key": quota["key"], "value": int(quota["value"])}],
        "scram": []
        if scram is None
        else [{"user": scram["name"], "mechanism": "SCRAM-SHA-512"} | {key: scram[name] for key, name in keys.items()}],
    }


def planned(nodes: Nodes, out: Path, **asked: Any) -> MetadataRecovery:
    """Return the plan for the brokers and the new controller."""
    answer = kcheck.recover_metadata(*nodes.arguments(NEW, *BROKERS), out=out, **asked)
    assert answer.refusals == ()
    return answer


def started(nodes: Nodes, answer: MetadataRecovery, base: Path) -> None:
    """Do what a plan says, start everything at once; all is as before, and works."""
    plan = Path(answer.folder)
    followed(nodes, answer)
    assert next_kind(nodes, plan, NEW) == ("next", "brokers")
    nodes.start(NEW, *BROKERS)
    wait_leads(nodes[NEW])
    same(nodes, base, with_elr=answer.rebuild.elr)
    wait_for("the end of the plan", lambda: next_kind(nodes, plan, NEW) == ("done", None))
