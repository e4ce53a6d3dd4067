"""A stranger's bundle is refused with a reason, or read: no file is written, no memory filled, nothing escapes.

KCHECK_SWEEP multiplies the mutants: 60 makes 6,000 of each of two bundles. KCHECK_SEED chooses other ones.
"""

import io
import json
import os
import stat
import struct
import tracemalloc
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest

from kcheck.bundles import rows
from kcheck.bundles.small_files import BadBundleError
from tests.capture.answers import captured, fresh, run
from tests.capture.hostile import SAMPLE, Opened, bugs, members, packed, sample_of_logs, samples
from tests.oracle.ask import generated

COUNT, SEED = generated(100), int(os.environ.get("KCHECK_SEED", "7"))


@pytest.fixture(name="sample", scope="module")
def _sample(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return captured([SAMPLE], tmp_path_factory.mktemp("made")).read_bytes()


def refused(bundle: bytes, folder: Path) -> str:
    """Return why a bundle is refused."""
    path = folder / "stranger.kcheck"
    path.write_bytes(bundle)
    before = sorted(folder.rglob("*"))
    code, out, errors = run(["check", str(path)])
    fresh()
    assert (code, out) == (2, ""), (code, out, errors)
    assert sorted(folder.rglob("*")) == before
    assert errors.isascii()
    assert "\x1b" not in errors
    return errors.strip().removeprefix(f"kcheck: {path}").strip()


def with_manifest(sample: bytes, **changes: Any) -> bytes:
    """Return a bundle whose first file with a member has other values in the manifest."""
    content = members(sample)
    manifest = json.loads(content["manifest.json"])
    entry = next(entry for entry in manifest["entries"] if "member" in entry)
    entry.update(changes)
    return packed({**content, "manifest.json": json.dumps(manifest).encode()})


def test_no_mutant_finds_a_bug(tmp_path: Path) -> None:
    """Changed bytes, manifests, members, logs and settings end in an answer or a refusal, and nothing else is read."""
    assert [] == [
        words for made, commands in samples(tmp_path) for words in bugs(made, COUNT, SEED, tmp_path, commands)
    ]


@pytest.mark.parametrize(
    "name", ["../../etc/cron.d/x", "/etc/x", "a/../../b", "a\\b", "C:x", "a\x1b[2Jb", "a/./b", "a//b", "n" * 5000]
)
def test_a_member_that_leads_out_is_refused(sample: bytes, tmp_path: Path, name: str) -> None:
    """Zip slip, drive letters, escapes: nothing is unpacked, and the bundle is refused all the same."""
    assert "a member has the name" in refused(packed({**members(sample), name: b"x"}), tmp_path)


@pytest.mark.parametrize("path", ["../x", "/x", "a/../x", "", "a/", "a\0b", "x" * 5000, 7, None, ["a"]])
def test_a_path_that_leads_out_is_refused(sample: bytes, tmp_path: Path, path: object) -> None:
    """The paths in the manifest are names below the bundle."""
    assert "an entry has the path" in refused(with_manifest(sample, path=path), tmp_path)


@pytest.mark.parametrize("place", ["/etc", "../broker", "data1/../../broker", ".."])
def test_a_log_dir_that_leads_out_is_refused(tmp_path: Path, place: str) -> None:
    """The configuration in a bundle names log dirs of the bundle alone."""
    config = tmp_path / "server.properties"
    config.write_text(f"broker.id=1\nlog.dirs={SAMPLE}/data1\n", "utf-8")
    content = members(captured([config], tmp_path).read_bytes())
    stranger = tmp_path / "stranger.kcheck"
    stranger.write_bytes(packed({**content, "files/server.properties": f"broker.id=1\nlog.dirs={place}\n".encode()}))
    code, out, errors = run(["check", f"{stranger}/server.properties"])
    fresh()
    assert (2, "") == (code, out)
    assert f"the log dir {place} is not in the bundle" in errors


def test_settings_without_log_dirs_stand_for_no_directory_of_this_host(tmp_path: Path) -> None:
    """Kafka's default log dir is that of the broker, not of who reads the bundle."""
    stranger = tmp_path / "stranger.kcheck"
    stranger.write_bytes(packed({**members(sample_of_logs(tmp_path)), "files/server.properties": b"node.id=1\n"}))
    for verb in ("preflight", "check", "predict"):
        with Opened(stranger) as opened:
            code, out, errors = run([verb, f"{stranger}/server.properties"])
        assert (2, "", []) == (code, out, opened.paths), verb
        assert "no log.dirs setting" in errors
    fresh()


@pytest.mark.parametrize("verb", [["inspect", "--files"], ["check"], ["predict"]])
def test_no_name_moves_the_cursor(sample: bytes, tmp_path: Path, verb: list[str]) -> None:
    """A directory, a file and an error of a manifest can hold any text; the screen shows it escaped."""
    content = members(sample)
    manifest = json.loads(content["manifest.json"])
    first = next(entry["path"] for entry in manifest["entries"] if entry["path"].count("/") == 1)
    log_dir = first.partition("/")[0]
    manifest["entries"] += [
        {"path": f"{log_dir}/\x1b[2J-0", "type": "directory"},
        {"path": f"{log_dir}/\x1b[2J-0/{0:020d}.log", "type": "file", "size": 7},
        {"path": f"{log_dir}/\x1b[1A\u202e", "type": "file", "size": 7},
        {"path": f"{log_dir}/x-1", "type": "directory", "error": {"errno": 5, "message": "\x1b[31mbad"}},
    ]
    path = tmp_path / "stranger.kcheck"
    path.write_bytes(packed({**content, "manifest.json": json.dumps(manifest).encode()}))
    code, out, errors = run([*verb, str(path)])
    fresh()
    assert code in (0, 1, 3)
    assert not {"\x1b", "\u202e"} & {*out, *errors}


def test_a_link_is_refused(sample: bytes, tmp_path: Path) -> None:
    """No member is a symbolic link."""
    why = refused(packed(members(sample), external_attr=(stat.S_IFLNK | 0o777) << 16, create_system=3), tmp_path)
    assert why.endswith("manifest.json is a link, not a file")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"size": 2**62}, "cannot contain files of"),
        ({"size": -1}, "is invalid"),
        ({"size": 2**70}, "is invalid"),
        ({"size": 1}, "is larger than the file was"),
        ({"type": "socket"}, "is invalid"),
        ({"encoding": "pickle"}, "is invalid"),
        ({"member": "files/none"}, "has no member files/none"),
        ({"member": 7}, "is invalid"),
        ({"member": "files/data1/meta.properties"}, "two files have the member"),
        ({"path": "data1/no/where"}, "is in no directory"),
        ({"path": "data1"}, "two entries have the path"),
        ({"error": {"errno": -1, "message": "x"}}, "an error in its manifest is invalid"),
        ({"error": 5}, "an error in its manifest is invalid"),
    ],
)
def test_a_manifest_that_contradicts_itself_is_refused(
    sample: bytes, tmp_path: Path, changes: dict[str, object], why: str
) -> None:
    """Sizes that no bundle can have, members that do not exist, and what else a manifest can say."""
    assert why in refused(with_manifest(sample, **changes), tmp_path)


