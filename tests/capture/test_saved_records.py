"""Nothing is saved from a bundle, because the bytes of its records are zeros."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.capture.answers import captured, fresh, run
from tests.capture.test_answers import BROKERS

DIVERGED = BROKERS / "4.3.1" / "diverged"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Two diverged brokers, each as a directory and as a bundle."""
    for number in (1, 2):
        shutil.copytree(DIVERGED / f"broker-{number}", tmp_path / f"broker-{number}")
        captured([tmp_path / f"broker-{number}"], tmp_path)
    monkeypatch.chdir(tmp_path)
    fresh()  # of what other tests read by the same relative paths
    yield tmp_path
    fresh()


def steps_of(folder: Path) -> list[dict[str, object]]:
    return [row for row in json.loads((folder / "recovery.json").read_text())["steps"] if "removes" in row["final"]]


def test_a_step_copies_what_no_bundle_has(here: Path) -> None:
    """The commands name the directories as they are on the broker."""
    run(["recover", "1=broker-1.kcheck", "2=broker-2.kcheck", "--output-dir", "plan"])
    (step,) = steps_of(here / "plan")
    assert step["commands"] == [
        "mkdir broker-1.copy",
        "cp -a data1/diverged-0 data1/emptied-0 broker-1.copy/",
        "bin/kafka-server-start.sh -daemon config/server.properties",
    ]
    assert step["final"] == (
        "broker 1 removes offsets 50-66 of diverged-0, 50-66 of emptied-0. A bundle has no records, so copy the"
        " directories first, where broker 1 was captured"
    )
    assert not (here / "plan" / "saved").exists()
    assert not (here / "plan" / "manifest.json").exists()


def test_records_of_the_directories_beside_a_bundle_are_saved(here: Path) -> None:
    """Each broker has its own words, and the manifest says what is missing."""
    run(["recover", "1=broker-1", "2=broker-2.kcheck", "--output-dir", "plan"])
    (step,) = steps_of(here / "plan")
    assert str(step["final"]).endswith("50-66 of emptied-0. plan/saved has them")
    assert {path.parent.name for path in (here / "plan" / "saved").rglob("*.log")} == {"broker-1"}
    rows = json.loads((here / "plan" / "manifest.json").read_text())["partitions"]
    assert {(row["leader"], tuple(row["not_saved"]), bool(row["files"])) for row in rows} == {
        (1, (2,), False), (2, (), True),
    }  # fmt: skip


def test_save_lost_refuses_a_bundle(here: Path) -> None:
    """It leaves nothing behind that looks like records."""
    code, _, errors = run(["elect", "1=broker-1.kcheck", "2=broker-2", "--save-lost", "saved"])
    assert (code, errors) == (
        2, "kcheck: broker-1.kcheck/data1/diverged-0: a bundle has no records; name the log dir itself\n"
    )  # fmt: skip
    assert not (here / "saved").exists()


@pytest.mark.usefixtures("here")
def test_dump_says_why_a_bundle_shows_no_records() -> None:
    """They are not corrupt, and --only-damaged shows no batch."""
    log = "broker-1.kcheck/data1/diverged-0/00000000000000000000.log"
    _, out, errors = run(["dump", log, "--print-data", "utf8"])
    assert "the records of the batch at offset 0 are not in the bundle" in out + errors
    assert "unreadable" not in out + errors
    _, out, errors = run(["dump", log, "--print-data", "utf8", "--only-damaged"])
    assert "not in the bundle" not in out + errors


@pytest.mark.usefixtures("here")
def test_the_next_step_needs_new_bundles() -> None:
    """An old bundle never shows that a step is done. The runbook and --next say so, for bundles alone."""
    words = "Capture new bundles after each step, and name those to --next."
    for name in ("broker-1", "broker-1.kcheck"):
        run(["recover", f"1={name}", "--output-dir", f"plan-{name}"])
        code, out, errors = run(["recover", f"plan-{name}", "--next", f"1={name}", "--format", "json"])
        assert code in (0, 1), errors
        texts = (json.loads(out)["verdict"], Path(f"plan-{name}", "recovery.md").read_text())
        assert [words in text for text in texts] == [name.endswith(".kcheck")] * 2
        fresh()
