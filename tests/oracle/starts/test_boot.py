"""What `boot` tells is what Kafka's log manager does: facts that are known from elsewhere, on what real brokers left.

`KCHECK_SWEEP` multiplies the damaged log dirs, `KCHECK_SEED` chooses other ones.
"""

from pathlib import Path

import pytest

from kcheck.records.batch import HEADER
from tests.builders import broker, checkpoint, flip_byte, log_dir, partition_dir, partition_metadata, run, write
from tests.damage import cases
from tests.oracle.ask import IS_WHOLE, SEED, SWEEP, sampled
from tests.oracle.boot import DEADLINE, MARKER, Answer, Job, boot
from tests.oracle.conftest import no_kafka
from tests.oracle.jars import NoKafkaError

pytestmark = pytest.mark.oracle

BROKERS = Path(__file__).parents[3] / "fixtures" / "brokers"
VERSIONS = ("2.8.2", "3.9.2", "4.3.1")
INDEX_SIZE = 1024
FIXTURES = {"segment.index.bytes": INDEX_SIZE}
LOG = f"t-0/{0:020d}.log"
SECOND = f"t-0/{500:020d}.log"
BATCH_SIZE = HEADER.size + 39


def dirs_of(version: str, scene: str) -> tuple[Path, ...]:
    """Return the two log dirs of broker 1."""
    return tuple(sorted((BROKERS / version / scene / "broker-1").glob("data*")))


def two_segments(path: Path, *, damaged: str) -> Path:
    """Write a log of the offsets 0 to 999 that was flushed up to 500; batch 10 of one segment has a bad CRC."""
    log_dir(path, clean=False, recovery_point={"t-0": 500})
    write(partition_dir(path / "t-0", [run(0, 499), run(500, 999)]), {"partition.metadata": partition_metadata()})
    flip_byte(path / damaged, 11 * BATCH_SIZE - 1)
    return path


def booted(version: str, *jobs: Job, processes: int = 1, deadline: float = DEADLINE) -> list[Answer]:
    """Return the answers, or skip the test as the fixture `ask` does."""
    try:
        return boot(version, jobs, processes=processes, deadline=deadline)
    except NoKafkaError as error:
        no_kafka(f"Kafka {error}".partition("\n")[0])


@pytest.mark.parametrize("version", sampled(VERSIONS))
def test_outcomes(version: str, tmp_path: Path) -> None:
    """One JVM starts brokers that work and brokers that end in every other way, and each answer is its own."""
    names = ("fine", "unnamed", "negative", "huge", "twice", "again", "offline")
    made = {name: broker(tmp_path / name, run(0, 9)) for name in names}
    (made["unnamed"] / "lost+found").mkdir()
    epochs = "t-0/leader-epoch-checkpoint"
    write(made["negative"], {epochs: checkpoint(["-1 0"])})
    write(made["huge"], {epochs: b"0\n2147483647\n0 0\n"})
    write(made["offline"], {epochs: b"1\n0\n"})
    write(made["twice"], {"recovery-point-offset-checkpoint": b""})
    groups = [
        ("unnamed",),
        ("negative",),
        ("huge",),
        ("twice", "again"),
        ("offline",),
        ("offline", "unused"),
        ("fine",),
    ]
    made["unused"] = log_dir(tmp_path / "unused")
    answers = booted(version, *(Job(tuple(made[name] for name in group)) for group in groups))
    told = [(answer.outcome, answer.offline, answer.halted, answer.exception) for answer in answers]
    # 2.8 makes no room for what the file only promises, and lets no storage exception pass.
    storage = ("abort", (0,), False, ("KafkaStorageException", "IOException"))
    old = version.startswith("2.")
    assert told == [
        ("abort", (), False, ("KafkaException",)),
        ("abort", (), False, ("IllegalArgumentException",)),
        storage if old else ("abort", (), False, ("OutOfMemoryError",)),
        ("abort", (), False, ("IllegalStateException",)),
        *([storage] * 2 if old else [("offline", (0,), True, ()), ("offline", (0,), False, ())]),
        ("ok", (), False, ()),
    ]


