"""What `kcheck predict` says of the log of KRaft: facts that tests/oracle/starts/test_predict_metadata.py holds too."""

from pathlib import Path

from tests.builders import log_dir, partition_dir, run, write
from tests.verbs.test_predict import metadata_log, one, said, wish


def test_the_log_of_kraft_gives_way_to_a_snapshot_beyond_it(tmp_path: Path) -> None:
    """It is read from its begin, clean or not; parts of snapshots are removed."""
    part = f"{5:020d}-{0:010d}-4711.checkpoint.part"
    metadata_log(tmp_path / "d", f"{50:020d}-{3:010d}.checkpoint", part)
    row, partition = one(tmp_path / "d")
    assert (row["outcome"], partition["outcome"], partition["lost"]) == ("ok", "repaired", None)
    assert (partition["log_start_offset"], partition["log_end_offset"]) == (50, 50)
    assert partition["scan_bytes"] > 0
    assert part in partition["files"]["removed"]


def test_the_log_of_kraft_needs_to_know_its_election(tmp_path: Path) -> None:
    """Zeros are what a power failure leaves; up to 3.7 the file is removed."""
    write(metadata_log(tmp_path / "d"), {"quorum-state": bytes(120)})
    row, _ = one(tmp_path / "d")
    assert (row["outcome"], "quorum-state cannot be read" in row["reason"]) == ("abort", True)
    row, partition = one(tmp_path / "d", asked=wish("3.7", mode="kraft"))
    assert (row["outcome"], partition["outcome"]) == ("ok", "repaired")
    assert "the broker removes quorum-state and forgets the last election" in partition["reason"]
    assert partition["files"]["unknown"] == ["quorum-state"]


def test_names_of_snapshots_are_read_where_they_should_be(tmp_path: Path) -> None:
    """The start looks for numbers at fixed places, and then for a file of the proper name: up to 3.7 to rename it."""
    metadata_log(tmp_path / "d", "bootstrap.checkpoint")
    assert "bootstrap.checkpoint has no offset and epoch" in one(tmp_path / "d")[0]["reason"]
    copy, beyond = f"{5:020d}-{0:010d} (1).checkpoint", f"{50:020d}-{3:010d}.checkpoint"
    old = wish("3.7", mode="kraft")
    metadata_log(tmp_path / "e", copy)
    assert f"the broker looks for {copy} under the name" in one(tmp_path / "e", asked=wish("4.2"))[0]["reason"]
    assert ["ok", "ok"] == [one(tmp_path / "e", asked=asked)[0]["outcome"] for asked in (old, wish("4.3"))]
    metadata_log(tmp_path / "f", copy, beyond)
    assert f"the broker looks for {copy} under the name" in one(tmp_path / "f", asked=old)[0]["reason"]


def test_the_newest_snapshot_is_read_first(tmp_path: Path) -> None:
    """From 3.8 on; only what is no batch or has another CRC ends every start."""
    older, newest = (f"{offset:020d}-{0:010d}.checkpoint" for offset in (5, 7))
    path = tmp_path / "d"
    batch = run(0, 3)[0].data
    for data, outcome in ((b"x" * 40, "abort"), (batch[:-1] + b"y", "abort"), (batch, "ok"), (batch[:-1], "ok")):
        write(metadata_log(path), {older: bytes(60), newest: data})
        assert one(path)[0]["outcome"] == outcome
        assert one(path, asked=wish("3.7", mode="kraft"))[0]["outcome"] == "ok"


def test_a_bootstrap_beside_the_log_of_kraft(tmp_path: Path) -> None:
    """A log dir without that log is another one than metadata.log.dir, or was never started."""
    write(metadata_log(tmp_path / "d").parent, {"bootstrap.checkpoint": b""})
    assert one(tmp_path / "d")[0]["reason"] == "bootstrap.checkpoint cannot be read: no metadata.version record"
    write(log_dir(tmp_path / "e"), {"bootstrap.checkpoint": b""})
    assert said(tmp_path / "e")[0]["outcome"] == "ok"


def test_partitions_that_were_copied_without_their_log_dir(tmp_path: Path) -> None:
    partition_dir(tmp_path / "d" / "t-0", [run(0, 9)])
    row = one(tmp_path / "d")[0]
    assert (row["outcome"], "meta.properties is missing" in row["uncertain"]) == ("ok", True)
