"""A command looks at a log dir once: `python -m tests.disk.looks` prints how often."""

import pytest

from tests.disk.looks import BROKERS, COMMANDS, looks

CLASSIFIED_MAX = 6
"""How often a command asks whether a log dir is in a store: for its target, and for what its broker starts on."""


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(("broker", "broker_id"), [("3.9.2/stopped/broker-2", 2), ("4.3.1/stopped/broker-1", 1)])
def test_a_log_dir_is_listed_once_and_its_small_files_are_read_once(command: str, broker: str, broker_id: int) -> None:
    """Whoever needs them: the evidence of its release, coverage, metadata, survey, prediction or plan."""
    log_dir = BROKERS / broker / "data1"
    seen = looks(command, log_dir, broker_id)
    assert seen.is_complete
    assert (1, {}) == (seen.lists[str(log_dir)], seen.again())
    assert seen.classified <= CLASSIFIED_MAX
