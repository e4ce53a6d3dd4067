"""The command that keeps what a broker removes when it starts."""

import pytest

from kcheck.core.start.predictions import LogDirPrediction, PartitionPrediction
from kcheck.core.start.startup import Mode, Outcome
from kcheck.documents.next_commands import (
    arguments_of,
    incident_command,
    keeping_command,
    needs_words,
    verb_after_start,
)
from kcheck.model.entries import Offset
from kcheck.model.loss import LostRecords
from kcheck.model.names import DirectoryState, PartitionDirectory
from kcheck.model.premises import JudgedPremise, PremiseStatus

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


STRAY = CURRENT._replace(outcome=Outcome.STRAY, lost=None, topic_id="id")
UNSEEN = JudgedPremise("P303", PremiseStatus.NOT_SEEN, "what the cluster expects is not known", 1)


@pytest.mark.parametrize(
    ("starts", "premises", "verb"),
    [
        ((start(),), (UNSEEN,), None),
        ((start(),), (UNSEEN._replace(status=PremiseStatus.REFUTED),), "recover"),
        ((start(outcome=Outcome.ABORT),), (), "repair"),
        ((start(CURRENT._replace(outcome=Outcome.REPAIRED, lost=None)),), (), "repair"),
        ((start(CURRENT._replace(outcome=Outcome.OK)),), (), "repair"),
        ((start(STRAY),), (), "recover"),
        ((start(STRAY._replace(topic_id=None)),), (), "repair"),
        ((start(STRAY, CURRENT._replace(outcome=Outcome.REPAIRED, lost=None)),), (), "repair"),
        ((start(STRAY)._replace(mode=Mode.ZOOKEEPER),), (UNSEEN._replace(status=PremiseStatus.REFUTED),), "repair"),
    ],
)
def test_a_next_start_that_fails(
    starts: tuple[LogDirPrediction, ...], premises: tuple[JudgedPremise, ...], verb: str | None
) -> None:
    """Only files that a broker cannot read have a repair; what nobody named is named first, by no command."""
    assert verb_after_start(starts, premises) == verb


@pytest.mark.parametrize(
    ("log_dirs", "arguments", "expected"),
    [
        ((), ("b",), ()),
        (("b/data1",), ("b",), ("b",)),
        (("b/data1",), ("b/server.properties",), ("b/server.properties",)),
        (("b/data1",), ("1=b/", "2=c"), ("1=b/",)),
        (("b/data1",), ("1=b/server.properties", "2=c"), ("b/data1",)),
        (("b/data1", "d"), ("b", "c"), ("b/data1", "d")),
    ],
)
def test_a_repair_gets_every_log_dir_of_a_broker(
    log_dirs: tuple[str, ...], arguments: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    """One log dir alone does not show what it shares with the others, such as a second copy of a directory."""
    assert arguments_of(log_dirs, arguments) == expected


def test_the_page_of_an_incident_is_about_what_is_wrong() -> None:
    """Controllers that are not here are no reason beside one that the files show."""
    refuted, quorum = UNSEEN._replace(status=PremiseStatus.REFUTED), UNSEEN._replace(id="P204")
    assert incident_command([UNSEEN, quorum]) == "kcheck help lost-quorum"
    assert incident_command([quorum, refuted._replace(id="P102")]) is None
    assert (
        incident_command([quorum, refuted._replace(id="P102"), refuted._replace(id="P301")]) == "kcheck help dead-disk"
    )
