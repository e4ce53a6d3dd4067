"""Makes bundles that nobody captured: changed bytes, changed manifests, changed members.

`python -m tests.capture.hostile COUNT [SEED]` reads that many of each sample, and prints those that end in a bug, then
the most CPU time that one took and the peak memory of all.
"""

import io
import json
import os
import random
import resource
import sys
import sysconfig
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from tests.capture.answers import captured, fresh, run

FIXTURES = Path(__file__).parents[2] / "fixtures"
SAMPLE = FIXTURES / "brokers" / "4.3.1" / "killed" / "broker-1"
LOG = FIXTURES / "logs" / "4.3.1" / "server.log"
COMMANDS = (
    "check {} --depth records", "predict {}", "inspect {} --segments --files", "cluster {}",
)  # fmt: skip
"""What reads a bundle of log dirs."""
COMMANDS_OF_LOGS = (
    "explain {}", "check {}/server.properties", "predict {}/server.properties", "preflight {}/server.properties",
    "explain {} {}/server.properties",
)  # fmt: skip
"""What reads one of a broker, with its log and its configuration."""
ODD: tuple[Any, ...] = (
    None, -1, 0, 1, 2**31, 2**62, 2**63, 2**80, 1.5, True, "", "x", "../x", "a/../b", "/etc/passwd", "\x1b[2J", "\0",
    [], {}, [[]], "raw", "batches", "directory", "link", "manifest.json",
)  # fmt: skip


def members(bundle: bytes) -> dict[str, bytes]:
    """Return the members of a bundle by name."""
    with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist()}


def packed(content: dict[str, bytes], **attributes: Any) -> bytes:
    """Return a bundle of members; those that end in .batches, and the manifest, are stored."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in content.items():
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            is_stored = name.endswith((".batches", "manifest.json"))
            info.compress_type = zipfile.ZIP_STORED if is_stored else zipfile.ZIP_DEFLATED
            for attribute, value in attributes.items():
                setattr(info, attribute, value)
            archive.writestr(info, data)
    return stream.getvalue()


def changed_manifest(content: dict[str, bytes], rng: random.Random) -> dict[str, bytes]:
    """Return the members with one odd value in the manifest."""
    manifest = json.loads(content["manifest.json"])
    entry = rng.choice(manifest["entries"])
    key = rng.choice(["path", "type", "size", "member", "encoding", "records", "error"])
    entry[key] = rng.choice([*ODD, rng.choice(manifest["entries"]).get(key)])
    return {**content, "manifest.json": json.dumps(manifest).encode()}


def changed_bytes(data: bytes, rng: random.Random) -> bytes:
    """Return bytes with a few changed, cut off, or doubled."""
    changed = bytearray(data)
    if not changed:
        return b"\0"
    for _ in range(rng.choice([1, 1, 2, 8])):
        at = rng.randrange(len(changed))
        match rng.randrange(4):
            case 0:
                changed[at] ^= 1 << rng.randrange(8)
            case 1:
                changed[at] = rng.choice([0, 0xFF, 0x7F, 0x80])
            case 2:
                changed[at : at + 4] = rng.randbytes(4)
            case _:
                del changed[at : at + rng.choice([1, 4, 100])]
                if not changed:
                    return b""
    return bytes(changed)


def mutants(bundle: bytes, count: int, seed: int) -> Iterator[bytes]:
    """Yield bundles made from one; one of four or more has a changed log or configuration, if there is any."""
    rng, content = random.Random(seed), members(bundle)
    names = [name for name in content if name != "README.txt"]
    deciding = [name for name in names if name.endswith((".batches", ".json", ".log", ".properties"))]
    texts = [name for name in names if name.endswith((".log", "/server.properties"))] or deciding
    for number in range(count):
        match number % 4:
            case 0:
                yield changed_bytes(bundle, rng)
            case 1:
                yield packed(changed_manifest(content, rng))
            case kind:
                name = rng.choice(rng.choice((names, deciding)) if kind == 2 else texts)
                yield packed({**content, name: changed_bytes(content[name], rng)})


def sample_of_logs(folder: Path) -> bytes:
    """Return a bundle of a broker's configuration with its log dirs, and of a log."""
    config = folder / "server.properties"
    config.write_text(f"node.id=1\nprocess.roles=broker\nlog.dirs={SAMPLE}/data1,{SAMPLE}/data2\n", "utf-8")
    return captured([config], folder, "--with-server-log", str(LOG)).read_bytes()


class Opened:
    """Hears which files this process opens outside of Python, kcheck and one bundle, inside of a `with` block."""

    def __init__(self, bundle: Path) -> None:
        """Take the bundle; it may be made later."""
        places = (*sysconfig.get_paths().values(), sys.prefix, str(FIXTURES.parent / "kcheck"), str(bundle), os.devnull)
        self._known = tuple(map(os.path.realpath, places))
        self._hears = False
        self.paths: list[str] = []
        """What was opened."""
        sys.addaudithook(self._hear)  # no hook can be taken away

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._hears and event == "open" and isinstance(arguments[0], (str, bytes)):
            path = os.path.realpath(os.fsdecode(arguments[0]))
            if not path.startswith(self._known):
                self.paths.append(path)

    def __enter__(self) -> Self:
        self.paths, self._hears = [], True
        return self

    def __exit__(self, *_: object) -> None:
        self._hears = False


def outcomes(
    bundle: bytes, count: int, seed: int, folder: Path, commands: tuple[str, ...]
) -> Iterator[tuple[float, str]]:
    """Yield of each mutant the CPU seconds of a command, and what is wrong with its answer or read elsewhere."""
    path = folder / "mutant.kcheck"
    opened = Opened(path)
    for number, mutant in enumerate(mutants(bundle, count, seed)):
        path.write_bytes(mutant)
        command = commands[(number // 4 + number) % len(commands)]
        begin = time.process_time()
        with opened:
            code, out, errors = run([*command.replace("{}", str(path)).split(), "--kafka", "4.3", "--format", "json"])
        seconds = time.process_time() - begin
        is_bug = "bug in kcheck" in errors or "Traceback" in errors or '"KC000"' in out
        words = ""
        if code not in (0, 1, 2, 3) or is_bug or opened.paths:
            found = out[out.find("KC000") :][:500] if "KC000" in out else ""
            words = f"mutant {number}: {command} {code} {errors[:500]} {found} {opened.paths}"
        yield seconds, words
        fresh()


def bugs(bundle: bytes, count: int, seed: int, folder: Path, commands: tuple[str, ...]) -> list[str]:
    """Return what is wrong with the answers about mutants."""
    return [words for _, words in outcomes(bundle, count, seed, folder, commands) if words]


def samples(folder: Path) -> Iterator[tuple[bytes, tuple[str, ...]]]:
    """Yield a bundle of log dirs and one of a broker with its log, each with what reads it."""
    yield captured([SAMPLE], folder).read_bytes(), COMMANDS
    yield sample_of_logs(folder), COMMANDS_OF_LOGS


if __name__ == "__main__":
    slowest = 0.0
    count, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    with tempfile.TemporaryDirectory() as name:
        for sample, commands in samples(Path(name)):
            for seconds, words in outcomes(sample, count, seed, Path(name), commands):
                slowest = max(slowest, seconds)
                if words:
                    print(words)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"{2 * count} mutants: at most {slowest:.1f} s of CPU for one, and {peak} MiB")
