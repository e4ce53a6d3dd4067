"""What the host of a broker must give: mounts, bytes, maps."""

from typing import Any

import pytest

from kcheck.core.premises.facts import LogDirFacts
from kcheck.core.premises.resources import written_at_least
from kcheck.core.premises.table import ENDS_START, TAKES_OFFLINE, judged, why_offline
from kcheck.core.start.predictions import (
    Changes,
    LogDirPrediction,
    PartitionPrediction,
    new_content,
)
from kcheck.core.start.startup import Mode, Outcome
from kcheck.model.loss import LostRecords
from kcheck.model.premises import PremiseStatus
from kcheck.model.rights import BrokerUser, LogDirRights, ProcessLimits, Volume
from tests.core.premises.test_premises import IDENTITY, METADATA_LOG, ORDERS, facts, not_seen, refuted, rows

BLOCK = 4096


def volume(*, mount: str = "/m", read_only: bool = False, container: bool = False, free: int = 1 << 30) -> Volume:
    """Return a file system; root may write one block more than others."""
    return Volume(mount, read_only, container, free, free + BLOCK, BLOCK)


def data(path: str = "d2", **fields: Any) -> LogDirFacts:
    """Return a log dir without the metadata log."""
    return LogDirFacts(path, identity=IDENTITY, directories=(ORDERS,), **{"volume": volume(), **fields})


def metadata(**fields: Any) -> LogDirFacts:
    """Return the log dir with the metadata log."""
    return LogDirFacts("d1", identity=IDENTITY, directories=(METADATA_LOG,), **{"volume": volume(), **fields})


def test_mounts_that_can_be_written() -> None:
    """Each log dir is one of the two premises."""
    proven = rows(facts(metadata(), data()), PremiseStatus.PROVEN)
    assert {"P402", "P405"} <= proven.keys()
    elsewhere = rows(facts(metadata(volume=None)), PremiseStatus.PROVEN)
    assert not elsewhere.keys() & {"P402", "P403", "P404", "P405"}


def test_a_data_dir_that_is_mounted_read_only() -> None:
    """It goes offline; the broker starts with the others."""
    given = facts(metadata(), data(volume=volume(read_only=True)))
    sentence = "d2 is mounted read-only here, mount point /m"
    assert refuted(given) == {"P402": sentence}
    assert TAKES_OFFLINE - ENDS_START == {"P311", "P402", "P404"}
    assert why_offline(judged(given)) == {"d2": sentence}


@pytest.mark.parametrize("log_dirs", [(metadata(volume=volume(read_only=True)), data()), (data("d1"),)])
def test_the_log_dir_that_decides(log_dirs: tuple[LogDirFacts, ...]) -> None:
    """Without the log dir of the metadata log, or its only one, the broker does not start."""
    first = log_dirs[0]._replace(volume=volume(read_only=True))
    assert refuted(facts(first, *log_dirs[1:])) == {"P405": "d1 is mounted read-only here, mount point /m"}


def test_a_view_of_a_container_is_a_note() -> None:
    """An init container may have the volume read-only, and the broker not: nothing that a user can give shows it."""
    given = facts(metadata(volume=volume(read_only=True, container=True)))
    (note,) = (judgement for judgement in judged(given) if judgement.id == "P405")
    assert (note.status, note.provide) == (PremiseStatus.NOT_SEEN, None)
    assert note.sentence == "d1 is mounted read-only here, mount point /m; the broker may see another mount"


def start(*partitions: PartitionPrediction) -> LogDirPrediction:
    """Return a predicted start."""
    return LogDirPrediction("d2", 1, Outcome.OK, (), clean=True, mode=Mode.KRAFT, uncertain=None, partitions=partitions)


def partition(**fields: Any) -> PartitionPrediction:
    """Return a partition whose start makes an index of 80 bytes, and a file that kcheck does not know."""
    given = {
        "changes": Changes(created=("x.index", "y")),
        "after": {"x.index": new_content(bytes(80)).resized(1 << 20), "z": new_content(b"z")},
        **fields,
    }
    return PartitionPrediction("orders-0", ORDERS, Outcome.REPAIRED, None, **given)


def test_bytes_that_a_start_writes() -> None:
    """Bytes of new files count, holes do not; a start that also frees bytes has no bound."""
    loss = LostRecords(None, None, 1, 1, None)
    assert written_at_least(start(partition(), partition())) == 160
    assert written_at_least(start(partition(lost=loss))) == 0
    assert written_at_least(start(partition(changes=Changes(removed=("a",))))) == 0
    assert written_at_least(start(partition(changes=Changes(unknown=("a",))))) == 0


def test_room() -> None:
    """Log dirs of one file system share it, and root may write where others may not."""
    given = facts(metadata(written=100), data(volume=volume(free=2 * BLOCK)))
    assert refuted(given) == {"P403": "8,192 bytes are free in /m, the broker writes at least 8,292"}
    root = LogDirRights(BrokerUser(0, 0), 0)
    both = (row._replace(rights=root, volume=volume(free=2 * BLOCK)) for row in (metadata(written=100), data()))
    few = "only 12,288 bytes are free in /m: the broker continues to write after it has started"
    assert not_seen(facts(*both))["P403"] == few
    assert "P403" in rows(facts(metadata(), data(volume=volume(free=1 << 20))), PremiseStatus.PROVEN)
    several = facts(metadata(), data(volume=volume(mount="/n", free=0)))
    assert refuted(several) == {"P403": "0 bytes are free in /n, the broker writes at least 4,096"}


def test_maps() -> None:
    """Two maps a segment, over all log dirs."""
    rights = LogDirRights(BrokerUser(1001, 1001), 1001, segment_count=20)
    log_dirs = (metadata(rights=rights), data(rights=rights))
    assert "P404" in rows(facts(*log_dirs, limits=ProcessLimits(maps=80)), PremiseStatus.PROVEN)
    sentence = "40 segments need up to 80 maps, but vm.max_map_count is 79 here; raise it with sysctl"
    assert refuted(facts(*log_dirs, limits=ProcessLimits(maps=79))) == {"P404": sentence}
    assert "P404" not in rows(facts(metadata(), limits=ProcessLimits(maps=79)), PremiseStatus.PROVEN)


def test_open_files() -> None:
    """With 150 partitions and a limit of 200 a broker of 4.3.1 ended with too many open files; 400 was enough."""
    log_dirs = (metadata(rights=LogDirRights(BrokerUser(1001, 1001), 1001, segment_count=151)), data())
    assert "P843" in rows(facts(*log_dirs, limits=ProcessLimits(open_files=400)), PremiseStatus.PROVEN)
    sentence = "151 segments and about 100 other files are to be open, but ulimit -Hn is 200 here"
    assert not_seen(facts(*log_dirs, limits=ProcessLimits(open_files=200)))["P843"] == sentence
    assert "P843" not in not_seen(facts(metadata(), limits=ProcessLimits(open_files=10)))
