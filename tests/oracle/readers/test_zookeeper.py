"""The znodes that kcheck reads are those that a ZooKeeper server starts with, on whole and on damaged files."""

import json
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from random import Random
from shutil import copytree

import pytest

from kcheck.core.cluster.znode_tree import restore
from kcheck.model.znodes import Znode
from kcheck.zookeeper.snapshot import parse, zxid_of
from kcheck.zookeeper.transaction_log import transactions
from tests.oracle.ask import SEED, Ask, generated
from tests.zookeeper_bytes import WRITTEN, create, log, multi, record, set_data, text

pytestmark = pytest.mark.oracle

SIZE_MAX = 1 << 24
OWN = "/zookeeper"
"""Below it servers of other lines begin with other znodes."""


@pytest.mark.parametrize("version", ["1.1.1", "3.9.2"])
def test_znodes(version: str, ask: Ask, tmp_path: Path) -> None:
    """All snapshots and logs; logs alone; one file cut short or with a changed byte."""
    folders = list(_damaged(Random(f"{SEED} {version}"), WRITTEN / version, tmp_path))
    folders.append(_written(tmp_path / "made"))
    ours = [_restored(folder / "version-2") for folder in folders]
    answers = [json.loads(answer) for answer in ask(version, "Znodes.java", map(str, folders))]
    theirs = [_their(answer) for answer in answers]
    for folder, our, their, answer in zip(folders, ours, theirs, answers, strict=True):
        assert our == their, (folder.name, answer.get("exception"))
    assert None in ours
    assert sum(our is not None for our in ours) > len(ours) / 4


def _restored(folder: Path) -> tuple[int, dict[str, Znode]] | None:
    """Return the last transaction and the znodes; None if no server starts."""
    files = list(folder.iterdir())
    snapshots = {zxid: file for file in files if (zxid := zxid_of(file.name, "snapshot")) is not None}
    logs = {zxid: transactions(file.read_bytes()) for file in files if (zxid := zxid_of(file.name, "log")) is not None}
    newest_first = [file for _, file in sorted(snapshots.items(), reverse=True)]
    tree = restore((parse(file.name, file.read_bytes(), SIZE_MAX) for file in newest_first), logs)
    if tree.stopped_by is not None or tree.no_snapshot:
        return None
    return tree.zxid, {path: node for path, node in tree.znodes.items() if not path.startswith(OWN)}


def _their(answer: dict[str, object]) -> tuple[object, dict[str, Znode]] | None:
    znodes = answer.get("znodes")
    if not isinstance(znodes, dict):
        return None
    return answer["zxid"], {
        path: Znode(None if data is None else b64decode(data), *stat)
        for path, (data, *stat) in znodes.items()
        if not path.startswith(OWN)
    }


def _damaged(random: Random, written: Path, target: Path) -> Iterator[Path]:
    def copied(name: str) -> Path:
        return Path(copytree(written, target / name))

    yield copied("whole")
    alone = copied("logs")
    for path in (alone / "version-2").glob("snapshot*"):
        path.unlink()
    yield alone
    for number in range(generated(300)):
        folder = copied(f"damaged-{number}")
        if number == 0:
            for path in (folder / "version-2").glob("snapshot*"):
                data = bytearray(path.read_bytes())
                data[len(data) // 2] ^= 1
                path.write_bytes(data)
            continue
        path = random.choice(sorted((folder / "version-2").iterdir()))
        data = bytearray(path.read_bytes())
        size = len(data.rstrip(b"\0"))
        if random.random() < 0.3:
            del data[random.randrange(len(data)) :]
        else:
            data[random.randrange(size)] ^= 1 << random.randrange(8)
        path.write_bytes(data)
        yield folder


def _written(folder: Path) -> Path:
    """Write a log with every type of transaction that all lines know."""
    bodies = (
        (-10, bytes(4)), (1, create("/a", b"1")), (1, create("/a/e", None, ephemeral=True)),
        (5, set_data("/a", None, 1)),
        (14, multi((1, create("/m")), (5, set_data("/a", b"2", 2)), (13, text("/a") + bytes(4)))),
        (14, multi((-1, bytes(4)), (-1, bytes(4)))), (2, text("/m")), (-1, bytes(4)), (-11, b""),
    )  # fmt: skip
    (folder / "version-2").mkdir(parents=True)
    records = [record(kind, body, zxid=zxid) for zxid, (kind, body) in enumerate(bodies, 1)]
    (folder / "version-2" / "log.1").write_bytes(log(*records))
    return folder
