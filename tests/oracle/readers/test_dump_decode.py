"""`kcheck dump --decode --format kafka` writes what kafka-dump-log writes with its decoders, line for line.

The internal topics of real brokers from 0.10.2 on, and their records with bytes changed. KCHECK_SWEEP multiplies those,
KCHECK_SEED chooses other ones.
"""

import io
import re
import shutil
from base64 import b64decode
from collections.abc import Iterable
from pathlib import Path
from random import Random

import pytest

from kcheck.dumps.decode import with_decoded
from kcheck.dumps.filter import DumpDetail, Filter
from kcheck.records.batch import HEADER, OVERHEAD, header_of
from kcheck.records.record import Record, read_records
from kcheck.renderers import Options
from kcheck.renderers._json_writer import printable_json
from kcheck.renderers.kafka import render
from kcheck.schemas import remote_log
from kcheck.schemas.schema import parse_table
from kcheck.verbs.dump import dump
from tests.docs.examples import ROOT
from tests.oracle.ask import SEED, Ask, assert_equal, flips, generated
from tests.record_bytes import batch_of, record

pytestmark = pytest.mark.oracle

BROKERS = ROOT / "fixtures" / "brokers"
TOPICS = {
    "offsets": ("__consumer_offsets-0", "--offsets-decoder"),
    "transactions": ("__transaction_state-0", "--transaction-log-decoder"),
    "metadata": ("__cluster_metadata-0", "--cluster-metadata-decoder"),
    "share-groups": ("__share_group_state-0", "--share-group-state-decoder"),
    "remote-log": ("__remote_log_metadata-0", "--remote-log-metadata-decoder"),
}

REASON = re.compile(r"(Error at (?:offset )?-?\d+, skipping\.).*")
"""Why a record cannot be read is told in the words of kcheck."""
LEADER_CHANGE = re.compile(r"controlType: LEADER_CHANGE\(2\)|LeaderChange: .*")
"""Up to 4.0 the tool names it and no more."""
BRACE = re.compile(r"(?<= crc: )(\d+)}")
"""Up to 4.2 it stands behind the CRC of a message."""
GUESSED = re.compile(r"version \d+ of \w+ is not known|\"(?:subscription|assignment)\":\"")
"""Where kcheck does not know a version, the tool may read it as the newest that it knows itself."""
LINE_END = re.compile(
    r"\n(?=(?:Dumping|Log starting offset:|Snapshot end offset:|baseOffset:|offset:|\| offset:|Found) |$)"
)
"""A text may have a line break in it, which the tool writes as it is."""


@pytest.mark.sample(3)
@pytest.mark.parametrize("kind", TOPICS)
def test_topics_of_brokers(kind: str, ask: Ask, tmp_path: Path) -> None:
    """Every internal topic in the fixtures, and every snapshot of KRaft."""
    _compare("4.3.1", kind, _copies(BROKERS, kind, tmp_path), ask)


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", ["offsets", "metadata"])
def test_topics_of_brokers_as_the_release_before(kind: str, ask: Ask, tmp_path: Path) -> None:
    """What brokers up to 3.9 wrote is shown alike; transactions are no JSON there."""
    older = [path for path in BROKERS.iterdir() if path.name != "4.3.1"]
    _compare("3.9.2", kind, [path for folder in older for path in _copies(folder, kind, tmp_path)], ask)


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", TOPICS)
def test_damaged_records(kind: str, ask: Ask, tmp_path: Path) -> None:
    """Bytes of a key or a value changed, put in, or taken out, in a batch with the right CRC."""
    random = Random(f"{SEED} {kind}")
    paths = _copies(BROKERS / "4.3.1", kind, tmp_path / "real")
    records = [each for path in paths for each in _records(path)]
    files: list[Path] = []
    for number in range(generated(400)):
        chosen = random.choice(records)
        key, value = (None if half is None else bytes(half) for half in (chosen.key, chosen.value))
        if value and (not key or random.random() < 0.7):
            (value,) = flips(random, value, 1)
        elif key:
            (key,) = flips(random, key, 1)
        files.append(tmp_path / f"{number}" / f"{0:020d}.log")
        files[-1].parent.mkdir()
        files[-1].write_bytes(batch_of(record(0, key, value), 1))
    told = _compare("4.3.1", kind, files, ask)
    assert len(told) > len(files) // 10


def test_every_remote_message(ask: Ask, tmp_path: Path) -> None:
    """Messages that Kafka's classes wrote, with anything in their fields."""
    package, table = "org.apache.kafka.server.log.remote.metadata.storage.generated.", remote_log.TABLE
    schemas = list(parse_table(table).values())
    lines = [f"{package}{schema.name} 0 {seed}" for schema in schemas for seed in range(generated(100))]
    files: list[Path] = []
    for line, answer in zip(lines, ask("4.3.1", "Messages.java", lines, "make"), strict=True):
        kind = next(schema.id for schema in schemas if f".{schema.name} " in line)
        assert kind is not None
        files.append(tmp_path / f"{len(files)}" / f"{0:020d}.log")
        files[-1].parent.mkdir()
        value = bytes((1, kind, 0)) + b64decode(answer.split()[0])
        files[-1].write_bytes(batch_of(record(0, None, value), 1))
    _compare("4.3.1", "remote-log", files, ask)


def _copies(folder: Path, kind: str, target: Path) -> list[Path]:
    """Return copies of the logs and snapshots of a topic that are not empty."""
    found = [path for path in folder.rglob(f"{TOPICS[kind][0]}/*") if path.suffix in (".log", ".checkpoint")]
    copies = []
    for path in sorted(path for path in found if path.stat().st_size):
        copies.append(target / path.relative_to(BROKERS))
        copies[-1].parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copies[-1])
    return copies


def _records(path: Path) -> Iterable[Record]:
    data = path.read_bytes()
    at = 0
    while at < len(data):
        size = OVERHEAD.size + int(OVERHEAD.unpack_from(data, at)[1])
        if not header_of(data[at : at + HEADER.size], total=size).control:
            yield from (each for each in read_records(data[at : at + size]) if isinstance(each, Record))
        at += size


def _compare(version: str, kind: str, paths: list[Path], ask: Ask) -> list[object]:
    """Compare, and return what kcheck tells of damage."""
    ours: list[str] = []
    theirs: list[str] = []
    told: list[object] = []
    assert paths
    for path, answer in zip(paths, ask(version, "Dump.java", paths, TOPICS[kind][1]), strict=True):
        encoded, _, end = answer.rpartition(" ")
        assert end == "="
        shown = with_decoded(DumpDetail(java=True), kind)
        shown_by_kcheck = dump([str(path)], as_kind=None, wanted=Filter(), shown=shown)
        stream = io.StringIO()
        render(shown_by_kcheck.report(), stream, Options())
        told += shown_by_kcheck.damage
        lines = zip(stream.getvalue().split("\n"), LINE_END.split(b64decode(encoded).decode()), strict=True)
        for our, their in lines:
            if not GUESSED.search(our):
                ours.append(_normal(our))
                theirs.append(_normal(printable_json(their)))
    assert_equal(ours, ours, theirs)
    return told


def _normal(line: str) -> str:
    return LEADER_CHANGE.sub("LEADER_CHANGE", BRACE.sub(r"\1", REASON.sub(r"\1", line)))
