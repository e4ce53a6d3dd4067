"""Logs to which a start does nothing: what the look at them tells is what the whole simulation of the start tells."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.start.predictions import PartitionPrediction
from kcheck.core.start.startup import Mode, Outcome, Settings
from kcheck.core.start.strays import stray_detector
from kcheck.disk.local import LOCAL
from kcheck.disk.paths import join
from kcheck.documents.predict import partition_row
from kcheck.formats.producer_snapshot import Producer, ProducerSnapshot, serialize
from kcheck.model.names import CLUSTER_METADATA
from kcheck.model.release import Release
from kcheck.model.report import PartitionFilter
from kcheck.startup.inputs import Context, LoadInputs
from kcheck.startup.log_manager import directory_load_of
from kcheck.startup.partition import start_partition
from kcheck.startup.unchanged import unchanged_prediction
from kcheck.views.log_dir import one_partition, open_log_dir, wanted_directories
from kcheck.views.metadata_at_hand import named_copies
from tests.builders import broker, run, write
from tests.cases.build import shared_copies
from tests.damage import cases
from tests.oracle.ask import generated

BROKERS = Path(__file__).parents[2] / "fixtures" / "brokers"
SEED = os.environ.get("KCHECK_SEED", "settled")
DAMAGED_COUNT = generated(60)


def both(
    path: Path, newest: Release, *, clean: bool | None, metadata: tuple[str, ...] = ()
) -> Iterator[tuple[PartitionPrediction | None, PartitionPrediction]]:
    """Yield what the look and what the simulation say of each directory of a log dir that could be read."""
    log_dir = open_log_dir(LOCAL, str(path), None, newest)
    mode = Mode.KRAFT if newest.version >= (3,) else Mode.ZOOKEEPER
    copies = named_copies(metadata)[0].get(log_dir.view.cluster_id or "", ())
    detector = stray_detector(copies, log_dir.view.where.broker_id, log_dir.view.directory_id)
    for settings in (Settings(), Settings(segment_index_bytes=1024)):
        context = Context(settings, mode, newest, detector)
        for name, directory in wanted_directories(log_dir, PartitionFilter()):
            before = len(log_dir.findings)
            view = one_partition(LOCAL, log_dir, name, directory, walk_all=False, release=newest)
            assert view is not None
            stored = LoadInputs(
                log_dir.view.clean_shutdown if clean is None else clean, view.log_start_checkpoint,
                view.recovery_point or 0, view.high_watermark,
            )  # fmt: skip
            directory_load = directory_load_of(name, directory, stored, context)
            if directory_load is not None and len(log_dir.findings) == before:
                disk = LOCAL.directory(join(str(path), name))
                yield (
                    unchanged_prediction(disk, name, directory, view, *directory_load),
                    start_partition(disk, name, directory, *directory_load),
                )


def agreed(pairs: Iterator[tuple[PartitionPrediction | None, PartitionPrediction]]) -> int:
    """Return how many logs are settled; fail where the simulation says something else of one."""
    count = 0
    for quick, whole in pairs:
        if quick is not None:
            count += 1
            assert partition_row(whole) == partition_row(quick)
            assert (whole.log, whole.fails_later, whole.later_use) == (quick.log, quick.fails_later, quick.later_use)
    return count


def log_dirs(root: Path) -> list[Path]:
    """Return the log dirs below a folder."""
    return sorted({path.parent for path in root.rglob("*-offset-checkpoint")})


@pytest.mark.sample(4)
@pytest.mark.parametrize("version", sorted(path.name for path in BROKERS.iterdir() if path.is_dir()))
def test_logs_of_real_brokers(version: str) -> None:
    """As if each had been stopped in order; where it was, from 3.0 on, every log is settled but that of KRaft."""
    own = release(version)
    found = log_dirs(BROKERS / version)
    agreed(pair for path in found for pair in both(path, own, clean=True))
    if own.version >= (3,):
        stopped = [path for path in found if "stopped" in path.parts]
        pairs = [pair for path in stopped for pair in both(path, own, clean=None)]
        assert agreed(iter(pairs)) == sum(whole.directory.topic != CLUSTER_METADATA for _, whole in pairs) > 0


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("snapshot/broker-1/data1/headers-0", "headers-0"),
        ("stopped/broker-1/data1/plain-1", f"plain-1.{'a' * 32}-future"),
    ],
)
def test_logs_that_move(source: str, name: str, tmp_path: Path) -> None:
    """A future log, which may be promoted, is always simulated; with metadata of the cluster, a stray too."""
    stopped, own = BROKERS / "4.3.1" / "stopped" / "broker-1", release("4.3.1")
    data = shutil.copytree(stopped / "data1", tmp_path / "data1")
    shutil.rmtree(data / "plain-1")
    shutil.copytree(BROKERS / "4.3.1" / source, data / name)
    is_future = name.endswith("-future")
    for metadata, is_simulated in (((), is_future), ((str(stopped),), True)):
        pairs = [*both(data, own, clean=True, metadata=metadata)]
        assert agreed(iter(pairs)) > 0
        assert {quick is None for quick, whole in pairs if whole.dir == name} == {is_simulated}


@pytest.mark.sample(1)
@pytest.mark.parametrize("kafka", ["4.3", "3.7.0", "3.0"])
def test_logs_of_cases(kafka: str) -> None:
    """With everything that can be wrong."""
    found = log_dirs(shared_copies())
    assert agreed(pair for path in found for pair in both(path, release(kafka), clean=True)) > len(found) / 2


@pytest.mark.parametrize("kafka", ["4.3.1", "3.9.2"])
def test_damaged_logs(kafka: str, tmp_path: Path) -> None:
    """Whatever was done to their files."""
    damaged = cases(SEED, DAMAGED_COUNT, tmp_path, kafka)
    pairs = (pair for case in damaged for path in case.dirs for pair in both(path, release(kafka), clean=True))
    assert agreed(pairs) > DAMAGED_COUNT / 2


def test_a_transaction_above_the_log_end_is_simulated(tmp_path: Path) -> None:
    """Releases up to 3.7 abort there."""
    snapshot = serialize(ProducerSnapshot(version=1, producers=(Producer(1, 0, 0, 20, 0, 0, 0, 20),)))
    path = broker(tmp_path / "d", run(0, 9), clean=True)
    indexes = {f"{0:020d}.index": b"", f"{0:020d}.timeindex": b""}
    write(path / "t-0", {**indexes, f"{10:020d}.snapshot": snapshot})
    for kafka, aborts in (("3.7", True), ("3.8", False)):
        rows = [*both(path, release(kafka), clean=None)]
        assert [(quick, row.outcome is Outcome.ABORT) for quick, row in rows] == [(None, aborts)] * 2
