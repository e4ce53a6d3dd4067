"""What `kcheck truncation` plans from log dirs, partition directories and bare files."""

import gzip
from pathlib import Path

import pytest

from kcheck.errors import UsageError
from kcheck.model.names import LOG_START
from tests.builders import (
    Made,
    broker,
    epochs,
    flip_byte,
    log,
    log_dir,
    message,
    meta_properties,
    offsets,
    partition_dir,
    partition_metadata,
    run,
    write,
)
from tests.cli.command import kcheck
from tests.reports import follower_of, ids, partition_of, planned

pytestmark = pytest.mark.usefixtures("in_folder")

FOLLOWER_FIELDS = {
    "broker_id", "log_end_offset_before", "high_watermark", "steps", "truncate_to", "log_end_offset_after", "lost",
    "refetch", "leader_epochs_after", "diverges_silently_at",
}  # fmt: skip


def test_a_plan_in_full(diverged: list[str]) -> None:
    """The dialogue, what is cut, what is lost and what comes back."""
    found = planned(*diverged, leader="1")
    assert ("P5", 1, False) == (found["profile"], found["leader"], found["live"])
    (partition,) = found["partitions"]
    head = ("topic", "partition", "leader", "leader_epoch", "leader_log_end_offset")
    assert ("t", 0, 1, 3, 90) == tuple(partition[key] for key in head)
    (follower,) = partition["followers"]
    assert set(follower) >= FOLLOWER_FIELDS
    assert (2, 100, 70, 60, 60) == tuple(
        follower[key]
        for key in ("broker_id", "log_end_offset_before", "high_watermark", "truncate_to", "log_end_offset_after")
    )
    lost = {"from": 60, "to": 100, "records": 40, "bytes": 400, "below_high_watermark": 10}
    assert lost == {key: follower["lost"][key] for key in lost}
    refetch = {"from": 60, "to": 90, "records": 30, "bytes": 300}
    assert refetch == {key: follower["refetch"][key] for key in refetch}
    assert [{"epoch": 0, "start_offset": 0}] == follower["leader_epochs_after"]
    assert follower["diverges_silently_at"] is None
    assert follower["steps"][0]["request"] == {"api": "Fetch", "fetch_offset": 100, "last_fetched_epoch": 1}
    assert follower["steps"][0]["response"]["diverging_epoch"] == {"epoch": 0, "end_offset": 60}


def test_a_follower_that_is_behind_cuts_nothing() -> None:
    broker(Path("d1"), run(0, 99), broker_id=1)
    broker(Path("d2"), run(0, 49), broker_id=2)
    follower = follower_of("d1", "d2", leader="1")
    assert (None, None, 50) == (follower["truncate_to"], follower["lost"], follower["log_end_offset_after"])
    assert {"from": 50, "to": 100, "records": 50, "bytes": 500} == follower["refetch"]


def test_equal_followers_do_nothing() -> None:
    broker(Path("d1"), run(0, 99), broker_id=1)
    broker(Path("d2"), run(0, 99), broker_id=2)
    follower = follower_of("d1", "d2", leader="1")
    assert (None, None, None) == (follower["truncate_to"], follower["lost"], follower["refetch"])


def test_an_offset_inside_of_a_batch_cuts_the_whole_batch() -> None:
    """The log end is the offset that was asked for; a restart would find the batch's base offset."""
    broker(Path("d1"), [*run(0, 49), *run(50, 54, epoch=2)], broker_id=1, epoch_entries=[(0, 0), (2, 55)])
    broker(Path("d2"), [*run(0, 99)], broker_id=2)
    follower = follower_of("d1", "d2", leader="1")
    assert 55 == follower["truncate_to"]
    assert {"segment": 0, "position": 500, "base_offset": 50, "end_after_restart": 50} == follower["cut"]


def test_a_log_that_ends_inside_of_a_batch_of_the_leader_stays_as_it_is() -> None:
    """The leader sends the whole batch: what the follower has already is not appended again."""
    broker(Path("d1"), run(0, 99), broker_id=1)
    broker(Path("d2"), run(0, 99), broker_id=2, epoch_entries=(), high_watermark=55)
    follower = follower_of("d1", "d2", leader="1")
    told = ("truncate_to", "status", "diverges_silently_at", "refetch")
    assert (55, "fetch_fails", None, None) == tuple(follower[key] for key in told)
    said = kcheck("truncation", "d1", "d2", "--leader", "1").out
    assert "cannot append the leader's records from offset 55 on" in " ".join(said.split())


