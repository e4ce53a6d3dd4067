"""How commands end: 0 clean, 1 findings, 2 usage, 3 could not finish, 130 interrupted."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from kcheck import __version__
from kcheck.cli.commands import GROUPS, HIDDEN, SENTENCES, TWO_WORDS
from kcheck.core.releases.releases import AS_OF, TABLE
from kcheck.verbs import check as scan_check
from tests.builders import partition_dir, run
from tests.cli.command import KCHECK, ROOT, UNCHANGED, environment, kcheck, left_to_nobody, shell


def last_line(text: str) -> str:
    """Return the last line."""
    return text.splitlines()[-1] if text else ""


def test_a_clean_directory_is_0(clean: Path) -> None:
    done = shell("inspect", clean)
    assert (0, "") == (done.code, done.err)


def test_findings_at_or_above_error_are_1(damaged: Path) -> None:
    done = shell("inspect", damaged)
    assert (1, "") == (done.code, done.err)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ((), 1),
        (("--fail-on", "fatal"), 0),
        (("--fail-on", "warning"), 1),
        (("--ignore", "KC201"), 0),
        (("--ignore", "KC201", "--fail-on", "warning"), 1),
        (("--ignore", "KC2"), 0),
        (("--ignore", "kc201,KC213", "--fail-on", "warning"), 0),
        (("--ignore", "KC201,KC213", "--fail-on", "info"), 1),
        (("--select", "KC213"), 0),
        (("--select", "KC213", "--fail-on", "warning"), 1),
        (("--select", "KC3", "--fail-on", "info"), 1),
        (("--select", "KC1"), 0),
        (("--select", "KC201", "--ignore", "KC201"), 0),
        (("--severity", "fatal"), 1),
    ],
)
def test_what_fails_is_chosen(damaged: Path, options: tuple[str, ...], code: int) -> None:
    """`--severity` hides; what it hides fails all the same."""
    assert code == kcheck("inspect", damaged, *options).code


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ((), {"KC201", "KC213"}),
        (("--severity", "info"), {"KC201", "KC213", "KC302"}),
        (("--severity", "warning"), {"KC201", "KC213"}),
        (("--severity", "ERROR"), {"KC201"}),
        (("--severity", "fatal"), set()),
        (("--select", "KC213,KC302"), {"KC213", "KC302"}),
        (("--select", "KC213", "--select", "KC302"), {"KC213", "KC302"}),
        (("--ignore", "KC3"), {"KC201", "KC213"}),
    ],
)
def test_what_is_shown_is_chosen(damaged: Path, options: tuple[str, ...], shown: set[str]) -> None:
    out = kcheck("inspect", damaged, *options).out
    assert shown == {rule for rule in ("KC201", "KC213", "KC302") if f" {rule} " in out}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("inspect", "{}", "--format", "xml"), ("xml", "csv, json, ndjson, parquet, text")),
        (("inspect", "{}", "--format", "kafka"), ("kafka works with dump only, not with inspect",)),
        (("inspect", "{}", "--kafka", "9.9"), ("9.9", "4.4", "0.8.2")),
        (("inspect", "{}", "--kafka", ""), ("use auto, or one from 0.8.2 to 4.4",)),
        (("inspect", "{}", "--ibp", "9.9"), ("9.9", "2.7")),
        (("inspect", "{}", "--message-format", "x"), ("x",)),
        (("inspect", "{}", "--severity", "bad"), ("bad", "info, warning, error, fatal")),
        (("inspect", "{}", "--fail-on", "bad"), ("bad", "info, warning, error, fatal")),
        (("check", "{}", "--select", "KC201,KC2O1"), ("--select KC2O1: no such rule",)),
        (("check", "{}", "--ignore", "epoch-order"), ("--ignore EPOCH-ORDER: no such rule",)),
        (("end-offset", "{}", "--epoch", "2147483648"), ("--epoch 2147483648: must be from -2147483648",)),
        (("end-offset", "{}", "--log-end-offset", "-1"), ("--log-end-offset -1: must be from 0 to 9223",)),
        (("end-offset", "{}", "--current-leader-epoch", "2147483648"), ("to 2147483647",)),
        (("truncation", "{}", "--leader-epoch", "-7"), ("--leader-epoch -7: must be from 0",)),
        (("inspect", "{}/t-0/leader-epoch-checkpoint", "--as", "poem"), ("poem", "offset-checkpoint")),
        (("inspect", "{}", "--format", "csv"), ("csv", "json or ndjson")),
        (("check", "{}", "--depth", "sea"), ("sea", "checkpoints, headers, crc")),
        (("end-offset", "{}", "--profile", "P9"), ("P9", "P0, P1a")),
        (("truncation", "{}", "--leader", "9"), ("--leader 9: not one of 1",)),
        (("truncation", "7={}", "--live"), ("meta.properties says broker 1",)),
        (("inspect", "{}/gone"), ("gone: no such file or directory",)),
        (("predict", "{}/gone"), ("gone: no such file or directory",)),
        (("repair", "{}/gone"), ("gone: no such file or directory",)),
        (("explain", "KC2O4"), ("no rule KC2O4; did you mean KC204 epochs-missing?",)),
        (("explain", "KC204", "epochs-mising"), ("no rule epochs-mising; did you mean KC204 epochs-missing?",)),
        (("truncation", "1={}"), ("name the replicas of at least two brokers: 1=PATH 2=PATH",)),
        (("dump", "{}"), (": a directory; dump reads files, kcheck inspect reads directories",)),
        (("{}/dat",), ("/dat: no such file or directory",)),
        (("inspect",), ("PATH",)),
        (("frobnicate",), ("frobnicate",)),
        (("inspect", "{}", "--frobnicate"), ("--frobnicate",)),
        (("end-offset", "{}", "--epoch", "x"), ("x",)),
    ],
)
def test_usage_errors_are_2_and_name_the_known(clean: Path, arguments: tuple[str, ...], said: tuple[str, ...]) -> None:
    """On stderr; stdout stays empty."""
    done = kcheck(*(part.format(clean) for part in arguments))
    assert (2, "") == (done.code, done.out)
    for word in said:
        assert word in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("arguments", [("--format", "poem"), ("--format", "parquet"), ("--select", "KC9")])
def test_what_makes_no_sense_is_told_before_anything_is_read(
    arguments: tuple[str, ...], clean: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A check can take hours."""

    def reads(*_: object, **__: object) -> None:
        pytest.fail("it was read")

    monkeypatch.setattr(scan_check, "check", reads)
    assert 2 == kcheck("check", clean, *arguments).code


