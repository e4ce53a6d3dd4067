"""An empty directory in place of a broker's log dir, as where its disk is not mounted, is green for no verb.

A KRaft broker does not start with it. A ZooKeeper broker starts and makes its replicas again, empty:
`tests/oracle/starts/test_unmounted.py` shows both.
"""

import contextlib
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import kcheck
from tests.oracle.incidents.kept import PLACE, unpacked

KRAFT, ZOOKEEPER = "4.3.1-kraft-nothing-k0", "3.9.2-zk-nothing-k7"
OF_KRAFT = ("is not formatted", "are not formatted", "has no readable meta.properties")
OF_ZOOKEEPER = (
    "has no partitions",
    "start empty",
    "starts empty",
    "without a directory",
    "not counted",
    "are not formatted",
)
DISKS = " ".join(f"{number}=broker-{number}/data{disk}" for number in (1, 2) for disk in (1, 2))
OF_2 = "2=broker-2/data1 2=broker-2/data2"


def _commands(metadata: str, kafka: str, *, settings: bool) -> Iterator[str]:
    """Yield what an operator types who does not know that a disk is not mounted."""
    for more in (kafka, f"{metadata} {kafka}"):
        yield from (f"predict {OF_2} {more}", f"{OF_2} {more}", f"{DISKS} {more}")
        yield from (f"{verb} {DISKS} {more}" for verb in ("predict", "truncation", "recover", "elect"))
        if settings:
            yield f"preflight broker-2/server.properties {more}"


@pytest.mark.parametrize("settings", [True, False])
@pytest.mark.parametrize("empty", [("data1",), ("data1", "data2")])
@pytest.mark.parametrize(
    ("name", "metadata", "kafka", "words"),
    [
        (KRAFT, "--metadata controller/data1", "", OF_KRAFT),
        (ZOOKEEPER, "--metadata zookeeper", "--kafka 3.9", OF_ZOOKEEPER),
    ],
)
def test_no_verb_is_green(
    name: str, metadata: str, kafka: str, words: tuple[str, ...], empty: tuple[str, ...], tmp_path: Path, *,
    settings: bool,
) -> None:  # fmt: skip
    """Exit code 1, with the reason. A plan that loses nothing that is here does not count what was on the disk."""
    folder = unpacked(PLACE / f"{name}.tar.xz", tmp_path / "now").folder
    for disk in empty:
        shutil.rmtree(folder / "broker-2" / disk)
        (folder / "broker-2" / disk).mkdir()
    if not settings:
        for path in folder.glob("*/server.properties"):
            path.unlink()
    wrong = []
    with contextlib.chdir(folder):
        for command in _commands(metadata, kafka, settings=settings):
            ended = kcheck(*shlex.split(command), columns=400)
            if ended.code != 1 or not any(word in ended.out.lower() for word in words):
                wrong.append(f"[{ended.code}] {command}: {ended.out[:1_000]}")
    assert wrong == []


@pytest.mark.parametrize(("name", "kafka"), [(KRAFT, ()), (ZOOKEEPER, ("--kafka", "3.9"))])
def test_a_scan_and_its_elections_name_it(name: str, kafka: tuple[str, ...], tmp_path: Path) -> None:
    """The folder of its broker lists it in a server.properties; the scan has looked at the other log dir."""
    folder = unpacked(PLACE / f"{name}.tar.xz", tmp_path / "now").folder
    shutil.rmtree(folder / "broker-2" / "data1")
    (folder / "broker-2" / "data1").mkdir()
    with contextlib.chdir(folder):
        scan = kcheck("fleet", "scan", ".", *kafka, "--output-dir", "run", columns=400)
        assert (scan.code, "broker-2/data1" in scan.out.partition("Not reached")[2]) == (3, True), scan.out
        elect = kcheck("elect", "--from", "run", columns=2_000)
        assert elect.code == 1
        assert "broker-2/data1" in elect.out
        assert "nothing is lost" not in elect.out