@pytest.mark.parametrize(("kafka", "status"), [("4.3", "never_completes"), ("2.7", "ok")])
def test_a_leader_that_does_not_know_its_own_epochs(kafka: str, status: str) -> None:
    """It tells who fetched its last records that they are of another log."""
    broker(Path("forgetful"), [*run(0, 49), *run(50, 99, epoch=2)], broker_id=1, epoch_entries=[(0, 0)])
    broker(Path("d2"), run(0, 49), broker_id=2)
    assert status == follower_of("forgetful", "d2", leader="1", kafka=kafka)["status"]


def test_records_below_the_own_log_start_are_not_lost(diverged: list[str]) -> None:
    """DeleteRecords has deleted them."""
    write(Path("d2"), {LOG_START: offsets({"t-0": 65})})
    follower = follower_of(*diverged, leader="1")
    assert (60, {"from": 65, "to": 100, "records": 35, "below_high_watermark": 5}) == (
        follower["truncate_to"],
        {key: follower["lost"][key] for key in ("from", "to", "records", "below_high_watermark")},
    )


def test_without_a_leader_every_candidate_leads_once(diverged: list[str]) -> None:
    partitions = planned(*diverged)["partitions"]
    assert [1, 2] == [partition["leader"] for partition in partitions]
    assert [[2], [1]] == [[follower["broker_id"] for follower in row["followers"]] for row in partitions]


def test_the_best_leader_loses_least_below_a_high_watermark(diverged: list[str]) -> None:
    """Broker 2 would lose 10 committed records under broker 1, broker 1 all of its 30 under broker 2."""
    partition = partition_of(*diverged, leader="best")
    assert 1 == partition["leader"]
    broker(Path("d3"), run(0, 59), broker_id=3)
    assert 1 == partition_of(*diverged, "d3", leader="best")["leader"]


def test_of_equal_losses_the_longest_log_is_best() -> None:
    broker(Path("d1"), run(0, 49), broker_id=1)
    broker(Path("d2"), run(0, 99), broker_id=2, high_watermark=50)
    broker(Path("d3"), run(0, 99), broker_id=3, high_watermark=50)
    assert 2 == partition_of("d1", "d2", "d3", leader="best")["leader"]


def test_an_unknown_leader_names_the_known(diverged: list[str]) -> None:
    with pytest.raises(UsageError, match=r"--leader 7: no such replica; use one of 1, 2"):
        planned(*diverged, leader="7")


def test_a_filter_without_a_match_is_refused_before_the_leader(diverged: list[str]) -> None:
    done = kcheck("truncation", *diverged, "--leader", "7", "--topic", "other")
    assert (2, "kcheck: --topic other: no partition matches\n") == (done.code, done.err)


def test_a_partition_that_the_leader_does_not_have_is_told(diverged: list[str]) -> None:
    """Nobody is truncated by it."""
    partition_dir(Path("d2/u-0"), [run(0, 9)], epoch_entries=[(4, 0)])
    (row,) = (row for row in planned(*diverged, leader="1")["partitions"] if row["topic"] == "u")
    assert (1, 5, None, "broker 1 has no replica of this partition") == (
        row["leader"], row["leader_epoch"], row["leader_log_end_offset"], row["problem"],
    )  # fmt: skip
    assert [(2, "unknown", None)] == [(f["broker_id"], f["status"], f["truncate_to"]) for f in row["followers"]]


def test_a_log_dir_under_two_names_is_one_replica(diverged: list[str]) -> None:
    Path("link").symlink_to("d2")
    assert planned(*diverged, "2=./d2", "2=link", "2=d2/", leader="1") == planned(*diverged, leader="1")


def test_the_epoch_is_one_above_every_epoch_seen(diverged: list[str]) -> None:
    """In files and in batches; `--leader-epoch` says another."""
    assert 3 == partition_of(*diverged, leader="2")["leader_epoch"]
    assert 9 == partition_of(*diverged, leader="2", leader_epoch=9)["leader_epoch"]