def test_what_could_not_be_read_is_3_and_the_rest_is_told(clean: Path) -> None:
    (clean / "replication-offset-checkpoint").unlink()
    os.mkfifo(clean / "replication-offset-checkpoint")
    done = shell("inspect", clean)
    assert (3, "") == (done.code, done.err)
    assert "t-0" in done.out
    assert "KC001" in done.out


def test_a_bug_in_one_partition_is_3_and_the_rest_is_told(clean: Path, break_partition: Any) -> None:
    partition_dir(clean / "u-0", [run(0, 9)])
    break_partition("u-0", RuntimeError("boom\x1b[31m"))
    done = kcheck("inspect", clean)
    assert (3, "") == (done.code, done.err)
    assert "KC000" in done.out
    assert "RuntimeError: boom\\x1b[31m" in " ".join(done.out.split())
    assert "t-0" in done.out


def test_a_bug_outside_of_a_partition_is_3_without_a_traceback(clean: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*arguments: object, **more: object) -> object:
        del arguments, more
        raise RuntimeError("boom")

    monkeypatch.setattr("kcheck.views.log_dir.open_log_dir", fails)
    done = kcheck("inspect", clean)
    assert (3, "kcheck: a bug in kcheck: RuntimeError: boom") == (done.code, done.err.splitlines()[0])
    assert "Traceback" not in done.err


def test_an_interrupt_is_130(tmp_path: Path) -> None:
    """Whatever kcheck does at that moment."""
    code = (
        "import os, signal, sys\n"
        "import kcheck.views.log_dir as look\n"
        "look.open_log_dir = lambda *arguments: os.kill(os.getpid(), signal.SIGINT)\n"
        "from kcheck.cli.app import main\n"
        "main()\n"
    )
    partition_dir(tmp_path / "data" / "t-0", [run(0, 9)])
    command = [sys.executable, "-c", code, "inspect", str(tmp_path / "data")]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    assert (130, "") == (done.returncode, done.stdout)
    assert "Traceback" not in done.stderr


def test_an_interrupt_before_kcheck_is_loaded_is_130() -> None:
    """Nobody asked for a traceback of imports."""
    code = (
        "import os, runpy, signal, sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'typer':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder())\n"
        "runpy.run_module('kcheck', run_name='__main__')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (130, "", "") == (done.returncode, done.stdout, done.stderr)


def test_a_signal_from_outside_is_130(tmp_path: Path) -> None:
    """Control-C while the answer is on its way to a reader that does not read."""
    for number in range(2000):
        (tmp_path / "data" / f"topic-with-a-long-name-{number}").mkdir(parents=True)
    partition_dir(tmp_path / "data" / "t-0", [run(0, 9)])
    command = [*KCHECK, "inspect", str(tmp_path / "data"), "--format", "json"]
    with (
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), text=True
        ) as process,
        left_to_nobody(process),
    ):
        assert process.stdout is not None
        process.stdout.read(1)
        time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err


