"""What is not planned, and why: each repair says where its proof ends."""

import os
import shutil
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import kcheck
from kcheck.disk.apply import apply
from kcheck.model.finding import Finding, Location, Severity
from kcheck.model.plan import Write
from kcheck.model.report import Row
from kcheck.plans import edited_partition
from kcheck.plans.repair import RepairPlan, repair
from kcheck.repairs import Refused, move_aside_files, rewrite_meta_properties
from kcheck.startup import partition as startup_partition
from kcheck.startup.virtual_files import Folder
from tests.builders import batch_of, broker, epochs, flip_byte, log, log_dir, partition_dir, record, write
from tests.builders import readable_run as run
from tests.cases.build import CASES, lay_out
from tests.repairs.test_cases import wish
from tests.repairs.test_proofs import BATCH_SIZE, LOG, names, planned, reasons

SECOND = f"t-0/{100:020d}.log"
SEGMENTS = [run(0, 99), run(100, 199)]


def two_segments(path: Path, **how: Any) -> Path:
    """Write a replica with two segments."""
    made = broker(path, run(0, 99), **how)
    partition_dir(made / "t-0", SEGMENTS)
    return made


def case(name: str, path: Path) -> Path:
    """Copy a case."""
    lay_out(CASES / name, path)
    return path


def patched(path: Path, *changes: tuple[int, bytes]) -> None:
    """Put bytes at positions of a file."""
    data = bytearray(path.read_bytes())
    for position, new in changes:
        data[position : position + len(new)] = new
    path.write_bytes(data)


def finding(rule: str, data: Row) -> Finding:
    """Return a finding that tells nothing else."""
    return Finding(rule, "", Severity.WARNING, Location(), "", "", "", data)


def logs(made: RepairPlan) -> list[tuple[str, str]]:
    """Return what is done to `.log` files."""
    return [each for each in names(made.plan) if each[1].endswith(".log")]


def test_the_first_damage_is_where_a_log_is_cut(tmp_path: Path) -> None:
    """A later segment goes with it, and as long as it stays nothing behind it is cut."""
    one = two_segments(tmp_path / "1", high_watermark=200)
    for name in (LOG, SECOND):
        flip_byte(one / name, 3 * BATCH_SIZE - 1)
    why = reasons(planned(str(one)))
    assert f"a recovery would truncate the log at position {2 * BATCH_SIZE} of {0:020d}.log, not at" in why
    accepted = planned(str(one), accept_loss=True)
    assert [("Truncate", f"{0:020d}.log"), ("SetAside", f"{100:020d}.log")] == logs(accepted)


def test_only_a_file_of_the_size_of_one_is_changed(tmp_path: Path) -> None:
    """Nothing is written over a directory, and no digest is made of a file that is larger than any of a broker."""
    one = two_segments(tmp_path / "1", high_watermark=200)
    flip_byte(one / LOG, BATCH_SIZE - 1)
    index = one / "t-0" / f"{0:020d}.timeindex"
    index.mkdir()
    assert f"t-0/{index.name} is not a regular file" in reasons(planned(str(one), accept_loss=True))
    index.rmdir()
    snapshot = one / "t-0" / f"{100:020d}.snapshot"
    snapshot.touch()
    os.truncate(snapshot, 1 << 40)
    assert f"t-0/{snapshot.name} has {1 << 40} bytes" in reasons(planned(str(one), accept_loss=True))


def test_a_leftover_goes_once(tmp_path: Path) -> None:
    """A file is left over from a compaction, and has a name that no broker gives it."""
    one = broker(tmp_path / "1", run(0, 99))
    names_of = [f"{0:020d}.log.cleaned", f"{1:020d}.snapshot.cleaned", "leader-epoch-checkpoint.cleaned"]
    write(one / "t-0", dict.fromkeys(names_of, b""))
    made = planned(str(one))
    assert names_of == sorted(name for kind, name in names(made.plan) if kind == "SetAside")
    assert "" == reasons(made)


def test_a_log_that_no_recovery_reads_through_is_not_cut(tmp_path: Path) -> None:
    """The end of a transaction that cannot be read ends the start of the broker; its indexes are not known either."""
    one = case("kc168-control-batch/type", tmp_path / "1")
    path = one / "transactions-0" / f"{0:020d}.log"
    (one / "transactions-0" / f"{0:020d}.index").unlink()
    assert "the log is not valid to its end" in reasons(planned(str(one)))
    flip_byte(path, path.stat().st_size - 1)
    assert "a recovery of the log fails" in reasons(planned(str(one), accept_loss=True))


