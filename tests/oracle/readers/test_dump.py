"""`kcheck dump --format kafka` writes what the kafka-dump-log of each release writes, line for line.

The files of real brokers, those of the cases, and damaged ones. Where an exception ends the tool, what it wrote up to
there is how kcheck begins. KCHECK_SWEEP multiplies the damaged files, KCHECK_SEED chooses other ones.
"""

import io
import re
import shutil
import struct
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from kcheck.dumps.filter import DumpDetail, Filter
from kcheck.formats.producer_snapshot import PRODUCER, Producer, ProducerSnapshot, serialize
from kcheck.records.batch import HEADER, OVERHEAD, body_from, checksum
from kcheck.renderers import Options
from kcheck.renderers.kafka import render
from kcheck.screen.printable import printable
from kcheck.verbs.dump import dump
from tests.cases.build import CASES, FOUND, lay_out, shared_copy
from tests.docs.examples import ROOT
from tests.oracle.ask import IS_WHOLE, SEED, Ask, assert_equal, flips, generated, sampled, spread
from tests.record_bytes import with_overhead, wrapper

pytestmark = pytest.mark.oracle

LOGS = (".log", ".checkpoint")
ENDINGS = (*LOGS, ".index", ".timeindex", ".txnindex", ".snapshot")
OPTIONS = ("--deep-iteration", "--print-data-log")
EACH = tuple((version, option) for version in ("3.9.2", "4.3.1") for option in OPTIONS)
BROKERS = ("0.10.2.2", "0.11.0.3", "2.8.2", "3.9.2", "4.3.1")
TOO_LARGE_VALUE = "kc169-message-set/value"
RULES = ("kc14", "kc15", "kc16", "kc17", "kc18")

TRAILING_SPACE = {"3.9.2"}
"""Up to 4.2 the line of a producer without a batch ends with a space, no other line does, and a brace stands behind the
CRC of a message."""

LEADER_CHANGE = re.compile(r" LeaderChange: \{.*?\]}")
"""Its value is shown from 4.1 on."""

CLOSING = re.compile(r"(isValid: (?:true|false) crc: [0-9]+)}")

TOO_SMALL = "too small for a batch"
"""Where a batch of magic 2 is smaller than its header, the tool takes the fields from what stands behind it."""


@pytest.mark.parametrize("version", sampled(("3.9.2", "4.3.1")))
def test_files_of_brokers(version: str, ask: Ask, tmp_path: Path) -> None:
    """Every file of the clusters in fixtures, of releases from 0.10.2 on: magic 1 and 2."""
    folders = [ROOT / "fixtures" / "brokers" / name for name in BROKERS]
    _compare(version, spread(list(_copies(folders, tmp_path)), 150), ask)


@pytest.mark.parametrize("version", sampled(("3.9.2", "4.3.1")))
def test_files_of_cases(version: str, ask: Ask, tmp_path: Path) -> None:
    """Every damaged segment, index and snapshot of the cases."""
    _compare(version, list(_copies_of_cases(tmp_path)), ask)


@pytest.mark.parametrize("version", sampled(("3.9.2", "4.3.1")))
def test_damaged_files(version: str, ask: Ask, tmp_path: Path) -> None:
    """Bytes changed, put in, or taken out, anywhere in a file."""
    random = Random(f"{SEED} {version}")
    found = shared_copy(CASES / "kc171-transaction-index-damaged" / "clean") / "transactions-0"
    old = next(path for path in (ROOT / "fixtures/brokers/0.10.2.2").rglob("*.log") if path.stat().st_size)
    paths: list[Path] = []
    for source in (old, *sorted(path for path in found.iterdir() if path.suffix in ENDINGS and path.stat().st_size)):
        for number, data in enumerate(flips(random, source.read_bytes(), generated(200))):
            folder = tmp_path / f"{len(paths)}-{number}"
            folder.mkdir()
            for beside in source.parent.glob(f"{source.stem}.*"):
                shutil.copy(beside, folder)
            (folder / source.name).write_bytes(data)
            paths.append(folder / source.name)
    _compare(version, paths, ask)


@pytest.mark.parametrize("version", sampled(("3.9.2", "4.3.1")))
def test_every_header(version: str, ask: Ask, tmp_path: Path) -> None:
    """Numbers of any size in every field of a batch or of a producer, with the right CRC."""
    random = Random(f"{SEED} {version}")
    paths: list[Path] = []
    for number in range(generated(200)):
        paths += (tmp_path / f"{number:020d}.log", tmp_path / f"{number:020d}.snapshot")
        paths[-2].write_bytes(b"".join(_batch(random) for _ in range(5)))
        paths[-1].write_bytes(serialize(ProducerSnapshot(1, tuple(_producer(random) for _ in range(3)))))
    _compare(version, paths, ask)


@pytest.mark.parametrize(("version", "option"), spread(EACH, 1))
def test_records_of_brokers(version: str, option: str, ask: Ask, tmp_path: Path) -> None:
    """Every log and KRaft snapshot of brokers and cases: every codec, transactions, markers, control records."""
    folders = [ROOT / "fixtures" / "brokers" / name for name in BROKERS]
    copies = [*_copies(folders, tmp_path), *_copies_of_cases(tmp_path)]
    paths = [path for path in copies if path.suffix in LOGS]
    if option == "--deep-iteration":
        # docs/dump.md: the tool tells the size that such a message states, and does not look for the value.
        paths = [path for path in paths if not path.is_relative_to(tmp_path / TOO_LARGE_VALUE)]
    _compare(version, spread(paths, 80), ask, option)


