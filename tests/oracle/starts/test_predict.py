"""`kcheck predict` says of log dirs what the real LogManager of each release makes of copies of them.

Compared are the outcome, and of each log that is loaded its offsets, its epochs, and every file that stands there
afterwards, byte for byte. `KCHECK_SWEEP=1` takes a release of every line, with all fixtures, all cases and 50 damaged
brokers, a larger number more of these; `KCHECK_SEED` damages others. `docs/predict.md` lists what is excused.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from random import Random

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.start.predictions import Content, LogDirPrediction, PartitionPrediction
from kcheck.core.start.startup import Mode, Outcome, settings
from kcheck.model.finding import Finding
from kcheck.model.names import (
    CLEAN_SHUTDOWN,
    CLEANER_OFFSET,
    META_PROPERTIES,
    OFFSET_CHECKPOINTS,
    RECOVERY_POINT,
    REPLICATION_OFFSET,
    SWAP,
    FileKind,
    parse_file,
)
from kcheck.records.batch import CONTROL
from kcheck.startup.log_loader import ENDLESS
from kcheck.startup.log_manager import combined_starts
from kcheck.startup.options import StartOptions
from kcheck.verbs.predict import start_of
from kcheck.views.targets import Target, TargetKind
from tests.builders import Made, batch, log_dir, partition_dir, run
from tests.cases.build import CASES, lay_out, shared_copies
from tests.damage import cases, nearest
from tests.damage_made import made
from tests.oracle.ask import IS_WHOLE, SEED, SWEEP
from tests.oracle.boot import Answer, Job, LoadedLog, boot
from tests.oracle.conftest import no_kafka
from tests.oracle.jars import NoKafkaError, numbers

pytestmark = pytest.mark.oracle

ROOT = Path(__file__).parents[3]
SAMPLES = {"4.3.1": 20, "2.8.2": 10}
"""The releases of the sample, and how many brokers are damaged for each."""
VERSIONS = (
    "4.3.1", "4.2.1", "4.1.2", "4.0.2", "3.9.2", "3.8.1", "3.7.2", "3.6.2", "3.5.2", "3.4.1", "3.3.2", "3.2.3",
    "3.1.2", "3.0.2", "2.8.2", "2.7.2", "2.6.3", "2.6.0", "2.5.1", "2.5.0", "2.4.1", "2.4.0", "2.3.1", "2.2.2",
    "2.2.1", "2.1.1", "2.1.0", "2.0.1", "1.1.1", "1.0.2", "0.11.0.3", "0.11.0.0", "0.10.2.2",
)  # fmt: skip
"""A release of each line whose LogManager can be started, and those before one that starts otherwise."""
DAMAGED_COUNT = 50
INDEX_SIZE = {"segment.index.bytes": 1 << 16}
METADATA_LOG = "__cluster_metadata-0"
RENAMED = "and the broker cannot rename it"

EXCUSES = (
    "other parts of the broker", "the order of loading", "the order of swap files", "the order of producers",
    "old names",
)  # fmt: skip
"""What may differ, as docs/predict.md names it."""


def predicted(job: Job, version: str) -> list[LogDirPrediction]:
    """Return what is predicted of a job; its log dirs belong to one broker, whatever they say."""
    chosen = release(version)
    mode = job.mode or (Mode.KRAFT if numbers(version) >= (3, 3) else Mode.ZOOKEEPER)
    config = {"mode": str(mode), **{name: str(value) for name, value in job.config.items()}}
    how = settings(config, chosen)._replace(
        index_size_said="segment.index.bytes" in config, index_interval_said=True, remote_storage=False
    )
    wish = StartOptions(job.clean, how, chosen)
    collected: list[Finding] = []
    targets = [Target(kind=TargetKind.LOG_DIR, path=str(path)) for path in job.dirs]
    starts = [start_of(target, wish, collected, all_simulated=True) for target in targets]
    assert [] == [found.message for found in collected if found.id == "KC000"]
    return combined_starts(
        [_judged_alone(start, version)._replace(broker="one", view=None) for start in starts], chosen
    )


def _judged_alone(start: LogDirPrediction, version: str) -> LogDirPrediction:
    """Return a log dir without what other parts of the broker than its LogManager do."""
    others = (
        REPLICATION_OFFSET,
        CLEANER_OFFSET,
        META_PROPERTIES,
        FileKind.BOOTSTRAP,
        *((METADATA_LOG,) if numbers(version) >= (3,) else ()),
    )
    named = "is not a valid partition directory name"  # the LogManager fails on a directory, whoever reads the file
    created = "so the broker cannot create the directory"  # a replica that the broker is to lead or follow
    loaded = tuple(map(_as_loaded, start.partitions))
    if loaded != start.partitions:
        late = {f"{part.dir}: {part.reason}" for part in start.partitions if _as_loaded(part) is not part}
        rest = tuple(reason for reason in start.reasons if reason not in late)
        is_bad = any(part.outcome in (Outcome.OFFLINE, Outcome.ABORT) for part in loaded)
        outcome = start.outcome if rest and (is_bad or start.outcome is Outcome.ABORT) else Outcome.OK
        start = start._replace(partitions=loaded, reasons=rest, outcome=outcome)
    reasons = tuple(
        reason
        for reason in start.reasons
        if reason.endswith(named) or not (reason.startswith(others) or reason.endswith(created))
    )
    if start.reasons and start.reasons[0].startswith(f"{META_PROPERTIES} is missing"):  # the last of what ends a start
        return start._replace(outcome=Outcome.OFFLINE if reasons else Outcome.OK, reasons=reasons)
    if reasons == start.reasons:
        return start
    offline = {f"{part.dir}: {part.reason}" for part in start.partitions if part.outcome is Outcome.OFFLINE}
    outcome = Outcome.OK if not reasons else Outcome.OFFLINE if offline.issuperset(reasons) else start.outcome
    return start._replace(outcome=outcome, reasons=reasons)


def _as_loaded(partition: PartitionPrediction) -> PartitionPrediction:
    """Return a partition without what fails after the LogManager has loaded it."""
    is_late = partition.log is not None and ", so the broker cannot write " in (partition.reason or "")
    return partition._replace(outcome=Outcome.OK, reason=None) if is_late else partition


def differences(starts: Sequence[LogDirPrediction], answer: Answer) -> Iterator[str]:
    """Yield how a prediction differs from what the LogManager did."""
    outcomes = {start.outcome for start in starts}
    said = next((each for each in (Outcome.ABORT, Outcome.OFFLINE) if each in outcomes), Outcome.OK)
    if answer.message is not None and re.search(r"directory\.id|node\.id|broker\.id|version", answer.message):
        return  # meta.properties: another part of the broker
    if answer.outcome == "hang" and any(reason.endswith(ENDLESS) for start in starts for reason in start.reasons):
        return
    if said is not Outcome.OK and all(start.reasons[0].endswith(RENAMED) for start in starts if start.reasons):
        return  # what other parts do after the LogManager has loaded both
    if said != answer.outcome:
        if not (answer.outcome == "abort" and any(start.uncertain for start in starts)):
            yield f"{said}, but it is {answer.outcome}: {answer.exception} {answer.message}"
        return
    if said is Outcome.ABORT:
        return
    offline = tuple(number for number, start in enumerate(starts) if start.outcome is Outcome.OFFLINE)
    if offline != answer.offline:
        yield f"log dirs {offline} go offline, but {answer.offline} do"
    for number, start in enumerate(starts):
        if start.outcome is Outcome.OK:
            for found in start.partitions:
                if found.uncertain is None:
                    yield from _of_partition(found, Path(start.path, found.dir), number, answer)


def _takes_names_as_they_stand(job: Job, version: str) -> bool:
    """Whether a name in a log dir means something else to an old release: it looks for no number in it."""
    files = [parse_file(path.name) for folder in job.dirs for path in folder.glob("*-*/*")]
    odd = [each.suffix for each in files if not each.canonical]
    return (numbers(version) < (0, 11) and bool(odd)) or (numbers(version) < (1, 1) and SWAP in odd)


def _of_partition(found: PartitionPrediction, path: Path, number: int, answer: Answer) -> Iterator[str]:
    log = _log_of(found, number, answer)
    if log is None:
        if found.dir != METADATA_LOG:
            yield f"{found.dir} is loaded, but it is not"
        return
    assert found.log is not None
    states = {Outcome.STRAY: "stray", Outcome.DELETED: "deleted"}
    ours = (states.get(found.outcome, str(found.directory.state)), *found.log[:3], found.log.leader_epochs)
    theirs = (log.state, log.log_start_offset, log.log_end_offset, log.recovery_point, log.leader_epochs)
    if ours != theirs:
        yield f"{found.dir} is {ours}, but it is {theirs} ({found.reason})"
    prefix = f"{log.dir}/"
    there = {name.removeprefix(prefix): file for name, file in answer.files[number].items() if name.startswith(prefix)}
    files = {name: file for name, file in there.items() if file is not None and "/" not in name}  # no directories
    for name in sorted(files.keys() | found.after.keys()):
        file, content = files.get(name), found.after.get(name)
        if content is None or file is None:
            yield f"{found.dir}/{name} {'is not there' if content is None else 'is there'}, but that is not so"
        elif (file.size, file.sha256) not in ((content.size, _digest(path, content)), (content.size, None)):
            yield f"{found.dir}/{name} has {content.size} bytes, but it is another file of {file.size} bytes"


def _log_of(found: PartitionPrediction, number: int, answer: Answer) -> LoadedLog | None:
    key = (number, found.directory.topic, found.directory.partition)
    logs = [log for log in answer.logs if (log.log_dir, log.topic, log.partition) == key]
    named = [log for log in logs if log.dir == found.dir]
    set_aside = [log for log in logs if log.dir.endswith("-stray") and found.outcome is Outcome.STRAY]
    return next(iter((*named, *set_aside)), None)


def _digest(path: Path, content: Content) -> str:
    data = content.data
    if content.file is not None:
        data = (path / content.file).read_bytes()[content.begin : content.begin + content.filled]
    return sha256(data.ljust(content.size, b"\0")).hexdigest()


def judge(version: str, jobs: Sequence[Job], names: Iterable[object]) -> None:
    """Fail with how many predictions differ, and with the first of them."""
    try:
        answers = boot(version, jobs, processes=2)
    except NoKafkaError as error:
        no_kafka(f"Kafka {error}".partition("\n")[0])
    wrong = []
    for job, name, answer in zip(jobs, names, answers, strict=True):
        found = list(differences(predicted(job, version), answer))
        if found:
            wrong.append(f"{name}: " + "\n    ".join(found))
    assert not wrong, f"{len(wrong)} of {len(jobs)} predictions differ, KCHECK_SEED={SEED}:\n" + "\n".join(wrong[:10])


def log_dirs(*roots: Path) -> list[Path]:
    """Return the log dirs below some folders."""
    tops = (RECOVERY_POINT, META_PROPERTIES, *OFFSET_CHECKPOINTS)
    found = {path.parent for root in roots for name in tops for path in root.rglob(name)}
    return sorted(found)


def brokers(version: str) -> Iterator[tuple[object, Job]]:
    """Yield what brokers of eight releases left, after a clean stop and after none; a sample is of the release."""
    folder = ROOT / "fixtures" / "brokers"
    for path in log_dirs(folder if IS_WHOLE else folder / nearest(version)):
        for clean in (True, False):
            yield f"{path.relative_to(folder)} clean={clean}", Job((path,), config=INDEX_SIZE, clean=clean)


def damaged_cases(version: str) -> Iterator[tuple[object, Job]]:
    """Yield the log dirs of the rules' cases; as a sample every sixteenth. Most have batches of version 2."""
    folder = shared_copies()
    for path in log_dirs(folder)[:: 1 if IS_WHOLE else 16] if numbers(version) >= (0, 11) else ():
        yield path.relative_to(folder), Job((path,), config=INDEX_SIZE)


