"""`kcheck explain`: rules, pasted lines, whole logs, and the directories beside them."""

import csv
import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.builders import epochs, log_dir, partition_dir, run, write
from tests.cli.command import ROOT, kcheck, shell
from tests.messages.catalogue import log_line

LOG = ROOT / "fixtures" / "logs" / "4.3.1" / "server.log"
BELOW = log_line(
    "[UnifiedLog partition=t-0, dir=/data/a b] Truncating t-0 to offset 5 below high watermark 7", level="WARN"
)


def document(*arguments: str | Path) -> Any:
    """Return the JSON that explain prints."""
    return json.loads(kcheck("explain", *arguments, "--format", "json").out)


def test_a_premise() -> None:
    """What a reason of preflight names is explained as a rule is, alone and among rules."""
    (row,) = document("p301")["premises"]
    assert row["id"] == "P301"
    shown = kcheck("explain", "KC001", "P301", "L008", "P403").out
    assert "If it is not true: KRaft: the process ends" in shown
    assert "What to do: Make room (kcheck help disk-full)." in shown
    ids = ["KC001", "P301", "P403", "L008"]
    assert ids == [title for block in shown.split("\n\n") if (title := block.split()[0]) in ids]
    assert "no rule P999" in kcheck("explain", "P999").err
    assert "no rule KC2" in kcheck("explain", "KC2", "P301").err


def test_a_pasted_line() -> None:
    """What happened, since when, how dangerous, what is next, what to type, and the rules."""
    (line,) = document(BELOW)["lines"]
    assert ("L063", "fatal", "2.0", "/data/a b", "t", 0) == tuple(
        line[name] for name in ("rule", "severity", "since", "log_dir", "topic", "partition")
    )
    assert {"partition": "t-0", "offset": 5, "high_watermark": 7} == line["values"]
    assert line["look"].startswith("kcheck truncation BROKER='/data/a b' LEADER=LEADER_LOG_DIR")
    assert ["KC403", "KC402"] == line["findings"]
    shown = kcheck("explain", BELOW).out
    for words in ("L063 fatal", "Kafka next:", "Look: kcheck truncation", "On disk: KC403, KC402", "Since: Kafka 2.0"):
        assert words in shown
    truncated = kcheck("explain", "Truncating partition t-0 with x due to local high watermark 5")
    assert "Since: Kafka 0.8.2; this wording: 3.1-4.3" in truncated.out


def test_commands_are_filled_in() -> None:
    line = log_line(
        "[LogLoader partition=t-0, dir=/d] Corruption found in segment 0, truncating to offset 5", level="WARN"
    )
    assert "kcheck check /d --partition t-0 --depth crc" == document(line)["lines"][0]["look"]
    about_broker = "Could not determine the end offset of the last fetched epoch 4 from the request"
    assert "kcheck end-offset PATH --epoch 4" == document(about_broker)["lines"][0]["look"]
    assert document("Removed fetcher for partitions Set()")["lines"][0]["look"] is None


def test_a_line_that_is_not_known() -> None:
    assert kcheck("explain", "[2026-11-23 01:00:00,000] INFO \x1b[2J of no wording").out.endswith("matches.\n")
    assert [None] == [line["rule"] for line in document("of no wording")["lines"]]


def test_a_line_that_was_cut_names_what_it_can_be(tmp_path: Path) -> None:
    """Pasted with the wordings, in a log with the ids of their rules."""
    cut = "[2026-11-23 01:00:00,000] ERROR Error while processing..."
    (line,) = document(cut)["lines"]
    assert (line["rule"], line["severity"]) == (None, "error")
    assert [row["rule"] for row in line["candidates"]] == ["L149", "L193", "L196"]
    assert line["candidates"][0] == {
        "rule": "L149", "severity": "error", "releases": line["candidates"][0]["releases"],
        "pattern": "Error while processing data for partition <partition>",
    }  # fmt: skip
    shown = kcheck("explain", cut).out
    assert "    L149 error Error while processing data for partition <partition>\n" in shown
    assert shown.endswith("  kcheck explain L149 L193 L196 explains each.\n")
    write(tmp_path, {"server.log": f"{cut}\n".encode()})
    assert kcheck("explain", tmp_path / "server.log").out.endswith("line is too short. It can be L149, L193, L196.\n")
    assert document(tmp_path / "server.log")["timeline"][0]["steps"][0]["candidates"] == line["candidates"]
    assert document(BELOW)["lines"][0]["candidates"] == []


