"""The release that the files of real brokers tell."""

import shutil
from pathlib import Path

import pytest

import kcheck
from kcheck.core.releases.release_evidence import EvidenceKind, age, line_of
from kcheck.core.releases.releases import lines
from kcheck.model.evidence import ReleaseEvidence
from kcheck.records.metadata_features import FEATURE
from tests.builders import flip_byte, log_dir, message, partition_dir, partition_metadata, run, write
from tests.cases.build import CASES
from tests.oracle.ask import spread
from tests.test_brokers import BROKERS, FOLDERS

LOG_DIRS = sorted(BROKERS.glob("*/*/broker-*/data*"))
EXACT = BROKERS / "3.9.2" / "stopped" / "broker-1"
METADATA = "data1/__cluster_metadata-0"
LOG = f"{METADATA}/{0:020d}.log"
NEWEST = lines()[-1]


def proved(*paths: Path | str) -> ReleaseEvidence:
    """Return what the files say."""
    said = kcheck.release(paths=paths).evidence
    assert said is not None
    return said


def spanned(*paths: Path | str) -> tuple[str | None, str | None, str]:
    """Return the range, and what decides it."""
    said = proved(*paths)
    return said.lowest, said.highest, said.sources


@pytest.fixture
def broker(tmp_path: Path) -> Path:
    """Copy a 3.9.2 broker."""
    shutil.copytree(EXACT, tmp_path / "b")
    return tmp_path / "b"


def truth(path: Path) -> str:
    """Return the line of the release that wrote a fixture."""
    return line_of(path.relative_to(BROKERS).parts[0])


@pytest.mark.parametrize("path", [*FOLDERS, *LOG_DIRS], ids=lambda path: str(path.relative_to(BROKERS)))
def test_the_true_release_is_in_the_range(path: Path) -> None:
    """Of a whole broker and of each log dir alone; exact where the broker's registration is there."""
    said = proved(path)
    assert said.lowest is not None
    assert said.highest is not None
    assert age(said.lowest) <= age(truth(path)) <= age(said.highest)
    if list(path.rglob("__cluster_metadata-0")):
        assert said.lowest == said.highest == said.used == truth(path)


@pytest.mark.sample(30)
@pytest.mark.parametrize("path", FOLDERS, ids=lambda path: str(path.relative_to(BROKERS)))
def test_without_the_metadata_log_the_true_release_is_in_the_range(path: Path, tmp_path: Path) -> None:
    shutil.copytree(path, tmp_path / "b", ignore=shutil.ignore_patterns("__cluster_metadata-0"))
    said = proved(tmp_path / "b")
    assert age(said.lowest or "") <= age(truth(path)) <= age(said.highest or "")


def test_a_partition_and_a_file_are_of_their_log_dir() -> None:
    inside = EXACT / "data1" / "plain-1"
    for path in (inside, inside / "leader-epoch-checkpoint", EXACT / "data1" / "meta.properties"):
        assert "3.9" == proved(path).used
    assert "3.9" == proved(f"1={inside / 'leader-epoch-checkpoint'},leo=20").used


def test_a_partition_alone_has_only_lower_bounds(tmp_path: Path) -> None:
    """A part of a copy is no proof that something is absent."""
    path = partition_dir(tmp_path / "t-0", [run(0, 9)])
    assert ("0.11.0", NEWEST, f"{EvidenceKind.LEADER_EPOCHS}, {EvidenceKind.MAGIC_2}") == spanned(path)
    write(path, {"partition.metadata": partition_metadata()})
    assert ("2.8", NEWEST, EvidenceKind.TOPIC_ID) == spanned(path)
    shutil.copy(path / "leader-epoch-checkpoint", tmp_path / "bare")
    assert (None, None, "") == spanned(tmp_path / "bare")


