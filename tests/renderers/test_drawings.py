"""The drawings of a history: a sequence diagram and a space-time diagram."""

import re
from io import StringIO
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree as ET

import pytest

from kcheck.renderers import Options, mermaid, svg
from kcheck.verbs.simulate import Simulation, histories, simulate
from tests.cli.command import kcheck

SVG = "{http://www.w3.org/2000/svg}"
LOSS = ("simulate", "kip-101-1", "--kafka", "0.10.2")


def test_a_sequence_diagram() -> None:
    """Events, messages and changes, in order; a text cannot end its line."""
    lines = kcheck(*LOSS, "--format", "mermaid").out.splitlines()
    assert [
        "sequenceDiagram", "    participant n0 as controller", "    participant n1 as A", "    participant n2 as B",
        "    Note over n0,n2: B leads", "    Note over n1: 0/0", "    Note over n2: 0/0",
        "    Note over n0,n2: 11: append 1", "    Note over n2: 1/0",
        "    Note over n0,n2: 12: fetch A x2", "    n1->>n2: fetch 0", "    n2->>n1: records 0..1, HW 0",
    ] == lines[:12]  # fmt: skip
    assert "    Note over n1: ✗ 1 dropped, lost" in lines
    assert lines[-1].startswith(
        "    Note over n0,n2: Kafka 0.10.2: lost: 1 acknowledged record (offset 1)#59; A and B differ"
    )


def test_a_space_time_diagram() -> None:
    """It is XML without a script or an address of another file; lost records are marked, in words too."""
    written = kcheck(*LOSS, "--format", "svg").out
    root = ET.fromstring(written)
    labels = [(label.get("class"), label.text) for label in root.iter(f"{SVG}text")]
    assert [("name", "controller"), ("name", "A"), ("name", "B")] == labels[:3]
    assert ("under lost", "✗ 1 dropped, lost") in labels
    assert ("event under", "12: fetch A x2") in labels
    assert {SVG + name for name in ("svg", "title", "style", "defs", "marker", "path", "line", "text")} == {
        element.tag for element in root.iter()
    }
    assert ["http://www.w3.org/2000/svg"] == re.findall(r"https?://[^\"' ]*", written)


@pytest.mark.parametrize("form", [mermaid, svg])
def test_every_shipped_history_is_drawn(form: ModuleType) -> None:
    """In each release that it names; every event is there."""
    for history in histories():
        for kafka, _ in history.outcomes:
            answer = simulate(history.name, kafka=kafka)
            assert isinstance(answer, Simulation)
            drawn = StringIO()
            form.RENDERER.render(answer.report(), drawn, Options())
            assert all(f"{step.line}: " in drawn.getvalue() for step in answer.replay.steps if step.line)


def test_a_single_replica_and_an_event_with_signs(tmp_path: Path) -> None:
    """Signs of XML and of Mermaid are escaped; what a replica drops without a loss is no loss."""
    ticket = tmp_path / "ticket"
    ticket.write_text(
        "brokers A\ntopic acks=1\nA leads\nappend 2 # <b>&;\nflush A\nappend 1 acks=0\npower-loss A\n", "utf-8"
    )
    diagram = kcheck("simulate", ticket, "--format", "mermaid").out
    assert "    Note over n0: ✗ 2 dropped" in diagram.splitlines()
    drawn = ET.fromstring(kcheck("simulate", ticket, "--format", "svg").out)
    assert ["under"] == [label.get("class") for label in drawn.iter(f"{SVG}text") if "✗" in (label.text or "")]


@pytest.mark.parametrize("arguments", [("kip-101-1", "--kafka", "all"), ("list",)])
@pytest.mark.parametrize("form", ["mermaid", "svg"])
def test_only_a_history_is_drawn(form: str, arguments: tuple[str, ...]) -> None:
    done = kcheck("simulate", *arguments, "--format", form)
    assert (2, f"kcheck: --format {form} draws a history under one release; use text or json\n") == (
        done.code,
        done.err,
    )
