"""Kafka's known replication bugs end as they are documented, in a release on each side of the fix.

Each row is a history that kcheck ships, some with other settings or without some of their lines, two releases, and what
is lost, withdrawn, diverged or stuck in each.
"""

from pathlib import Path
from typing import NamedTuple

import pytest

from kcheck import api
from kcheck.disk.new_files import write_tree
from kcheck.simulation.directories import files_after
from kcheck.simulation.mutants import MUTANTS
from kcheck.simulation.replay import Replay, in_words, replay
from kcheck.simulation.script import parse
from kcheck.simulation.state import ReplicaFetch
from kcheck.verbs.simulate import histories

TEXTS = {history.name: history.text for history in histories()}
NOTHING = "nothing lost, nothing diverged"


class Bug(NamedTuple):
    """A documented bug."""

    number: str
    """Its row: a proposal, an issue, and a case of it."""
    history: str
    before: tuple[str, str]
    """The last release with it, and how the history ends."""
    after: tuple[str, str]
    """The first release without it, and how the history ends; the same if no release prevents it."""
    changes: tuple[tuple[str, str], ...] = ()
    """Lines of the history that are others here."""


BUGS = [
    Bug(
        "KIP-101 scenario 1, records written meanwhile", "kip-101-1",
        ("0.10.2", "lost 1..2; A and B diverged at 1, which nothing notices"), ("0.11.0", NOTHING),
    ),
    Bug(
        "KIP-101 scenario 1, nothing written, unclean elections on", "kip-101-1",
        ("0.10.2", "lost 1..2"), ("0.11.0", NOTHING), (("append 1                # up", "#"),),
    ),
    Bug("KIP-101 scenario 2", "kip-101-2",
        ("0.10.2", "lost 1..2; A and B diverged at 1, which nothing notices"), ("0.11.0", "lost 1..2")),
    Bug("KIP-279, fewer records", "kip-279-short", ("1.1", "A and B diverged at 11; B is stuck"), ("2.0.0", NOTHING)),
    Bug("KIP-279, as many records", "kip-279-fast-failover",
        ("1.1", "A and B diverged at 11, which nothing notices"), ("2.0.0", NOTHING)),
    Bug("KIP-279, more records: the log ends at 21 after its only batch is gone, and goes on there", "kip-279-short",
        ("1.1", "A and B diverged at 11, which nothing notices"), ("2.0.0", NOTHING), (("append 5", "append 15"),)),
    Bug("KIP-279, Kafka's test of unclean elections", "kip-279-unclean",
        ("1.1", "A and B diverged at 1; B is stuck"), ("2.0.0", NOTHING)),
    Bug(
        "KAFKA-7164", "kafka-7164",
        ("2.0.0", "A and B diverged at 10, which nothing notices; B and C diverged at 10, which nothing notices"),
        ("2.0.1", NOTHING),
    ),
    Bug("KAFKA-7128", "kafka-7128", ("2.0.0", "lost 1..2"), ("2.0.1", NOTHING)),
    Bug("KAFKA-6857 in 0.11", "kafka-6857",
        ("0.11.0.2", "A and B diverged at 2, which nothing notices"), ("0.11.0.3", NOTHING)),
    Bug("KAFKA-6857 in 1.0", "kafka-6857",
        ("1.0.1", "A and B diverged at 2, which nothing notices"), ("1.0.2", NOTHING)),
    Bug("KAFKA-6857 in 1.1", "kafka-6857",
        ("1.1.0", "A and B diverged at 2, which nothing notices"), ("1.1.1", NOTHING)),
    Bug("KAFKA-7897 comes", "kafka-7897", ("2.0.0", NOTHING), ("2.0.1", "lost 10..20")),
    Bug("KAFKA-7897 goes", "kafka-7897", ("2.1.0", "lost 10..20"), ("2.1.1", NOTHING)),
    Bug("KAFKA-10706 in 2.6", "kafka-10706", ("2.6.0", "A is stuck"), ("2.6.1", NOTHING)),
    Bug("KAFKA-10706 in 2.7", "kafka-10706", ("2.5", "A is stuck"), ("2.7.0", NOTHING)),
    Bug("KAFKA-12996", "kafka-12996", ("2.8.0", "B is stuck"), ("2.8.1", NOTHING)),
    Bug("KAFKA-12996, whose followers of 2.7 send no epoch", "kafka-12996", ("2.7.1", NOTHING), ("2.7.2", NOTHING)),
    Bug("KAFKA-13207", "kafka-13207", ("2.8.0", "lost 1..2"), ("2.8.1", NOTHING)),
    Bug("KAFKA-14704", "kafka-14704", ("3.4.0", "withdrawn 1..2"), ("3.4.1", NOTHING)),
    Bug("KIP-320 and KAFKA-9338", "kip-320", ("2.4", "lost 0..1"), ("2.5.0", NOTHING)),
    Bug("KIP-320, before a fetch session", "kip-320", ("2.0.1", "lost 0..1"), ("2.1.0", NOTHING),
        (("fetch B                 # a fetch session begins", "#"),)),
    Bug("KIP-966, the last replica standing", "kip-966",
        ("3.9", "lost 1..3"), ("4.0", NOTHING), (("mode=kraft", "elr=true"),)),
    Bug("KIP-966, without the feature", "kip-966",
        ("4.0", "lost 1..3"), ("4.1", "lost 1..3"), (("mode=kraft", "elr=false"),)),
    Bug("KIP-380", "kip-380", ("2.1", "lost 1..3"), ("2.2.0", NOTHING)),
    Bug("KIP-903", "kip-903", ("3.4", "lost 0..3"), ("3.5.0", NOTHING)),
    Bug("KAFKA-13916 (KIP-841)", "kip-841", ("3.2", "no leader"), ("3.3.0", NOTHING)),
    Bug("KAFKA-2143", "kafka-2143", ("0.9.0.0", NOTHING), ("0.9.0.1", "A and B diverged at 2, which nothing notices")),
    Bug("KAFKA-20554", "kafka-20554", ("0.8.2", "lost 10..11"), ("4.3", "lost 10..11")),
    Bug("an unclean election of the shortest log", "linkedin-99", ("0.11.0", "lost 2..10"), ("4.3", "lost 2..10")),
    Bug("an unclean election of the first of the assignment", "unclean-shortest",
        ("3.9", "lost 20..35"), ("4.3", "lost 20..35")),
    Bug("KAFKA-12670", "kafka-12670", ("3.8", "no leader"), ("3.9", "lost 1..2")),
    Bug("KAFKA-16541 comes", "kafka-16541", ("3.6", NOTHING), ("3.7", "no leader")),
    Bug("KAFKA-16541 goes", "kafka-16541", ("3.7", "no leader"), ("3.8", NOTHING)),
    Bug("KAFKA-15510 comes", "kafka-15510", ("3.5.0", NOTHING), ("3.5.1", NOTHING)),
    Bug("KAFKA-15510 goes", "kafka-15510", ("3.6", NOTHING), ("3.7", NOTHING)),
    Bug("KAFKA-15021", "kafka-15021", ("3.5", NOTHING), ("3.6", NOTHING)),
]  # fmt: skip