def test_a_wrapper_that_no_recovery_refuses_stays(tmp_path: Path) -> None:
    """From 2.0 on no broker fails on it; before, only a log that is valid up to the wrapper is cut there."""
    one = case("kc170-wrapper-reaches-back/killed", tmp_path / "1")
    assert "no broker of this release fails on it" in reasons(planned(str(one)))
    flip_byte(one / "x-0" / f"{0:020d}.log", 100)
    made = repair([str(one)], [], wish("0.10.2"), accept_loss=False)
    assert "the log before it is not valid" in reasons(made)


def test_a_snapshot_that_the_cut_writes_is_enough(tmp_path: Path) -> None:
    """A log with producers and without a snapshot gets one with its new end."""
    one = case("kc141-batch-crc/transactions", tmp_path / "1")
    for path in (one / "transactions-0").glob("*.snapshot"):
        path.unlink()
    made = planned(str(one), accept_loss=True)
    assert [each.why.finding for each in made.plan.operations if each.path.endswith(".snapshot")] == ["KC141"]


def test_a_cut_below_the_log_start_leaves_the_epochs_of_the_batches(tmp_path: Path) -> None:
    """Records were deleted, so the file says that the epoch begins where the log did then: behind the new end."""
    one = broker(tmp_path / "1", run(0, 99, epoch=3), epoch_entries=((3, 30),))
    flip_byte(one / LOG, 3 * BATCH_SIZE - 1)
    made = planned(str(one), accept_loss=True)
    (found,) = [each for each in made.plan.operations if each.path.endswith("leader-epoch-checkpoint")]
    assert isinstance(found, Write)
    assert epochs((3, 0)) == found.content


def test_the_indexes_of_a_closed_segment_are_cut_with_it(tmp_path: Path) -> None:
    """Where nothing but zeros is left of it no entry is known to be wrong before."""
    one = two_segments(tmp_path / "1", high_watermark=200)
    (one / LOG).write_bytes(bytes((one / LOG).stat().st_size))
    made = planned(str(one), accept_loss=True)
    changed = {
        name: each.why.finding for each in made.plan.operations if (name := Path(each.path).name)[:20] == "0" * 20
    }
    assert dict.fromkeys((f"{0:020d}{ending}" for ending in (".log", ".index", ".timeindex")), "KC143") == changed


def test_of_two_directories_without_a_log_one_goes(tmp_path: Path) -> None:
    """As a log dir that ran full leaves them; nothing proves that they are alike but that neither holds anything."""
    one, other = (broker(tmp_path / name, run(0, 9)) for name in "12")
    for path in (one, other):
        (path / "new-0").mkdir()
    shutil.rmtree(other / "t-0")
    made = planned(f"1={one}", f"1={other}")
    (found,) = [each for each in made.plan.operations if each.path.endswith("/new-0")]
    assert "the directory has no .log" in str(found.why.evidence)


def test_of_three_directories_of_a_partition_none_goes(tmp_path: Path) -> None:
    """Two can be compared."""
    paths = [str(broker(tmp_path / str(number), run(0, 99))) for number in range(3)]
    assert "kcheck read 3 of its directories" in reasons(planned(*paths))


def test_a_stray_log_may_hold_records(tmp_path: Path) -> None:
    """No broker opens it under its name; an empty one goes."""
    one = broker(tmp_path / "1", run(0, 99))
    write(one / "t-0", {"7.log": log(run(100, 109)), "8.log": b""})
    made = planned(str(one))
    assert "may hold records" in reasons(made)
    assert ("SetAside", "8.log") in logs(made)


@pytest.mark.parametrize("digit", ["²", "٣"])
def test_a_number_of_another_script_is_no_segment(tmp_path: Path, digit: str) -> None:
    """Python takes such digits for some, brokers write none of them."""
    one = broker(tmp_path / "1", run(0, 99), epoch_entries=[(5, 0), (4, 50)])
    write(one / "t-0", {digit * 20 + ".log": log(run(100, 109))})
    assert "may hold records" in reasons(planned(str(one)))


def test_a_swap_stays_where_its_segments_are_not_all_there(tmp_path: Path) -> None:
    """It is damaged, but so are they, or their offsets are gone, or a .cleaned file stands beside it."""
    one = two_segments(tmp_path / "1")
    swap = f"{0:020d}.log.swap"
    write(one / "t-0", {swap: log(run(0, 299))})
    flip_byte(one / "t-0" / swap, BATCH_SIZE - 1)
    assert "no longer hold offsets 0-299" in reasons(planned(str(one)))
    flip_byte(one / LOG, BATCH_SIZE - 1)
    assert "the segments to be replaced are corrupt" in reasons(planned(str(one)))
    write(one / "t-0", {f"{500:020d}.log.cleaned": b""})
    assert "a split was in progress" in reasons(planned(str(one)))


