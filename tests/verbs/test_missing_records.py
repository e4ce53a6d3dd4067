"""Logs of real brokers of which somebody removed segments: the start does not notice, predict and preflight do."""

import re
import shutil
from pathlib import Path

import pytest

import kcheck
from tests.oracle.incidents import kept

BROKER = Path(__file__).parents[2] / "fixtures" / "brokers"


def told(path: Path) -> dict[str, str]:
    """Return the refuted premises about logs, with their sentences."""
    premises = kcheck.predict(path).to_dict()["premises"]
    return {row["id"]: row["sentence"] for row in premises if row["id"] in ("P304", "P305", "P306") and
            row["status"] == "refuted"}  # fmt: skip


def remove(disk: Path, base: int, *endings: str) -> None:
    """Remove the files of a segment."""
    for ending in endings or (".log", ".index", ".timeindex", ".snapshot"):
        (disk / "segments-0" / f"{base:020}{ending}").unlink(missing_ok=True)


def kill(disk: Path) -> None:
    """Let the last shutdown be unclean."""
    (disk / ".kafka_cleanshutdown").unlink()


def test_whole_logs(disk: Path) -> None:
    """After a clean stop and after a kill."""
    assert told(disk) == {}
    kill(disk)
    assert told(disk) == {}


def test_the_first_segment(disk: Path) -> None:
    """Epochs begin where the log began, after a kill too."""
    remove(disk, 0)
    said = (
        "segments-0 begins at 20 here, its epochs at 0: as leader broker 2 makes the other replicas delete the records"
        " below"
    )
    assert told(disk) == {"P304": said}
    kill(disk)
    assert told(disk) == {"P304": said}


@pytest.mark.parametrize("epochs", [None, "", "0\n0\n"])
def test_the_first_segment_and_the_epochs(disk: Path, epochs: str | None) -> None:
    """No file shows that any is missing, unless a broker wrote the log start; an intact first segment begins at 0."""
    file = disk / "segments-0" / "leader-epoch-checkpoint"
    file.unlink() if epochs is None else file.write_text(epochs)

    def said() -> set[str]:
        premises = kcheck.predict(disk).to_dict()["premises"]
        return {row["sentence"] for row in premises if row["id"] == "P320"}

    assert said() == set()
    remove(disk, 0)
    begin = "segments-0 begins at 20, but its leader epochs are lost. Whether earlier segments were removed is not"
    assert said() == {f"{begin} known"}
    checkpoint = disk / "log-start-offset-checkpoint"
    checkpoint.write_text("0\n1\nsegments 0 20\n")
    assert said() == set()
    checkpoint.write_text("0\n1\nsegments 0 25\n")
    assert said() == set()


@pytest.mark.parametrize("endings", [(), (".log",)])
def test_a_middle_segment(disk: Path, endings: tuple[str, ...]) -> None:
    """With its indexes or without: the one before ends below the one after."""
    remove(disk, 40, *endings)
    assert told(disk) == {"P305": "segments-0 has no segment with offsets 40-59: where it leads, consumers skip them"}


def test_the_first_batch(disk: Path) -> None:
    """Only where the topic is known not to be compacted; the log start that a broker wrote explains it."""
    log = disk / "plain-0" / f"{0:020}.log"
    data = log.read_bytes()
    log.write_bytes(data[12 + int.from_bytes(data[8:12]) :])
    first = int.from_bytes(log.read_bytes()[:8])
    kill(disk)
    said = f"plain-0 has no segment with offsets 0-{first - 1}: where it leads, consumers skip them"
    assert told(disk) == {"P305": said}
    (disk / "log-start-offset-checkpoint").write_text(f"0\n1\nplain 0 {first}\n")
    assert "P305" not in told(disk)
    (disk / "log-start-offset-checkpoint").unlink()
    shutil.rmtree(disk / "__cluster_metadata-0")
    assert told(disk) == {}


def test_the_last_segment(disk: Path) -> None:
    """The high watermark stays."""
    remove(disk, 120)
    said = "but replication-offset-checkpoint shows records up to offset 128"
    assert said in told(disk)["P306"]
    kill(disk)
    assert said in told(disk)["P306"]


def test_an_index_that_is_left(disk: Path) -> None:
    """After a kill nothing else shows that there was a segment."""
    remove(disk, 120, ".log", ".snapshot")
    checkpoint = disk / "replication-offset-checkpoint"
    checkpoint.write_text(checkpoint.read_text().replace("segments 0 129", "segments 0 120"))
    kill(disk)
    assert "but 00000000000000000120.timeindex shows records up to offset 120" in told(disk)["P306"]


