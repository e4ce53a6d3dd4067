"""Log dirs with nothing in them: the mount points of disks that are not mounted, or new disks."""

import contextlib
import tarfile
from pathlib import Path

from kcheck.core.premises.facts import BrokerFacts
from kcheck.core.releases.releases import release
from kcheck.core.start.startup import Mode
from kcheck.model.premises import PremiseStatus
from tests.cli.command import kcheck as command
from tests.core.premises.test_premises import (
    IDENTITY,
    METADATA_LOG,
    copy,
    facts,
    image,
    log_dir,
    not_seen,
    refuted,
    rows,
)
from tests.oracle.incidents.kept import PLACE

EMPTY = log_dir(identity=None, directories=())
FULL = log_dir("d2")
ZOOKEEPER = {"mode": Mode.ZOOKEEPER, "release": release("3.9"), "copies": (), "config": None, "is_complete": False}
FORMAT = "kafka-storage.sh format --cluster-id CLUSTER_ID --config server.properties"


def _kraft(*log_dirs: object, **fields: object) -> BrokerFacts:
    """Return broker 1 with KRaft, of which not all log dirs are known."""
    given: dict[str, object] = {"config": None, "copies": (), "image": None, "is_complete": False, **fields}
    return facts(*log_dirs, **given)


def test_a_kraft_broker_does_not_start_with_an_empty_log_dir() -> None:
    """Whatever other log dirs it has: the readable one has no meta.properties."""
    sentence = f"d1 is not formatted or not mounted. Mount the disk. Only a new one needs {FORMAT}"
    for known in ("3.3", "3.9", "4.3"):
        assert sentence == refuted(_kraft(EMPTY, release=release(known)))["P104"]
    two = _kraft(EMPTY, EMPTY._replace(path="d3"))
    assert refuted(two)["P104"].startswith("d1, d3 are not formatted or not mounted.")
    assert "P104" in refuted(_kraft(EMPTY, log_dir("d2", identity=None, is_readable=False)))


def test_a_broker_that_the_cluster_does_not_know_is_new() -> None:
    assert f"d1 is not formatted; {FORMAT}" == refuted(_kraft(EMPTY, is_expected=False))["P104"]


def test_copies_of_partition_directories_are_no_log_dir() -> None:
    """Only if it is known that they are all log dirs of a KRaft node, they are not formatted."""
    copied = log_dir(identity=None)
    assert "P104" not in refuted(_kraft(copied))
    assert refuted(facts(copied))["P104"] == f"d1 is not formatted; {FORMAT}"


def test_an_empty_log_dir_next_to_a_formatted_one_is_missing() -> None:
    judged = refuted(_kraft(EMPTY, FULL, metadata_log_dir="d2"))
    assert {"P301": "d1 has no readable meta.properties; readable in d2"} == judged


def test_a_zookeeper_broker_starts_with_an_empty_log_dir() -> None:
    """The metadata shows whether it had replicas there. Without it, or with other log dirs, that is not known."""
    sentence = "d1 has no partitions. If its disk is not mounted, broker 1 creates the missing replicas again, empty"
    for given in (facts(EMPTY, **{**ZOOKEEPER, "image": None}), facts(EMPTY, FULL, **ZOOKEEPER)):
        assert sentence == not_seen(given)["P321"]
        assert not {"P104", "P302", "P321"} & {*refuted(given)}
    assert "P302" in refuted(facts(EMPTY, **ZOOKEEPER))
    assert "P321" not in not_seen(facts(EMPTY, **ZOOKEEPER))
    other = facts(EMPTY, **{**ZOOKEEPER, "image": image(2, isr=(2,)), "is_expected": False})
    assert "P302" in rows(other, PremiseStatus.PROVEN)
    assert "P321" not in not_seen(facts(EMPTY, FULL, **{**ZOOKEEPER, "is_complete": True}))
    assert "P321" not in not_seen(facts(FULL, **ZOOKEEPER))


def test_the_registration_lists_all_log_dirs() -> None:
    """An empty formatted log dir beside a full one: absent partitions were in it if no other log dir is registered."""
    hollow = log_dir("d2", {**IDENTITY, "directory.id": "D2"}, directories=())
    other = log_dir(directories=(METADATA_LOG,))
    for known, premise in ((("D1", "D2"), "P302"), (("D1", "D2", "D3"), "P321")):
        of = image(log_dirs=known)
        given = facts(other, hollow, copies=(copy(of=of),), image=of, is_complete=False, config=None)
        assert (premise == "P302") == ("P302" in refuted(given))
        assert (premise == "P321") == ("P321" in not_seen(given))
    of = image(log_dirs=("D1", "D2", "D3"))
    full = facts(log_dir(), hollow, copies=(copy(of=of),), image=of, is_complete=False, config=None)
    assert "P321" not in not_seen(full)


def test_a_new_log_dir_beside_used_ones() -> None:
    """A disk that somebody replaced and formatted. A real 4.3.1 made the replica that was there again, empty."""
    new = log_dir("d2", {**IDENTITY, "directory.id": "D2"}, directories=())
    used = log_dir(was_used=True)
    sentence = (
        "d2 has no partition and no checkpoint, and d1 has both. If this disk replaced another one, broker 1"
        " creates the replicas of the former disk again, empty"
    )
    for known in ({}, {"mode": Mode.ZOOKEEPER, "release": release("3.9")}):
        assert sentence == not_seen(_kraft(used, new, **known))["P836"]
    assert "P836" not in not_seen(_kraft(used, new._replace(was_used=True)))
    assert "P836" not in not_seen(_kraft(used._replace(was_used=False), new))
    assert "P836" not in not_seen(facts(used, new))
    alone = refuted(facts(used._replace(directories=(METADATA_LOG,)), new))["P302"]
    assert alone.endswith("no other broker has a replica. d2 is new and unused")


def test_a_disk_that_was_replaced(tmp_path: Path) -> None:
    """The disk of broker 2 died, and kcheck repair wrote the meta.properties of the new one. It began empty."""
    with tarfile.open(PLACE / "plans" / "empty-disk-repaired.tar.xz") as tar:
        tar.extractall(tmp_path, filter="data")
    with contextlib.chdir(tmp_path):
        for words in (("broker-2",), ("check", "broker-2"), ("predict", "broker-2")):
            said = command(*words)
            assert said.code == 1
            assert "broker-2/data has no partition and no checkpoint" in " ".join(said.out.split())
        for words in (("broker-2",), ("check", "broker-2"), ("predict", "broker-2")):
            said = command(*words, "--metadata", "controller")
            assert said.code == 1
            assert "solo-1 would start empty" in said.out
            assert "broker-2/data is new and unused" in " ".join(said.out.split())
        assert 0 == command("check", "broker-1").code
