"""What `kcheck repair` plans is what real brokers make of it: each repaired log dir is loaded as the plan says.

`KCHECK_SWEEP` multiplies the damaged log dirs, `KCHECK_SEED` chooses other ones.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.start.predictions import LogDirPrediction
from kcheck.core.start.startup import Mode, Outcome, settings
from kcheck.disk.apply import apply
from kcheck.model.names import FileKind
from kcheck.model.plan import Write
from kcheck.plans.repair import RepairPlan, repair
from tests.cases.build import lay_out
from tests.damage import cases
from tests.oracle.ask import SEED, SWEEP, sampled, spread
from tests.oracle.boot import Answer, Job, boot
from tests.oracle.conftest import no_kafka
from tests.oracle.jars import NoKafkaError
from tests.repairs.test_cases import RUNS, log_dirs, wish

pytestmark = pytest.mark.oracle

VERSIONS = {"2.8.2": "2.8", "3.9.2": "3.9", "4.3.1": "4.3"}
INDEX_SIZE = 1200
SMALL = {"segment.index.bytes": INDEX_SIZE, "index.interval.bytes": 100}
ENDINGS = (".index", ".timeindex", ".txnindex")
METADATA = "__cluster_metadata"
COUNT = 30 * SWEEP
LOADED = (Outcome.OK, Outcome.REPAIRED, Outcome.LOST)
BEFORE = ("the log dirs have different", FileKind.BOOTSTRAP)
"""What meta.properties say of each other, and bootstrap.checkpoint, end a start before the LogManager:
test_identities.py judges that.
"""


def chosen(*rules: str) -> Sequence[Path]:
    """Return the cases of these rules; without KCHECK_SWEEP a part of them."""
    found = [case for case in dict.fromkeys(case for case, _, _ in RUNS) if case.parent.name.startswith(rules)]
    return spread(found, 60)


def booted(version: str, jobs: list[Job]) -> list[Answer]:
    """Return the answers, or skip the test."""
    try:
        return boot(version, jobs, processes=2)
    except NoKafkaError as error:
        no_kafka(f"Kafka {error}".partition("\n")[0])


def repaired(
    paths: list[str], kafka: str, around: Path, config: Mapping[str, object] = {}, *, accept_loss: bool = True
) -> RepairPlan:
    """Repair log dirs; the backup goes into a folder beside them."""
    how = settings({name: str(value) for name, value in config.items()}, release(kafka))
    how = how._replace(index_size_said="segment.index.bytes" in config, index_interval_said=True, remote_storage=False)
    made = repair(paths, [], wish(kafka)._replace(settings=how), accept_loss=accept_loss)
    (around / "backup").mkdir()
    apply(made.plan_bytes(), str(around / "backup"))
    return made


def job(starts: tuple[LogDirPrediction, ...], **more: object) -> Job:
    """Return the broker that has these log dirs."""
    mode = "kraft" if starts[0].mode is Mode.KRAFT else "zk"
    return Job(tuple(Path(start.path) for start in starts), mode=mode, **more)


def planned(starts: tuple[LogDirPrediction, ...]) -> dict[tuple[int, str], tuple[object, ...]]:
    """Return where each log begins and ends, and its epochs, as the plan says."""
    return {
        (number, part.dir): (
            part.log.log_start_offset,
            part.log.log_end_offset,
            tuple(map(tuple, part.log.leader_epochs)),
        )
        for number, start in enumerate(starts)
        for part in start.partitions
        if part.log is not None and part.outcome in LOADED and part.directory.topic != METADATA
    }


def seen(answer: Answer) -> dict[tuple[int, str], tuple[object, ...]]:
    """Return the same as the broker has it."""
    return {
        (log.log_dir, log.dir): (log.log_start_offset, log.log_end_offset, log.leader_epochs)
        for log in answer.logs
        if log.state in ("current", "future") and log.topic != METADATA
    }


@pytest.mark.parametrize("version", sampled([*VERSIONS]))
def test_a_repaired_case_is_loaded_as_planned(version: str, tmp_path: Path) -> None:
    """Each log begins and ends where the plan says, with these epochs; nothing goes offline that is not said to."""
    made = {}
    for case in chosen(""):
        folder = tmp_path / f"{case.parent.name}-{case.name}"
        lay_out(case, folder / "before")
        found = repaired(log_dirs(str(folder / "before")), VERSIONS[version], folder)
        brokers = {start.broker for start in found.starts}
        before = any(reason.startswith(BEFORE) for start in found.starts for reason in start.reasons)
        if found.plan.operations and len(brokers) == 1 and not before:
            made[folder.name] = found.starts
    answers = booted(version, [job(starts) for starts in made.values()])
    for (name, starts), answer in zip(made.items(), answers, strict=True):
        outcomes = {str(start.outcome) for start in starts}
        told = "abort" if "abort" in outcomes else "offline" if "offline" in outcomes else "ok"
        assert (name, told) == (name, answer.outcome), answer.log
        if told == "ok":
            assert (name, planned(starts)) == (name, seen(answer))
    assert len(made) > 10


@pytest.mark.parametrize("version", sampled([*VERSIONS]))
def test_rebuilt_indexes_are_those_of_a_recovery(version: str, tmp_path: Path) -> None:
    """Byte for byte: the broker recovers every segment, and the active one has room behind its entries."""
    kafka, found = VERSIONS[version], {}
    for case in chosen("kc15", "kc16", "kc17"):
        folder = tmp_path / f"{case.parent.name}-{case.name}"
        lay_out(case, folder / "before")
        made = repaired(log_dirs(str(folder / "before")), kafka, folder, SMALL)
        built = [each for each in made.plan.operations if isinstance(each, Write) and each.path.endswith(ENDINGS)]
        if built and len(made.starts) == 1:
            (folder / "before" / "recovery-point-offset-checkpoint").unlink(missing_ok=True)
            found[folder] = (made, [str(Path(each.path).relative_to((folder / "before").resolve())) for each in built])
    jobs = [job(made.starts, config=SMALL, clean=False) for made, _ in found.values()]
    compared = 0
    for (folder, (_, names)), answer in zip(found.items(), booted(version, jobs), strict=True):
        loaded = {log.dir for log in answer.logs if log.state == "current" and log.topic != METADATA}
        for name in (name for name in names if name.partition("/")[0] in loaded):
            data = (folder / "before" / name).read_bytes()
            last = max(path.stem for path in (folder / "before" / name).parent.glob("*.log"))
            active = Path(name).stem == last and not name.endswith(".txnindex")
            room = INDEX_SIZE if active else 0
            seen = answer.files[0][name]
            assert seen is not None
            assert (name, sha256(data.ljust(room, b"\0")).hexdigest()) == (name, seen.sha256)
            compared += len(data) > 0
    assert compared > 2


@pytest.mark.parametrize("version", sampled([*VERSIONS]))
def test_damaged_log_dirs_are_repaired_and_loaded(version: str, tmp_path: Path) -> None:
    """Whatever was done to a log dir: the plan can be carried out, and what it says comes true."""
    kafka = VERSIONS[version]
    found = []
    for case in cases(f"repair {SEED}", COUNT, tmp_path, version):
        made = repaired([str(path) for path in case.dirs], kafka, case.dirs[0].parent, case.config)
        if made.plan.operations and all(start.outcome is Outcome.OK for start in made.starts):
            found.append((case, made))
    answers = booted(version, [job(made.starts, config=case.config) for case, made in found])
    for (case, made), answer in zip(found, answers, strict=True):
        assert (case.name, case.what, "ok") == (case.name, case.what, answer.outcome), answer.log
        assert (case.name, case.what, planned(made.starts)) == (case.name, case.what, seen(answer))
    assert len(found) > COUNT // 4