def test_a_broker_that_raises_its_epochs(tmp_path: Path) -> None:
    """Up to 2.8 the start moves the first epoch to the first segment: those on disk count."""
    path = Path(shutil.copytree(BROKER / "2.8.2" / "stopped" / "broker-2", tmp_path / "broker-2")) / "data1"
    assert told(path) == {}
    remove(path, 0)
    assert "segments-0 begins at 20 here, its epochs at 0" in told(path)["P304"]


def test_the_newest_segment_of_a_killed_broker(tmp_path: Path) -> None:
    """A 3.9.2 with ZooKeeper lost the one record of it; the segment before was closed, which no stop did.

    Two such logs can be those of a broker that was killed while it stopped. With the marker it stopped.
    """
    folder = kept.unpacked(kept.PLACE / "3.9.2-zk-remove-last-z9b.tar.xz", tmp_path / "incident").folder
    data = folder / "broker-1" / "data1"

    def open_ends() -> list[str]:
        premises = kcheck.predict(data, kafka="3.9.2").premises
        return [row.sentence for row in premises if row.id == "P306" and row.provide is not None]

    (sentence,) = open_ends()
    assert sentence.startswith(
        "solo-0 ends at 6, but the broker was killed after it had closed the last segment. A newer"
    )
    brokers = [f"{number}={folder}/broker-{number}" for number in (1, 2, 3)]
    answer = kcheck.elect(*brokers, metadata=[folder / "zookeeper"], kafka="3.9.2")
    assert (False, True) == (answer.is_safe, answer.verdict.startswith("Not counted: broker "))
    index = data / "solo-0" / f"{1:020}.timeindex"
    closed = index.read_bytes()
    for other in (closed + bytes(12), closed[:-1], b"", bytes(12)):
        index.write_bytes(other)
        assert open_ends() == []
    index.unlink()
    assert open_ends() == []
    index.write_bytes(closed)
    for path in (data / "orders-0").glob(f"{27:020}.*"):
        path.unlink()
    assert open_ends() == []
    (data / ".kafka_cleanshutdown").touch()
    assert open_ends() == []


def test_a_preferred_replica_without_its_first_segments_is_no_safe_start(tmp_path: Path) -> None:
    """A 2.8.2 with ZooKeeper kept offsets 0-39 of orders-2 until somebody elected broker 2, which lacks them.

    The controller does not by itself: auto.leader.rebalance.enable is off.
    """
    folder = kept.unpacked(kept.PLACE / "2.8.2-zk-remove-files-m1.tar.xz", tmp_path / "incident").folder
    brokers = [f"{number}={folder}/broker-{number}" for number in (1, 2, 3)]
    answer = kcheck.elect(*brokers, metadata=[folder / "zookeeper"], kafka="2.8.2")
    assert answer.start_of_all.scenario.lost.upper_records == 40  # solo-1, by an index without its .log
    assert [("P304", 2, "orders-2")] == [(row.id, row.broker_id, row.partition) for row in answer.uncounted]
    assert (False, True) == (answer.is_safe, answer.verdict.startswith("Not counted: broker "))


def test_a_disk_that_came_back_from_an_old_copy(tmp_path: Path) -> None:
    """Broker 2 of a 3.9.2 with ZooKeeper lost 112 records of three only replicas; no marker has an epoch there."""
    folder = kept.unpacked(kept.PLACE / "3.9.2-zk-old-copy-m2.tar.xz", tmp_path / "incident").folder

    def unseen(number: int) -> list[str]:
        rows = kcheck.predict(folder / f"broker-{number}", metadata=[folder / "zookeeper"], kafka="3.9.2").premises
        return [row.sentence for row in rows if row.id == "P701"]

    (sentence,) = unseen(2)
    assert sentence.startswith("broker 2 led audit-0 in leader epoch 2, which its log does not show, and so in 2 more")
    assert unseen(1) == []
    brokers = [f"{number}={folder}/broker-{number}" for number in (1, 2)]
    answer = kcheck.elect(*brokers, metadata=[folder / "zookeeper"], kafka="3.9.2")
    assert (False, ["P701"]) == (answer.is_safe, [row.id for row in answer.uncounted])
    for path in folder.glob("broker-2/data1/*/leader-epoch-checkpoint"):
        path.unlink()
    (sentence,) = unseen(2)
    assert sentence.startswith("broker 2 registered 2 s after its clean stop in ")
    (folder / "broker-2" / "data1" / ".kafka_cleanshutdown").touch()
    assert unseen(2) == []