def test_a_bomb_is_refused(sample: bytes, tmp_path: Path) -> None:
    """A manifest of zeros, many members of zeros, and deep JSON: refused in bounded memory."""
    content = members(sample)
    deep = b"[" * 100_000
    tracemalloc.start()
    for manifest in (bytes(64 << 20), deep, b'{"format": 7}', b"[]", b'{"format": "kcheck.bundle/1"}'):
        assert "is not a bundle" in refused(packed({**content, "manifest.json": manifest}), tmp_path)
    assert tracemalloc.get_traced_memory()[1] < 400 << 20
    tracemalloc.stop()


def test_a_block_that_inflates_to_more_is_refused() -> None:
    """The index says how many rows a block has: no more bytes are made of it."""
    bomb = zlib.compress(bytes(64 << 20), 9)
    tracemalloc.start()
    with pytest.raises(BadBundleError):
        rows.unpacked_block(bomb, 10, 0, 0)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


def test_what_is_no_zip_is_no_bundle(sample: bytes, tmp_path: Path) -> None:
    """Cut off, encrypted, compressed in an odd way, with two members of one name, without a manifest."""
    assert "it is no complete zip" in refused(sample[:-30], tmp_path)
    start = sample.find(b"PK\1\2")
    assert "encrypted" in refused(sample[: start + 8] + b"\1" + sample[start + 9 :], tmp_path)
    assert "unknown way" in refused(sample[: start + 10] + b"\x0c" + sample[start + 11 :], tmp_path)
    assert "list of members has" in refused(sample[:-10] + struct.pack("<I", 1 << 30) + sample[-6:], tmp_path)
    stream = io.BytesIO(sample)
    with zipfile.ZipFile(stream, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("README.txt", b"again")
    assert "two members have the name README.txt" in refused(stream.getvalue(), tmp_path)
