"""What a script gets: the fields of each schema, one document, tagged lines, one table."""

import csv
import errno
import io
import json
import os
import re
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from kcheck import __version__, renderers
from kcheck.cli.command_tree import command_tree
from kcheck.registry import discover, plug_names
from kcheck.renderers import Renderer
from tests.builders import log_dir, partition_dir, run
from tests.cli.command import kcheck


def document(*arguments: str | Path) -> dict[str, Any]:
    """Return the document of a command."""
    done = kcheck(*arguments, "--format", "json")
    found: dict[str, Any] = json.loads(done.out)
    assert done.out.endswith("}\n")
    return found


def lines(*arguments: str | Path) -> list[dict[str, Any]]:
    """Return the lines of a command."""
    out = kcheck(*arguments, "--format", "ndjson").out
    return [json.loads(line) for line in out.splitlines()]


def check_head(found: dict[str, Any], schema: str, *fields: str) -> None:
    """Hold that a document begins and ends with the same fields in every verb."""
    evidence = () if schema in ("rules", "explain") else ("kafka_evidence",)
    assert ["schema", "kcheck", "kafka", *evidence, *fields, "findings", "summary", "next"] == list(found)
    assert (f"kcheck.{schema}/1", __version__, "4.3") == (found["schema"], found["kcheck"], found["kafka"])
    assert ["info", "warning", "error", "fatal"] == list(found["summary"])
    assert sum(found["summary"].values()) == len(found["findings"])


def test_the_fields_have_their_order(damaged: Path, pair: list[str]) -> None:
    """Which fields there are, the schemas say: every document of these tests is compared with its own."""
    check_head(document("inspect", damaged), "inspect", "items")
    check_head(document("end-offset", damaged), "end-offset", "profile", "answers")
    truncation = document("truncation", *pair, "--leader", "1")
    check_head(truncation, "truncation", "profile", "leader", "live", "partitions", "premises")
    check_head(document("rules"), "rules", "rules")
    check_head(document("explain", "KC201"), "explain", "rules")


@pytest.mark.parametrize(
    ("name", "kind", "fields"),
    [
        ("recovery-point-offset-checkpoint", "offset-checkpoint", {"version", "entries", "broker_reads"}),
        ("t-0/leader-epoch-checkpoint", "leader-epoch-checkpoint", {"version", "entries", "broker_reads"}),
        ("t-0/partition.metadata", "partition-metadata", {"version", "topic_id", "broker_reads"}),
        ("meta.properties", "meta-properties", {"version", "broker_id", "cluster_id", "broker_reads"}),
        (".kafka_cleanshutdown", "clean-shutdown", {"version", "broker_epoch"}),
        ("t-0/00000000000000000000.log", "segment", {"base_offset", "end_offset", "size", "batches", "stopped_by"}),
        ("t-0/00000000000000000000.index", "offset-index", {"entries"}),
    ],
)
def test_inspect_of_a_file(damaged: Path, name: str, kind: str, fields: set[str]) -> None:
    (item,) = document("inspect", damaged / name)["items"]
    assert (kind, str(damaged / name)) == (item["kind"], item["path"])
    assert fields <= set(item)


def test_what_the_broker_reads_is_entries_or_an_error(damaged: Path) -> None:
    path = damaged / "recovery-point-offset-checkpoint"
    (item,) = document("inspect", path)["items"]
    assert {"entries": item["entries"]} == item["broker_reads"]
    assert {"topic", "partition", "offset"} == set(item["entries"][0])
    path.write_bytes(b"0\nx\n")
    (item,) = document("inspect", path)["items"]
    assert {"error": "IOException"} == item["broker_reads"]


@pytest.mark.parametrize("verb", ["inspect", "end-offset", "truncation"])
def test_every_line_has_a_kind(damaged: Path, pair: list[str], verb: str) -> None:
    """The same objects as in the document."""
    arguments = [verb, *pair] if verb == "truncation" else [verb, str(damaged)]
    found = lines(*arguments)
    assert all(isinstance(line["kind"], str) for line in found)
    assert ("run", "summary") == (found[0]["kind"], found[-1]["kind"])
    whole = document(*arguments)
    assert whole["schema"] == found[0]["schema"]
    told = [{key: value for key, value in line.items() if key != "kind"} for line in found if line["kind"] == "finding"]
    assert whole["findings"] == told
    assert {"kind": "summary", **whole["summary"], "next": whole["next"]} == found[-1]


