"""What `kcheck truncation` plans from log dirs, partition directories and bare files."""

import gzip
import shutil
from pathlib import Path

import pytest

from kcheck.errors import UsageError
from kcheck.model.release import Release
from kcheck.replicas.loading import ReplicaFiles, started
from kcheck.replicas.replica import ReplicaState
from kcheck.verbs.batch_reads import ReadBudget
from tests.builders import (
    Made,
    broker,
    epochs,
    flip_byte,
    log,
    log_dir,
    message,
    meta_properties,
    partition_dir,
    partition_metadata,
    run,
    write,
)
from tests.cli.command import kcheck
from tests.reports import follower_of, ids, partition_of, planned

pytestmark = pytest.mark.usefixtures("in_folder")


def test_a_log_that_ends_inside_of_a_batch_of_the_leader_stays_as_it_is() -> None:
    """The leader sends the whole batch: what the follower has already is not appended again."""
    broker(Path("d1"), run(0, 99), broker_id=1)
    broker(Path("d2"), run(0, 99), broker_id=2, epoch_entries=(), high_watermark=55)
    follower = follower_of("d1", "d2", leader="1")
    told = ("truncate_to", "status", "diverges_silently_at", "refetch")
    assert (55, "fetch_fails", None, None) == tuple(follower[key] for key in told)
    said = kcheck("truncation", "d1", "d2", "--leader", "1").out
    assert "cannot append the leader's records from offset 55 on" in " ".join(said.split())


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


def test_old_messages_that_differ_are_told() -> None:
    """By their CRCs: broker 2 has other messages from 60 on."""
    for broker_id, value in (("1", b"one"), ("2", b"two")):
        log_dir(Path(f"d{broker_id}"), broker_id=int(broker_id), high_watermark={"t-0": 70})
        Path(f"d{broker_id}/meta.properties").write_text(f"version=0\nbroker.id={broker_id}\n", "utf-8")
        messages = [message(offset, b"both" if offset < 60 else value) for offset in range(100)]
        partition_dir(Path(f"d{broker_id}/t-0"), [messages], epoch_entries=None)
    follower = follower_of("1=d1", "2=d2", leader="1", kafka="0.10.2")
    assert (70, 60) == (follower["truncate_to"], follower["diverges_silently_at"])
    assert (70, 100, True) == tuple(follower["lost"][key] for key in ("from", "to", "certain"))


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


def test_an_id_that_contradicts_the_file(diverged: list[str]) -> None:
    """The broker does not start; of one that runs it is a usage error."""
    del diverged
    why = "meta.properties says broker 1, but the log dir is given for broker 7"
    said = " ".join(kcheck("truncation", "7=d1", "2=d2").out.split())
    assert f"broker 7 skipped: its broker does not start: {why}" in said
    done = kcheck("truncation", "7=d1", "2=d2", "--live")
    assert (2, "kcheck: 7=d1: d1/meta.properties says broker 1\n") == (done.code, done.err)


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


def test_the_best_leader_has_the_most_followers(diverged: list[str]) -> None:
    """With the one of another topic nothing would be lost, because nobody would follow it."""
    broker(Path("d3"), run(0, 199), broker_id=3)
    write(Path("d3/t-0"), OTHER_ID)
    (partition,) = planned(*diverged, "3=d3", leader="best")["partitions"]
    assert (1, ["ok", "unknown"]) == (partition["leader"], [each["status"] for each in partition["followers"]])
    said = " ".join(kcheck("truncation", *diverged, "3=d3").out.split())
    assert "t-0 under leader 3: broker 1 skipped: not a replica of this topic" in said


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
    assert (18, 30, 12) == tuple(follower["lost"][key] for key in ("from", "to", "records"))
    assert 15 == follower["diverges_silently_at"]
    assert {"segment", "position", "base_offset", "end_after_restart"} == follower["cut"].keys()


def test_a_wrapper_that_the_leader_sends_again_leaves_no_hole() -> None:
    broker(Path("d1"), [wrapper(10, 14), wrapper(15, 19)], broker_id=1, epoch_entries=())
    broker(Path("d2"), [wrapper(10, 14), wrapper(15, 19)], broker_id=2, epoch_entries=(), high_watermark=18)
    (follower,) = planned("1=d1", "2=d2", leader="1", live=True, kafka="0.10.2")["partitions"][0]["followers"]
    assert (18, 15, None) == (follower["truncate_to"], follower["cut"]["base_offset"], follower["diverges_silently_at"])
    assert {"from": 18, "to": 20, "records": 2} == {key: follower["refetch"][key] for key in ("from", "to", "records")}


def test_the_batches_of_a_broker_are_read_up_to_one_bound(diverged: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """As in preflight, predict and elect: not up to one of each replica."""
    of_broker: dict[int | None, set[int]] = {}

    def spied(files: ReplicaFiles, release: Release, budget: ReadBudget) -> ReplicaState:
        of_broker.setdefault(files.view.where.broker_id, set()).add(id(budget))
        return started(files, release, budget)

    monkeypatch.setattr("kcheck.replicas.truncation.started", spied)
    for directory in [*Path().glob("d[12]/*-0")]:
        shutil.copytree(directory, directory.with_name("copied-0"))
    assert len(planned(*diverged, leader="1")["partitions"]) > 1
    assert [1, 1] == [len(budgets) for budgets in of_broker.values()]
