"""The command that keeps what a broker removes when it starts."""

import pytest

from kcheck.core.start.predictions import LogDirPrediction, PartitionPrediction
from kcheck.core.start.startup import Mode, Outcome
from kcheck.documents.next_commands import keeping_command, needs_words
from kcheck.model.entries import Offset
from kcheck.model.loss import LostRecords
from kcheck.model.names import DirectoryState, PartitionDirectory

LOSS = LostRecords(Offset(0), Offset(5), 5, 100, None)
DELETED = PartitionPrediction(
    "t-0.x-delete", PartitionDirectory("t", 0, DirectoryState.DELETED, canonical=True), Outcome.DELETED, None, lost=LOSS
)
CURRENT = DELETED._replace(
    dir="t-1", directory=PartitionDirectory("t", 1, DirectoryState.CURRENT, canonical=True), outcome=Outcome.LOST
)


def start(*partitions: PartitionPrediction, path: str = "a b/d", outcome: Outcome = Outcome.OK) -> LogDirPrediction:
    return LogDirPrediction(path, 1, outcome, (), True, Mode.KRAFT, None, partitions)


@pytest.mark.parametrize(
    ("starts", "command"),
    [
        ((), None),
        ((start(),), None),
        ((start(DELETED._replace(lost=None)),), None),
        ((start(DELETED), start(path="d2")), "mv 'a b/d'/*-delete DIR/"),
        ((start(DELETED), start(DELETED, DELETED, path="d2")), "mv 'a b/d'/*-delete d2/*-delete DIR/"),
        ((start(DELETED, path="d/t-0.x-delete"),), "mv d/t-0.x-delete DIR/"),
        ((start(DELETED, CURRENT._replace(outcome=Outcome.REPAIRED, lost=None)),), "mv 'a b/d'/*-delete DIR/"),
        ((start(DELETED, CURRENT),), None),
        ((start(DELETED), start(CURRENT, path="d2")), None),
        ((start(DELETED, CURRENT._replace(outcome=Outcome.DELETED)),), None),
        ((start(DELETED, outcome=Outcome.OFFLINE),), None),
        ((start(DELETED, path="s3://bucket/d"),), None),
    ],
)
def test_directories_that_are_marked_for_deletion(starts: tuple[LogDirPrediction, ...], command: str | None) -> None:
    """Only a move keeps them; where anything else is lost or fails, that comes first."""
    assert keeping_command(starts) == command
    if command is not None:
        assert "Stop the broker first. DIR must be outside of its log dirs." == needs_words(command)


def test_a_command_that_only_reads_needs_nothing() -> None:
    """It can be typed at once."""
    assert needs_words("kcheck predict d") is None