def test_a_replica_stands_as_its_start_leaves_it(diverged: list[str]) -> None:
    """`--live` skips the start."""
    Path("d2/.kafka_cleanshutdown").unlink()
    write(Path("d2"), {"recovery-point-offset-checkpoint": b"0\n1\nt 0 0\n"})
    flip_byte(Path("d2/t-0/00000000000000000000.log"), 480)
    started, running = (follower_of(*diverged, leader="1", live=live) for live in (False, True))
    assert (40, None) == (started["log_end_offset_before"], started["truncate_to"])
    assert (100, 60) == (running["log_end_offset_before"], running["truncate_to"])


def test_what_a_start_takes_is_told_apart(diverged: list[str]) -> None:
    """The follower has a batch whose CRC does not match, and was not stopped in order."""
    Path("d2/.kafka_cleanshutdown").unlink()
    flip_byte(Path("d2/t-0/00000000000000000000.log"), 880)
    partition = partition_of(*diverged, leader="1")
    lost = {
        "broker_id": 2, "from": 80, "to": 100, "records": 20, "bytes": 200, "below_high_watermark": 0, "at_least": 20,
    }  # fmt: skip
    assert [lost] == partition["lost_at_start"]
    assert 80 == partition["followers"][0]["log_end_offset_before"]
    words = "startup of broker 2: LOST 20 records (offsets 80-99), 200 B, 0 of them below the high watermark"
    for chosen in (("--leader", "1"), ()):
        assert words in kcheck("truncation", *diverged, *chosen, columns=120).out


@pytest.mark.parametrize("kafka", ["0.11.0", "1.1", "2.0.0", "2.4", "2.8", "3.9", "4.3"])
def test_every_release_has_a_plan(diverged: list[str], kafka: str) -> None:
    """By the epochs."""
    assert 60 == follower_of(*diverged, leader="1", kafka=kafka)["truncate_to"]


def test_before_0_11_the_high_watermark_decides() -> None:
    for broker_id, count in (("1", 90), ("2", 100)):
        log_dir(Path(f"d{broker_id}"), broker_id=int(broker_id), high_watermark={"t-0": 70})
        partition_dir(Path(f"d{broker_id}/t-0"), [[message(offset) for offset in range(count)]], epoch_entries=None)
    assert 70 == follower_of("1=d1", "2=d2", leader="1", kafka="0.10.2")["truncate_to"]


def test_old_messages_that_differ_are_told() -> None:
    """By their CRCs: broker 2 has other messages from 60 on."""
    for broker_id, value in (("1", b"one"), ("2", b"two")):
        log_dir(Path(f"d{broker_id}"), broker_id=int(broker_id), high_watermark={"t-0": 70})
        messages = [message(offset, b"both" if offset < 60 else value) for offset in range(100)]
        partition_dir(Path(f"d{broker_id}/t-0"), [messages], epoch_entries=None)
    follower = follower_of("1=d1", "2=d2", leader="1", kafka="0.10.2")
    assert (70, 60) == (follower["truncate_to"], follower["diverges_silently_at"])
    assert (70, 100, True) == tuple(follower["lost"][key] for key in ("from", "to", "certain"))


def test_what_diverges_silently_is_told(diverged: list[str]) -> None:
    """Without epochs a follower keeps what lies below its high watermark, whoever wrote it."""
    Path("d2/t-0/leader-epoch-checkpoint").unlink()
    follower = follower_of(*diverged, leader="1", kafka="2.4")
    assert (70, 60) == (follower["truncate_to"], follower["diverges_silently_at"])


def test_what_lies_below_the_leaders_start_is_dropped() -> None:
    """The follower starts anew; nothing of it is lost that the leader would have."""
    broker(Path("d2"), run(0, 49), broker_id=2)
    log_dir(Path("d1"), broker_id=1, recovery_point={"t-0": 200}, high_watermark={"t-0": 200}, log_start={"t-0": 100})
    partition_dir(Path("d1/t-0"), [run(100, 199)], epoch_entries=[(0, 100)])
    follower = follower_of("d1", "d2", leader="1")
    assert (100, {"from": 0, "to": 50}, None) == (follower["truncate_to"], follower["expired"], follower["lost"])
    assert {"from": 100, "to": 200, "records": 100, "bytes": 1000} == follower["refetch"]


def test_a_replica_that_cannot_take_part_says_why(diverged: list[str]) -> None:
    """Its row is there, and no value in it is guessed."""
    write(Path("d2/t-0"), {"leader-epoch-checkpoint": b"0\n1\n0 0\n1 60\n"})
    follower = follower_of(*diverged, leader="1")
    assert ("unknown", None, None, None) == tuple(
        follower[key] for key in ("status", "truncate_to", "log_end_offset_after", "lost")
    )
    assert "cannot read leader-epoch-checkpoint" in follower["problem"]


