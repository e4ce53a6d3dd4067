"""What a plan about many files takes grows with their number."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.start.predictions import LogDirPrediction
from kcheck.core.start.startup import Settings
from kcheck.disk.local import LOCAL
from kcheck.model.finding import Finding, Location, Severity
from kcheck.model.names import DirectoryState, segment_prefix
from kcheck.model.plan import Plan
from kcheck.model.views import PartitionView
from kcheck.plans import diagnosis as survey_module
from kcheck.plans import repair as repair_module
from kcheck.plans.edited_log_dir import EditedLogDir
from kcheck.plans.repair import repair
from kcheck.repairs import CutEdit
from kcheck.startup.options import StartOptions
from kcheck.views.log_dir import LogDirs, open_log_dir
from kcheck.views.targets import Target, TargetKind
from tests.builders import batch_of, log_dir, partition_dir, record, run, write
from tests.growth import grows_with_its_input


def planned(path: Path, *, tidy: bool = True) -> Plan:
    """Return what is planned for a log dir."""
    options = StartOptions(None, Settings(), release("2.4"))
    return repair([str(path)], [], options, accept_loss=False, tidy=tidy).plan


def strays(path: Path, count: int) -> None:
    """Make a partition with files that are none of Kafka's."""
    partition_dir(path / "t-0", [run(0, 9)])
    write(path / "t-0", {f"x{number}.bak": b"" for number in range(count)})


def without_indexes(path: Path, count: int) -> None:
    """Make a partition with segments that lack their indexes."""
    write(path / "t-0", {f"{segment_prefix(base)}.log": batch_of(base, record()).data for base in range(count)})


def torn(path: Path, count: int) -> None:
    """Make a partition with segments that each end in some bytes of a batch."""
    files = {f"{segment_prefix(base)}.log": batch_of(base, record()).data + b"torn" for base in range(count)}
    write(path / "t-0", files)


@pytest.mark.sample(3)
@pytest.mark.parametrize("tidy", [False, True])
@pytest.mark.parametrize(("make", "each"), [(strays, 1), (without_indexes, 2), (torn, 1)])
def test_a_plan_about_many_files(make: Callable[[Path, int], None], each: int, tidy: bool, tmp_path: Path) -> None:
    """The next start is simulated for many steps at once."""

    def plan(count: int) -> Callable[[], object]:
        path = tmp_path / str(count)
        if not path.exists():
            make(log_dir(path, recovery_point={"t-0": 0}), count)
        return lambda: planned(path, tidy=tidy)

    assert grows_with_its_input(plan, 25)
    assert 25 * each <= len(planned(tmp_path / "25").operations)


def test_many_files_with_names_of_partitions(tmp_path: Path) -> None:
    """One step moves a thousand of them, and the next plan the next; what a checkpoint names is a step of its own."""
    path = log_dir(tmp_path, recovery_point={"x-7": 0})
    write(path, {f"x-{number}": b"" for number in range(1500)})
    for moved in (1000, 499):
        plan = planned(path)
        assert moved + (moved == 1000) == len(plan.operations)
        for operation in plan.operations:
            Path(operation.path).unlink()
    assert not planned(path).operations


def views(path: Path, count: int) -> list[PartitionView]:
    """Return what was seen of so many partitions of a log dir."""
    where = Location(log_dir=str(path))
    return [
        PartitionView(
            where=where._replace(dir=f"t-{number}"),
            topic="t",
            partition=number,
            state=DirectoryState.CURRENT,
            disk=LOCAL.directory(str(path)),
        )
        for number in range(count)
    ]


def site_of(path: Path, seen: list[PartitionView]) -> EditedLogDir:
    """Return a log dir with these partitions, and a finding about each."""
    target, wish = Target(TargetKind.LOG_DIR, str(path)), StartOptions(None, Settings(), release("2.4"))
    found = [Finding("KC001", "", Severity.ERROR, view.where, "", "", "") for view in seen]
    return survey_module._edited(target, open_log_dir(LOCAL, str(path), 1, wish.release), seen, wish, found)


def test_findings_about_many_partitions(tmp_path: Path) -> None:
    """Each goes to its own partition: not every partition asks for all of them."""
    path = log_dir(tmp_path)
    assert all(len(part.findings) == 1 for part in site_of(path, views(path, 3)).partitions)
    assert grows_with_its_input(lambda count: partial(site_of, path, views(path, count)), 100)


def test_many_entries_of_a_checkpoint(tmp_path: Path) -> None:
    """The directory of a partition is found by its name."""
    path = log_dir(tmp_path)

    def ask(count: int) -> Callable[[], object]:
        site = site_of(path, views(path, count))
        return lambda: [(site.end_of("t", number), site.holds("t", number)) for number in range(count)]

    assert grows_with_its_input(ask, 100)


def test_steps_that_make_it_worse_together_are_judged_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only those that do are refused, as if each had been asked by itself."""
    strays(log_dir(tmp_path / "d"), 40)
    bad = {f"x{number}.bak" for number in (1, 33, 34)}

    def worse(_: object, after: list[LogDirPrediction]) -> str | None:
        gone = bad.difference(*(part.after for start in after for part in start.partitions))
        return f"without {min(gone)}" if gone else None

    monkeypatch.setattr(repair_module, "worse", worse)
    found = repair(
        [str(tmp_path / "d")], [], StartOptions(None, Settings(), release("2.4")), accept_loss=False, tidy=True
    )
    moved = {name for each in found.plan.operations if (name := each.path.rpartition("/")[2]).endswith(".bak")}
    refused: object = found.report().body["refused"]
    assert isinstance(refused, tuple)
    assert {f"x{number}.bak" for number in range(40)} - bad == moved
    assert bad == {row["file"] for row in refused if row["file"].endswith(".bak")}


@pytest.mark.parametrize(("count", "reason"), [(101, "Kafka's"), (1003, "Kafka's, 1000 of 1003")])
def test_many_strays_are_moved_in_one_step(tmp_path: Path, count: int, reason: str) -> None:
    """Those beyond the first thousand are left to the next plan, and the reason says so."""
    strays(log_dir(tmp_path, recovery_point={"t-0": 10}), count)
    plan = planned(tmp_path)
    moved = [operation for operation in plan.operations if operation.path.endswith(".bak")]
    assert min(count, 1000) == len(moved)
    assert {f"move aside files that are not {reason}"} == {operation.why.reason for operation in moved}


def test_many_cuts_are_measured_with_one_look_at_the_names(tmp_path: Path) -> None:
    """What goes with a cut depends on the next segment."""
    options = StartOptions(None, Settings(), release("2.4"))

    def ask(count: int) -> Callable[[], object]:
        path = tmp_path / str(count)
        if not path.exists():
            torn(log_dir(path, recovery_point={"t-0": 0}), count)
        target = Target(TargetKind.LOG_DIR, str(path))
        (edited,) = survey_module.diagnose((target,), options, [], LogDirs(options.release))
        (partition,) = edited.partitions
        cuts = [CutEdit(f"t-0/{segment_prefix(base)}.log", 1) for base in range(count)]
        return lambda: [partition.loss((cut,)) for cut in cuts]

    assert grows_with_its_input(ask, 60)