def test_the_partitions_of_a_log_dir_follow_its_line(damaged: Path) -> None:
    partition_dir(damaged / "u-0", [run(0, 9)])
    found = lines("inspect", damaged)
    kinds = [line["kind"] for line in found]
    assert ["run", "log-dir", "partition", "partition"] == kinds[:4]
    assert "partitions" not in found[1]
    (item,) = document("inspect", damaged)["items"]
    assert item["partitions"] == [{k: v for k, v in line.items() if k != "kind"} for line in found[2:4]]


def test_answers_are_one_table(damaged: Path) -> None:
    """RFC 4180: a header, CRLF, an empty field where nothing is known."""
    out = kcheck("end-offset", damaged, "--format", "csv").out
    assert out.count("\r\n") == out.count("\n")
    rows = list(csv.DictReader(io.StringIO(out)))
    answers = document("end-offset", damaged)["answers"]
    expected = [{key: "" if value is None else str(value) for key, value in row.items()} for row in answers]
    assert expected == rows


def test_no_answers_are_a_header_alone(tmp_path: Path) -> None:
    log_dir(tmp_path)
    out = kcheck("end-offset", tmp_path, "--format", "csv").out
    assert out.startswith("broker_id,topic,partition,")
    assert out.count("\n") == 1


def test_unknown_values_are_null(tmp_path: Path) -> None:
    """Never a guess, never a missing field."""
    partition_dir(tmp_path / "t-0", [run(0, 9)])
    (item,) = document("inspect", tmp_path / "t-0")["items"]
    assert [None] * 4 == [item[key] for key in ("broker_id", "recovery_point", "high_watermark", "topic_id")]


