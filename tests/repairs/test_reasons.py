"""What a plan says of each step: of its own partition, and what the next start does without it."""

from pathlib import Path

import pytest

from kcheck.core.start.predictions import Changes, Content, PartitionPrediction
from kcheck.core.start.startup import Outcome
from kcheck.disk.local import LOCAL
from kcheck.model.names import DirectoryState, PartitionDirectory
from kcheck.plans.least_steps import difference
from kcheck.plans.repair import repair
from tests.builders import broker, epochs, flip_byte, partition_dir, partition_metadata, readable_run, write
from tests.cases.build import CASES, lay_out
from tests.cli.command import kcheck as command
from tests.repairs.test_cases import wish

DIRECTORY = PartitionDirectory("t", 0, DirectoryState.CURRENT, canonical=True)
FILE = f"{60:020d}.snapshot"
NO_CHANGES = Changes()
SMALL, LARGE = Content(2, filled=2, data=b"ab"), Content(3, filled=3, data=b"abc")


def two_partitions(path: Path, broker_id: int) -> Path:
    """Write a broker with two replicas."""
    made = broker(path, readable_run(0, 99), broker_id=broker_id)
    partition_dir(made / "t-1", [readable_run(0, 99)])
    files = {"partition.metadata": partition_metadata(), "leader-epoch-checkpoint": epochs((0, 0))}
    write(made / "t-1", files)
    for name in ("recovery-point-offset-checkpoint", "replication-offset-checkpoint"):
        write(made, {name: b"0\n2\nt 0 100\nt 1 100\n"})
    return made


def test_each_partition_has_a_step_of_its_own(tmp_path: Path) -> None:
    """With its own start now and then; the checkpoint that both share is no step of one of them."""
    one, two = (two_partitions(tmp_path / f"b{number}", number) for number in (1, 2))
    for name in ("t-0", "t-1"):
        flip_byte(one / name / f"{0:020d}.log", -1)
    made = repair([f"1={one}"], [f"2={two}"], wish("4.3"), accept_loss=False)
    *moved, first, second = made.plan.operations
    assert [(row.path.rpartition("/")[2], str(row.why.broker_after).rpartition("; ")[2]) for row in moved] == [
        (name, f"{name} is not there") for name in ("t-0", "t-1")
    ]
    assert all(str(row.why.broker_now).startswith(f"the log dir is loaded; {row.path[-3:]} ") for row in moved)
    for row in (first, second):
        assert row.why.reason.startswith("change the lines of t-0, t-1: move this replica aside")
        assert (row.why.evidence, row.why.broker_now, row.why.broker_after) == (None, None, None)
    text = " ".join(command("repair", f"1={one}", "--against", f"2={two}", "--kafka", "4.3").out.split())
    assert text.count("before the log dir is loaded") == 2


def test_a_replica_without_its_first_segments_is_set_aside(tmp_path: Path) -> None:
    """It would make the others delete theirs, as leader; another broker has what is gone here."""
    case = CASES / "kc405-log-starts-differ"
    lay_out(case / "apart", tmp_path / "apart")
    lay_out(case / "clean", tmp_path / "clean")
    one, two = tmp_path / "apart" / "broker-1", tmp_path / "clean" / "broker-2"
    keep = {"keep": lambda rule, _: rule == "KC203"}
    alone = repair([f"1={one}"], [], wish("4.3"), accept_loss=False, **keep)
    assert "these files cannot be proven right; compare with an intact replica (--against)" in {
        row.why for row in alone.not_planned
    }
    made = repair([f"1={one}"], [f"2={two}"], wish("4.3"), accept_loss=False, **keep)
    aside = made.plan.operations[0]
    assert (aside.path.rpartition("/")[2], aside.why.finding, aside.after) == ("segments-0", "KC203", None)


def start(content: Content | None, changes: Changes = NO_CHANGES, reason: str | None = None) -> PartitionPrediction:
    """Return a start after which the snapshot has this content."""
    after = {} if content is None else {FILE: content}
    return PartitionPrediction("t-0", DIRECTORY, Outcome.OK, reason, changes=changes, after=after)


@pytest.mark.parametrize(("without", "final", "words"), [
    (start(None), start(SMALL), f"the next start leaves no {FILE}"),
    (start(SMALL), start(None), f"the next start leaves {FILE}"),
    (start(SMALL, Changes(created=(FILE,))), start(LARGE), f"the next start leaves another {FILE}"),
    (start(SMALL, Changes(changed=(FILE,))), start(LARGE), f"the next start changes {FILE}"),
    (start(SMALL), start(LARGE), f"the next start leaves {FILE} as it is"),
    (start(SMALL, reason="x.index is missing; y"), start(LARGE),
     f"x.index is missing; and 1 more change; the next start leaves another {FILE}"),
    (start(SMALL), start(SMALL), None),
])  # fmt: skip
def test_a_reason_is_what_the_start_does_without_the_step(
    without: PartitionPrediction, final: PartitionPrediction, words: str | None, tmp_path: Path
) -> None:
    assert difference(LOCAL.directory(str(tmp_path)), without, final) == words