def test_files_that_are_gone_are_not_moved() -> None:
    """Nothing is left to be done about them."""
    site: Any = SimpleNamespace(names=frozenset(), dir="t-0")
    for rule, data in (("KC226", {"suffix": ".deleted"}), ("KC227", {})):
        assert [] == list(move_aside_files.REPAIR.plan(site, (finding(rule, data),)))


def test_a_directory_of_a_newer_broker_stays(tmp_path: Path) -> None:
    """An older one cannot read its name, but it holds records."""
    one = broker(tmp_path / "1", run(0, 99))
    shutil.copytree(one / "t-0", one / f"t-1.{'0' * 32}-stray")
    made = repair([str(one)], [], wish("2.8"), accept_loss=False)
    assert "the directory is a partition of a newer release" in reasons(made)


def test_many_wrong_headers_have_another_cause(tmp_path: Path) -> None:
    """A finding names only the first of them."""
    one = broker(tmp_path / "1", run(0, 1099))
    patched(one / LOG, *((batch * BATCH_SIZE, bytes(8)) for batch in range(1, 110)))
    assert "batches are wrong, too many for one field to be the cause" in reasons(planned(str(one)))


def test_one_wrong_offset_can_look_like_two(tmp_path: Path) -> None:
    """A batch far outside of its segment makes the one behind it look wrong as well."""
    one = broker(tmp_path / "1", run(0, 99))
    patched(one / LOG, (5 * BATCH_SIZE, (1 << 40).to_bytes(8, "big")))
    made = planned(str(one))
    assert [("Patch", f"{0:020d}.log")] == logs(made)
    assert "" == reasons(made)


def test_a_header_proves_nothing_beside_damage(tmp_path: Path) -> None:
    """Neither before zeros, nor behind a batch whose CRC does not match; the first of a segment needs no others."""
    one = broker(tmp_path / "1", run(0, 99, epoch=4), epoch_entries=())
    patched(one / LOG, (9 * BATCH_SIZE + 12, bytes(4)))
    (one / LOG).write_bytes((one / LOG).read_bytes() + bytes(100))
    assert "leave more than one leader epoch" in reasons(planned(str(one)))
    two = broker(tmp_path / "2", run(0, 99))
    patched(two / LOG, (5 * BATCH_SIZE, (70).to_bytes(8, "big")), (6 * BATCH_SIZE - 1, b"\1"))
    assert "no single field explains it" in reasons(planned(str(two)))
    three = two_segments(tmp_path / "3")
    patched(three / LOG, (5 * BATCH_SIZE + 8, (7).to_bytes(4, "big")))
    patched(three / SECOND, (0, (1 << 40).to_bytes(8, "big")))
    assert [("Patch", f"{100:020d}.log")] == logs(planned(str(three)))


def test_epochs_that_fall_from_segment_to_segment_prove_nothing(tmp_path: Path) -> None:
    """No batch in either segment contradicts its neighbours."""
    one = broker(tmp_path / "1", run(0, 99, epoch=4), epoch_entries=((4, 0),))
    partition_dir(one / "t-0", [run(0, 99, epoch=4), run(100, 199, epoch=3)], epoch_entries=((4, 0),))
    assert "the epochs of the batches decrease" in reasons(planned(str(one)))


def test_meta_properties_of_siblings_that_are_damaged_too(tmp_path: Path) -> None:
    """They say nothing; nor is a directory.id known to be another's whose log dir cannot be looked into any more."""
    one, two = broker(tmp_path / "d1", run(0, 9)), broker(tmp_path / "d2", run(0, 9), partition="u-0")
    for path in (one, two):
        write(path, {"meta.properties": b"version=x\n"})
    assert "no other log dir of this broker is known" in reasons(planned(f"1={one}", f"1={two}"))
    site: Any = SimpleNamespace(siblings=(), view=SimpleNamespace(directory_id="x"), read=lambda _: None)
    (answer,) = rewrite_meta_properties.REPAIR.plan(site, (finding("KC306", {}),))
    assert isinstance(answer, Refused)


