"""No green answer about a damaged cluster is wrong, by the bytes that its leaders have; no broker runs.

`python -m tests.oracle.incidents.hunt` damages as many clusters as you like.
"""

import shutil
from pathlib import Path

import pytest

from tests.oracle.ask import SWEEP
from tests.oracle.incidents import hunt
from tests.oracle.incidents.damages.checkpoints import LOG_START
from tests.oracle.incidents.damages.site import write_lines
from tests.oracle.incidents.damages.table import BY_NAME
from tests.oracle.incidents.hunt import Base, Hunted

DAMAGES = 25


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> list[Base]:
    """Return the recorded clusters to which nothing was done."""
    return [*hunt.recorded(tmp_path_factory.mktemp("bases"))]


def test_no_green_answer_about_a_damaged_cluster_is_wrong(bases: list[Base], tmp_path: Path) -> None:
    """Some are green, and most are not."""
    rows = [*hunt.hunt("0", bases, tmp_path, range(DAMAGES * SWEEP))]
    assert [row for row in rows if row.is_false] == []
    assert 0 < sum(bool(row.green) for row in rows) < len(rows)


def test_records_that_a_leader_does_not_have_are_seen(bases: list[Base], tmp_path: Path) -> None:
    """A hunter that sees no loss proves nothing: a cut log, a raised log start, no directory, no leader."""
    base = next(base for base in bases if base.folder.name.startswith("3.9.2"))
    row = hunt.hunted("0", base, tmp_path, (BY_NAME["nothing"],))
    assert row is not None
    assert (row.green, row.lost) == (("elect", "preflight"), ())
    leaders: dict[str, int | None] = {}
    for name in base.known.records:
        leaders[name] = next((number for number in (1, 2) if not _lost(tmp_path, base, {name: number})), None)
    cut, raised, gone = (directory(tmp_path, name, leaders[name]) for name in sorted(filter(leaders.get, leaders))[:3])
    segment = max(cut.glob("*.log"), key=lambda path: path.stat().st_size)
    segment.write_bytes(segment.read_bytes()[:-1])
    write_lines(raised.parent / LOG_START, [f"{raised.name.replace('-', ' ')} {10**6}"])
    shutil.rmtree(gone)
    leaders["pay-0"] = None
    lost = {words.split()[0]: words for words in _lost(tmp_path, base, leaders)}
    assert lost.keys() >= {cut.name, raised.name, gone.name, "pay-0"}
    count = len(base.known.records[raised.name])
    assert f" {count} of {count}, " in lost[raised.name]
    assert lost["pay-0"] == "pay-0 has no leader"


def directory(folder: Path, partition: str, broker: int | None) -> Path:
    """Return the directory of a partition."""
    (path,) = folder.glob(f"broker-{broker}/data*/{partition}")
    return path


def _lost(folder: Path, base: Base, leaders: dict[str, int | None]) -> list[str]:
    known = base.known._replace(records={name: base.known.records[name] for name in leaders})
    return [*hunt.lost(folder, known, {name: {"clean": leader} for name, leader in leaders.items()})]


def test_a_kind_whose_loss_no_file_shows_is_no_false_answer(bases: list[Base]) -> None:
    """Each has its reason, and is a kind of the table; a preflight alone misleads where there is one broker."""
    of = bases[0].shape
    row = Hunted("0", "base", of._replace(brokers=1), ("live-copy",), (), ("preflight",), ("t-0 on 1: 1 of 5, 3-3",))
    assert not row.is_false
    assert not row._replace(kinds=("nothing",), lost=()).is_false
    assert row._replace(kinds=("nothing",)).is_false
    assert not row._replace(kinds=("nothing",), shape=of).is_false
    assert row._replace(shape=of, green=("elect", "preflight")).is_false
    assert BY_NAME.keys() >= hunt.NOT_PROVABLE.keys()