def damaged_brokers(version: str, folder: Path) -> Iterator[tuple[object, Job]]:
    """Yield brokers that were damaged at random: a name like `0/17` makes one again (tests/damage.py).

    In 3.x every other one is of KRaft, the others are of ZooKeeper.
    """
    both = (3,) <= numbers(version) < (4,)
    count = DAMAGED_COUNT * SWEEP if IS_WHOLE else SAMPLES[version]
    for number, case in enumerate(cases(SEED, count, folder, version)):
        mode = (Mode.KRAFT, Mode.ZOOKEEPER)[number % 2] if both else None
        yield f"{case.name} {mode or ''} {'; '.join(case.what)}", Job(case.dirs, config=case.config, mode=mode)


def killed_brokers(version: str, folder: Path) -> Iterator[tuple[object, Job]]:
    """Yield brokers that were killed, with topics that have a segment.index.bytes of their own."""
    for number in range(6 * SWEEP):
        random = Random(f"{SEED}/{number} {version}")
        dirs, config = made(random, folder / f"killed-{number}", version)
        (dirs[0] / CLEAN_SHUTDOWN).unlink(missing_ok=True)
        topics = {}
        for partition in dirs[0].glob("*-*/"):
            last = max(partition.glob("*.log"))
            indexes = {last.with_suffix(ending): slot for ending, slot in ((".index", 8), (".timeindex", 12))}
            needed = max(path.stat().st_size + slot for path, slot in indexes.items())
            size = random.choice([each for each in (24, 96, 100, 1200, 4096, 1 << 16) if each >= needed])
            for path, slot in indexes.items():
                path.write_bytes(path.read_bytes().ljust(size // slot * slot, b"\0"))
            topics[partition.name.rpartition("-")[0]] = {"segment.index.bytes": size}
        yield f"killed {number} {topics}", Job(dirs, {"index.interval.bytes": config["index.interval.bytes"]}, topics)


@pytest.mark.parametrize("version", VERSIONS if IS_WHOLE else ("4.3.1",))
def test_topics_of_killed_brokers(version: str, tmp_path: Path) -> None:
    """The indexes of the last segment tell the segment.index.bytes of a topic; no setting is named."""
    if numbers(version) >= (0, 11):
        named = [*killed_brokers(version, tmp_path)]
        judge(version, [job for _, job in named], [name for name, _ in named])


@pytest.mark.parametrize("version", VERSIONS if IS_WHOLE else SAMPLES)
def test_starts(version: str, tmp_path: Path) -> None:
    """What is predicted is what happens."""
    named = [*brokers(version), *damaged_cases(version), *damaged_brokers(version, tmp_path)]
    named = [(name, job) for name, job in named if not _takes_names_as_they_stand(job, version)]
    judge(version, [job for _, job in named], [name for name, _ in named])


@pytest.mark.parametrize("version", ["2.2.1", "2.2.2"])
def test_nothing_left_to_delete(version: str, tmp_path: Path) -> None:
    """2.2.1 does not start on a directory that is to be deleted and has no segment."""
    log_dir(tmp_path / "d")
    (tmp_path / "d" / f"t-0.{'0' * 32}-delete").mkdir()
    job = Job((tmp_path / "d",), config=INDEX_SIZE)
    assert (version == "2.2.1") is (predicted(job, version)[0].outcome is Outcome.ABORT)
    judge(version, [job], ["d"])


@pytest.mark.sample(1)
@pytest.mark.parametrize("version", ["4.3.1", "0.11.0.3"])
def test_a_control_batch_without_its_header(version: str, tmp_path: Path) -> None:
    """It says that it ends inside of its own header: what it seems to be stands in the next batch."""
    log_dir(tmp_path / "d", clean=False, recovery_point={"t-0": 15})
    data = batch(5, 5, attributes=CONTROL).data
    short = data[:8] + (33).to_bytes(4, "big") + data[12:43] + bytes(2)
    torn = Made(data=short, base_offset=5, last_offset=9)
    partition_dir(tmp_path / "d" / "t-0", [[*run(0, 4), torn, *run(10, 14)], run(15, 19)])
    job = Job((tmp_path / "d",), config=INDEX_SIZE)
    (start,) = predicted(job, version)
    assert "IndexOutOfBoundsException: the control batch at position 100 has 45 bytes" in str(start.reasons)
    judge(version, [job], ["d"])


@pytest.mark.sample(2)
@pytest.mark.parametrize("interval", [4096, 64])
@pytest.mark.parametrize("version", ["2.0.1", "1.1.1", "0.11.0.3", "0.10.2.2"])
def test_a_wrapper_that_begins_below_earlier_offsets(version: str, interval: int, tmp_path: Path) -> None:
    """A start up to 1.1 fails if the wrapper gets an index entry (KAFKA-3919); whatever the stop was."""
    lay_out(CASES / "kc170-wrapper-reaches-back" / "killed", tmp_path / "d")
    config = {**INDEX_SIZE, "index.interval.bytes": interval}
    jobs = [Job((tmp_path / "d",), config=config, clean=clean) for clean in (True, False)]
    fails = interval == 64 and version != "2.0.1"
    assert [fails] * 2 == [predicted(job, version)[0].outcome is Outcome.ABORT for job in jobs]
    judge(version, jobs, ["clean", "unclean"])


def test_excuses_are_published() -> None:
    """docs/predict.md lists what may differ, and why."""
    page = (ROOT / "docs" / "predict.md").read_text(encoding="utf-8")
    assert list(EXCUSES) == re.findall(r"^- \*\*(.+?)\*\*", page, re.MULTILINE)
