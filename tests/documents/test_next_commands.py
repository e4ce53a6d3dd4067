"""The command that keeps what a broker removes when it starts."""

import pytest

from kcheck.core.premises.identity import GENERATED_ID
from kcheck.core.premises.judged import EVERY_DISK
from kcheck.core.premises.metadata import METADATA_IN_REACH
from kcheck.core.premises.presence import PARTITIONS_THERE
from kcheck.core.start.predictions import LogDirPrediction, PartitionPrediction
from kcheck.core.start.startup import Mode, Outcome
from kcheck.documents.next_commands import (
    first_of_broker,
    keeping_command,
    needs_words,
    next_of_broker,
    others_command,
    wanted_metadata,
    with_others,
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


OPEN_METADATA = JudgedPremise(METADATA_IN_REACH, PremiseStatus.NOT_SEEN, "", 1, provide="--metadata with a copy")
OPEN_DISKS = JudgedPremise(PARTITIONS_THERE, PremiseStatus.NOT_SEEN, "", 1, provide=EVERY_DISK)
LOSING = OPEN_DISKS._replace(status=PremiseStatus.REFUTED, provide=None)
NO_ID = JudgedPremise(GENERATED_ID, PremiseStatus.REFUTED, "no id", None)


@pytest.mark.parametrize(
    ("premises", "others", "more"),
    [
        ((LOSING,), (2, 3), ""),
        ((OPEN_DISKS, OPEN_METADATA), (2, 3), " --metadata PATH"),
        ((LOSING,), (), None),
        ((OPEN_METADATA,), (2, 3), None),
        ((LOSING._replace(status=PremiseStatus.PROVEN),), (2, 3), None),
        ((NO_ID,), (2, 3), None),
    ],
)
def test_the_disks_of_the_other_brokers(
    premises: tuple[JudgedPremise, ...], others: tuple[int, ...], more: str | None
) -> None:
    """They decide about records that the broker loses by a premise, or may."""
    command = None if more is None else f"kcheck recover a 2=PATH 3=PATH --kafka 4.3{more}"
    assert others_command(("a",), ("--kafka", "4.3"), premises, others) == command
    assert with_others(("a",), (), (2,)) == "kcheck recover a 2=PATH"


@pytest.mark.parametrize(
    ("premises", "outcome", "words"),
    [
        ((OPEN_METADATA,), Outcome.OK, ("--metadata", "PATH")),
        ((OPEN_METADATA,), Outcome.ABORT, ()),
        ((OPEN_METADATA, NO_ID), Outcome.ABORT, ("--metadata", "PATH")),
        ((NO_ID,), Outcome.ABORT, ()),
        ((OPEN_DISKS,), Outcome.OK, ()),
    ],
)
def test_metadata_where_the_files_are_intact(
    premises: tuple[JudgedPremise, ...], outcome: Outcome, words: tuple[str, ...]
) -> None:
    """A repair comes first where files keep the broker from starting."""
    assert wanted_metadata((start(outcome=outcome),), premises) == words


FEW_FILES = JudgedPremise("P843", PremiseStatus.NOT_SEEN, "", 1, provide="--allow P843 if more")
PROVEN = FEW_FILES._replace(id="P404", status=PremiseStatus.PROVEN)


@pytest.mark.parametrize(
    ("verb", "outcome", "premises", "named", "command"),
    [
        ("preflight", Outcome.OK, (PROVEN, FEW_FILES), False, "kcheck explain P843"),
        ("", Outcome.OK, (FEW_FILES, NO_ID), False, f"kcheck explain {GENERATED_ID}"),
        ("predict", Outcome.ABORT, (OPEN_METADATA, NO_ID), False, "kcheck predict a --metadata PATH"),
        ("predict", Outcome.ABORT, (OPEN_METADATA, NO_ID), True, f"kcheck explain {GENERATED_ID}"),
        ("preflight", Outcome.ABORT, (PROVEN,), True, "kcheck repair a --metadata m"),
        ("", Outcome.ABORT, (FEW_FILES,), False, "kcheck predict a"),
        ("", Outcome.OK, (), False, "kcheck predict a"),
    ],
)
def test_bad_news_about_one_broker(
    verb: str, outcome: Outcome, premises: tuple[JudgedPremise, ...], named: bool, command: str
) -> None:
    """No repair changes settings or the host, and metadata that is named shows nothing more."""

    def options(_: str) -> tuple[str, ...]:
        return ("--metadata", "m") if named else ()

    assert next_of_broker(verb, ("a",), options, (start(outcome=outcome),), premises, ()) == command


def test_a_repair_comes_after_the_disks_of_the_others() -> None:
    """Their disks decide first if records are at stake."""
    commands = [first_of_broker(("a",), lambda _: (), (LOSING,), others, ("d",)) for others in ((2,), ())]
    assert ["kcheck recover a 2=PATH", "kcheck repair d -o plan.json"] == commands
    assert first_of_broker(("a",), lambda _: (), (), ()) is None