def test_a_leader_that_cannot_lead_says_why(diverged: list[str]) -> None:
    write(Path("d1/t-0"), {"leader-epoch-checkpoint": b"0\n1\n0 0\n1 60\n"})
    partition = partition_of(*diverged, leader="1")
    assert "cannot read leader-epoch-checkpoint" in partition["problem"]
    (follower,) = partition["followers"]
    assert "the leader cannot lead" in follower["problem"]


def test_topics_and_partitions_choose(diverged: list[str]) -> None:
    for name in ("d1", "d2"):
        partition_dir(Path(name) / "u-3", [run(0, 9)])
    assert [("t", 0), ("u", 3)] == [
        (row["topic"], row["partition"]) for row in planned(*diverged, leader="1")["partitions"]
    ]


def test_only_current_directories_are_replicas(diverged: list[str]) -> None:
    """What is being deleted, moved or astray belongs to no election, and the metadata log to the controllers."""
    for name in ("t-0.0123456789abcdef0123456789abcdef-delete", "u-0.0123456789abcdef0123456789abcdef-future"):
        partition_dir(Path("d1") / name, [run(0, 9)])
    partition_dir(Path("d1/__cluster_metadata-0"), [run(0, 9)])
    assert [("t", 0)] == [(row["topic"], row["partition"]) for row in planned(*diverged, leader="1")["partitions"]]


def test_equal_ids_are_a_usage_error() -> None:
    """Two log dirs of one broker cannot both have a partition."""
    broker(Path("d1"), run(0, 9), broker_id=1)
    broker(Path("d2"), run(0, 9), broker_id=1)
    with pytest.raises(UsageError, match=r"two replicas of t-0 with broker id 1: .*d1.* and .*d2"):
        planned("d1", "d2")


def test_equal_ids_of_bare_files_are_a_usage_error() -> None:
    write(Path(), {"a": epochs((0, 0)), "b": epochs((0, 0))})
    with pytest.raises(UsageError, match=r"two replicas with broker id 1: a and b"):
        planned("1=a,leo=5", "1=b,leo=5")


def test_an_id_that_contradicts_the_file_is_a_usage_error(diverged: list[str]) -> None:
    del diverged
    with pytest.raises(UsageError, match=r"^7=d1: d1/meta.properties says broker 1$"):
        planned("7=d1", "2=d2")


def test_two_clusters_are_a_usage_error(diverged: list[str]) -> None:
    """Both files are named, and what they say."""
    write(Path("d2"), {"meta.properties": meta_properties(2, cluster_id="another")})
    with pytest.raises(UsageError) as caught:
        planned(*diverged)
    for part in ("d1/meta.properties", "d2/meta.properties", "another", "c1uster-AAAAAAAAAAAAAA"):
        assert part in str(caught.value)


def test_findings_that_can_spoil_a_plan_stand_beside_it(diverged: list[str]) -> None:
    """Not those that the broker does not even notice."""
    write(Path("d2/t-0"), {"leader-epoch-checkpoint": epochs((0, 0), (5, 60), (4, 70)), "partition.metadata": b"x"})
    found = planned(*diverged, leader="1")
    assert "KC201" in ids(found)
    assert all(row["severity"] != "info" for row in found["findings"])


def test_a_segment_that_cannot_be_read_spoils_one_follower(diverged: list[str]) -> None:
    """The others have their plans."""
    broker(Path("d3"), run(0, 59), broker_id=3)
    path = Path("d2/t-0/00000000000000000000.log")
    path.rename("elsewhere.log")
    path.symlink_to("../../elsewhere.log")
    found = planned(*diverged, "3=d3", leader="1")
    (partition,) = found["partitions"]
    two, three = partition["followers"]
    assert ("unknown", "ok") == (two["status"], three["status"])
    assert two["problem"]
    assert "KC001" in ids(found)


OTHER_ID = {"partition.metadata": partition_metadata("BBBBBBBBBBBBBBBBBBBBBA")}


