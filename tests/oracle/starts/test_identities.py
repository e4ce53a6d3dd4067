"""Log dirs that are not those of one broker end its start, as predict says, or do not (MetaPropertiesEnsemble).

Up to 3.6 KafkaRaftServer and BrokerMetadataCheckpoint judge. `KCHECK_SWEEP` takes more releases.
"""

from itertools import product
from pathlib import Path
from random import Random

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.start.startup import Mode, Outcome, settings
from kcheck.model.finding import Finding
from kcheck.startup.log_manager import combined_starts
from kcheck.startup.options import StartOptions
from kcheck.verbs.predict import start_of
from kcheck.views.targets import Target, TargetKind
from tests.builders import log_dir
from tests.oracle.ask import IS_WHOLE, SEED, SWEEP, Ask, flips

pytestmark = pytest.mark.oracle

BROKERS = Path(__file__).parents[3] / "fixtures" / "brokers"
BOOTSTRAP = BROKERS / "3.9.2" / "stopped" / "broker-1" / "data1" / "bootstrap.checkpoint"
KRAFT = "version=1\nnode.id=1\ncluster.id=c\n"
ID = "directory.id=Ug4N9fFPyhO7FVKk373dnQ\n"
OTHER_ID = "directory.id=NvzalnNNgDvNV3yczbG-qw\n"
ZOOKEEPER = "version=0\nbroker.id=1\ncluster.id=c\n"
FILES = {
    Mode.KRAFT: (None, KRAFT, KRAFT + ID, KRAFT + OTHER_ID, KRAFT.replace("=1\nc", "=2\nc"), KRAFT + "x=y\n",
                 KRAFT.replace("=c", "=d")),
    Mode.ZOOKEEPER: (None, ZOOKEEPER, ZOOKEEPER.replace("=1\nc", "=2\nc"), ZOOKEEPER.replace("=c", "=d"), "",
                     ZOOKEEPER + "x=y\n"),
}  # fmt: skip
VERSIONS = (
    ("4.3.1", Mode.KRAFT), ("3.9.2", Mode.ZOOKEEPER), ("3.6.2", Mode.KRAFT), ("3.6.2", Mode.ZOOKEEPER),
)  # fmt: skip
MORE = (
    ("4.0.2", Mode.KRAFT), ("3.9.2", Mode.KRAFT), ("3.7.2", Mode.KRAFT), ("3.7.2", Mode.ZOOKEEPER),
    ("3.4.1", Mode.KRAFT), ("3.3.2", Mode.KRAFT), ("3.3.2", Mode.ZOOKEEPER), ("3.0.2", Mode.ZOOKEEPER),
    ("2.8.2", Mode.ZOOKEEPER),
)  # fmt: skip


@pytest.mark.sample(2)
@pytest.mark.parametrize(("version", "mode"), [*VERSIONS, *(MORE if IS_WHOLE else ())])
def test_identities(version: str, mode: Mode, ask: Ask, tmp_path: Path) -> None:
    """Two log dirs with every pair of files, or none; the first is the good one, or lacks its file too."""
    cases = [*product(FILES[mode][:3], FILES[mode])]
    groups = [_laid(tmp_path / str(number), files) for number, files in enumerate(cases)]
    ours = [_starts(group, version, mode) for group in groups]
    answers = ask(version, "LogDirs.java", [",".join(map(str, group)) for group in groups], str(mode))
    wrong = [
        f"{files}: {'starts' if our else 'ends'}, but: {answer}"
        for files, our, answer in zip(cases, ours, answers, strict=True)
        if our != (answer == "starts")
    ]
    assert not wrong, f"{len(wrong)} of {len(cases)} differ:\n" + "\n".join(wrong)


@pytest.mark.parametrize("version", ["4.3.1", *(("4.0.2", "3.9.2") if IS_WHOLE else ())])
def test_bootstraps(version: str, ask: Ask, tmp_path: Path) -> None:
    """A `bootstrap.checkpoint` that is said to end a start does, and no other one."""
    whole = BOOTSTRAP.read_bytes()
    files = [*(whole[:size] for size in range(0, len(whole) + 1, 1 if IS_WHOLE else 9)), whole + bytes(40)]
    files += flips(Random(f"{SEED} {version}"), whole, 60 * SWEEP)
    groups = [_laid(tmp_path / str(number), (KRAFT,)) for number in range(len(files))]
    for (path,), data in zip(groups, files, strict=True):
        (path / "__cluster_metadata-0").mkdir()
        (path / "bootstrap.checkpoint").write_bytes(data)
    ours = [_starts(group, version, Mode.KRAFT) for group in groups]
    answers = ask(version, "LogDirs.java", [path for (path,) in groups], str(Mode.KRAFT))
    wrong = [
        f"{number}, {len(data)} bytes: {'starts' if our else 'ends'}, but: {answer}"
        for number, (data, our, answer) in enumerate(zip(files, ours, answers, strict=True))
        if our != (answer == "starts")
    ]
    assert not wrong, f"{len(wrong)} of {len(files)} differ, KCHECK_SEED={SEED}:\n" + "\n".join(wrong)
    assert not all(ours)


def _laid(folder: Path, files: tuple[str | None, ...]) -> list[Path]:
    paths = []
    for number, text in enumerate(files, 1):
        path = folder / f"data{number}"
        log_dir(path)
        (path / "meta.properties").unlink()
        (path / f"t-{number}").mkdir()
        if text is not None:
            (path / "meta.properties").write_text(text)
        paths.append(path)
    return paths


def _starts(paths: list[Path], version: str, mode: Mode) -> bool:
    chosen = release(version)
    wish = StartOptions(None, settings({"mode": mode}, chosen), chosen)
    collected: list[Finding] = []
    starts = [start_of(Target(kind=TargetKind.LOG_DIR, path=str(path)), wish, collected) for path in paths]
    return all(
        each.outcome is Outcome.OK for each in combined_starts([each._replace(broker="one") for each in starts], chosen)
    )