def test_log_starts_that_cannot_be_told_stay(tmp_path: Path) -> None:
    """Two values for one log, or a last line without an end; a line of no partition goes."""
    one = broker(tmp_path / "1", run(0, 99))
    write(one, {"log-start-offset-checkpoint": b"0\n2\nt 0 5\nt 0 7\n"})
    assert "t-0 has 2 log starts, and the files do not show which is right" in reasons(planned(str(one)))
    write(one, {"log-start-offset-checkpoint": b"0\n2\nt 0 5"})
    assert "the last line is incomplete" in reasons(planned(str(one)))
    write(one, {"log-start-offset-checkpoint": b"0\n2\nt 0 500\nt -1 7\n"})
    (found,) = [each for each in planned(str(one)).plan.operations if each.path.endswith("log-start-offset-checkpoint")]
    assert "remove a line that names no partition: 't' -1" in found.why.reason


def test_a_high_watermark_stays_where_no_epoch_is_known(tmp_path: Path) -> None:
    """Without both a follower drops its log; an empty log has nothing to drop."""
    one = broker(tmp_path / "1", run(0, 99), epoch_entries=())
    partition_dir(one / "u-0", [[]], epoch_entries=None)
    write(one, {"replication-offset-checkpoint": b"0\n2\nt 0 x\nu 0 x\n"})
    partition_dir(one / "t-0", [[batch_of(0, record(), epoch=-1)]], epoch_entries=())
    assert "without high watermark and leader epochs t-0 would lose all records" in reasons(planned(str(one)))
    partition_dir(one / "t-0", [run(0, 99)])
    assert ("Write", "replication-offset-checkpoint") in names(planned(str(one)).plan)


def test_a_replica_that_is_not_wrong_is_not_set_aside(tmp_path: Path) -> None:
    """Whoever else has its records."""
    one, two = two_segments(tmp_path / "1", clean=False), two_segments(tmp_path / "2", broker_id=2)
    (one / SECOND).write_bytes((one / SECOND).read_bytes() + bytes(100))
    made = planned(f"1={one}", against=[f"2={two}"])
    assert not any(kind == "SetAside" for kind, _ in names(made.plan))


def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the directories whose start is simulated from now on, each time that it is."""
    asked: list[str] = []
    start_folder = startup_partition.start_folder

    def counted(folder: Folder, name: str, *others: Any) -> Any:
        asked.append(name)
        return start_folder(folder, name, *others)

    monkeypatch.setattr(edited_partition, "start_folder", counted)
    return asked


@pytest.mark.parametrize("tidy", [False, True])
def test_each_step_asks_the_start_for_what_it_edits(
    tidy: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a plan costs grows with the partitions, not with their square."""
    one = log_dir(tmp_path / "1")
    partitions = [one / f"t-{number}" for number in range(8)]
    for each in partitions:
        partition_dir(each, [run(0, 9)])
    apply(planned(str(one)).plan_bytes(), str(tmp_path / "backup"))
    for each in partitions:
        write(each, {f"{0:020d}.log.deleted": b"x"})
    asked = started(monkeypatch)
    made = repair([str(one)], [], wish("4.3"), accept_loss=False, tidy=tidy)
    assert 8 * tidy == len([each for each in names(made.plan) if each[1].endswith(".deleted")])
    assert 8 * (not tidy) == len([row for row in made.healed if row.finding == "KC226"])
    assert {each.name: 2 for each in partitions} == Counter(asked)


def test_a_partition_with_many_findings_is_started_a_few_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before, after each repair, and without what may not be needed."""
    path = case("kc152-offset-index-position/lost-tail", tmp_path / "d")
    asked = started(monkeypatch)
    made = repair([str(path)], [], wish("2.8"), accept_loss=False)
    assert {"KC152"} == {step.finding for step in made.chosen}
    assert {"KC185", "KC202", "KC212", "KC213"} == {row.finding for row in made.healed}
    assert 11 >= max(Counter(asked).values())


def test_an_empty_directory_as_the_marker_of_a_clean_stop_stays(tmp_path: Path) -> None:
    """LogManager.loadLogs 2.8 to 4.3.1 takes it for the marker and removes it (tests/oracle)."""
    path = broker(tmp_path / "d", run(0, 99), clean=False)
    (path / ".kafka_cleanshutdown").mkdir()
    (marker,) = [found for found in kcheck.check(path).findings if found.id == "KC301"]
    assert (marker.severity, marker.where.dir) == (Severity.INFO, ".kafka_cleanshutdown")
    assert "counts as the clean shutdown marker" in reasons(planned(str(path)))
