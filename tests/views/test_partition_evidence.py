"""What the files and records of partitions say about the release of their broker."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import kcheck
from kcheck.core.releases.release_evidence import EvidenceKind
from kcheck.disk.listing import Listing
from kcheck.disk.local import LocalDirectory, LocalTree
from tests.builders import flip_byte, log, message, partition_dir, run, write
from tests.record_bytes import batch_of, record
from tests.test_brokers import BROKERS

LOG = f"{0:020d}.log"
E = EvidenceKind


def sources(path: Path) -> set[str]:
    """Return what decides the range of a log dir."""
    said = kcheck.release(paths=[path]).evidence
    assert said is not None
    return {reason.source for reason in said.reasons}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a log dir that says nothing itself."""
    return write(tmp_path / "data", {"meta.properties": b"version=0\n"})


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        (f"{0:020d}.timeindex", b"", E.TIME_INDEX),
        (f"{0:020d}.snapshot", b"", E.PRODUCER_SNAPSHOT),
        (f"{0:020d}.txnindex", b"", E.TRANSACTION_INDEX),
        ("remote_log_snapshot", b"", E.REMOTE_SNAPSHOT),
        ("leader-epoch-checkpoint", b"", E.LEADER_EPOCHS),
        ("partition.metadata", b"", E.TOPIC_ID),
        (LOG, message(0).data, E.MAGIC_1),
        (LOG, log(run(0, 9)), E.MAGIC_2),
        (LOG, batch_of(record(0), 1, codec=4), E.ZSTD),
    ],
)
def test_files_and_batches_are_evidence(folder: Path, name: str, data: bytes, kind: EvidenceKind) -> None:
    write(folder / "t-0", {name: data})
    assert {kind} == sources(folder)


@pytest.mark.parametrize("data", [b"", message(0, magic=0).data, b"\2" * 80])
def test_other_bytes_are_no_evidence(folder: Path, data: bytes) -> None:
    write(folder / "t-0", {LOG: data})
    assert set() == sources(folder)


def test_a_corrupt_batch_is_no_evidence(folder: Path) -> None:
    """Its version may be what is corrupt."""
    write(folder / "t-0", {LOG: log(run(0, 9))})
    flip_byte(folder / "t-0" / LOG, 70)
    assert set() == sources(folder)


@pytest.mark.parametrize(
    ("topic", "kind", "version", "expected"),
    [
        ("__consumer_offsets", 1, 2, (E.OFFSET_V2,)),
        ("__consumer_offsets", 1, 4, (E.GROUP_V4,)),
        ("__consumer_offsets", 2, 3, (E.GROUP_V3,)),
        ("__consumer_offsets", 2, 4, (E.GROUP_V4,)),
        ("__consumer_offsets", 3, 0, (E.CONSUMER_GROUP,)),
        ("__consumer_offsets", 11, 0, (E.SHARE_GROUP,)),
        ("__consumer_offsets", 17, 0, (E.STREAMS_GROUP,)),
        ("__consumer_offsets", 1, 1, (E.MAGIC_2,)),
        ("__transaction_state", 0, 1, (E.TRANSACTION_V1,)),
        ("__transaction_state", 0, 0, (E.MAGIC_2, E.TRANSACTION_TOPIC)),
    ],
)
def test_versions_of_records_are_evidence(
    folder: Path, topic: str, kind: int, version: int, expected: tuple[EvidenceKind, ...]
) -> None:
    key, value = kind.to_bytes(2, "big") + b"k", version.to_bytes(2, "big") + b"v"
    data = batch_of(record(0, key, value), 1)
    write(folder / f"{topic}-0", {LOG: data})
    assert {*expected} == sources(folder)


def test_internal_topics_of_brokers_are_evidence_without_their_metadata(tmp_path: Path) -> None:
    """4.3.1 with a share group."""
    copy = tmp_path / "b"
    shutil.copytree(
        BROKERS / "4.3.1" / "coordinators" / "broker-1", copy,
        ignore=shutil.ignore_patterns("__cluster_metadata-0", "bootstrap.checkpoint"),
    )  # fmt: skip
    said = kcheck.release(paths=[copy]).evidence
    assert said is not None
    assert ("4.0", {E.SHARE_TOPIC}) == (said.lowest, {reason.source for reason in said.reasons})


def test_what_cannot_be_read_is_no_evidence(folder: Path) -> None:
    for name in ("t-0", "__consumer_offsets-0"):
        partition_dir(folder / name, [run(0, 9)], epoch_entries=None)
        (folder / name / LOG).unlink()
        (folder / name / LOG).symlink_to("/dev/zero")
    assert E.MAGIC_2 not in sources(folder)


def test_few_partitions_are_looked_at(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are; and none is listed once one has a topic id."""
    listed, seen = list[str](), LocalDirectory.listing

    def counted(folder: LocalDirectory) -> Listing:
        listed.append(folder.path)
        return seen(folder)

    monkeypatch.setattr(LocalDirectory, "listing", counted)
    for number in range(100):
        (folder / f"t-{number}").mkdir()
    sources(folder)
    assert 16 == len(listed)
    for number in range(100):
        write(folder / f"t-{number}", {"partition.metadata": b""})
    sources(folder)
    assert 16 == len(listed)


@pytest.mark.parametrize("name", [".", "t-0"])
def test_of_many_strangers_few_names_are_kept(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a log dir and in a partition: their number has no bound."""
    kept = list[int]()

    def counted(list_names: Callable[..., Listing]) -> Callable[..., Listing]:
        def listing(*asked: object) -> Listing:
            kept.append(len((names := list_names(*asked)).files))
            return names

        return listing

    for kind in (LocalTree, LocalDirectory):
        monkeypatch.setattr(kind, "listing", counted(kind.listing))
    monkeypatch.setattr("kcheck.model.names.STRANGERS_MAX", 3)
    (folder / "t-0").mkdir()
    for number in range(10):
        (folder / name / f"stranger{number}").touch()
    sources(folder)
    assert max(kept) <= 3 + 1
