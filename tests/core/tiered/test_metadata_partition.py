"""The partition of `__remote_log_metadata` that has the records of a partition."""

import pytest

from kcheck.core.tiered.metadata_partition import metadata_partition

WRITTEN = {
    ("0ZqffMRwTr2LxtG04kIj-Q", 0): 2,
    ("0h8bDIjNQTOMn5Ij1MuWXg", 0): 1,
    ("1TrxvwY5Q3ab5OSXq1UlRg", 0): 0,
    ("ABjfzqSHRQKBizVCfuTceQ", 0): 0,
    ("D2kA7PHGSbuG8vUj45S1jg", 0): 2,
    ("EAzLfXctR7q6vTx5VZ89OA", 0): 0,
    ("NMDpscEZTjS5weGVwT-C1w", 0): 2,
    ("P2VhF-RTQTKA9Mn4Ym1_0g", 0): 1,
    ("PfWbxGPhRdeH56_kZZS0MA", 0): 0,
    ("XSzetZtjTgu0PqHUjTHY_A", 0): 1,
    ("_JaJPalHSKa5v8hbYdVoGw", 0): 1,
    ("g8AvhYkMSKi1VottSD6a2g", 0): 1,
    ("qlOVihoXS_qYQQ1Wf5t3zw", 0): 2,
    ("qnpJZ2kYRkqHShfjE7DkxQ", 0): 1,
    ("weFjOo8gTnqODxUm4g09TA", 0): 2,
}
"""Where real brokers of 4.3.1 wrote, with three metadata partitions."""


@pytest.mark.parametrize(("partition", "number"), WRITTEN.items())
def test_where_brokers_wrote(partition: tuple[str, int], number: int) -> None:
    assert metadata_partition(*partition, 3) == number


def test_partitions_of_one_topic_spread() -> None:
    """The partition number is a part of the hash."""
    topic_id, _ = next(iter(WRITTEN))
    assert len({metadata_partition(topic_id, number, 50) for number in range(50)}) > 20


@pytest.mark.parametrize("text", ["", "short", "no id at all, but a text", "é"])
def test_what_is_no_topic_id(text: str) -> None:
    assert metadata_partition(text, 0, 3) is None
