"""Two brokers whose logs part."""

from pathlib import Path

import pytest

from tests.builders import broker, run


@pytest.fixture
def diverged() -> list[str]:
    """Write two brokers that share the offsets below 60: broker 2 led in epoch 1, broker 1 in epoch 2."""
    broker(Path("d1"), [*run(0, 59), *run(60, 89, epoch=2)], broker_id=1, epoch_entries=[(0, 0), (2, 60)])
    broker(
        Path("d2"), [*run(0, 59), *run(60, 99, epoch=1)], broker_id=2, epoch_entries=[(0, 0), (1, 60)],
        high_watermark=70,
    )  # fmt: skip
    return ["1=d1", "2=d2"]
