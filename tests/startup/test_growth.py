"""What a start of many segments takes grows with their number."""

from collections.abc import Callable

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.start.predictions import LogDirPrediction, PartitionPrediction
from kcheck.core.start.startup import Mode, Outcome, Settings
from kcheck.model.names import LEADER_EPOCHS, parse_directory, segment_prefix
from kcheck.startup.inputs import Context, LoadInputs
from kcheck.startup.log_manager import combined_starts
from kcheck.startup.partition import start_partition
from tests.builders import BytesFiles, batch
from tests.growth import grows_with_its_input


@pytest.mark.sample(4)
@pytest.mark.parametrize("kafka", ["0.11.0", "2.0", "2.4", "2.8", "4.3"])
@pytest.mark.parametrize("indexed", [True, False])
def test_a_start_of_many_segments(kafka: str, indexed: bool) -> None:
    """Each of them is recovered, and leaves an epoch and a snapshot of producers behind it."""

    def load(count: int) -> Callable[[], object]:
        files = {f"{segment_prefix(base)}.log": batch(base, epoch=1 + base).data for base in range(count)}
        if indexed:
            files |= {f"{segment_prefix(base)}.index": b"" for base in range(count)}
        directory = parse_directory("t-0")
        assert directory is not None
        context = Context(Settings(), Mode.ZOOKEEPER, release(kafka))
        return lambda: start_partition(BytesFiles(files), "t-0", directory, LoadInputs(clean=False), context)

    assert grows_with_its_input(load, 50)


@pytest.mark.parametrize("kafka", ["0.11.0", "2.4", "4.3"])
@pytest.mark.parametrize("lines", ["", "0\n2\n1 9\n0 8\n"])
def test_a_start_of_many_epochs(kafka: str, lines: str) -> None:
    """The file of epochs that a recovery leaves is made once for many batches, not for each of them."""

    def load(count: int) -> Callable[[], object]:
        data = b"".join(batch(offset, epoch=1 + offset).data for offset in range(count))
        files = {f"{segment_prefix(0)}.log": data, LEADER_EPOCHS: lines.encode()}
        directory = parse_directory("t-0")
        assert directory is not None
        context = Context(Settings(), Mode.ZOOKEEPER, release(kafka))
        return lambda: start_partition(BytesFiles(files), "t-0", directory, LoadInputs(clean=False), context)

    assert grows_with_its_input(load, 200)


def test_a_start_of_many_disks() -> None:
    """What they mean for each other is asked once, not by each of them."""
    directory = parse_directory("t-0")
    assert directory is not None

    def start(count: int) -> Callable[[], object]:
        part = PartitionPrediction("t-0", directory, Outcome.STRAY, None)
        disks = [
            LogDirPrediction(
                path=f"/d{number}",
                broker_id=1,
                outcome=Outcome.OK,
                reasons=(),
                clean=True,
                mode=Mode.KRAFT,
                uncertain=None,
                partitions=(part,),
                broker=1,
            )
            for number in range(count)
        ]
        return lambda: combined_starts(disks, release("4.3"))

    assert grows_with_its_input(start, 50)
