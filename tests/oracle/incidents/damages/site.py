"""The folder of an incident, as a damage finds it."""

import re
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.oracle.incidents.shapes import Shape

METADATA = "__cluster_metadata-0"
PARTITION = re.compile(r"[\w.]+-\d+")


class Site(NamedTuple):
    """Stopped brokers: `folder` is changed, `base` holds what was kept of the cluster, `number` is the target."""

    folder: Path
    base: Path
    random: Random
    shape: Shape
    number: int

    @property
    def broker(self) -> Path:
        """The folder of the target."""
        return self.folder / f"broker-{self.number}"

    @property
    def log_dirs(self) -> list[Path]:
        """The log dirs of the target."""
        return sorted(path for path in self.broker.glob("data*") if path.is_dir())

    @property
    def others(self) -> list[Path]:
        """The folders of the other brokers."""
        return [path for path in sorted(self.folder.glob("broker-*")) if path != self.broker]

    @property
    def metadata(self) -> Path | None:
        """The log dir of the controller beside the brokers, or of the target where that is one itself."""
        if self.shape.mode == "zk":
            return None
        if self.shape.beside == "controller":
            return self.folder / "controller" / "data1"
        return self.broker / "data1"

    def log_dir(self) -> Path | None:
        """Choose a log dir of the target."""
        return self.random.choice(self.log_dirs) if self.log_dirs else None

    def partitions(self, broker: Path | None = None) -> list[Path]:
        """Return the directories of the target's partitions that hold records."""
        return sorted(
            path
            for log_dir in sorted((broker or self.broker).glob("data*"))
            for path in log_dir.glob("*-*")
            if PARTITION.fullmatch(path.name) and path.name != METADATA and size(path)
        )

    def partition(self) -> Path | None:
        """Choose one of them, rarely an internal one."""
        found = self.partitions()
        users = [path for path in found if not path.name.startswith("__")]
        choice = users if users and self.random.random() < 0.85 else found
        return self.random.choice(choice) if choice else None


Damage = Callable[[Site], str | None]
"""Damages a site; says what it did, None if there is nothing that it could damage."""


def size(directory: Path) -> int:
    """Return the bytes of the segments of a partition directory."""
    return sum(log.stat().st_size for log in directory.glob("*.log")) if directory.is_dir() else 0


def logs(directory: Path) -> list[Path]:
    """Return the segments with records, the first first."""
    return [log for log in sorted(directory.glob("*.log")) if log.stat().st_size]


def batches(data: bytes) -> list[int]:
    """Return where the batches of a segment begin, then where the last ends."""
    places = [0]
    while len(data) - places[-1] >= 61:
        end = places[-1] + 12 + int.from_bytes(data[places[-1] + 8 : places[-1] + 12], "big")
        if end > len(data) or end <= places[-1] + 12:
            break
        places.append(end)
    return places


def place(path: Path) -> str:
    """Return a path from the folder of the incident."""
    parts = path.parts
    at = next(n for n, part in enumerate(parts) if part.startswith(("broker-", "controller", "zookeeper")) and n > 1)
    return "/".join(parts[at:])


def lines_of(path: Path) -> list[str]:
    """Return the lines of a checkpoint behind its count."""
    return path.read_text().split("\n")[2:-1] if path.exists() else []


def write_lines(path: Path, lines: list[str]) -> None:
    """Write a checkpoint."""
    path.write_text("\n".join(["0", str(len(lines)), *lines, ""]))


def property_of(path: Path, name: str) -> str | None:
    """Return the value of a property."""
    found = re.search(rf"(?m)^{re.escape(name)}=(.*)$", path.read_text()) if path.exists() else None
    return found[1] if found else None


def set_property(path: Path, name: str, value: str | None) -> None:
    """Set a property, or remove it."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith(f"{name}=")]
    path.write_text("\n".join([*lines, *([] if value is None else [f"{name}={value}"]), ""]))


def records(directory: Path) -> bytes:
    """Return the bytes of all `.log` files of a partition."""
    return b"".join(log.read_bytes() for log in logs(directory))


def unlike_replicas(site: Site) -> list[tuple[Path, Path]]:
    """Return the replicas of the target with other bytes than another broker's, each with that one."""
    return [
        (mine, theirs)
        for mine in site.partitions()
        for other in site.others
        for theirs in site.partitions(other)
        if theirs.name == mine.name and records(theirs) != records(mine)
    ]