def played(bug: Bug, kafka: str) -> Replay:
    """Play the history of a row under a release."""
    text = TEXTS[bug.history]
    for old, new in bug.changes:
        assert old in text
        text = text.replace(old, new)
    return replay(parse(text, bug.history), kafka)


@pytest.mark.parametrize("bug", BUGS, ids=[bug.number for bug in BUGS])
def test_a_bug_shows_up_to_its_fix(bug: Bug) -> None:
    """What is lost, withdrawn, diverged and stuck, and nothing else."""
    runs = [(kafka, played(bug, kafka)) for kafka, _ in (bug.before, bug.after)]
    ends = tuple((kafka, in_words(run.verdict, run.script.names)) for kafka, run in runs)
    assert (bug.before, bug.after) == ends


def test_every_history_has_a_row() -> None:
    """What kcheck ships is what the rows are about."""
    assert set(TEXTS) == {bug.history for bug in BUGS}


@pytest.mark.parametrize(("kafka", "runs"), [("0.10.2", False), ("2.0.0", True), ("2.0.1", True)])
def test_a_broker_that_is_ahead_of_its_leader_exits(kafka: str, runs: bool) -> None:
    """KIP-101 scenario 1 without unclean elections, where nothing was written: B is ahead, and up to 0.10.2 exits."""
    changes = (("unclean=true", "unclean=false"), ("append 1                # up", "#"))
    run = played(Bug("", "kip-101-1", ("", ""), ("", ""), changes), kafka)
    assert runs == run.steps[-1].state.nodes[1].running


