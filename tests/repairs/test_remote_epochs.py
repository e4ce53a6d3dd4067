"""Epochs of remote segments come back from another replica: what held on a real broker of 4.3.1."""

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.start.startup import settings
from kcheck.core.tiered.reading import remote_log
from kcheck.disk.apply import apply, undo
from kcheck.model.depth import Depth
from kcheck.model.entries import Epoch, EpochEntry, Offset
from kcheck.model.finding import Location
from kcheck.model.remote_log import MetadataState, RemoteLog, RemoteSegment, SegmentState, StoredEpochs
from kcheck.model.report import PartitionFilter
from kcheck.plans.repair import RepairPlan, repair
from kcheck.repairs import EntryEdit, Image, PartitionSite, Refused, RepairStep
from kcheck.repairs.restore_remote_epochs import REPAIR
from kcheck.rules.kc242_remote_unreadable import RULE as KC242
from kcheck.startup.options import StartOptions
from kcheck.verbs.check import check
from tests.tiered_states import GAP, KILLED, OLD_LEADER, brokers, state

NEWEST = release("4.3")
NAMES = frozenset({"KC240", "KC242", "KC411"})


def planned(own: Path, *against: Path, store: Path | None = None) -> RepairPlan:
    """Return the plan for the directories of these rules."""
    options = StartOptions(None, settings({}, NEWEST), NEWEST, PartitionFilter())
    place = None if store is None else str(store)
    return repair([str(own)], [str(path) for path in against], options, accept_loss=False, store=place)


def refused(plan: RepairPlan) -> dict[str, str]:
    """Return why there is no repair, by rule."""
    return {row.finding: row.why for row in plan.not_planned if row.finding in NAMES}


def found(of: Path, topic: str) -> set[str]:
    """Return the rules of these that speak of a topic."""
    report = check(
        brokers(of), depth=Depth.HEADERS, as_kind=None, wanted=PartitionFilter(topics=(topic,)), release=NEWEST
    )
    return {finding.id for finding in report.collected} & NAMES


@pytest.mark.parametrize(
    ("incident", "name", "broker", "topic", "start"),
    [(OLD_LEADER, "4-back", 1, "uncl", 0), (KILLED, "4-joined", 2, "a", 0), (KILLED, "3-killed", 2, "a", 0)],
)
def test_epochs_and_log_start_of_the_other_replica(
    tmp_path: Path, incident: str, name: str, broker: int, topic: str, start: int
) -> None:
    """Nothing is found afterwards, and the file is that of the other replica."""
    of = state(incident, name, tmp_path)
    own, other = of / f"broker-{broker}", of / f"broker-{3 - broker}"
    assert found(of, topic)
    plan = planned(own, other)
    assert refused(plan) == {}
    apply(plan.plan_bytes(), str(tmp_path / "backup"))
    assert not found(of, topic)
    theirs = (other / f"{topic}-0" / "leader-epoch-checkpoint").read_bytes()
    assert (own / f"{topic}-0" / "leader-epoch-checkpoint").read_bytes() == theirs
    assert f"{topic} 0 {start}\n" in (own / "log-start-offset-checkpoint").read_text()


@pytest.mark.parametrize(
    ("incident", "name", "broker", "topic", "wanted"),
    [
        (OLD_LEADER, "4-back", 1, "uncl", "0\n2\n0 0\n2 24\n"),
        (KILLED, "4-joined", 2, "a", "0\n3\n0 0\n1 12\n2 24\n"),
        (KILLED, "3-killed", 2, "a", "0\n3\n0 0\n1 12\n2 24\n"),
        (GAP, "3-gap", 1, "cp", "0\n1\n0 0\n"),
    ],
)
def test_epochs_and_log_start_from_the_store(
    tmp_path: Path, incident: str, name: str, broker: int, topic: str, wanted: str
) -> None:
    """The index of the segment before the first local one is the file that the leader had; undo brings back all."""
    of = state(incident, name, tmp_path)
    own = of / f"broker-{broker}"
    before = {path: path.read_bytes() for path in own.rglob("*") if path.is_file()}
    plan = planned(own, store=of / "store")
    assert refused(plan) == {}
    reasons = " ".join(step.reason for step in plan.chosen if step.dir == f"{topic}-0")
    assert ("neither DeleteRecords nor retention raised the log start to 24" in reasons) is (incident == OLD_LEADER)
    apply(plan.plan_bytes(), str(tmp_path / "backup"))
    assert (own / f"{topic}-0" / "leader-epoch-checkpoint").read_text() == wanted
    assert f"{topic} 0 0\n" in (own / "log-start-offset-checkpoint").read_text()
    assert refused(planned(own, store=of / "store")) == {}
    undo(str(tmp_path / "backup"))
    assert before == {path: path.read_bytes() for path in own.rglob("*") if path.is_file()}


def test_without_another_replica(tmp_path: Path) -> None:
    plan = planned(state(KILLED, "4-joined", tmp_path) / "broker-2")
    assert refused(plan) == {
        "KC240": "batches on disk lack the epochs of remote segments",
        "KC242": "only another replica (--against) or the store (--store) shows the missing epochs",
    }


def test_a_replica_that_is_no_proof(tmp_path: Path) -> None:
    """It lacks the epochs too, or has others where the local batches begin."""
    of = state(KILLED, "4-joined", tmp_path)
    epochs = of / "broker-1" / "a-0" / "leader-epoch-checkpoint"
    for text, why in (
        ("0\n1\n2 35\n", "lacks the epochs too"),
        ("0\n0\n", "lacks the epochs too"),
        ("0\n2\n0 0\n1 12\n", "has other epochs than the batches here"),
    ):
        epochs.write_text(text)
        assert any(row.endswith(why) for row in refused(planned(of / "broker-2", of / "broker-1")).values())