def test_brokers_are_told_apart() -> None:
    """The log dirs of one broker are evidence together; brokers of two releases have none in common."""
    other = BROKERS / "2.8.2" / "stopped" / "broker-2"
    assert ["3.9", "3.9"] == [proved(f"1={EXACT}").used, proved(f"1={EXACT / 'data2'}", f"1={EXACT / 'data1'}").used]
    apart = proved(f"1={EXACT}", f"2={other}")
    assert ("2.8", "3.9", "3.9", False) == (apart.lowest, apart.highest, apart.used, apart.agrees)
    assert {1, 2} == {reason.broker_id for reason in apart.reasons}


def test_names_of_directories_are_evidence(tmp_path: Path) -> None:
    uuid = "0" * 32
    log_dir(tmp_path, broker_id=None, clean=False)
    for name, first in (("-delete", "0.10.2"), ("-future", "1.1"), ("-stray", "3.6")):
        (tmp_path / f"t-0.{uuid}{name}").mkdir()
        assert (first, NEWEST, f"{name} directories") == spanned(tmp_path)
    for topic, first in (("__remote_log_metadata", "3.6"), ("__share_group_state", "4.0")):
        (tmp_path / f"{topic}-0").mkdir()
        assert (first, NEWEST) == spanned(tmp_path)[:2]
    assert ("4.0", NEWEST, EvidenceKind.SHARE_TOPIC) == spanned(tmp_path)
    (tmp_path / "__share_group_state-0").rmdir()
    (tmp_path / "@metadata-0").mkdir()
    assert ("3.6", NEWEST) == spanned(tmp_path)[:2]
    (tmp_path / f"t-0.{uuid}-stray").rmdir()
    assert ("3.5", NEWEST, EvidenceKind.REMOTE_TOPIC) == spanned(tmp_path)
    (tmp_path / "__remote_log_metadata-0").rmdir()
    (tmp_path / "remote-log-index-cache").mkdir()
    of_old = tmp_path / "remote-log-index-cache" / f"0_{'A' * 22}_.index"
    of_old.touch()
    assert "3.5" == spanned(tmp_path)[0]
    of_old.rename(of_old.with_name(f"0_{'A' * 22}.index"))
    assert ("3.6", NEWEST, EvidenceKind.REMOTE_INDEX) == spanned(tmp_path)
    shutil.rmtree(tmp_path / "remote-log-index-cache")
    (tmp_path / "_rlmm_committed_offsets").touch()
    assert "3.1" == spanned(tmp_path)[0]
    (tmp_path / "_rlmm_committed_offsets").unlink()
    assert ("2.8", "2.8", EvidenceKind.PREVIEW_LOG) == spanned(tmp_path)


@pytest.mark.parametrize(
    ("meta", "expected"),
    [
        (b"version=0\nbroker.id=1\n", ("0.10.1", "0.10.2")),
        (b"version=0\nbroker.id=1\ncluster.id=c\n", ("2.4", "3.9")),
        (b"version=0\nbroker.id=1\ncluster.id=c\ndirectory.id=d\n", ("3.7", NEWEST)),
        (b"version=1\nnode.id=1\ncluster.id=c\n", ("2.8", "3.6")),
        (b"version=1\nnode.id=1\ncluster.id=c\ndirectory.id=d\n", ("3.7", NEWEST)),
        (b"version=0\n", ("0.10.1", NEWEST)),
    ],
)
def test_meta_properties_are_evidence(meta: bytes, expected: tuple[str | None, str | None], tmp_path: Path) -> None:
    """Of a ZooKeeper broker, absent files of its partitions are evidence too."""
    write(tmp_path, {"meta.properties": meta})
    write(partition_dir(tmp_path / "t-0", [[message(0)]], epoch_entries=None), {f"{0:020d}.timeindex": b""})
    assert expected == spanned(tmp_path)[:2]


def test_files_of_a_partition_are_evidence(tmp_path: Path) -> None:
    """Up to 0.10.0 no segment has a `.timeindex`. Snapshots that are about to go are of 3.0 or later."""
    write(tmp_path, {"meta.properties": b"version=0\nbroker.id=1\n"})
    write(tmp_path / "t-0", {f"{0:020d}.log": b"", f"{0:020d}.index": b""})
    assert ("0.9.0", "0.10.0") == spanned(tmp_path)[:2]
    write(tmp_path / "t-0", {f"{0:020d}.timeindex": b""})
    assert ("0.10.1", "0.10.2") == spanned(tmp_path)[:2]
    write(tmp_path / "t-0", {f"{5:020d}.snapshot": b""})
    assert "0.11.0" == spanned(tmp_path)[0]
    write(tmp_path / "t-0", {f"{5:020d}.snapshot.deleted": b""})
    assert "3.0" == spanned(tmp_path)[0]