def test_a_checkpoint_that_alone_has_more(disk: Path) -> None:
    """After a clean stop the other checkpoint and a snapshot are at the log end: nothing was after it."""
    for name in ("replication-offset-checkpoint", "recovery-point-offset-checkpoint"):
        checkpoint = disk / name
        text = checkpoint.read_text()
        checkpoint.write_text(text.replace("segments 0 129", "segments 0 900"))
        assert told(disk) == {}
        (disk / "segments-0" / f"{129:020}.snapshot").rename(disk / "aside")
        assert "shows records up to offset 899" in told(disk)["P306"]
        (disk / "aside").rename(disk / "segments-0" / f"{129:020}.snapshot")
        checkpoint.write_text(text)


def test_snapshots_of_log_ends_that_a_clean_stop_left(tmp_path: Path) -> None:
    """Without one the log may have been cut: a replica that is as long and has its own shows that it was not."""
    folder = Path(shutil.copytree(BROKER / "4.3.1" / "stopped", tmp_path / "stopped"))
    brokers = [f"{number}={folder}/broker-{number}" for number in (1, 2, 3)]

    def uncounted() -> list[str | None]:
        premises = kcheck.elect(*brokers).premises
        return [row.partition for row in premises if row.id == "P315"]

    def safe() -> bool:
        return kcheck.elect(*brokers).is_safe

    assert ([], True) == (uncounted(), safe())
    for path in folder.glob(f"broker-2/data1/segments-0/{129:020}.snapshot"):
        path.unlink()
    assert (["segments-0"], True) == (uncounted(), safe())
    for path in folder.glob(f"broker-1/data*/segments-0/{129:020}.snapshot"):
        path.unlink()
    assert (["segments-0"] * 2, False) == (uncounted(), safe())


def test_an_emptied_last_segment(disk: Path) -> None:
    """A broker of 4.0.2 that was killed led without the 30 records of one: the high watermark was older."""
    base = max(int(path.stem) for path in (disk / "segments-0").glob("*.log"))
    for path in (disk / "segments-0").glob(f"{base:020}.*"):
        path.write_bytes(b"") if path.suffix == ".log" else path.unlink()
    checkpoint = disk / "replication-offset-checkpoint"
    checkpoint.write_text(re.sub(r"segments 0 \d+", f"segments 0 {base}", checkpoint.read_text()))
    assert told(disk) != {}  # a recovery point shows it after a clean stop
    kill(disk)
    rows = [row for row in kcheck.predict(disk).premises if row.id == "P306"]
    sentence = (
        f"segments-0 ends at {base} with an empty segment. A broker mostly begins one for a batch, so records may be"
        " missing"
    )
    assert [("not-seen", sentence)] == [(row.status, row.sentence) for row in rows]
    (disk / "segments-0" / f"{base:020}.log").unlink()
    assert [row for row in kcheck.predict(disk).premises if row.id == "P306" and row.status == "not-seen"] == []


def test_an_emptied_log_without_any_other_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each load leaves a leader-epoch-checkpoint, and a leader writes its epoch: without one, files were removed."""
    kept.unpacked(kept.PLACE / "4.3.1-kraft-nothing-k0.tar.xz", tmp_path)
    monkeypatch.chdir(tmp_path)  # From there log.dirs is relative.
    log_dir = next(tmp_path.glob("broker-2/data*/solo-1")).parent
    for path in (log_dir / "solo-1").iterdir():
        if path.suffix != ".metadata":
            path.unlink()
    (log_dir / "solo-1" / f"{0:020}.log").touch()
    for name in ("recovery-point-offset-checkpoint", "replication-offset-checkpoint"):
        rows = (log_dir / name).read_text().splitlines()[2:]
        rows = [row for row in rows if not row.startswith("solo ")]
        (log_dir / name).write_text("\n".join(["0", str(len(rows)), *rows, ""]))
    log_dirs = sorted(tmp_path.glob("broker-2/data*"))
    premises = kcheck.predict(*log_dirs, metadata=[tmp_path / "controller" / "data1"], kafka="4.3").premises
    sentence = "broker 2 led solo-1 in leader epoch 2, which its log does not show: the disk may be an older copy"
    assert [("P701", sentence)] == [(row.id, row.sentence) for row in premises if row.status != "proven"]