def test_a_whole_log() -> None:
    """Its release and broker; the disk error, and what it caused."""
    told = document(LOG)
    assert {"version": "4.3.1", "kafka": "4.3", "broker_ids": [1]} == told["release"]
    assert "4.3" == told["kafka_evidence"]["used"]
    (cause,) = told["causes"]
    assert (59, "L027", 10, 74) == tuple(cause[name] for name in ("line", "rule", "consequences", "last_line"))
    place = told["timeline"][0]
    assert ("/var/lib/kafka/data1", "fatal") == (place["log_dir"], place["severity"])
    dangerous = [(step["rule"], step["caused_by"]) for step in place["steps"] if step["severity"] != "info"]
    assert [("L027", None), ("L165", 59), ("L048", 59)] == dangerous[:3]
    shown = kcheck("explain", LOG)
    assert 1 == shown.code
    assert "It led to 10 more messages, up to line 74." in " ".join(shown.out.split())
    assert len(kcheck("explain", LOG, "--all").out) > 2 * len(shown.out)


def test_formats(tmp_path: Path) -> None:
    """Every message is a row; unknown ones of INFO are none."""
    rows = [*csv.DictReader(io.StringIO(kcheck("explain", LOG, "--format", "csv").out))]
    lines = document(LOG)["lines"]
    assert [str(line["line"]) for line in lines] == [row["line"] for row in rows]
    kinds = [json.loads(line)["kind"] for line in kcheck("explain", LOG, "--format", "ndjson").out.splitlines()]
    assert {"run", "line", "cause", "place", "summary"} == {*kinds}
    assert kcheck("explain", LOG, "--format", "parquet", "-o", tmp_path / "events.parquet").code == 1


def test_since() -> None:
    assert [] == document(LOG, "--since", "2027-01-01")["timeline"]
    assert 59 == document(LOG, "--since", "2026-11-24T00:03:25.700")["lines"][0]["line"]
    assert 2 == kcheck("explain", LOG, "--since", "yesterday").code


def test_logs_are_read_in_order_of_time(tmp_path: Path) -> None:
    """Whatever their order on the command line; one of them compressed."""
    text = LOG.read_text().splitlines(keepends=True)
    (tmp_path / "server.log").write_text("".join(text[40:]))
    (tmp_path / "server.log.1.gz").write_bytes(gzip.compress("".join(text[:40]).encode()))
    both = document(tmp_path / "server.log", tmp_path / "server.log.1.gz")
    whole = document(LOG)
    assert [line["message"] for line in whole["lines"]] == [line["message"] for line in both["lines"]]
    assert whole["release"] == both["release"]


def test_logs_that_cannot_be_read(tmp_path: Path) -> None:
    """The others are; the exit code is 3."""
    write(tmp_path, {"a.log": bytes(9000), "b.gz": gzip.compress(LOG.read_bytes())[:900], "c.log": b""})
    (tmp_path / "d.log").symlink_to(tmp_path / "a.log")
    ended = kcheck("explain", *(tmp_path / name for name in ("a.log", "b.gz", "c.log", "d.log")), LOG)
    assert 3 == ended.code
    shown = " ".join(ended.out.split())
    assert f"{tmp_path}/a.log, {tmp_path}/d.log: cannot be read: not text" in shown
    assert "cannot be read: gzip data ends early" in shown
    assert "The answer lacks the messages that could not be read." in shown
    assert "takes its log dir offline" not in " ".join(shown.split())
    assert "broker 1 · Kafka 4.3.1" in shown


def test_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    for arguments in (("-",), ()):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LOG.read_bytes())))
        told = document(*arguments)
        assert (53, "4.3.1", "4.3") == (len(told["lines"]), told["release"]["version"], told["kafka"])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\x1f\x8b broken")))
    assert 3 == kcheck("explain", "-").code