def test_a_marker_that_no_broker_writes_says_nothing(tmp_path: Path) -> None:
    write(tmp_path, {"meta.properties": b"version=0\n", ".kafka_cleanshutdown": b"x"})
    assert (None, None, "") == spanned(tmp_path)
    write(tmp_path, {".kafka_cleanshutdown": b""})
    assert ("0.8.2", "3.6", EvidenceKind.EMPTY_MARKER) == spanned(tmp_path)


def test_the_version_of_quorum_state_is_evidence(broker: Path) -> None:
    (broker / LOG).unlink()
    (broker / METADATA / "quorum-state").write_text('{"leaderId":1,"leaderEpoch":1,"votedId":-1,"data_version":1}')
    for path in broker.glob("*/bootstrap.checkpoint"):
        path.unlink()
    assert ("3.9", NEWEST, EvidenceKind.QUORUM_STATE) == spanned(broker)


def test_damage_leaves_what_other_files_say(broker: Path) -> None:
    """A damaged batch, an unreadable file, and a metadata log that names no node of this id."""
    data = (broker / LOG).read_bytes()
    at = -1
    while (at := data.find(FEATURE, at + 1)) >= 0:
        flip_byte(broker / LOG, at)
    assert ("3.9", NEWEST, EvidenceKind.FEATURE_LEVEL) == spanned(broker)
    (broker / LOG).write_bytes(data)
    for path in broker.glob("*/meta.properties"):
        path.write_text(path.read_text().replace("node.id=1", "node.id=77"))
    assert ("3.9", NEWEST, EvidenceKind.FEATURE_LEVEL) == spanned(broker)
    for path in broker.glob("*/meta.properties"):
        path.unlink()
        path.mkdir()
    assert ("3.9", "3.9", EvidenceKind.REGISTRATION) == spanned(broker / "data1")


def test_what_is_no_file_says_nothing(broker: Path) -> None:
    for path in [*broker.glob("*/bootstrap.checkpoint"), broker / LOG, broker / METADATA / "quorum-state"]:
        path.unlink()
        path.symlink_to("/dev/zero")
    assert ("3.7", NEWEST) == spanned(broker)[:2]


def test_no_metadata_version_in_a_whole_log(broker: Path) -> None:
    """3.0 to 3.2 knew none; an empty log says nothing of it."""
    for path in broker.glob("*/bootstrap.checkpoint"):
        path.unlink()
    for path in broker.glob("*/meta.properties"):
        path.write_text("version=1\nnode.id=1\ncluster.id=c\n")
    for path in broker.glob("*/.kafka_cleanshutdown"):
        path.unlink()
    (broker / LOG).write_bytes((broker / LOG).read_bytes().replace(FEATURE, FEATURE.upper()))
    assert ("3.0", "3.2", EvidenceKind.NO_METADATA_VERSION) == spanned(broker)
    (broker / LOG).write_bytes(b"")
    assert ("3.0", "3.6") == spanned(broker)[:2]


def test_a_snapshot_holds_the_registration(tmp_path: Path) -> None:
    """The log after it may be without one."""
    shutil.copytree(BROKERS / "4.3.1" / "snapshot" / "broker-1", tmp_path / "b")
    assert list((tmp_path / "b").glob("*/__cluster_metadata-0/*.checkpoint"))
    for path in (tmp_path / "b").glob("*/__cluster_metadata-0/*.log"):
        path.write_bytes(b"")
    assert ("4.3", "4.3", EvidenceKind.REGISTRATION) == spanned(tmp_path / "b")


