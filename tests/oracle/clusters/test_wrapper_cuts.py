"""A follower cuts inside a compressed wrapper of magic 0 or 1: the log end after its restart is what kcheck says."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kcheck.core.releases.releases import release
from kcheck.model.report import PartitionFilter
from kcheck.replicas.leader_plans import Election
from kcheck.replicas.truncation import truncation
from tests.builders import Made, broker
from tests.oracle.ask import Ask
from tests.record_bytes import old_message, wrapper

pytestmark = pytest.mark.oracle

CODECS = {"gzip": 1, "snappy": 2, "lz4": 3}


def wrapped(first: int, end: int, *, codec: int, magic: int) -> Made:
    """Return messages in a wrapper; the offsets in it are relative from magic 1 on."""
    offsets = range(end - first) if magic else range(first, end)
    inner = b"".join(old_message(offset, value=b"v" * 40, magic=magic) for offset in offsets)
    return Made(data=wrapper(end - 1, inner, codec=codec, magic=magic), base_offset=first, last_offset=end - 1)


def plain(first: int, end: int, *, magic: int) -> list[Made]:
    """Return messages outside of a wrapper."""
    return [
        Made(data=old_message(offset, magic=magic), base_offset=offset, last_offset=offset)
        for offset in range(first, end)
    ]


def logs(codec: int, magic: int) -> Iterator[tuple[list[Made], int]]:
    """Yield logs with a wrapper of the offsets 15 to 19, and an offset inside it, at its ends or in the next one."""
    for before in (15, 12):
        for offset in (14, 15, 16, 17, 18, 19, 20, 23):
            wrappers = [wrapped(15, 20, codec=codec, magic=magic), wrapped(20, 25, codec=codec, magic=magic)]
            yield [*plain(5, before, magic=magic), *wrappers, *plain(25, 27, magic=magic)], offset


@pytest.mark.sample(1)
@pytest.mark.parametrize("version", ["0.10.2.2", "1.1.1"])
def test_the_log_end_after_a_cut_in_a_wrapper(version: str, ask: Ask, tmp_path: Path) -> None:
    """Log.truncateTo removes the whole wrapper, sets the log end to the offset, and a restart reads the files."""
    cases: list[str] = []
    expected: list[tuple[int, int]] = []
    for codec in CODECS.values():
        for magic in (0, 1):
            for batches, offset in logs(codec, magic):
                folder = tmp_path / str(len(cases))
                for number, mark in ((1, 27), (2, offset)):
                    broker(folder / f"d{number}", batches, broker_id=number, epoch_entries=(), high_watermark=mark)
                (plan,) = truncation(
                    [f"1={folder}/d1", f"2={folder}/d2"], Election(leader="1", live=True), wanted=PartitionFilter(),
                    release=release("0.10.2"),
                ).plans  # fmt: skip
                (follower,) = plan.followers
                assert follower.truncate_to == offset
                assert follower.cut is not None
                expected.append((offset, follower.cut.end_after_restart))
                for index in (folder / "d2" / "t-0").glob("*.index"):
                    index.unlink()
                cases.append(f"{folder}/d2/t-0|clean|0|0||{offset}")
    answers = [tuple(map(int, answer.split())) for answer in ask(version, "Loading.java", cases)]
    assert expected == [(cut, end) for cut, _, end, _ in answers]