def test_paths_are_told_as_given(damaged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(damaged.parent)
    for path in ("damaged", "./damaged", "damaged/", "../" + damaged.parent.name + "/damaged"):
        (item,) = document("inspect", path)["items"]
        assert path == item["path"]


def test_many_findings_of_one_rule_are_one_block(tmp_path: Path) -> None:
    """With their number, three of the places and one example; `--all` shows each."""
    log_dir(tmp_path)
    for number in range(7):
        path = partition_dir(tmp_path / f"t-{number}", [run(0, 9)])
        (path / "leader-epoch-checkpoint").write_bytes(b"0\n2\n3 5\n0 0\n")
    shown = " ".join(kcheck("check", tmp_path, columns=120).out.split())
    block = "KC201 epoch-order, 7 times: t-0/leader-epoch-checkpoint, t-1/leader-epoch-checkpoint, "
    assert f"{block}t-2/leader-epoch-checkpoint and 4 more; --all shows each" in shown
    assert ("t-0/leader-epoch-checkpoint:" in shown, "t-5/" in shown) == (True, False)
    every = kcheck("check", tmp_path, "--all").out
    assert 7 == every.count("KC201 ") - every.count("explain KC201")


def test_the_worst_finding_comes_first(damaged: Path) -> None:
    shown = kcheck("check", damaged, "--severity", "info").out
    places = [shown.index(f"{severity} KC") for severity in ("error", "warning", "info")]
    assert sorted(places) == places


def test_text_counts_info_findings_and_names_the_option_that_lists_them(damaged: Path) -> None:
    """An option that chooses findings lists them too. Other formats have all of them."""
    shown = kcheck("check", damaged).out
    count = len(
        [
            row
            for row in json.loads(kcheck("check", damaged, "--format", "json").out)["findings"]
            if row["severity"] == "info"
        ]
    )
    assert ("info KC" in shown, f"{count} info: --severity info lists " in shown, count > 0) == (False, True, True)
    for chosen in (("--severity", "info"), ("--all",), ("--select", "KC")):
        assert "info KC" in kcheck("check", damaged, *chosen).out
    assert "info KC" in kcheck("check", damaged, "--format", "concise").out


def test_a_checkpoint_that_cannot_be_read_is_not_missing(tmp_path: Path) -> None:
    path = log_dir(tmp_path)
    (path / "recovery-point-offset-checkpoint").unlink()
    (path / "recovery-point-offset-checkpoint").symlink_to("none")
    (item,) = document("inspect", path)["items"]
    state = item["checkpoints"]["recovery-point-offset-checkpoint"]
    assert {"status": "unreadable", "entries": None, "defect": "a symbolic link to a path that does not exist"} == state
    assert (
        "recovery-point unreadable: a symbolic link to a path that does not exist"
        in kcheck("inspect", path, columns=120).out
    )


def formats_in_help(*command: str) -> set[str]:
    """Return the names behind `--format` in the help of a command."""
    shown = re.search(r"  --format (\S+)", kcheck(*command, "--help").out)
    assert shown is not None
    return {*shown[1].split("|")}


VERBS = {
    "inspect": "inspect", "check": "check", "cluster": "cluster", "dump": "dump", "rules": "rules",
    "explain": "explain", "predict": "predict", "preflight": "preflight", "end-offset": "end-offset",
    "truncation": "truncation", "recover": "recovery", "recover-quorum": "recovery-quorum",
    "recover-metadata": "recovery-metadata", "recover-topic": "recovery-topic", "elect": "elect",
    "verify": "verify", "repair": "plan", "apply": "plan", "undo": "plan",
    "tiered": "tiered",
    "simulate run": "simulate", "simulate write": "simulate", "overview": "check", "fleet diff": "fleet-diff",
    "fleet trend": "fleet-history", "fleet prune": "fleet-prune", "fleet publish": "fleet-publish",
}  # fmt: skip
"""The verb of the report of each command."""
SUMMARIES = {"fleet scan", "fleet report", "simulate list", "simulate search"}
"""Commands whose answer is no table; `--format` is about the text and the document."""
OTHERS = {"export"}
"""Commands that write no report: `tests/cli/test_export.py`."""


def test_every_command_that_has_formats_is_known_here() -> None:
    root, by_path = command_tree()
    commands = [*root.walk(), by_path]
    with_formats = [command for command in commands if any("--format" in option.names for option in command.options)]
    assert {*VERBS, *SUMMARIES, *OTHERS} == {" ".join(command.path[1:]) for command in with_formats}


@pytest.mark.parametrize(("command", "verb"), VERBS.items())
def test_the_help_of_a_command_names_each_format_that_its_report_has(command: str, verb: str) -> None:
    names = {
        renderer.name
        for renderer in discover("kcheck.renderers", "RENDERER")
        if isinstance(renderer, Renderer) and (not renderer.verbs or verb in renderer.verbs)
    }
    assert names == formats_in_help(*command.split())


@pytest.mark.parametrize("command", sorted(SUMMARIES))
def test_a_summary_has_the_formats_of_every_report(command: str) -> None:
    assert {"text", "json", "ndjson"} == formats_in_help(*command.split())


def test_a_new_format_is_one_file(tmp_path: Path, damaged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The help of the verb that it is for names it, and the command writes it."""
    (tmp_path / "names.py").write_text(
        "from kcheck.renderers import Renderer\n"
        "RENDERER = Renderer(name='names', render=lambda report, stream, options: stream.write(report.verb),"
        " verbs=('inspect',))\n"
    )
    monkeypatch.setattr(renderers, "__path__", [*renderers.__path__, str(tmp_path)])
    plug_names.cache_clear()
    try:
        assert "names" in formats_in_help("inspect")
        assert "names" not in formats_in_help("check")
        assert "inspect" == kcheck("inspect", damaged, "--format", "names").out
    finally:
        sys.modules.pop("kcheck.renderers.names", None)
        plug_names.cache_clear()


@pytest.mark.parametrize("name", ["text", "json", "csv", "parquet", "ndjson"])
def test_a_report_replaces_a_file_whole_or_not_at_all(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that is full leaves the report of yesterday as it was, with its mode."""
    path, out = log_dir(tmp_path / "data"), tmp_path / "report"
    out.write_bytes(b"yesterday")
    out.chmod(0o640)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", full)
        done = kcheck("check", path, "--format", name, "-o", out)
    assert (done.code, done.err) == (2, f"kcheck: -o {out}: no space left on device\n")
    assert (out.read_bytes(), sorted(child.name for child in tmp_path.iterdir() if child.is_file())) == (
        b"yesterday", ["report"],
    )  # fmt: skip
    kcheck("check", path, "--format", name, "-o", out)
    assert (out.read_bytes() != b"yesterday", stat.S_IMODE(out.stat().st_mode)) == (True, 0o640)
