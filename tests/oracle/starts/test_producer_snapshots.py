"""What a start makes of producer snapshots that are missing, damaged or wrong: each release's own loader tells."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from kcheck.core.start.startup import Outcome
from kcheck.formats.producer_snapshot import Producer, ProducerSnapshot, parse, serialize
from tests.oracle.ask import Ask, sampled
from tests.oracle.boot import Job
from tests.oracle.starts.test_leftovers import BROKERS, INDEX_SIZE_MAX
from tests.oracle.starts.test_predict import INDEX_SIZE, judge, predicted

pytestmark = pytest.mark.oracle

END = "00000000000000000022.snapshot"


def loaded(version: str, folder: Path, ask: Ask, snapshots: dict[str, bytes], how: str) -> Sequence[Producer] | None:
    """Return the producers of the snapshot at the log end after a start, None where there is none."""
    (source,) = (BROKERS / version / "stopped" / "broker-1").glob("*/transactions-0")
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("*.snapshot"))
    for name, data in snapshots.items():
        (folder / name).write_bytes(data)
    (answer,) = ask(version, "Loading.java", [f"{folder}|{how}|0|0|segment.index.bytes={INDEX_SIZE_MAX}"])
    assert answer.split()[1] == "22"
    after = folder / END
    return parse(after.read_bytes()).value.producers if after.exists() else None


@pytest.mark.parametrize("version", sampled(("2.8.2", "3.9.2", "4.3.1")))
def test_what_a_start_believes(version: str, ask: Ask, tmp_path: Path) -> None:
    """A clean one forgets without a snapshot (KC184), reads the log with a damaged one, and believes a wrong one."""
    (source,) = (BROKERS / version / "stopped" / "broker-1").glob("*/transactions-0")
    right = (source / END).read_bytes()
    known = parse(right).value.producers
    assert 3 == len(known)
    wrong = (known[0]._replace(last_offset=3, last_sequence=77),)
    cases: list[tuple[dict[str, bytes], str, set[Producer]]] = [
        ({END: right}, "clean", set(known)),
        ({}, "clean", set()),
        ({}, "unclean", set(known)),
        ({END: right[:-1]}, "clean", set(known)),
        ({END: serialize(ProducerSnapshot(1, wrong))}, "clean", set(wrong)),
        ({"00000000000000000040.snapshot": right}, "clean", set(known)),
    ]
    for number, (snapshots, how, expected) in enumerate(cases):
        found = loaded(version, tmp_path / str(number) / "transactions-0", ask, snapshots, how)
        assert (number, expected) == (number, set(found or ()))


@pytest.mark.parametrize("version", sampled(("0.11.0.0", "0.11.0.3")))
def test_what_ends_a_start(version: str, tmp_path: Path) -> None:
    """0.11.0.0 ends at an unknown version and at bytes that are missing, not at a wrong CRC; later ones at none."""
    (source,) = (BROKERS / "0.11.0.3" / "stopped" / "broker-1").glob("*/transactions-0")
    name = max(path.name for path in source.glob("*.snapshot"))
    right = (source / name).read_bytes()
    damaged = {
        "version": b"\0\2" + right[2:],
        "short": right[:-1],
        "empty": b"",
        "crc": right[:-1] + b"\1",
        "right": right,
    }
    for what, data in damaged.items():
        shutil.copytree(source, tmp_path / what / "transactions-0")
        (tmp_path / what / "transactions-0" / name).write_bytes(data)
    jobs = {what: Job((tmp_path / what,), config=INDEX_SIZE, clean=True) for what in damaged}
    ends = {what for what, job in jobs.items() if predicted(job, version)[0].outcome is Outcome.ABORT}
    assert ends == ({"version", "short", "empty"} if version == "0.11.0.0" else set())
    judge(version, [*jobs.values()], jobs)
