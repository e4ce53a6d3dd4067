"""What `kcheck predict` says of the log of KRaft: facts that tests/oracle/test_predict_metadata.py holds too."""

from pathlib import Path

from tests.builders import partition_metadata, write
from tests.scan.test_predict import metadata_log, one, wish


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
    assert "quorum-state is removed, and what it said of the last election forgotten" in partition["reason"]
    assert partition["files"]["unknown"] == ["quorum-state"]


def test_the_log_of_kraft_has_the_topic_id_of_every_cluster(tmp_path: Path) -> None:
    write(metadata_log(tmp_path / "d"), {"partition.metadata": partition_metadata()})
    row, _ = one(tmp_path / "d")
    assert (row["outcome"], "InconsistentTopicIdException" in row["reason"]) == ("abort", True)
    write(metadata_log(tmp_path / "e"), {"partition.metadata": b"x"})
    row, _ = one(tmp_path / "e")
    assert (row["outcome"], "partition.metadata cannot be read" in row["reason"]) == ("abort", True)


def test_names_of_snapshots_are_read_where_they_should_be(tmp_path: Path) -> None:
    """The start looks for numbers at fixed places, and for a file that is to be renamed under its proper name."""
    metadata_log(tmp_path / "d", "bootstrap.checkpoint")
    assert one(tmp_path / "d")[0]["reason"].endswith(
        "bootstrap.checkpoint has no offset and epoch where a snapshot has them"
    )
    copy, beyond = f"{5:020d}-{0:010d} (1).checkpoint", f"{50:020d}-{3:010d}.checkpoint"
    metadata_log(tmp_path / "e", copy)
    assert one(tmp_path / "e")[0]["outcome"] == "ok"
    write(metadata_log(tmp_path / "f", copy), {beyond: b"x"})
    assert f"{copy} is to be renamed" in one(tmp_path / "f")[0]["reason"]


def test_the_log_of_kraft_needs_a_snapshot_below_its_start(tmp_path: Path) -> None:
    metadata_log(tmp_path / "d", f"{5:020d}-{0:010d}.checkpoint", base=20)
    row, _ = one(tmp_path / "d")
    assert row["reason"].endswith("no snapshot covers the offsets below 20")
    metadata_log(tmp_path / "e", f"{25:020d}-{0:010d}.checkpoint", base=20)
    assert one(tmp_path / "e")[1]["log_end_offset"] == 30