@pytest.mark.parametrize("version", sampled(("3.9.2", "4.3.1")))
def test_damaged_records(version: str, ask: Ask, tmp_path: Path) -> None:
    """Bytes changed, put in, or taken out, anywhere in a log."""
    random = Random(f"{SEED} {version} records")
    paths: list[Path] = []
    for name in BROKERS:
        found = sorted((ROOT / "fixtures" / "brokers" / name).rglob("*.log"))
        wanted = ("codecs-0", "transactions-0", "__cluster_metadata-0", "__consumer_offsets-0", "plain-0")
        small = {path.parent.name: path for path in found if path.parent.name in wanted and path.stat().st_size}
        for source in small.values():
            for data in flips(random, source.read_bytes()[:4000], generated(60)):
                paths.append(tmp_path / f"{len(paths)}" / source.name)
                paths[-1].parent.mkdir()
                paths[-1].write_bytes(data)
    _compare(version, paths, ask, "--print-data-log")


@pytest.mark.parametrize(("version", "option"), EACH if IS_WHOLE else EACH[::3])
def test_sizes_below_that_of_a_null(version: str, option: str, ask: Ask, tmp_path: Path) -> None:
    """Any negative size of a message is a null, and is shown as it stands."""
    sizes = struct.pack(">ii", -5, -(2**31))
    inner = [with_overhead(0, magic, 0, bytes(8 * magic) + sizes) for magic in (0, 1)]
    path = tmp_path / f"{0:020d}.log"
    path.write_bytes(b"".join((*inner, *(wrapper(0, each, magic=magic) for magic, each in enumerate(inner)))))
    _compare(version, [path], ask, option)


def _batch(random: Random) -> bytes:
    magic, body = random.choice((2, 2, 2, 3, 127)), random.randbytes(random.randrange(4))
    fields = [_number(random, kind) for _, kind in HEADER.fields[5:]]
    fields[0] = random.randrange(256) & ~7 | random.choice((0, 0, 1, 2, 3, 4, 4, 5))
    covered = HEADER.pack(0, 0, 0, 0, 0, *fields)[body_from(magic) :] + body
    size = HEADER.size - OVERHEAD.size + len(body)
    head = (_number(random, "i64"), size, _number(random, "i32"), magic, checksum(covered, magic))
    return HEADER.pack(*head, *fields)[: body_from(magic)] + covered


def _producer(random: Random) -> Producer:
    return Producer._make(_number(random, kind) for _, kind in PRODUCER.fields)


def _number(random: Random, kind: str) -> int:
    most = (1 << int(kind[1:]) - 1) - 1
    return random.choice((-1, 0, 1, 1000, most, most - 1, -most - 1, random.randint(-most, most)))


def _copies(folders: list[Path], target: Path) -> Iterator[Path]:
    """Yield the files to dump, in a copy: the tool makes the indexes that it misses."""
    for folder in folders:
        copy = target / folder.relative_to(ROOT)
        shutil.copytree(folder, copy)
        yield from _dumped(copy)


def _copies_of_cases(target: Path) -> Iterator[Path]:
    """Yield the files to dump of the rules about batches, indexes and producers, in a copy."""
    for case in FOUND:
        if case.parent.name.startswith(RULES):
            copy = target / case.relative_to(CASES)
            lay_out(case, copy)
            yield from _dumped(copy)


def _dumped(folder: Path) -> list[Path]:
    """Return the files below a folder that the tool can dump."""
    return sorted(path for path in folder.rglob("*") if path.suffix in ENDINGS and path.is_file())


def _compare(version: str, paths: list[Path], ask: Ask, option: str | None = None) -> None:
    theirs, ours = [], []
    options = () if option is None else (option,)
    line_end = printable("\n") if option == "--print-data-log" else "\n"
    for path, answer in zip(paths, ask(version, "Dump.java", paths, *options), strict=True):
        encoded, _, end = answer.rpartition(" ")
        text = b64decode(encoded).decode()
        our, told = _ours(path, option)
        if option is not None and end.startswith("!"):
            # The line that it has begun when it finds that a value does not fit.
            text = text[: text.rindex("\n") + 1]
        if option == "--print-data-log":
            # A payload may be anything: what moves the cursor is an escape in ours.
            our, text = our.replace("\n", line_end), printable(text)
        if version in TRAILING_SPACE:
            our, text = our.replace(f" {line_end}", line_end), text.replace(f" {line_end}", line_end)
            our, text = LEADER_CHANGE.sub(" controlType: LEADER_CHANGE(2)", our), CLOSING.sub(r"\1", text)
        if told.endswith(TOO_SMALL):
            our, text = our[: our.rindex("Found ")], text[: our.rindex("Found ")]
        theirs.append(text)
        ours.append(our[: len(text)] if end.startswith("!") else our)
    assert_equal(paths, ours, theirs)


def _ours(path: Path, option: str | None) -> tuple[str, str]:
    """Return the lines, and why valid data ends before the end of the file."""
    stream = io.StringIO()
    data = "utf8" if option == "--print-data-log" else None
    shown = DumpDetail(records=option is not None, data=data, java=True)
    answer = dump([str(path)], as_kind=None, wanted=Filter(), shown=shown)
    render(answer.report(), stream, Options())
    return stream.getvalue(), next((found.message for found in answer.damage if found.tail), "")
