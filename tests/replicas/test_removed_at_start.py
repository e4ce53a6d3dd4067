"""The records that a start truncates for good, and the intact batches after the damage. Real brokers left the logs."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import kcheck
from kcheck.core.election.progress import PlanState
from kcheck.core.election.start_losses import RemovedAtStart
from kcheck.core.election.steps import RecoveryAction
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


def _both_corrupt() -> tuple[list[int], dict[int, RemovedAtStart]]:
    """Corrupt the same batch of both replicas; return the base offsets of batches, and the losses by broker."""
    for number in (1, 2):
        bases = _corrupt(_log(number, "plain-0"), 1)
    return bases, {row.broker_id: row for row in _recovered().election.removed}


def test_a_start_that_truncates_the_only_records_names_them_and_the_readable_ones() -> None:
    """Both replicas are corrupt in the same batch; the batches after it are intact. elect names the exports."""
    bases, rows = _both_corrupt()
    assert {*rows} == {1, 2}
    assert (rows[1].end, rows[1].last) == (bases[1], bases[-1])
    assert [run[:2] for run in rows[1].readable] == [(bases[2], bases[-1])]
    answer = _recovered()
    finals = [text.final for step, text in zip(answer.steps, answer.texts, strict=True) if str(step.kind) == "start"]
    assert not any(text == "no record is lost; the brokers register" for text in finals[:2])
    for number, row in rows.items():
        saves = f"efore broker {number} starts, kcheck export {row.path} --from {bases[2]} -o plain-0.ndjson saves"
        assert f"{saves} offsets {bases[2]}-{bases[-1] - 1} of plain-0" in answer.election.verdict
        assert saves in command("elect", *BROKERS, *METADATA, columns=1000).out
        assert saves not in command("recover", *BROKERS, *METADATA, columns=1000).out
    options = ("--from", str(bases[2]), "-o", "plain-0.ndjson", "--summary", "summary.json")
    assert command("export", rows[1].path, *options).code == 0
    saved = json.loads(Path("summary.json").read_text())
    (part,) = saved["partitions"]
    assert (part["from"], part["to"]) == (bases[2], bases[-1])


def test_recover_saves_them_by_a_step_before_a_broker_truncates_them() -> None:
    """The screen, recovery.json and --next name the step. The files have each record once, as `kcheck export` does."""
    bases, rows = _both_corrupt()
    answer = _recovered()
    (number,) = (at for at, step in enumerate(answer.steps, 1) if step.kind is RecoveryAction.SAVE)
    assert number < min(at for at, step in enumerate(answer.steps, 1) if step.kind is RecoveryAction.START)
    assert answer.steps[number - 1].saves == tuple(rows.values())
    offsets = f"the readable offsets {bases[2]}-{bases[-1] - 1} of plain-0 that broker"
    for arguments in (("recover", *BROKERS), BROKERS):
        said = command(*arguments, *METADATA, columns=1000).out
        assert f"Step {number} saves {offsets} 1 truncates." in said
        assert f"Step {number} saves {offsets} 2 truncates." in said
    kcheck.recover(*BROKERS, metadata=["controller"], out="plan")
    step = json.loads(Path("plan/recovery.json").read_text())["steps"][number - 1]
    assert [row["broker_id"] for row in step["saves"]] == [1, 2]
    assert (step["saves"][0]["from"], step["saves"][0]["to"]) == (bases[2], bases[-1])
    assert f"plan/saved has {offsets} 1 truncates" in Path("plan/recovery.md").read_text()
    now = kcheck.recovery_progress("plan", *BROKERS, metadata=["controller"])
    assert f"plan/saved has {offsets} 1 truncates" in str([row.final for row in now.steps if row.brokers == (1,)])
    (file,) = Path("plan/saved/plain-0").glob("*/*.log")
    data = _log(1, "plain-0").read_bytes()
    assert file.read_bytes() == data[rows[1].readable[0].position :]
    plain = [row for row in json.loads(Path("plan/manifest.json").read_text())["partitions"] if row["topic"] == "plain"]
    assert [(row["leader"], row["files"]) for row in plain] == [(1, [str(file)]), (2, [str(file)])]
    for path, name in ((rows[1].path, "disk"), (str(file.parent), "saved")):
        assert command("export", path, "--from", str(bases[2]), "-o", name).code == 0
    assert Path("disk").read_text() == Path("saved").read_text()
    shutil.rmtree("plan/saved")
    stopped = kcheck.recovery_progress("plan", *BROKERS, metadata=["controller"])
    assert (stopped.state, "plan/saved is missing" in stopped.sentences[0]) == (PlanState.STOP, True)


def test_batches_of_two_replicas_that_differ_are_both_saved() -> None:
    """Each has intact batches that the other one lacks."""
    for number, places in ((1, (1, 3)), (2, (1, 4))):
        _corrupt(_log(number, "codecs-0"), *places)
    kcheck.recover(*BROKERS, metadata=["controller"], out="plan")
    rows = {row.broker_id: row for row in kcheck.recover(*BROKERS, metadata=["controller"]).election.removed}
    data = {number: _log(number, "codecs-0").read_bytes() for number in rows}
    first = b"".join(_between(data[1], run.start, run.end) for run in rows[1].readable)
    (one,), (two,) = (sorted(Path("plan/saved/codecs-0").glob(f"broker-{number}/*.log")) for number in (1, 2))
    assert one.read_bytes() == first
    position, size, base = [*_batches(data[2])][3]
    assert (two.read_bytes(), two.name) == (data[2][position : position + size], f"{base:020d}.log")


def _between(data: bytes, start: int, end: int) -> bytes:
    """Return the batches with base offsets in a range."""
    return b"".join(data[at : at + size] for at, size, base in _batches(data) if start <= base < end)


def test_records_that_another_replica_has_are_not_removed_for_good() -> None:
    """The corrupt replica fetches them again."""
    _corrupt(_log(1, "plain-0"), 1)
    assert _recovered().election.removed == ()


def test_every_run_of_intact_batches_is_named() -> None:
    """A second corrupt batch is between them."""
    for number in (1, 2):
        _corrupt(_log(number, "codecs-0"), 1, 3)
    readable = [[run[:2] for run in row.readable] for row in _recovered().election.removed]
    assert readable == [[(24, 36), (48, 60)]] * 2


def test_an_end_that_is_not_known() -> None:
    row = RemovedAtStart("t", 0, 1, "/d/t-0", Offset(5), None, ())
    assert [*removed_words([row])] == [
        "broker 1 truncates offsets 5 and later of t-0, and then no replica here has them"
    ]
    assert [*removed_words([])] == []
