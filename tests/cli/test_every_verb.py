"""Every verb answers alike about real incidents: red where a broker does not start or records are lost.

The disks are those of `fixtures/asked`, some with one more change. Real brokers were started on copies of them.
"""

import contextlib
import re
import shlex
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from kcheck.model.rights import Volume
from kcheck.views import host_facts
from tests.cli.command import kcheck
from tests.oracle.scenes import FIXTURES

VERBS = ("preflight", "predict", "path", "check", "elect", "recover", "verify", "fleet")


class Asked(NamedTuple):
    """What every verb has to say about one broker of an incident."""

    codes: str
    """The exit codes of the verbs, in their order."""
    sentence: str = ""
    """What each of them says that is red; verify and fleet say it in their rows."""
    broker: int = 1
    """The broker that preflight, predict, the path alone and check are asked about."""
    metadata: str = "--metadata controller"
    """What else each command gets."""
    base: str | None = None
    """The incident whose disks these are, if not that of the name."""
    change: Callable[[], object] = tuple
    """What was done to them."""
    volume: Volume | None = None
    """The file system of the log dirs, if it is not as it should be."""


def edited(path: str, old: str, new: str) -> None:
    """Replace what a file has once or more."""
    text = Path(path).read_text("utf-8")
    assert re.search(old, text)
    Path(path).write_text(re.sub(old, new, text), "utf-8")


def cloned() -> None:
    """Give broker 2 the disks of broker 1, with its own node id."""
    for name in ("data", "data1"):
        shutil.rmtree(f"broker-2/{name}")
        shutil.copytree(f"broker-1/{name}", f"broker-2/{name}")
        edited(f"broker-2/{name}/meta.properties", "node.id=1", "node.id=2")


def replaced() -> None:
    """Give broker 1 two new disks, formatted."""
    for name in ("data", "data1"):
        meta = Path(f"broker-1/{name}/meta.properties").read_text("utf-8")
        shutil.rmtree(f"broker-1/{name}")
        Path(f"broker-1/{name}").mkdir()
        new = re.sub("directory.id=.*", f"directory.id=AAAAAAAAAAAAAAAAAAAAb{len(name)}", meta)
        Path(f"broker-1/{name}/meta.properties").write_text(new, "utf-8")


def cut() -> None:
    """Take the last batch from both logs of clicks-0: the high watermark is above them."""
    for log_dir in ("broker-2/data", "broker-3/data1"):
        path = Path(log_dir, "clicks-0/00000000000000000000.log")
        path.write_bytes(path.read_bytes()[:7467])
        Path(log_dir, ".kafka_cleanshutdown").unlink()


def torn() -> None:
    """Cut the last batch of a controller's metadata log."""
    path = Path("controller/data/__cluster_metadata-0/00000000000000000000.log")
    path.write_bytes(path.read_bytes()[:-7])


DISK = Volume(
    "/disk", is_read_only=False, is_seen_in_container=False, free=1 << 40, free_for_root=1 << 40, block_size=4096
)
"""A file system with room; a test cannot mount one."""

