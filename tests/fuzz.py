"""Mutates the files that real brokers left and feeds them to every reader: `python tests/fuzz.py --count 100000`.

An exception of any kind ends the run with exit code 1 and tells the seed and the file that bring it back.
"""

import argparse
import os
import random
import sys
import tempfile
import time
from io import StringIO
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from kcheck.core.releases.releases import TABLE, release  # noqa: E402 - the path above comes first
from kcheck.dumps.filter import DumpDetail, Filter  # noqa: E402 - the same
from kcheck.exports.lines import LINE_FORMATS  # noqa: E402 - the same
from kcheck.exports.records import ExportChoice  # noqa: E402 - the same
from kcheck.formats import Format  # noqa: E402 - the same
from kcheck.model.depth import Depth  # noqa: E402 - the same
from kcheck.model.entries import Offset  # noqa: E402 - the same
from kcheck.model.names import broker_accepts, parse_directory, parse_file, segment_prefix  # noqa: E402 - the same
from kcheck.model.release import Release  # noqa: E402 - the same
from kcheck.model.report import PartitionFilter  # noqa: E402 - the same
from kcheck.model.source import BytesSource  # noqa: E402 - the same
from kcheck.records.batch import (  # noqa: E402 - the same
    MAGIC_AT,
    body_from,
    checksum,
    entry_size,
    is_modern,
)
from kcheck.registry import discover  # noqa: E402 - the same
from kcheck.renderers import (  # noqa: E402 - the same
    Options,
    json,
    kafka,
)
from kcheck.segments.batches import Walk  # noqa: E402 - the same
from kcheck.verbs.check import check  # noqa: E402 - the same
from kcheck.verbs.dump import dump  # noqa: E402 - the same
from kcheck.verbs.export import export  # noqa: E402 - the same

RELEASES = [release(row.last) for row in TABLE]
SIZE_MAX = 64 << 10
CRC_CHANCE = 0.7
ENDINGS = {
    "segment": "log",
    "offset-index": "index",
    "time-index": "timeindex",
    "transaction-index": "txnindex",
    "producer-snapshot": "snapshot",
}
SPLICES = (b"\n", b"\r\n", b"\0" * 20, b"-1", b"+1", b"9" * 30, b"2147483647", b"\xff\xfe", b"\xed\xa0", b" ", b"\\u00")


def samples() -> list[tuple[Format, bytes]]:
    """Return the different contents of the brokers' files, each with its format."""
    kinds = [kind for kind in discover("kcheck.formats", "FORMAT") if isinstance(kind, Format)]
    found: dict[tuple[str, bytes], Format] = {}
    for path in sorted((ROOT / "fixtures" / "brokers").rglob("*")):
        kind = next((kind for kind in kinds if path.is_file() and kind.matches(path.name)), None)
        if kind is not None and path.stat().st_size <= SIZE_MAX:
            found[kind.kind, path.read_bytes()] = kind
    return [(kind, data) for (_, data), kind in found.items()]


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Return the bytes with one to four changes: a flipped bit, a cut, a repetition, a splice, a swap of two parts."""
    for _ in range(chance.randint(1, 4)):
        at, to = sorted((chance.randint(0, len(data)), chance.randint(0, len(data))))
        match chance.randrange(5):
            case 0 if at < len(data):
                data = data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]
            case 1:
                data = data[:at] + data[to:]
            case 2:
                data = data[:to] + data[at : at + 64] + data[to:]
            case 3:
                data = data[:at] + chance.choice(SPLICES) + data[at:]
            case _:
                data = data[at:to] + data[:at] + data[to:]
    return data


def with_crcs(data: bytes) -> bytes:
    """Return a segment with the CRC of each batch made right: only then are its records looked into."""
    log = bytearray(data)
    at = 0
    while (total := entry_size(log, at, remaining=len(log) - at)) is not None and total > 0:
        magic = log[at + MAGIC_AT]
        field = (at + 17, at + 21) if is_modern(magic) else (at + 12, at + 16)
        body = bytes(log[at + body_from(magic) : at + total])
        log[slice(*field)] = checksum(body, magic).to_bytes(4, "big")
        at += total
    return bytes(log)


def read(kind: Format, data: bytes, chance: random.Random, folder: Path) -> None:
    """Read the bytes in every way that kcheck has for the kind, the broker's readers of one release among them.

    The folder keeps the last file of each kind of a segment, so that mutated ones stand beside each other.
    """
    of = chance.choice(RELEASES)
    ending = ENDINGS.get(kind.kind)
    if ending == "log" and chance.random() < CRC_CHANCE:
        data = with_crcs(data)
    if ending is not None:
        (folder / f"{segment_prefix(Offset(0))}.{ending}").write_bytes(data)
    if kind.parse is None:
        _walk(data, chance)
        _dump(folder / f"{segment_prefix(Offset(0))}.{ending}")
        _export(folder / f"{segment_prefix(Offset(0))}.log", committed=chance.random() < CRC_CHANCE)
        _examine(folder, of)
    else:
        value = kind.parse(data).value
        assert kind.row is not None
        kind.row(value)
        if kind.broker_reads is not None:
            kind.broker_reads(data, of)
    name = os.fsdecode(data[: chance.randrange(40)])
    parse_directory(name)
    broker_accepts(name, of)
    parse_file(name)


def _walk(data: bytes, chance: random.Random) -> None:
    for verify in (False, True):
        for _ in Walk(BytesSource(data), position=chance.choice((0, len(data) // 2)), verify=verify):
            pass


def _dump(path: Path) -> None:
    """Read the file as `kcheck dump` does, a log record by record."""
    shown = DumpDetail(records=path.suffix == ".log", data="utf8")
    for style in (json, kafka):
        style.render(dump([str(path)], as_kind=None, wanted=Filter(), shown=shown).report(), StringIO(), Options())


def _export(path: Path, *, committed: bool) -> None:
    """Write the records of a log, if there is one, as `kcheck export` does."""
    if not path.exists():
        return
    for log in export([str(path)], wanted=ExportChoice(committed=committed), partitions=PartitionFilter()).logs:
        for record in log.records():
            for style in LINE_FORMATS.values():
                style.encode(record)


def _examine(folder: Path, of: Release) -> None:
    """Look at the log dir as `kcheck check` does."""
    for finding in check(
        [str(folder.parent)], depth=Depth.RECORDS, as_kind=None, wanted=PartitionFilter(), release=of
    ).findings:
        assert finding.id != "KC000", finding.message


def run(count: int, seed: int) -> bool:
    """Return whether all inputs were read without an exception."""
    known = samples()
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "t-0"
        folder.mkdir()
        for number in range(count):
            chance = random.Random(f"{seed}/{number}")
            kind, data = chance.choice(known)
            try:
                read(kind, mutated(data, chance), chance, folder)
            except Exception as error:  # noqa: BLE001 - any exception is a defect
                print(f"{kind.kind}: seed {seed}, input {number}: {type(error).__name__}: {error}")
                return False
    elapsed = time.perf_counter() - start
    print(f"{count} inputs of {len(known)} files, {count / elapsed:.0f} a second, seed {seed}: no exception")
    return True


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--count", type=int, default=100_000)
    arguments.add_argument("--seed", type=int, default=1)
    asked = arguments.parse_args()
    sys.exit(0 if run(asked.count, asked.seed) else 1)
