"""A plan applied and undone from Python, and a bundle with pseudonyms."""

import shutil
from pathlib import Path

import pytest

import kcheck
from kcheck.errors import UsageError
from tests.cases.build import CASES, shared_copy


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Copy a log dir whose next start would lose records."""
    copy = tmp_path / "data"
    shutil.copytree(shared_copy(CASES / "kc211-log-start-above-log-end" / "above"), copy)
    return copy


def test_a_plan_file_is_applied_and_undone(data: Path, tmp_path: Path) -> None:
    """As by the commands, and on another path too."""
    plan, moved = tmp_path / "plan.json", tmp_path / "moved"
    plan.write_bytes(kcheck.repair(data).plan_bytes())
    before = (data / "log-start-offset-checkpoint").read_bytes()
    data.rename(moved)
    done = kcheck.apply(plan, backup=tmp_path / "backup", mapped=[f"data={moved}"])
    assert (done.changed, done.is_undone) == ((0,), False)
    assert (moved / "log-start-offset-checkpoint").read_bytes() == b"0\n0\n"
    assert kcheck.undo(tmp_path / "backup").is_undone
    assert (moved / "log-start-offset-checkpoint").read_bytes() == before


def test_a_bundle_answers_as_the_directory(data: Path, tmp_path: Path) -> None:
    """Its topics have pseudonyms, and their key is in a file of its own."""
    bundle, key = tmp_path / "ticket.kcheck", tmp_path / "key"
    assert kcheck.write_bundle(data, output=bundle, pseudonyms=key).complete
    assert key.exists()
    assert kcheck.predict(bundle).verdicts == kcheck.predict(data).verdicts
    with pytest.raises(UsageError, match=r"^output .* is inside .*data, which is captured; choose a file outside"):
        kcheck.write_bundle(data, output=data / "ticket.kcheck")