@pytest.mark.parametrize(("kafka", "to"), [("4.3", None), ("3.0", None), ("2.8", 60), ("2.7", 60)])
def test_a_replica_of_another_topic_id_is_none(diverged: list[str], kafka: str, to: int | None) -> None:
    """2.8 does not compare the ids of the logs that it finds at its start."""
    write(Path("d2/t-0"), OTHER_ID)
    follower = follower_of(*diverged, leader="1", kafka=kafka)
    assert (to, "ok" if to else "unknown") == (follower["truncate_to"], follower["status"])
    assert (to is None) == ("BBBBBBBBBBBBBBBBBBBBBA differs from the leader's" in str(follower["problem"]))


def test_a_replica_without_a_topic_id_may_be_of_any(diverged: list[str]) -> None:
    Path("d2/t-0/partition.metadata").unlink()
    assert 60 == follower_of(*diverged, leader="1")["truncate_to"]


def test_the_best_leader_has_the_most_followers(diverged: list[str]) -> None:
    """With the one of another topic nothing would be lost, because nobody would follow it."""
    broker(Path("d3"), run(0, 199), broker_id=3)
    write(Path("d3/t-0"), OTHER_ID)
    (partition,) = planned(*diverged, "3=d3", leader="best")["partitions"]
    assert (1, ["ok", "unknown"]) == (partition["leader"], [each["status"] for each in partition["followers"]])
    said = " ".join(kcheck("truncation", *diverged, "3=d3").out.split())
    assert "t-0 under leader 3: broker 1 skipped: not a replica of this topic" in said


def test_where_no_replica_is_any_leader_is_told_as_it_was_said(tmp_path: Path) -> None:
    empty, other = log_dir(tmp_path / "data"), log_dir(tmp_path / "other", broker_id=2)
    for said, leader in (("7", 7), ("best", "best"), ("²", "²"), ("9" * 5000, "9" * 5000)):
        assert leader == planned(str(empty), str(other), leader=said)["leader"]


def wrapper(first: int, last: int) -> Made:
    """Return messages of magic 1 in a compressed wrapper, whose inner offsets are relative."""
    inner = gzip.compress(log([message(at) for at in range(last - first + 1)]))
    return message(last, inner, codec=1)


def test_a_cut_inside_of_a_wrapper_counts_its_messages() -> None:
    """A broker removes the wrapper as a whole; what the leader has of it below the cut is not fetched again."""
    broker(Path("d1"), [wrapper(10, 14), message(15), message(16), message(17)], broker_id=1, epoch_entries=())
    followed = [wrapper(10, 14), wrapper(15, 19), wrapper(20, 29)]
    broker(Path("d2"), followed, broker_id=2, epoch_entries=(), high_watermark=18)
    (follower,) = planned("1=d1", "2=d2", leader="1", live=True, kafka="0.10.2")["partitions"][0]["followers"]
    assert (18, 15) == (follower["truncate_to"], follower["cut"]["base_offset"])
    assert (15, 30, 15) == tuple(follower["lost"][key] for key in ("from", "to", "records"))
    assert 15 == follower["diverges_silently_at"]
    assert {"segment", "position", "base_offset", "end_after_restart"} == follower["cut"].keys()


def test_a_wrapper_that_the_leader_sends_again_leaves_no_hole() -> None:
    broker(Path("d1"), [wrapper(10, 14), wrapper(15, 19)], broker_id=1, epoch_entries=())
    broker(Path("d2"), [wrapper(10, 14), wrapper(15, 19)], broker_id=2, epoch_entries=(), high_watermark=18)
    (follower,) = planned("1=d1", "2=d2", leader="1", live=True, kafka="0.10.2")["partitions"][0]["followers"]
    assert (18, 15, None) == (follower["truncate_to"], follower["cut"]["base_offset"], follower["diverges_silently_at"])
    assert {"from": 18, "to": 20, "records": 2} == {key: follower["refetch"][key] for key in ("from", "to", "records")}


def test_a_damaged_wrapper_hides_its_count() -> None:
    broken = message(19, b"no gzip", codec=1)
    broker(Path("d1"), [wrapper(10, 14)], broker_id=1, epoch_entries=())
    broker(Path("d2"), [wrapper(10, 14), broken], broker_id=2, epoch_entries=(), high_watermark=15)
    (follower,) = planned("1=d1", "2=d2", leader="1", live=True, kafka="0.10.2")["partitions"][0]["followers"]
    assert (19, None) == (follower["cut"]["base_offset"], follower["lost"]["records"])