@pytest.mark.parametrize(
    ("kafka", "mutant", "epoch", "high_watermark"),
    [("3.5", None, 1, 2), ("3.6", None, 0, 2), ("3.6", "only_eligible_replicas_bound_high_watermark", 0, 1)],
)
def test_a_replica_that_stops_does_not_hold_the_high_watermark(
    kafka: str, mutant: str | None, epoch: int, high_watermark: int
) -> None:
    """KAFKA-15021: up to 3.5 a new leader epoch forgets it, from 3.6 only what may join the ISR counts."""
    run = replay(parse(TEXTS["kafka-15021"], "kafka-15021"), kafka, mutant=mutant)
    before, after = run.steps[-2:]
    assert ("wait 31s", epoch, high_watermark, 2) == (
        after.event, after.state.controller.leader_epoch,
        before.state.nodes[0].high_watermark, after.state.nodes[0].high_watermark,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("kafka", "epochs"),
    [("3.5.0", [0, 0, 0, 1]), ("3.5.1", [0, None, None, 1]), ("3.6", [0, None, None, 0]), ("3.7", [0, 0, 0, 0])],
)
def test_a_fetch_names_no_epoch_after_an_empty_answer(kafka: str, epochs: list[int | None]) -> None:
    """KAFKA-15510: until records come; before and after, each fetch names the last epoch of the log."""
    run = replay(parse(TEXTS["kafka-15510"], "kafka-15510"), kafka)
    sent = [message for step in run.steps if step.event == "fetch B" for _, _, message in step.messages]
    assert epochs == [message.last_epoch for message in sent if isinstance(message, ReplicaFetch)]


@pytest.mark.parametrize("kafka", ["3.6", "3.7", "3.8"])
def test_what_a_truncation_did_not_sync_is_torn_on_disk(kafka: str, tmp_path: Path) -> None:
    """KAFKA-16541: `predict` says of the written directories what the simulator says of the start."""
    run = replay(parse(TEXTS["kafka-16541"], "kafka-16541"), kafka)
    step = next(at for at, step in enumerate(run.steps) if step.event == "power-loss B torn")
    write_tree(str(tmp_path / "left"), files_after(run, step))
    broker = str(tmp_path / "left" / "broker-2")
    starts = api.predict(broker, kafka=kafka).to_dict()["log_dirs"][0]["outcome"] != "offline"
    assert starts == next(step for step in run.steps if step.event == "start B").state.nodes[1].running


@pytest.mark.parametrize("kafka", ["2.5", "3.5", "4.3"])
def test_the_first_try_of_kip_320_loses_a_record(kafka: str) -> None:
    """A request with an epoch of its own that no leader compares is no better than one without."""
    script = parse(TEXTS["kip-320"], "kip-320")
    tried = replay(script, kafka, mutant="no-fencing")
    assert "lost 0..1" == in_words(tried.verdict, script.names)
    assert "no-fencing" in MUTANTS


def test_a_shorter_leader_cuts_the_others() -> None:
    """A drops eight records and B three; with or without leader epochs."""
    for kafka in ("0.10.2", "1.1", "2.4", "2.8", "4.3"):
        run = replay(parse(TEXTS["linkedin-99"], "linkedin-99"), kafka)
        assert () == run.failed
        assert [10, 5, 2] == [node.log_end_offset for node in run.steps[-6].state.nodes]
        assert [2, 2, 2] == [node.log_end_offset for node in run.steps[-1].state.nodes]


def test_a_divergence_is_expected_at_an_offset_or_anywhere() -> None:
    """What does not hold says so."""
    text = TEXTS["kip-101-2"]
    assert () == replay(parse(text + "expect diverged A B at 1\nexpect diverged B A\n", "f"), "0.10.2").failed
    wrong = replay(parse(text + "expect diverged A B at 0\n", "f"), "0.10.2")
    assert ["A and B do not diverge at 0; lost 1..2; A and B diverged at 1, which nothing notices"] == [
        failed.message for failed in wrong.failed
    ]
    fixed = replay(parse(text + "expect diverged A B\n", "f"), "1.1")
    assert ["A and B do not diverge; lost 1..2"] == [failed.message for failed in fixed.failed]
