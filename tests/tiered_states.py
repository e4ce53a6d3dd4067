"""Directories that real brokers of 4.3.1 left with tiered storage; an incident has several states."""

from pathlib import Path

from tests.oracle.scenes import unpacked

OLD_LEADER = "old-leader-after-unclean-election"
KILLED = "killed-while-aux-state-is-built"
EMPTY = "empty-replica-elected-uncleanly"
GAP = "gap-below-local-start"
LOST = "metadata-topic-lost"
OBJECTS = "object-missing"
REFUSED = "store-refuses-deletes"
LEFT = "remote-storage-left"
STOPPED = "replicas-stopped"
"""Two healthy brokers, stopped one after the other, and the same ones some segments earlier."""
AIVEN, ENCRYPTED = "aiven-plain", "aiven-encrypted"
"""A broker of 3.9.2 with the Aiven plugin 1.0.0, plain, or compressed and encrypted."""


def state(incident: str, name: str, folder: Path) -> Path:
    """Unpack an incident into a folder, and return one of its states."""
    return unpacked(f"tiered/{incident}", folder) / name


def brokers(of: Path) -> list[str]:
    """Return the arguments for the two brokers of a state."""
    return [f"{number}={of}/broker-{number}" for number in (1, 2)]
