"""Plans of the rescues for `python -m tests.disk.faults`: log dirs, and a plan that `kcheck recover ...` writes."""

from collections.abc import Callable
from pathlib import Path

Scene = Callable[[Path], tuple[bytes, tuple[Path, ...]]]
"""Fills a folder with log dirs; returns a plan and the log dirs that it changes."""


def metadata(folder: Path) -> tuple[bytes, tuple[Path, ...]]:
    """Make an empty controller that gets the metadata of the disks of three brokers."""
    from tests.replicas import test_recover_metadata

    nodes = test_recover_metadata.laid_out(folder)
    return _planned(nodes, "recover metadata {1} {2} {3} {201}", "plan-201", 201)


def metadata_bootstrap(folder: Path) -> tuple[bytes, tuple[Path, ...]]:
    """Make an empty controller whose first records are the metadata."""
    from tests.replicas import test_recover_metadata

    nodes = test_recover_metadata.laid_out(folder)
    return _planned(nodes, "recover metadata {1} {2} {3} {201} --bootstrap", "plan-201", 201)


def metadata_of_zookeeper(folder: Path) -> tuple[bytes, tuple[Path, ...]]:
    """Make the disk of a ZooKeeper broker, which gets the ids of KRaft and of a topic."""
    from tests.replicas import test_recover_metadata

    nodes = test_recover_metadata.laid_out(folder)
    test_recover_metadata.as_of_zookeeper(nodes)
    return _planned(nodes, "recover metadata {1} {2} {3} {201} --kafka 4.3", "plan-1", 1)


def topic(folder: Path) -> tuple[bytes, tuple[Path, ...]]:
    """Make a broker that is to delete a topic; the plan moves the directory aside and makes another one."""
    from tests.replicas import test_recover_topic

    return _planned(test_recover_topic.laid_out(folder), "recover topic voted {1} {2} {3}", "plan-1-files", 1)


def topic_names(folder: Path) -> tuple[bytes, tuple[Path, ...]]:
    """Make a broker with the files of the plan before; this plan gives the directory its name again."""
    from kcheck.disk.apply import apply

    plan, dirs = topic(folder)
    apply(plan, str(folder / "earlier"))
    return (folder / "out" / "plan-1-names.json").read_bytes(), dirs


def quorum_copy(folder: Path) -> tuple[bytes, tuple[Path, ...]]:
    """Make a stale controller that gets the copy of a broker in the place of its own."""
    from tests.replicas.test_recover_quorum import laid_out, log

    nodes = laid_out(folder)
    log(nodes, 3).write_bytes(log(nodes, 3).read_bytes()[:-72])
    return _planned(nodes, "recover quorum {3} {2} --dead 1 --dead 2", "plan-3", 3)


def quorum_record(folder: Path) -> tuple[bytes, tuple[Path, ...]]:
    """Make a survivor with a torn batch, which a record then names as the only voter."""
    from tests.replicas.test_recover_quorum import dynamic, laid_out, log

    nodes = laid_out(folder)
    dynamic(nodes, 3)
    whole = log(nodes, 3).read_bytes()
    log(nodes, 3).write_bytes(whole + whole[:50])
    return _planned(nodes, "recover quorum {3} --dead 1 --dead 2 --way voters", "plan-3", 3)


def quorum_dropped(folder: Path) -> tuple[bytes, tuple[Path, ...]]:
    """Make an old controller whose metadata log must not come back."""
    from tests.replicas.test_recover_quorum import laid_out
    from tests.replicas.test_recover_quorum_votes import TOPIC_AT, cut

    nodes = laid_out(folder)
    for number in (1, 2):
        cut(nodes, number, TOPIC_AT)
    return _planned(nodes, "recover quorum {1} {2} {3}", "plan-1", 1)


def quorum_new(folder: Path) -> tuple[bytes, tuple[Path, ...]]:
    """Make an empty disk of a new controller, which gets the newest copy."""
    from tests.replicas.test_recover_quorum import laid_out, new_disk

    nodes = laid_out(folder)
    new_disk(nodes, 201)
    dead = "--dead 1 --dead 2 --dead 3 --voter 201@new:9093"
    return _planned(nodes, f"recover quorum {{201}} {{3}} {dead}", "plan-201", 201)


def quorum_vote(folder: Path) -> tuple[bytes, tuple[Path, ...]]:
    """Make a survivor whose quorum-state alone changes."""
    from tests.replicas.test_recover_quorum import laid_out, log

    nodes = laid_out(folder)
    (log(nodes, 3).parent / "quorum-state").write_bytes(b"torn")
    return _planned(nodes, "recover quorum {3} --dead 1 --dead 2", "plan-3", 3)


def quorum_snapshots(folder: Path) -> tuple[bytes, tuple[Path, ...]]:
    """Make a survivor with a corrupt snapshot, which is set aside."""
    from tests.replicas.test_recover_quorum import SNAPSHOT, laid_out, log

    nodes = laid_out(folder)
    (log(nodes, 3).parent / SNAPSHOT).write_bytes(b"torn")
    return _planned(nodes, "recover quorum {3} --dead 1 --dead 2", "plan-3", 3)


def _planned(nodes: Path, command: str, plan: str, number: int) -> tuple[bytes, tuple[Path, ...]]:
    from tests.cli.command import kcheck

    out = nodes.parent / "out"
    brokers = [f"{each}={nodes}/broker-{each}" for each in range(202)]
    done = kcheck(*command.format(*brokers).split(), "--output-dir", out)
    assert done.code in (0, 1), done.err
    return (out / f"{plan}.json").read_bytes(), (nodes / f"broker-{number}" / "data1",)


RESCUES: tuple[Scene, ...] = (
    metadata, metadata_bootstrap, metadata_of_zookeeper, topic, topic_names, quorum_copy, quorum_record,
    quorum_dropped, quorum_new, quorum_vote, quorum_snapshots,
)  # fmt: skip