def test_an_escape_does_not_reach_the_screen(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    log.write_bytes(log_line("\x1b]0;title\x07\x1b[2J unknown", level="ERROR").encode())
    assert "\x1b" not in kcheck("explain", log).out
    assert "\\x1b]0;title" in kcheck("explain", log).out


def test_the_directories_beside_a_log(tmp_path: Path) -> None:
    """The log says what was loaded; the files say what is there."""
    data = log_dir(tmp_path / "data", high_watermark={"t-0": 5})
    write(partition_dir(data / "t-0", [run(0, 9)]), {"leader-epoch-checkpoint": epochs((3, 0))})
    log = tmp_path / "server.log"
    loaded = (
        f"Completed load of Log(dir={data}/t-0, topic=t, partition=0, logEndOffset=15) "
        f"with 1 segments in 1ms (1/1 loaded in {data})"
    )
    leads = (
        "[Broker id=1] Leader t-0 starts at leader epoch 3 from offset 0 with high watermark 5 ISR 1 addingReplicas  "
        "removingReplicas ."
    )
    log.write_text(f"{log_line(loaded)}\n{log_line(leads)}\n")
    compared = [(row["says"], row["now"], row["agrees"]) for row in document(log, data)["compared"]]
    assert [
        ("loaded with log end 15", "log end 10, 5 less: truncated or lost since", False),
        ("epoch 3 starts at 0", "epoch 3 starts at 0", True),
    ] == compared
    assert "The log and the directories agree 1 time of 2" in kcheck("explain", log, data).out
    assert 2 == len(document(log, data / "t-0")["compared"])


def test_rules_of_messages() -> None:
    """By id, several at once, together with other rules."""
    shown = kcheck("explain", "L063", "kc201", "epoch-order", "l063").out
    assert 1 == shown.count("L063 (fatal, a message of a broker: truncation)") == shown.count("KC201 epoch-order")
    assert "WARN 2.0-4.3: Truncating <partition> to offset <offset> below high watermark" in shown
    assert ["L063"] == [rule["id"] for rule in document("L063")["log_rules"]]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("",), "an argument is empty; name a rule, a log, or paste a line"),
        (("KC20l",), "no rule KC20l; did you mean KC201 epoch-order?"),
        (("L0999",), "no rule L0999; did you mean L099, "),
        (("epoch-ordr",), "did you mean KC201 epoch-order?"),
        (("foo",), "no rule, message or file foo; kcheck rules lists the rules"),
        (("KC9",), "no rule, message or file KC9; kcheck rules lists the rules"),
        (("/none/server.log",), "/none/server.log: no such file or directory"),
        (("server.log.9.gz",), "no such file or directory"),
        (("KC201", "a line"), "separate commands"),
        ((str(ROOT),), ": a directory; add a broker's log"),
    ],
)
def test_wrong_arguments(arguments: tuple[str, ...], words: str) -> None:
    ended = kcheck("explain", *arguments)
    assert 2 == ended.code
    assert words in ended.err


def test_a_prefix_lists_its_rules() -> None:
    """As `kcheck rules` does."""
    ids = [rule["id"] for rule in json.loads(kcheck("explain", "kc2", "--format", "json").out)["rules"]]
    every = [rule["id"] for rule in json.loads(kcheck("rules", "--format", "json").out)["rules"]]
    assert [one for one in every if one.startswith("KC2")] == ids
    shown = kcheck("explain", "KC60").out.splitlines()[1:]
    assert ["KC601", "KC602"] == [line.split()[0] for line in shown]


def test_what_is_no_file_and_has_a_dot_or_a_colon_is_a_line() -> None:
    assert kcheck("explain", "java.lang.OutOfMemoryError").out.startswith("L228 error java.lang.OutOfMemoryError\n")


def test_nothing_to_explain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    assert "nothing to explain" in kcheck("explain").err


def test_the_release_can_be_given() -> None:
    assert "3.9" == document(LOG, "--kafka", "3.9")["kafka"]


def test_an_explanation_runs_as_a_command() -> None:
    assert 1 == shell("explain", LOG).code


def test_an_exception_alone_is_explained_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As an argument, from a file and a pipe; a fatal one ends with exit code 1."""
    full = "java.io.IOException: No space left on device"
    write(tmp_path, {"server.log": full.encode(), "calm.log": log_line("Loading logs.").encode()})
    assert [1, 0] == [kcheck("explain", tmp_path / name).code for name in ("server.log", "calm.log")]
    assert 1 == kcheck("explain", full).code
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(full.encode())))
    assert kcheck("explain").out == kcheck("explain", tmp_path / "server.log").out
    of_file, of_text = (document(each)["lines"] for each in (tmp_path / "server.log", full))
    assert ["L165"] == [row["rule"] for row in of_file] == [row["rule"] for row in of_text]


def test_an_argument_that_cannot_be_a_path_is_a_line() -> None:
    long = "[2026-11-23 01:00:00,000] INFO [RaftManager id=0] Completed transition to " + "x" * 300 + " from y"
    for line in (long, f"{long}\n{long}"):
        assert {"L160"} == {row["rule"] for row in document(line)["lines"]}
    assert 0 == kcheck("explain", long).code


def test_a_premise_names_the_page_of_its_incident() -> None:
    """As a command that runs; others have no page."""
    assert "\nMore: kcheck help lost-quorum\n" in kcheck("explain", "P205").out
    assert "see kcheck help dead-disk." in " ".join(kcheck("explain", "P301").out.split())
    assert "More:" not in kcheck("explain", "P302").out