@pytest.mark.parametrize("verb", ["inspect", "check", "end-offset", "predict"])
def test_quiet_leaves_stderr_empty(clean: Path, verb: str) -> None:
    done = shell(verb, clean, "--quiet")
    assert (0, "") == (done.code, done.err)
    assert done.out


def test_quiet_still_tells_errors(tmp_path: Path) -> None:
    done = shell("inspect", tmp_path / "gone", "--quiet")
    assert (2, "", f"kcheck: {tmp_path}/gone: no such file or directory\n") == (done.code, done.out, done.err)


@pytest.mark.parametrize("verb", ["inspect", "check", "end-offset", "predict"])
def test_a_verb_that_only_reads_says_nothing_of_changes(clean: Path, verb: str) -> None:
    assert "" == shell(verb, clean).err


@pytest.mark.parametrize("verb", [("apply", "--backup", "b"), ("undo",)])
def test_a_verb_that_changes_files_says_that_it_has_not(tmp_path: Path, verb: tuple[str, ...]) -> None:
    assert UNCHANGED == last_line(kcheck(verb[0], tmp_path / "none", *verb[1:]).err)


def test_the_version_names_python_and_the_releases() -> None:
    done = shell("--version")
    assert done.code == 0
    python = ".".join(map(str, sys.version_info[:3]))
    assert done.out.startswith(f"kcheck {__version__}, Python {python}, tested against Kafka 0.10.2, ")
    first, second = done.out.splitlines()
    assert first.endswith(" 4.3")
    assert second == f"knows the releases {TABLE[0].first} to {TABLE[-1].last}, as of {AS_OF}"


def test_help_is_one_screen() -> None:
    """Grouped by what an operator wants, no sentence cut short."""
    done = shell("--help", COLUMNS="80")
    assert done.code == 0
    lines = done.out.splitlines()
    assert len(lines) <= 36
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("Usage: kcheck PATH...  ")
    rows = lines[6 : 6 + len(SENTENCES) - len(HIDDEN) - len(TWO_WORDS)]
    assert [*GROUPS] == [line[:9].strip() for line in rows if line and line[0] != " "]


@pytest.mark.parametrize(
    "verb", ["inspect", "check", "dump", "end-offset", "truncation", "apply", "undo", "rules", "explain"]
)
def test_every_verb_has_help(verb: str) -> None:
    done = kcheck(verb, "-h")
    assert done.code == 0
    assert f"kcheck {verb}" in done.out
    assert "--format" in done.out


def test_rules_and_explain(clean: Path) -> None:
    del clean
    assert "KC201" in kcheck("rules").out
    for name in ("KC201", "kc201", "epoch-order"):
        assert kcheck("explain", name).out.startswith("KC201 epoch-order (error, file)")


def test_options_may_come_before_the_path(damaged: Path) -> None:
    """`kcheck PATH` has no name for the options to follow."""
    before, after = (kcheck("--kafka", "2.8", damaged), kcheck(damaged, "--kafka", "2.8"))
    assert before == after
    assert (1, True) == (before.code, before.out.startswith("Kafka 2.8 (--kafka"))


@pytest.mark.parametrize(
    ("fail_on", "topic", "code"), [("error", "emptied", 1), ("error", "behind", 1), ("fatal", "behind", 0)]
)
def test_lost_committed_records_are_1(fail_on: str, topic: str, code: int) -> None:
    """Broker 1 leads and its log ends below the high watermark of broker 2."""
    brokers = (f"{number}=fixtures/brokers/4.3.1/diverged/broker-{number}" for number in (1, 2))
    done = kcheck("truncation", *brokers, "--leader", "1", "--topic", topic, "--fail-on", fail_on, "--ignore", "KC204")
    assert code == done.code


def test_committed_records_that_the_best_leader_keeps_are_0() -> None:
    brokers = [f"{number}=fixtures/brokers/4.3.1/diverged/broker-{number}" for number in (1, 2)]
    done = kcheck("truncation", *brokers, "--topic", "behind")
    assert (0, True) == (
        done.code,
        "* broker 2 is the best leader of behind-0: fewest committed records lost" in done.out,
    )
    quiet = kcheck("truncation", *brokers, "--topic", "behind", "--leader", "best")
    assert "1 partition: no replica truncates or loses records; --all lists every partition" in quiet.out
    assert (
        "broker 1   log end 20, refetch 15 records"
        in kcheck("truncation", *brokers, "--topic", "behind", "--leader", "best", "--all").out
    )