TABLE = {
    "cluster-id": Asked("1 1 1 1 1 1 1 3", "the disk of broker 1 is of cluster", metadata="--metadata controller/data"),
    "node-id": Asked("1 1 1 1 1 1 1 1", "meta.properties says broker 1, but the settings name 7", metadata=""),
    "generated-broker-id": Asked("1 1 1 1 1 1 1 1", metadata="--metadata zookeeper"),
    "not-formatted": Asked("1 1 1 1 1 1 1 1", "broker-5/data is not formatted", 5, ""),
    "disk-gone": Asked("1 1 1 1 1 1 1 3", "log dir broker-2/data1 is missing", 2),
    "new-disk": Asked("1 1 1 1 1 1 1 1", "broker-2/data1 has no readable meta.properties", 2, base="disk-gone",
                      change=Path("broker-2/data1").mkdir),
    "voters-config": Asked("1 1 1 1 1 1 1 1", "controller.quorum.voters is 1,2,3, quorum-state has 1", metadata=""),
    "voters-started-first": Asked(
        "1 1 1 1 1 1 1 1",
        metadata="--metadata controller/data --metadata new-controller/data --metadata third-controller/data",
    ),
    "voter-formatted-again": Asked("1 1 1 0 0 0 1 3", broker=3, metadata=""),
    "controllers-reformatted": Asked("1 1 1 1 1 1 1 1", metadata="--metadata new-controller"),
    "voters-without-metadata": Asked("1 1 1 1 1 1 1 1", metadata=""),
    "combined-nodes": Asked("1 1 1 0 0 0 1 0", metadata=""),
    "zookeeper-lost-2.4.1": Asked("1 1 1 0 1 1 1 0", metadata="--metadata zookeeper"),
    "zookeeper-lost-3.9.2": Asked("1 1 1 1 1 1 1 0", metadata="--metadata zookeeper"),
    "fresh-volume-zookeeper": Asked("1 1 1 1 1 1 1 3", metadata="--metadata zookeeper"),
    "fresh-volume": Asked("1 1 1 1 1 1 1 3", "solo-0", base="hanging-transaction", change=replaced),
    "empty-disk-repaired": Asked("1 1 1 1 1 1 1 1", "solo-1", 2),
    "internal-topics-removed": Asked("1 1 1 1 1 1 1 1", "__consumer_offsets-0, __transaction_state-0", 3),
    "first-segment-missing": Asked("1 1 1 1 0 1 1 1", "orders-1"),
    "files-removed": Asked("1 1 1 1 1 1 1 1", "orders-1"),
    "zookeeper-settings-on-4": Asked("1 1 1 1 1 1 1 1", "process.roles is missing", metadata="--kafka 4.3.1"),
    "segment-bytes-refused": Asked("1 1 1 1 1 1 1 1", "have segment.bytes=16000", metadata="--kafka 4.3.1"),
    "power-loss": Asked("1 1 1 1 1 1 1 1", broker=3),
    "power-loss-3.9.2": Asked("1 1 1 1 1 1 1 1", broker=2),
    "old-copy-of-a-disk": Asked("1 1 1 1 1 1 1 1", "the disks are an old copy, made before broker 2", 2),
    "future-only": Asked("1 1 1 1 1 1 1 1", "aa-0", metadata=""),
    "future-beside-current": Asked("1 1 1 1 1 1 1 1", metadata=""),
    "directories-moved": Asked("1 1 1 1 1 1 1 1"),
    "topic-deleted": Asked("1 1 1 0 0 0 1 0", "-delete directories hold"),
    "topic-deleted-put-back": Asked("1 1 1 1 1 1 1 1"),
    "unclean-election-happened": Asked("1 1 1 1 1 1 1 1", "old-0"),
    "wrapper-reaches-back": Asked("- 1 1 0 1 1 1 1", metadata="--kafka 0.10.2"),
    "quiet-broker": Asked("- 0 0 0 0 0 1 0", metadata=""),
    "hanging-transaction": Asked("0 0 0 0 0 0 1 0"),
    "keyless-records-compacted": Asked("1 1 1 0 1 1 1 1", "audit is compacted; 90 records have no key", metadata=""),
    "stray-directories": Asked("1 1 1 1 1 1 1 1", "solo-0"),
    "log-dirs-reversed": Asked(
        "1 1 1 1 1 1 1 1", "but the settings keep it in broker-3/data1", 3, base="hanging-transaction",
        change=lambda: edited("broker-3/server.properties", "log.dirs=.*", "log.dirs=broker-3/data1,broker-3/data"),
    ),
    "log-dirs-elsewhere": Asked(
        "1 1 1 0 1 1 1 0", "/srv/none", 3, base="hanging-transaction",
        change=lambda: edited("broker-3/server.properties", "log.dirs=.*", "log.dirs=/srv/none"),
    ),
    "log-dirs-others": Asked(
        "1 1 1 1 1 1 1 1", "which alone has __transaction_state-0", 3, base="hanging-transaction",
        change=lambda: edited("broker-3/server.properties", "log.dirs=.*", "log.dirs=broker-2/data"),
    ),
    "no-controller-any-more": Asked(
        "1 1 1 1 1 1 1 1", "process.roles is broker, but node 3 is in controller.quorum.voters", 3, "",
        base="combined-nodes",
        change=lambda: edited("broker-3/server.properties", "process.roles=.*", "process.roles=broker"),
    ),
    "cloned-disk": Asked("1 1 1 1 1 1 1 1", "is registered by broker 1: the disk is a copy of that broker", 2,
                         base="hanging-transaction", change=cloned),
    "high-watermark-above-every-log": Asked(
        "1 1 1 1 1 1 1 1", "clicks-0", 3, base="hanging-transaction", change=cut,
    ),
    "read-only-mount": Asked(
        "1 1 1 1 0 0 1 0", "/disk", base="hanging-transaction", volume=DISK._replace(is_read_only=True),
    ),
    "disk-full": Asked(
        "1 1 1 1 0 0 1 0", "free", base="hanging-transaction", volume=DISK._replace(free=0, free_for_root=0),
    ),
    "torn-metadata": Asked("0 0 0 0 1 1 1 1", base="hanging-transaction", change=torn),
}  # fmt: skip
"""By incident."""


def commands(asked: Asked) -> dict[str, str]:
    """Return what is typed, by verb."""
    folder, options = f"broker-{asked.broker}", asked.metadata
    brokers = " ".join(f"{path.name.removeprefix('broker-')}={path}" for path in sorted(Path().glob("broker-*")))
    kafka = options if options.startswith("--kafka") else ""
    return {
        "preflight": f"preflight {folder}/server.properties {options}",
        "predict": f"predict {folder} {options}",
        "path": f"{folder} {options}",
        "check": f"check {folder} {options}",
        "elect": f"elect {brokers} {options} --output-dir plan",
        "recover": f"recover {brokers} {options}",
        "verify": f"verify plan {brokers} {options}",
        "fleet": f"fleet scan {' '.join(map(str, sorted(Path().glob('broker-*'))))} {_rest()} --depth records --jobs 1"
                 f" --output-dir out {kafka}",
    }  # fmt: skip


def _rest() -> str:
    return " ".join(name for name in ("controller", "new-controller", "third-controller") if Path(name).is_dir())


@pytest.mark.sample(13)
@pytest.mark.parametrize("name", TABLE)
def test_every_verb(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same broker, the same files, the same sentence."""
    asked = TABLE[name]
    with tarfile.open(FIXTURES / "asked" / f"{asked.base or name}.tar.xz") as tar:
        tar.extractall(tmp_path, filter="data")
    codes, silent = [], []
    with contextlib.chdir(tmp_path):
        asked.change()
        if asked.volume is not None:
            monkeypatch.setattr(host_facts, "volume_of", lambda _: asked.volume)
        for verb, expected in zip(VERBS, asked.codes.split(), strict=True):
            if expected == "-":
                codes.append(expected)
                continue
            ended = kcheck(*shlex.split(commands(asked)[verb]), columns=200)
            codes.append(str(ended.code))
            text = " ".join((ended.out + ended.err).split())
            if expected == "1" and verb not in ("verify", "fleet") and asked.sentence not in text:
                silent.append(f"{verb}: {text[:600]}")
    assert [] == silent
    assert asked.codes == " ".join(codes)
