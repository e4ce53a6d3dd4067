"""Boots the real LogManager of a Kafka release on copies of log dirs: `boot("4.3.1", [Job((path,))])`.

What a start leaves behind is told as values and as the files that are there afterwards. The originals stay as they
are. One JVM starts one broker after the other; one that hangs or dies costs its own answer and no other.
"""

import json
import os
import queue
import re
import selectors
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from tests.oracle.jars import java_command, numbers
from tests.oracle.kafka import TIMEOUT

DEADLINE = 30.0
"""Seconds that one start may take."""

HASHED_SIZE_MAX = 1 << 20
STRAY = f".{'0' * 32}-stray"
"""What stands in names for the random id of a directory that a start renames, and of every other stray one."""

_STRAY = re.compile(r"\.[0-9a-f]{32}-stray\b")
MARKER = ".kafka_cleanshutdown"
SOURCE = Path(__file__).parent / "java" / "Boot.java"

SERVER_NAMES = {
    "segment.index.bytes": "log.index.size.max.bytes",
    "index.interval.bytes": "log.index.interval.bytes",
    "segment.bytes": "log.segment.bytes",
    "segment.ms": "log.roll.ms",
    "file.delete.delay.ms": "log.segment.delete.delay.ms",
    "preallocate": "log.preallocate",
    "message.format.version": "log.message.format.version",
}
"""What a setting of a topic is called in server.properties."""

MODES = {
    "zk": {"broker.id": "1", "zookeeper.connect": "127.0.0.1:1"},
    "kraft": {
        "process.roles": "broker",
        "node.id": "1",
        "controller.quorum.voters": "100@127.0.0.1:1",
        "controller.listener.names": "CONTROLLER",
        "listeners": "PLAINTEXT://127.0.0.1:2",
    },
}
COMMON = {
    "num.recovery.threads.per.data.dir": "1",  # one log after the other, in the order of the directory
    "log.cleaner.enable": "false",  # its threads would work on while we look
}


class Job(NamedTuple):
    """A broker to be started: copies of `dirs`, its log dirs.

    `config` is server.properties, names of topic settings allowed; `topics` are topics with settings of their own.
    `clean` puts the marker there or takes it away, None leaves it. `mode` is "kraft" or "zk", None the release's
    usual one; in KRaft a log without a topic id becomes stray. `now` is the broker's clock, in milliseconds: at 0 no
    producer expires.
    """

    dirs: tuple[Path, ...]
    config: Mapping[str, object] = {}
    topics: Mapping[str, Mapping[str, object]] = {}
    clean: bool | None = None
    mode: str | None = None
    now: int = 0


class LoadedLog(NamedTuple):
    """A log that the broker has after its start.

    `log_dir` is the place of its log dir in `Job.dirs`, `dir` the directory's name then; `state` is "current",
    "future", "stray" or "deleted"; `leader_epochs` are the entries of the cache as (epoch, start offset).
    """

    log_dir: int
    dir: str
    topic: str
    partition: int
    state: str
    log_start_offset: int
    log_end_offset: int
    recovery_point: int
    leader_epochs: tuple[tuple[int, int], ...]


class SeenFile(NamedTuple):
    """A file after the start: its size, and the SHA-256 in hexadecimal, None if it is longer than HASHED_SIZE_MAX."""

    size: int
    sha256: str | None


Files = Mapping[str, SeenFile | None]
"""What stands in a log dir by relative path, sorted; None for a directory."""


class Answer(NamedTuple):
    """What became of a `Job`.

    `outcome`: "ok"; "offline" when the log dirs of `offline` (places in `Job.dirs`) were given up, and `halted` when
    none is left, so that the process ends; "abort", whatever `offline` says, when an exception ended the start,
    `exception` its class and those of its causes; "hang" when the deadline passed; "died" when the JVM ended. After an
    abort `logs` are the ones that were loaded all the same: every log of a dir is tried, in the order of its listing.
    A real broker may halt before.

    `files` has for each dir what stands there when the tasks that are due at once are done (epoch files written in the
    background), `files_later` what is left when the delayed ones are: files renamed to `.deleted` are removed.
    `log` is what the broker logged, from WARN on.
    """

    outcome: str
    offline: tuple[int, ...]
    halted: bool
    exception: tuple[str, ...]
    message: str | None
    logs: tuple[LoadedLog, ...]
    files: tuple[Files, ...]
    files_later: tuple[Files, ...]
    log: str


class _Gone(Exception):  # noqa: N818 - it tells an outcome, "hang" or "died"
    pass