def test_only_replicas_of_the_same_topic_are_compared(tmp_path: Path) -> None:
    of = state(OLD_LEADER, "4-back", tmp_path)
    shutil.copy(of / "broker-2/wipe-0/partition.metadata", of / "broker-2/uncl-0/partition.metadata")
    assert refused(planned(of / "broker-1", of / "broker-2")) == {}
    assert not any("uncl-0" in row.path for row in planned(of / "broker-1", of / "broker-2").plan.operations)


def site(stored: tuple[StoredEpochs, ...] | None, *, own: str, remote: RemoteLog) -> PartitionSite:
    """Return a partition whose first local segment is 20, in epoch 2, and what the store has of it."""
    batches = (EpochEntry(Epoch(2), Offset(20)),)
    view = SimpleNamespace(
        remote=remote, segments=(SimpleNamespace(base_offset=Offset(20)),), log_start_offset=Offset(10), topic="t",
        partition=0,
    )  # fmt: skip
    return cast(
        "PartitionSite",
        SimpleNamespace(
            view=view, dir="t-0", stored_epochs=stored, holders=tuple, read=lambda _: own.encode(),
            image=lambda: Image(leader_epochs=batches), log_dir=SimpleNamespace(entry=lambda *_: None),
        ),
    )  # fmt: skip


INDEX = StoredEpochs("store/x.leader_epoch_checkpoint", b"0\n2\n0 0\n2 15\n")
SEVERAL = "the epoch indexes in the store and the batches here have no single history"
ENTRY = EpochEntry(Epoch(0), Offset(0))
TO_20 = remote_log(
    MetadataState.READ,
    [RemoteSegment("s", SegmentState.COPY_FINISHED, Offset(5), Offset(15), 1, (ENTRY,))],
)


@pytest.mark.parametrize(
    ("stored", "own", "why"),
    [
        ((), "0\n0\n", "the store has no epoch index of a segment with offset 19"),
        ((INDEX._replace(data=None),), "0\n0\n", "store/x.leader_epoch_checkpoint is encrypted"),
        ((INDEX._replace(data=b"0\n9\n"),), "0\n0\n", SEVERAL),
        ((INDEX,), "0\n1\n1 15\n", SEVERAL),
        ((INDEX,), "0\n2\n0 0\n2 15\n", "the store lacks the epochs too"),
        (None, "0\n0\n", "only another replica (--against) or the store (--store) shows the missing epochs"),
    ],
)  # fmt: skip
def test_a_store_that_is_no_proof(stored: tuple[StoredEpochs, ...] | None, own: str, why: str) -> None:
    finding = KC242.finding(Location("b"), "", effect="", advice="")
    (answer,) = REPAIR.plan(site(stored, own=own, remote=TO_20), (finding,))
    assert isinstance(answer, Refused)
    assert answer.why == why


@pytest.mark.parametrize("own", ["0\n1\n2 17\n", "0\n1\n2 15\n"])
def test_a_log_start_that_somebody_raised(own: str) -> None:
    """Within an epoch of the store it is no old leader's. Where an epoch begins, nothing decides."""
    finding = KC242.finding(Location("b"), "", effect="", advice="")
    start = int(own.rsplit(maxsplit=1)[-1])
    of = site((INDEX,), own=own, remote=TO_20)
    of.view.log_start_offset = Offset(start)  # type: ignore[misc]  # a namespace
    (answer,) = REPAIR.plan(of, (finding,))
    if isinstance(answer, RepairStep):
        assert (start, answer.reason.endswith("retention raised the log start to 15")) == (15, True)
    else:
        assert isinstance(answer, Refused)
        assert (start, "within an epoch" in answer.why) == (17, True)


def test_a_log_start_within_an_epoch_of_the_other_replica(tmp_path: Path) -> None:
    """DeleteRecords raised it, so the epochs before it are not wanted back."""
    of = state(OLD_LEADER, "4-back", tmp_path)
    (of / "broker-1/uncl-0/leader-epoch-checkpoint").write_text("0\n1\n2 26\n")
    starts = of / "broker-1/log-start-offset-checkpoint"
    starts.write_text(starts.read_text().replace("uncl 0 24\n", "uncl 0 26\n"))
    why = refused(planned(of / "broker-1", of / "broker-2"))
    assert why["KC411"] == "the log starts at 26 within an epoch: DeleteRecords or retention raised this offset"


def test_a_store_without_metadata_is_no_proof() -> None:
    finding = KC242.finding(Location("b"), "", effect="", advice="")
    (answer,) = REPAIR.plan(site((), own="0\n0\n", remote=remote_log(MetadataState.NOT_GIVEN)), (finding,))
    assert isinstance(answer, Refused)
    assert answer.why == "the remote segments are unknown without __remote_log_metadata"


@pytest.mark.parametrize(("own", "start"), [("0\n0\n", 5), ("0\n1\n2 15\n", 5)])
def test_the_log_start_falls_to_what_the_store_has(own: str, start: int) -> None:
    finding = KC242.finding(Location("b"), "", effect="", advice="")
    (answer,) = REPAIR.plan(site((INDEX,), own=own, remote=TO_20), (finding,))
    assert isinstance(answer, RepairStep)
    assert [(row.path, row.offset) for row in answer.edits if isinstance(row, EntryEdit)] == [
        ("log-start-offset-checkpoint", start)
    ]
