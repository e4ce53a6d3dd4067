"""The records that a start truncates for good, and the intact batches after the damage. Real brokers left the logs."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import kcheck
from kcheck.core.election.start_losses import RemovedAtStart
from kcheck.core.replication.truncation_plans import OffsetRange
from kcheck.documents.removed_records import removed_words
from kcheck.model.entries import Offset
from kcheck.plans.recover import ClusterRecovery
from tests.cli.command import kcheck as command
from tests.oracle.scenes import killed_brokers

BROKERS = ("1=broker-1", "2=broker-2", "3=broker-3")
METADATA = ("--metadata", "controller")


@pytest.fixture(autouse=True)
def _killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Go to three killed brokers, which recover every log from its first batch."""
    killed_brokers(tmp_path)
    monkeypatch.chdir(tmp_path)
    for checkpoint in tmp_path.glob("broker-*/data?/recovery-point-offset-checkpoint"):
        checkpoint.unlink()


def _recovered() -> ClusterRecovery:
    return kcheck.recover(*BROKERS, metadata=["controller"])


def _log(number: int, name: str) -> Path:
    (path,) = Path().glob(f"broker-{number}/data?/{name}/{0:020d}.log")
    return path


def _batches(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield the position, the size and the base offset of each batch."""
    position = 0
    while position < len(data):
        size = 12 + int.from_bytes(data[position + 8 : position + 12])
        yield position, size, int.from_bytes(data[position : position + 8])
        position += size


def _corrupt(path: Path, *places: int) -> list[int]:
    """Flip the last byte of batches; return the base offsets of all, and the log end offset."""
    data = bytearray(path.read_bytes())
    batches = [*_batches(bytes(data))]
    for place in places:
        position, size, _ = batches[place]
        data[position + size - 1] ^= 1
    path.write_bytes(data)
    last = batches[-1]
    return [*(base for *_, base in batches), last[2] + 1 + int.from_bytes(data[last[0] + 23 : last[0] + 27])]


def test_a_start_that_truncates_the_only_records_names_them_and_the_readable_ones() -> None:
    """Both replicas are corrupt in the same batch; the batches after it are intact."""
    for number in (1, 2):
        bases = _corrupt(_log(number, "plain-0"), 1)
    answer = _recovered()
    rows = {row.broker_id: row for row in answer.election.removed}
    assert {*rows} == {1, 2}
    assert (rows[1].end, rows[1].last) == (bases[1], bases[-1])
    assert rows[1].readable == (OffsetRange(Offset(bases[2]), Offset(bases[-1])),)
    left = f"offsets {bases[2]}-{bases[-1] - 1} of plain-0"
    saves = {
        number: f"efore broker {number} starts, kcheck export {row.path} --from {bases[2]} -o plain-0.ndjson saves"
        for number, row in rows.items()
    }
    finals = [text.final for step, text in zip(answer.steps, answer.texts, strict=True) if str(step.kind) == "start"]
    said = " ".join((*answer.sentences, *finals, answer.election.verdict))
    for number, command_of in saves.items():
        assert said.count(f"{command_of} {left}") == 3, number
    assert not any(text == "no record is lost; the brokers register" for text in finals[:2])
    for arguments in (("recover", *BROKERS), ("elect", *BROKERS), BROKERS):
        assert saves[1] in command(*arguments, *METADATA, columns=1000).out
    options = ("--from", str(bases[2]), "-o", "plain-0.ndjson", "--summary", "summary.json")
    assert command("export", rows[1].path, *options).code == 0
    saved = json.loads(Path("summary.json").read_text())
    (part,) = saved["partitions"]
    assert (part["from"], part["to"]) == (bases[2], bases[-1])


def test_records_that_another_replica_has_are_not_removed_for_good() -> None:
    """The corrupt replica fetches them again."""
    _corrupt(_log(1, "plain-0"), 1)
    assert _recovered().election.removed == ()


def test_every_run_of_intact_batches_is_named() -> None:
    """A second corrupt batch is between them."""
    for number in (1, 2):
        _corrupt(_log(number, "codecs-0"), 1, 3)
    assert [row.readable for row in _recovered().election.removed] == [((24, 36), (48, 60))] * 2


def test_an_end_that_is_not_known() -> None:
    row = RemovedAtStart("t", 0, 1, "/d/t-0", Offset(5), None, ())
    assert [*removed_words([row])] == [
        "broker 1 truncates offsets 5 and later of t-0, and then no replica here has them"
    ]
    assert [*removed_words([])] == []
