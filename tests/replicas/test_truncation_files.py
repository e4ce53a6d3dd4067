"""Replicas of `kcheck truncation` that are no log dirs: bare files from a ticket, copies of partition directories."""

from pathlib import Path

import pytest

from kcheck.errors import UsageError
from tests.builders import epochs, partition_dir, run, write
from tests.reports import follower_of, planned

pytestmark = pytest.mark.usefixtures("in_folder")


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


def test_whose_replica_it_is_must_be_known() -> None:
    write(Path(), {"a": epochs((0, 0))})
    with pytest.raises(UsageError, match=r"a: no broker id; write BROKER=a"):
        planned("a,leo=5")
    partition_dir(Path("t-0"), [run(0, 9)])
    with pytest.raises(UsageError, match=r"t-0: no broker id; write BROKER=t-0"):
        planned("t-0")