def boot(release: str, jobs: Sequence[Job], *, processes: int = 1, deadline: float = DEADLINE) -> list[Answer]:
    """Return the answer to each job; up to `processes` JVMs share them. Raises NoKafkaError without Kafka."""
    java_command(release, SOURCE)  # raises here, not in a thread
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in range(len(jobs)):
        waiting.put(number)
    answers: dict[int, Answer] = {}
    errors: list[BaseException] = []

    def work() -> None:
        try:
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                _work(release, jobs, waiting, answers, Path(folder), deadline)
        except BaseException as error:  # noqa: BLE001 - raised again in the thread of the caller
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(min(processes, len(jobs)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return [answers[number] for number in range(len(jobs))]


def _work(
    release: str,
    jobs: Sequence[Job],
    waiting: "queue.SimpleQueue[int]",
    answers: dict[int, Answer],
    folder: Path,
    deadline: float,
) -> None:
    jvm = _Jvm(release, folder / "log", deadline)
    try:
        for number in _taken(waiting):
            if jvm.gone:
                jvm = _Jvm(release, folder / "log", deadline)
            place = folder / str(number)
            place.mkdir()
            answers[number] = _started(jvm, release, jobs[number], place)
            shutil.rmtree(place, ignore_errors=True)  # a thread of Kafka may still write there
    finally:
        jvm.end()


def _taken(waiting: "queue.SimpleQueue[int]") -> Iterator[int]:
    while True:
        try:
            yield waiting.get_nowait()
        except queue.Empty:
            return


def _started(jvm: "_Jvm", release: str, job: Job, place: Path) -> Answer:
    dirs = [place / f"data{number}" for number in range(1, len(job.dirs) + 1)]
    for source, copy in zip(job.dirs, dirs, strict=True):
        shutil.copytree(source, copy, symlinks=True)
        (copy / ".lock").unlink(missing_ok=True)
        if job.clean is not None:
            (copy / MARKER).unlink(missing_ok=True)
            if job.clean:
                (copy / MARKER).write_text('{"version":0,"brokerEpoch":-1}')
    mode = job.mode or ("kraft" if numbers(release) >= (3, 3) else "zk")
    asked = {SERVER_NAMES.get(name, name): str(value) for name, value in job.config.items()}
    request = {
        "dirs": [str(path) for path in dirs],
        "settings": {**COMMON, **MODES[mode], **asked},
        "topics": {name: {key: str(value) for key, value in of.items()} for name, of in job.topics.items()},
        "stray": mode == "kraft" and numbers(release) >= (3, 7, 1),
        "now": job.now,
    }
    try:
        told = jvm.ask(request)
        files = tuple(files_of(path) for path in dirs)
        jvm.ask("later")
    except _Gone as gone:
        return Answer(str(gone), (), False, (), None, (), (), (), jvm.logged())
    places = {str(path): number for number, path in enumerate(dirs)}
    exception = tuple(told.get("exception", ()))
    logs = sorted(_log(row, places) for row in told["logs"])
    return Answer(
        outcome="abort" if exception else "offline" if told["offline"] else "ok",
        offline=tuple(sorted(places[path] for path in told["offline"])),
        halted=told["halted"],
        exception=exception,
        message=told.get("message"),
        logs=tuple(logs),
        files=files,
        files_later=tuple(files_of(path) for path in dirs),
        log=jvm.logged(),
    )


def _log(row: dict[str, Any], places: Mapping[str, int]) -> LoadedLog:
    epochs = tuple((epoch, start) for epoch, start in row.pop("leader_epochs"))
    row["dir"] = _STRAY.sub(STRAY, row["dir"])
    return LoadedLog(log_dir=places[row.pop("log_dir")], leader_epochs=epochs, **row)


def files_of(folder: Path) -> Files:
    """Return what stands below a folder, `.lock` left out; links are not followed."""
    found: dict[str, SeenFile | None] = {}
    for path in sorted(folder.rglob("*")):
        name = _STRAY.sub(STRAY, str(path.relative_to(folder)))
        if path.is_dir() and not path.is_symlink():
            found[name] = None
        elif path.is_file() and path.name != ".lock":
            size = path.stat().st_size
            digest = sha256(path.read_bytes()).hexdigest() if size <= HASHED_SIZE_MAX else None
            found[name] = SeenFile(size, digest)
    return found


class _Jvm:
    """A JVM that runs `Boot.java`; what it logs goes into the file `log`."""

    def __init__(self, release: str, log: Path, deadline: float) -> None:
        self.gone = False
        self._deadline = deadline
        self._log = log
        command = java_command(release, SOURCE)
        with log.open("wb") as out:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=out,
                env={**os.environ, "LC_ALL": "C.UTF-8"},  # the names of files are UTF-8, whatever the screen is
            )  # fmt: skip
        assert self._process.stdout is not None
        self._read = 0
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._process.stdout, selectors.EVENT_READ)
        self._answer(TIMEOUT)

    def ask(self, request: object) -> dict[str, Any]:
        """Return the answer to a line; raises _Gone."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            self._give_up("died")
        return self._answer(self._deadline)

    def _answer(self, deadline: float) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = b""
        while not line.startswith(b"{"):  # log4j2 says there what it has to say of itself
            if not self._selector.select(deadline):
                self._give_up("hang")
            line = self._process.stdout.readline()
            if not line.endswith(b"\n"):
                self._give_up("died")
        told = json.loads(line)
        assert isinstance(told, dict)
        return told

    def _give_up(self, outcome: str) -> None:
        self.end()
        raise _Gone(outcome)

    def logged(self) -> str:
        """Return what was logged since this was asked last."""
        with self._log.open("rb") as log:
            log.seek(self._read)
            text = log.read()
        self._read += len(text)
        return text.decode(errors="replace")

    def end(self) -> None:
        """End the process, whatever it does."""
        self.gone = True
        self._process.kill()
        self._process.communicate()
        self._selector.close()
