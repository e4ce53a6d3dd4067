"""What kcheck says of leftover files is what the loader of each release does with them.

Random directories from the segments of a real broker: some as `.swap`, `.cleaned` or `.deleted`, some missing.
KCHECK_SWEEP multiplies them, KCHECK_SEED chooses other ones.
"""

import shutil
from pathlib import Path
from random import Random

import pytest

from kcheck.core.releases.releases import release
from kcheck.model.depth import Depth
from kcheck.model.finding import Finding
from kcheck.model.release import Release
from kcheck.model.report import PartitionFilter
from kcheck.model.views import PartitionView
from kcheck.rules.kc226_leftover_file import next_start
from kcheck.survey import survey as look
from kcheck.verbs.check import check
from tests.oracle.ask import SEED, SWEEP, Ask, sampled
from tests.oracle.jars import numbers

pytestmark = pytest.mark.oracle

BROKERS = Path(__file__).parents[3] / "fixtures" / "brokers"
KINDS = (".log", ".index", ".timeindex", ".snapshot")
INDEX_SIZE_MAX = 1024


@pytest.mark.parametrize("version", sampled(("1.1.1", "2.0.1", "2.4.1", "2.8.2", "3.9.2", "4.3.1")))
def test_leftovers(version: str, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same logs are there afterwards, with the same bytes; up to 2.8 a start marks some to be deleted later."""
    random = Random(f"{SEED} {version}")
    (source,) = (BROKERS / version / "stopped" / "broker-1").glob("*/segments-0")
    folders = [tmp_path / str(n) / "segments-0" for n in range(40 * SWEEP)]
    expected = []
    for folder in folders:
        # Before splits came with 2.0 there was one swap at most.
        made(folder, source, random, count=random.randrange(1, 4) if numbers(version) >= (2,) else 1)
        view = looked_at(folder, version, monkeypatch)
        after = next_start(view, release(version))
        expected.append(logs_after(folder, after.removed, after.renamed))
    cases = [f"{folder}|clean|0|0|segment.index.bytes={INDEX_SIZE_MAX}" for folder in folders]
    answers = ask(version, "Loading.java", cases)
    for folder, answer, then in zip(folders, answers, expected, strict=True):
        assert not answer.startswith("!"), answer
        assert then == logs_of(folder, late=version < "3"), (folder, sorted(path.name for path in folder.iterdir()))


def made(folder: Path, source: Path, random: Random, *, count: int) -> None:
    """Make a directory of leftovers; each swap or cleaned log has the bytes of up to two segments."""
    shutil.copytree(source, folder)
    bases = sorted(int(path.stem) for path in folder.glob("*.log"))
    for base in random.sample(bases[:-1:2], count):
        prefix = folder / f"{base:020d}"
        suffix = random.choice((".swap", ".swap", ".swap", ".cleaned", ".deleted"))
        size = random.choice((0, 1, 2))
        data = b"".join((source / f"{b:020d}.log").read_bytes() for b in bases[bases.index(base) :][:size])
        for kind in random.choice((KINDS[:1], KINDS[:3], KINDS[1:2])):
            prefix.with_suffix(f"{kind}{suffix}").write_bytes(data if kind == ".log" else b"")
        for kind in random.choice(((), (), KINDS[:1], KINDS)):
            if base != bases[0] or suffix == ".swap":
                prefix.with_suffix(kind).unlink(missing_ok=True)


def looked_at(folder: Path, version: str, monkeypatch: pytest.MonkeyPatch) -> PartitionView:
    """Return the partition as `kcheck check` sees it."""
    seen: list[PartitionView] = []

    def kept(view: PartitionView, _: Release) -> tuple[Finding, ...]:
        seen.append(view)
        return ()

    with monkeypatch.context() as patch:
        patch.setattr(look, "check_partition", kept)
        check([str(folder)], depth=Depth.HEADERS, as_kind=None, wanted=PartitionFilter(), release=release(version))
    (view,) = seen
    return view


def logs_after(folder: Path, removed: frozenset[str], renamed: frozenset[str]) -> dict[str, bytes]:
    """Return the logs that are left, by name."""
    left = {path.name: path.read_bytes() for path in folder.iterdir() if ".log" in path.name}
    swapped = {name.removesuffix(".swap"): data for name, data in left.items() if name in renamed}
    kept = {name: data for name, data in left.items() if name not in removed and name not in renamed}
    return kept | swapped


def logs_of(folder: Path, *, late: bool) -> dict[str, bytes]:
    """Return the logs of a directory; `late` leaves out what is marked to be deleted."""
    found = (path for path in folder.iterdir() if ".log" in path.name)
    return {path.name: path.read_bytes() for path in found if not (late and path.name.endswith(".deleted"))}