def test_only_the_end_of_a_large_log_is_read(broker: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kcheck.views.release_evidence._LOG_SIZE_MAX", 100)
    assert ("3.9", NEWEST, EvidenceKind.FEATURE_LEVEL) == spanned(broker)


def test_damage_in_a_zookeeper_broker_keeps_the_true_release(tmp_path: Path) -> None:
    """Whatever one file is lost or emptied: 2.4.1 stays in the range."""
    copy = shutil.copytree(BROKERS / "2.4.1" / "stopped" / "broker-1", tmp_path / "b")
    files = (path for path in copy.rglob("*") if path.is_file() and path.name != ".kafka_cleanshutdown")
    for path in spread(sorted(files), 40):
        data = path.read_bytes()
        for damage in (path.unlink, path.touch):
            damage()
            said = proved(*copy.glob("data*"))
            assert age(said.lowest or "") <= age("2.4") <= age(said.highest or ""), path
        path.write_bytes(data)


def test_a_broker_of_an_old_protocol_writes_no_topic_ids(tmp_path: Path) -> None:
    """Brokers of 2.8 to 3.9 with inter.broker.protocol.version below 2.8: as 2.4 to 2.7."""
    shutil.copytree(BROKERS / "2.8.2" / "killed" / "broker-1", tmp_path / "b")
    for path in (tmp_path / "b").rglob("partition.metadata"):
        path.unlink()
    assert ("2.4", "3.9", "cluster.id, no directory.id") == spanned(tmp_path / "b")


def test_an_upgrade_that_has_not_registered_is_a_contradiction(tmp_path: Path) -> None:
    """The new software starts, writes directory.id, and is killed: the range has the old and the new release."""
    shutil.copytree(EXACT, tmp_path / "b")
    log = tmp_path / "b" / LOG
    snapshot = tmp_path / "b" / METADATA / f"{0:020d}-{0:010d}.checkpoint"
    assert log.exists()
    assert not snapshot.exists()
    (tmp_path / "b" / "data2" / "bootstrap.checkpoint").unlink(missing_ok=True)
    said = kcheck.release(paths=[tmp_path / "b"], log=logged(tmp_path, b"Kafka version: 3.6.2")).evidence
    assert said is not None
    assert ("3.6", NEWEST, False) == (said.lowest, said.highest, said.agrees)


def logged(folder: Path, line: bytes, *, name: str = "server.log", before: bytes = b"") -> Path:
    """Write a broker's log."""
    path = folder / name
    path.write_bytes(before + b"[x] INFO " + line + b" (org.apache.kafka.common.utils.AppInfoParser)\n")
    return path


def test_a_formatted_dynamic_quorum_is_of_3_9_or_later(tmp_path: Path) -> None:
    folder = tmp_path / "__cluster_metadata-0"
    write(folder, {f"{0:020d}-{0:010d}.checkpoint": b""})
    write(tmp_path, {"meta.properties": b"version=0\n"})
    assert ("3.9", NEWEST, EvidenceKind.ZERO_SNAPSHOT) == spanned(tmp_path)


def test_metadata_records_in_the_snapshot_of_a_formatted_directory_are_of_4_4(tmp_path: Path) -> None:
    name = f"__cluster_metadata-0/{0:020d}-{0:010d}.checkpoint"
    case = CASES / "kc193-bootstrap-records-ignored" / "records" / "changed" / "data1"
    write(tmp_path, {"meta.properties": b"version=0\n"})
    write(tmp_path / "__cluster_metadata-0", {name.rpartition("/")[2]: (case / name).read_bytes()})
    assert ("4.4", NEWEST, EvidenceKind.ZERO_RECORDS) == spanned(tmp_path)


def test_a_metadata_log_outside_of_a_log_dir_tells_as_well(tmp_path: Path) -> None:
    """Of all nodes that registered: whose it is, is not known."""
    copy = shutil.copytree(EXACT / METADATA, tmp_path / "__cluster_metadata-0")
    assert ("3.9", "3.9", "broker registrations in __cluster_metadata-0") == spanned(copy)
    (copy / LOG.rpartition("/")[2]).write_bytes(b"")
    assert spanned(copy)[2] == "__cluster_metadata-0"
