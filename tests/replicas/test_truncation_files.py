"""Replicas of `kcheck truncation` that are no log dirs: bare files from a ticket, copies of partition directories."""

from pathlib import Path

import pytest

from kcheck.errors import UsageError
from tests.builders import epochs, partition_dir, run, write
from tests.reports import follower_of, partition_of, planned

pytestmark = pytest.mark.usefixtures("in_folder")


def test_bare_files_are_replicas() -> None:
    """As somebody pasted them in a ticket: `leo` must be said, `hw` and `start` may be."""
    write(Path(), {"a.checkpoint": epochs((0, 0), (2, 60)), "b": epochs((0, 0), (1, 60))})
    partition = partition_of("1=a.checkpoint,leo=90,hw=80", "2=b,leo=100,hw=70,start=10", leader="1")
    assert (None, None, 1, 90) == tuple(
        partition[key] for key in ("topic", "partition", "leader", "leader_log_end_offset")
    )
    (follower,) = partition["followers"]
    assert (60, 100, 70) == (follower["truncate_to"], follower["log_end_offset_before"], follower["high_watermark"])
    lost = {"from": 60, "to": 100, "records": None, "bytes": None, "below_high_watermark": 10}
    assert lost == {key: follower["lost"][key] for key in lost}
    assert {"from": 60, "to": 90, "records": None, "bytes": None} == follower["refetch"]


def test_an_unknown_high_watermark_is_said() -> None:
    """Where the plan depends on it there is none; where it does not, only what lies below it is unknown."""
    write(Path(), {"a": epochs((0, 0), (2, 60)), "b": epochs((0, 0), (1, 60))})
    follower = follower_of("1=a,leo=90", "2=b,leo=100", leader="1")
    assert (60, None) == (follower["truncate_to"], follower["high_watermark"])
    assert follower["lost"]["below_high_watermark"] is None
    old = follower_of("1=a,leo=90", "2=b,leo=100", leader="1", kafka="0.10.2")
    assert (None, "unknown") == (old["truncate_to"], old["status"])
    assert "high watermark" in old["problem"]


@pytest.mark.parametrize("said", ["leo=x", "leo=-1", "hw=", "start=1.5", "leo=9223372036854775808"])
def test_what_is_no_offset_is_a_usage_error(said: str) -> None:
    write(Path(), {"a": epochs((0, 0))})
    with pytest.raises(UsageError, match="is not an offset"):
        planned(f"1=a,{said}")


def test_a_bare_file_without_a_log_end_is_a_usage_error() -> None:
    write(Path(), {"a": epochs((0, 0))})
    with pytest.raises(UsageError, match=r"a,leo=N"):
        planned("1=a,hw=5")


def test_a_bare_file_that_is_not_there_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match=r"^gone: no such file or directory$"):
        planned("1=gone,leo=5")


def test_a_name_with_a_comma_is_a_name() -> None:
    """Only where there is no such file."""
    write(Path(), {"a,leo=5": epochs((0, 0)), "b": epochs((0, 0))})
    partition = partition_of("1=a,leo=5,leo=9", "2=b,leo=9", leader="1")
    assert 9 == partition["leader_log_end_offset"]


def test_whose_replica_it_is_must_be_known() -> None:
    write(Path(), {"a": epochs((0, 0))})
    with pytest.raises(UsageError, match=r"a: no broker id; write BROKER=a"):
        planned("a,leo=5")
    partition_dir(Path("t-0"), [run(0, 9)])
    with pytest.raises(UsageError, match=r"t-0: no broker id; write BROKER=t-0"):
        planned("t-0")


def test_partition_directories_alone_are_replicas() -> None:
    """Copies that somebody sent, each in a folder of its own."""
    partition_dir(Path("a/t-0"), [[*run(0, 59), *run(60, 89, epoch=2)]], epoch_entries=[(0, 0), (2, 60)])
    partition_dir(Path("b/t-0"), [[*run(0, 59), *run(60, 99, epoch=1)]], epoch_entries=[(0, 0), (1, 60)])
    follower = follower_of("1=a/t-0", "2=b/t-0", leader="1")
    assert (60, None, 40) == (follower["truncate_to"], follower["high_watermark"], follower["lost"]["records"])
    assert follower["lost"]["below_high_watermark"] is None
