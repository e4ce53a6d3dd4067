"""Makes bundles that nobody captured: changed bytes, changed manifests, changed members.

`python -m tests.capture.hostile COUNT [SEED]` reads that many, and prints those that end in a bug.
"""

import io
import json
import random
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.capture.answers import captured, fresh, run

FIXTURES = Path(__file__).parents[2] / "fixtures"
SAMPLE = FIXTURES / "brokers" / "4.3.1" / "killed" / "broker-1"
COMMANDS = (["check", "--depth", "records"], ["predict"], ["inspect", "--segments", "--files"], ["cluster"])
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
    """Yield bundles made from one."""
    rng, content = random.Random(seed), members(bundle)
    names = [name for name in content if name != "README.txt"]
    for number in range(count):
        match number % 4:
            case 0:
                yield changed_bytes(bundle, rng)
            case 1:
                yield packed(changed_manifest(content, rng))
            case _:
                name = rng.choice(names)
                if rng.randrange(2):
                    name = rng.choice([name for name in names if name.endswith((".batches", ".json"))])
                yield packed({**content, name: changed_bytes(content[name], rng)})


def bugs(bundle: bytes, count: int, seed: int, folder: Path) -> Iterator[tuple[int, str]]:
    """Yield the number of each mutant that a command fails on, and what it prints."""
    path = folder / "mutant.kcheck"
    for number, mutant in enumerate(mutants(bundle, count, seed)):
        path.write_bytes(mutant)
        command = COMMANDS[number % len(COMMANDS)]
        code, out, errors = run([*command, str(path), "--kafka", "4.3", "--format", "json"])
        if code not in (0, 1, 2, 3) or "bug in kcheck" in errors or "Traceback" in errors or '"KC000"' in out:
            yield number, f"{command} {code} {errors[:500]} {out[out.find('KC000') :][:500] if 'KC000' in out else ''}"
        fresh()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        sample = captured([SAMPLE], Path(name)).read_bytes()
        seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
        for number, words in bugs(sample, int(sys.argv[1]), seed, Path(name)):
            print(number, words)