@pytest.mark.parametrize("version", sampled(VERSIONS))
def test_brokers(version: str) -> None:
    """After a clean stop a start leaves the logs as they are; after a kill it looks through the active segments.

    Both take the marker away, bring active indexes to full size, and drop epochs that begin at the log end.
    """
    stopped, killed = booted(version, *(Job(dirs_of(version, scene), FIXTURES) for scene in ("stopped", "killed")))
    assert stopped.outcome == killed.outcome == "ok"
    for place, folder in enumerate(dirs_of(version, "stopped")):
        before = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*.log")}
        after = {name: seen for name, seen in stopped.files[place].items() if seen is not None}
        before = {name: path for name, path in before.items() if not name.startswith("__cluster_metadata")}
        assert MARKER not in after
        for name, path in before.items():
            assert after[name].size == path.stat().st_size
    ends = {(log.topic, log.partition): (log.log_start_offset, log.log_end_offset) for log in stopped.logs}
    assert ends["segments", 0] == (0, 129)
    assert ends["deleted", 0][0] == 17
    for log in (*stopped.logs, *killed.logs):
        files = (stopped if log in stopped.logs else killed).files[log.log_dir]
        active = max(name for name in files if name.startswith(f"{log.dir}/") and name.endswith(".log"))
        index = files[active.replace(".log", ".index")]
        assert index is not None
        assert index.size == INDEX_SIZE
        assert all(start < log.log_end_offset for _, start in log.leader_epochs)
    # A recovery leaves a snapshot at the log end.
    place = next(log.log_dir for log in killed.logs if log.topic == "segments")
    assert f"segments-0/{129:020d}.snapshot" not in {path.name for path in dirs_of(version, "killed")[place].rglob("*")}
    assert f"segments-0/{129:020d}.snapshot" in killed.files[place]


@pytest.mark.parametrize("version", sampled(VERSIONS))
def test_recovery(version: str, tmp_path: Path) -> None:
    """A bad CRC below the recovery point stays; above it the log is cut there, and later segments go in a while."""
    below = two_segments(tmp_path / "below", damaged=LOG)
    above = two_segments(tmp_path / "above", damaged=SECOND)
    leftover = ".kcheck-0123456789ab-0"  # what `kcheck apply` leaves when it is killed
    write(below, {leftover: b"x", f"t-0/{leftover}": b"x"})
    first = broker(tmp_path / "first", [])
    write(first / "t-0", {path.name: path.read_bytes() for path in (below / "t-0").iterdir()})
    jobs = [Job((below,)), Job((above,)), Job((above,), clean=True), Job((first,), clean=False)]
    answers = booted(version, *jobs)
    assert [answer.logs[0].log_end_offset for answer in answers] == [1000, 600, 1000, 100]
    assert {leftover, f"t-0/{leftover}"} <= answers[0].files_later[0].keys()
    cut = answers[-1]
    kept = cut.files[0][LOG]
    assert kept is not None
    assert kept.size == 10 * BATCH_SIZE
    assert SECOND not in cut.files[0]
    assert f"{SECOND}.deleted" in cut.files[0]
    assert f"{SECOND}.deleted" not in cut.files_later[0]


@pytest.mark.sample(1)
@pytest.mark.parametrize("version", VERSIONS)
def test_damaged(version: str, tmp_path: Path) -> None:
    """Damaged log dirs are all answered, and every time the same."""
    made = list(cases(SEED, 30 * SWEEP if IS_WHOLE else 12, tmp_path, version))
    jobs = [Job(case.dirs, case.config) for case in made]
    answers = booted(version, *jobs, *jobs[:5], processes=2)
    assert {answer.outcome for answer in answers} == {"ok", "offline", "abort"}
    # A message names the folder that a start has for itself.
    again = [answer._replace(log="", message="") for answer in answers[len(jobs) :]]
    assert again == [answer._replace(log="", message="") for answer in answers[:5]]


def test_deadline(tmp_path: Path) -> None:
    """A start that takes too long is a hang, and the next one is tried all the same."""
    jobs = [Job((broker(tmp_path / name, run(0, 9)),)) for name in ("one", "two")]
    assert [answer.outcome for answer in booted("3.9.2", *jobs, deadline=0.0)] == ["hang", "hang"]
