"""What owners, mounts and free bytes make of the verdicts on a start."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import kcheck
from kcheck.disk.rights import volume_of
from kcheck.model.finding import Severity
from kcheck.model.rights import Volume
from kcheck.verbs.preflight import Preflight
from kcheck.views import host_facts
from tests.cli.command import kcheck as kcheck_command
from tests.test_brokers import BROKERS

STOPPED = BROKERS / "4.3.1" / "stopped"
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")


@pytest.fixture
def log_dir(tmp_path: Path) -> Path:
    """Copy the log dir of a broker, with its server.properties beside it."""
    copy = shutil.copytree(STOPPED / "broker-2" / "data1", tmp_path / "data")
    (tmp_path / "server.properties").write_text(f"node.id=2\nprocess.roles=broker\nlog.dirs={copy}\n")
    return copy


def give(path: Path, user: int) -> None:
    """Give a directory and all in it to a user and the group of the same number."""
    for place in (path, *path.rglob("*")):
        os.chown(place, user, user)


def asked(log_dir: Path) -> Preflight:
    """Return the answer of preflight."""
    return kcheck.preflight(log_dir.parent / "server.properties", metadata=[STOPPED / "broker-3"])


def why(answer: Preflight) -> dict[str, tuple[str, str]]:
    """Return kind and sentence of the reasons that are premises about the host."""
    return {row.premise: (str(row.kind), row.why) for row in answer.reasons if row.premise and row.premise[1] == "4"}


@needs_root
def test_one_segment_of_root(log_dir: Path) -> None:
    """preflight, predict and PATH name the segment; a checkpoint of root, or all of root, is fine."""
    give(log_dir, 1001)
    segment = next(path for path in sorted(log_dir.rglob("*.log")) if path.stat().st_size)
    os.chown(segment.parent / "leader-epoch-checkpoint", 0, 0)
    assert why(asked(log_dir)) == {}
    os.chown(segment, 0, 0)
    words = f"{segment.relative_to(log_dir)} belongs to user 0, the log dir to 1001: a broker that runs as 1001 cannot"
    sentence = f"{words} open it; chown 1001:1001 {segment}"
    assert why(asked(log_dir)) == {"P401": ("abort", sentence)}
    for prediction in (kcheck.predict(log_dir), kcheck.overview(log_dir).prediction):
        assert [(str(start.outcome), start.reasons[0]) for start in prediction.log_dirs] == [("abort", sentence)]
    give(log_dir, 0)
    assert why(asked(log_dir)) == {}


@needs_root
def test_a_file_that_no_start_opens(log_dir: Path) -> None:
    """A copy of root's in the log dir itself is nothing to the broker, even if its name ends as that of a segment."""
    give(log_dir, 1001)
    for name, reasons in (("saved.log", set()), (".lock", {"P401"})):
        (log_dir / name).touch()
        os.chown(log_dir / name, 0, 0)
        assert why(asked(log_dir)).keys() == reasons


@needs_root
def test_the_last_user_of_the_checkpoints(log_dir: Path) -> None:
    """Where the broker runs as another user than before, its last run shows which one, and the group lets it in."""
    give(log_dir, 1001)
    for path in (log_dir, *log_dir.rglob("*")):
        path.chmod(path.stat().st_mode | path.stat().st_mode >> 3 & 0o070)
    segment = next(path for path in sorted(log_dir.rglob("*.log")) if path.stat().st_size)
    for path in (log_dir / "replication-offset-checkpoint", segment):
        path.chmod(0o644)
        os.chown(path, 2002, 1001)
    assert why(asked(log_dir)) == {}
    (log_dir / "replication-offset-checkpoint").unlink()
    (log_dir / "recovery-point-offset-checkpoint").unlink()
    assert why(asked(log_dir))["P401"][0] == "abort"


def changed(monkeypatch: pytest.MonkeyPatch, **fields: object) -> None:
    """Change what is seen of every file system."""
    seen: Callable[[str], Volume | None] = volume_of
    monkeypatch.setattr(host_facts, "volume_of", lambda path: (volume := seen(path)) and volume._replace(**fields))


def test_a_log_dir_that_is_mounted_read_only(log_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The only log dir of a broker: it does not start. In a container that is not said."""
    changed(monkeypatch, is_read_only=True, mount_point="/m")
    sentence = f"{log_dir} is mounted read-only here, mount point /m"
    assert why(asked(log_dir)) == {"P405": ("abort", sentence)}
    assert kcheck.predict(log_dir).log_dirs[0].reasons[0] == sentence
    assert [sentence] == [row.message for row in kcheck.check(log_dir).findings if row.id == "KC315"]
    changed(monkeypatch, is_read_only=True, mount_point="/m", is_seen_in_container=True)
    assert why(asked(log_dir)) == {}
    shown = " ".join(kcheck_command("preflight", log_dir.parent / "server.properties").out.split())
    assert f"note: {sentence}; the broker may see another mount" in shown


def test_a_second_log_dir_that_is_mounted_read_only(log_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It goes offline, which a user may accept."""
    first, second = (shutil.copytree(STOPPED / "broker-1" / name, log_dir.parent / name) for name in ("data1", "data2"))
    settings = log_dir.parent / "server.properties"
    settings.write_text(f"node.id=1\nprocess.roles=broker\nlog.dirs={first},{second}\n")
    seen: Callable[[str], Volume | None] = volume_of
    monkeypatch.setattr(
        host_facts, "volume_of",
        lambda path: (volume := seen(path)) and volume._replace(is_read_only=path == str(second)),
    )  # fmt: skip
    offline = [start for start in kcheck.predict(settings).log_dirs if str(start.outcome) == "offline"]
    assert [(start.path, "is mounted read-only here" in start.reasons[0]) for start in offline] == [(str(second), True)]
    (found,) = [row for row in kcheck.check(settings).findings if row.id == "KC315"]
    assert (Severity.ERROR, "Kafka 4.3 takes the log dir offline.") == (found.severity, found.effect)
    assert f"\nBroker 1: {second} is mounted read-only" in kcheck_command("elect", settings, columns=200).out


def test_a_full_disk(log_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a free block no checkpoint can be written."""
    changed(monkeypatch, free=0, free_for_root=0, mount_point="/m", block_size=4096)
    sentence = "0 bytes are free in /m, the broker writes at least 4,096"
    assert why(asked(log_dir)) == {"P403": ("abort", sentence)}


def test_disks_of_several_brokers_are_not_of_this_machine(log_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies of the disks of two brokers may be mounted read-only, and the disk be full."""
    other = shutil.copytree(STOPPED / "broker-3" / "data1", log_dir.parent / "other")
    changed(monkeypatch, is_read_only=True, free=0)
    premises = kcheck.predict(f"2={log_dir}", f"3={other}").premises
    assert {premise.id for premise in premises} & {"P402", "P403", "P404", "P405"} == set()
