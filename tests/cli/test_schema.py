"""`kcheck schema`: JSON Schema of every answer and of every file that kcheck writes."""

import json
import shutil
import zipfile
from pathlib import Path

import pytest

from kcheck.disk.package_data import document_shapes
from kcheck.documents.schema import DRAFT, documents
from tests.cases.build import CASES, shared_copy
from tests.cli.command import UNCHANGED, kcheck
from tests.json_schema import problems
from tests.renderers.golden import GOLDEN

BROKERS = Path(__file__).parents[2] / "fixtures" / "brokers" / "4.3.1" / "diverged"
BOTH = (f"1={BROKERS / 'broker-1'}", f"2={BROKERS / 'broker-2'}")


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.json")), ids=lambda path: path.name)
def test_a_golden_document_is_as_its_schema_says(path: Path) -> None:
    """Every field has a sentence, every required one is there, and each has its type."""
    assert problems(json.loads(path.read_text("utf-8"))) == []


def test_the_written_files_are_as_their_schemas_say(tmp_path: Path) -> None:
    """Plans, a recovery, a journal, the manifests of a bundle and of a run."""
    plan, backup = tmp_path / "plan.json", tmp_path / "backup"
    shutil.copytree(shared_copy(CASES / "kc211-log-start-above-log-end" / "above"), tmp_path / "data")
    kcheck("repair", tmp_path / "data", "-o", plan)
    kcheck("apply", plan, "--backup", backup, "--yes")
    kcheck("elect", *BOTH, "--output-dir", tmp_path / "elect")
    kcheck("recover", *BOTH, "--output-dir", tmp_path / "recover")
    kcheck("fleet", "scan", BROKERS / "broker-1", "--output-dir", tmp_path / "runs", "--depth", "checkpoints")
    kcheck("capture", BROKERS / "broker-1", "-o", tmp_path / "ticket.kcheck")
    with zipfile.ZipFile(tmp_path / "ticket.kcheck") as bundle:
        (tmp_path / "bundle.json").write_bytes(bundle.read("manifest.json"))
    written = [
        document
        for path in sorted(tmp_path.rglob("*.json"))
        for document in [json.loads(path.read_text("utf-8"))]
        if str(document.get("schema") or document.get("format")).startswith("kcheck.")
    ]
    assert {str(document.get("schema") or document.get("format")) for document in written} >= {
        "kcheck.plan/1", "kcheck.journal/1", "kcheck.election-plan/1", "kcheck.recovery/1", "kcheck.run/1",
        "kcheck.bundle/1",
    }  # fmt: skip
    assert [problem for document in written for problem in problems(document)] == []


def test_a_document_is_named_by_itself_or_by_its_command() -> None:
    """The schema says what draft it follows, and is open for new fields."""
    by_name, by_command = kcheck("schema", "plan"), kcheck("schema", "repair")
    schema = json.loads(by_name.out)
    assert by_name == by_command
    assert (schema["$schema"], schema["$id"]) == (DRAFT, "kcheck.plan/1")
    assert "additionalProperties" not in schema
    assert "kcheck.fleet-history/1" == json.loads(kcheck("schema", "fleet", "trend").out)["$id"]


def test_without_a_name_all_documents_are_listed() -> None:
    """A line each, within 80 columns."""
    lines = kcheck("schema").out.splitlines()
    assert [*documents(document_shapes())] == [line.split()[0] for line in lines[2:-2]]
    assert max(map(len, lines)) <= 80


def test_an_unknown_document_is_a_usage_error() -> None:
    ended = kcheck("schema", "chek")
    assert (2, "kcheck: schema chek: no such document or command; did you mean check?") == (
        ended.code,
        ended.err.replace(UNCHANGED, "").strip(),
    )


def test_no_part_is_left_over() -> None:
    """Each is a part of a document, or is taken into one whole."""
    text = (Path(__file__).parents[2] / "kcheck" / "documents" / "fields.tsv").read_text("utf-8")
    types = "\n".join(line.split("\t")[1] for line in text.splitlines() if line and not line.startswith("# "))
    assert [
        shape.name for shape in document_shapes().values() if not shape.short_name and shape.name not in types
    ] == []
