"""The help of every command: its layout, and its examples, which run."""

import os
import pty
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kcheck.cli.command_tree import Command, command_tree
from kcheck.cli.commands import GROUPS, HIDDEN, SENTENCES
from kcheck.cli.examples import EXAMPLES, SEE_ALSO
from kcheck.cli.exit_codes import ANSWERS
from kcheck.cli.topics import TOPICS
from tests.cli.command import KCHECK, ROOT, drained, environment, kcheck, shell
from tests.fleets import forged

FIRST_SCREEN = """\
Usage: kcheck PATH...                what is wrong, and what the next start does
       kcheck COMMAND [OPTIONS] ...

Check Kafka log directories offline: what is wrong, what the broker will do,
which records you would lose. Only apply and undo write to log dirs.

Check    check        Find corrupt log dirs and files.
         predict      Show what the next start does to each partition.
         preflight    Check that a broker starts without losing records.
         explain      Explain a finding, a log line, or a server.log.
Decide   recover      Write the step-by-step plan that loses the fewest records.
         elect        Recommend a start order and leaders, with their cost.
         verify       Compare brokers with the plan of elect.
         truncation   Show where followers truncate under each leader.
         cluster      Show leaders, ISR, brokers and quorum from disk.
Fix      repair       Plan repairs, with proof.
         apply        Apply a plan, and back up every file it replaces.
         undo         Restore what apply changed, byte for byte.
Look     inspect      Show offsets, epochs and segments.
         dump         Show batches, records or entries of a file.
         tiered       Show remote segments, gaps, and who would delete what.
         end-offset   Answer OffsetsForLeaderEpoch from disk.
Share    capture      Pack the evidence for a support ticket: no records.
         export       Write records in a form that a producer takes.
Fleet    fleet        Scan all brokers every night; report and compare the runs.
Learn    demo         Break a small cluster, and repair it.
         simulate     Replay and search histories of one partition.
         rules        List all rules.
         schema       Show the fields of a JSON answer, as JSON Schema.
         help         Show help for a command or a topic.

Start with:  kcheck /var/lib/kafka/data
Options:     -h, --help   --version   --color auto|always|never
             kcheck COMMAND -h shows its options, --help all of them
Docs:        kcheck help topics|power-loss|dead-disk|every-night
"""

PREDICT = """\
Usage: kcheck predict [OPTIONS] PATH...

Show what the next start of a broker does to each partition, and what it loses.

  PATH...                 Log dirs, partition directories, a server.properties,
                          a bundle; BROKER=PATH for several brokers.
Options
  --fail-on LEVEL         Exit 1 at this severity or higher. [default: error]
  --clean, --unclean      Assume a clean or unclean shutdown. [default: from the
                          marker file]
  -D, --define KEY=VALUE  One broker setting; repeatable.
  --metadata PATH         Cluster metadata: a controller's log dir, a KRaft
                          snapshot, or ZooKeeper's data directory; repeatable.
Partitions     --topic --partition --all
Kafka release  --kafka --ibp --message-format --config --server-log
Output         --format -o --color -q --exit-zero

Examples
  kcheck predict /data/kafka-1
  kcheck predict /data/kafka-1 --unclean --kafka 3.6
Exit code: 0 nothing known to be lost, 1 records lost or a log dir not served, 2
usage, 3 not all could be read. All options: kcheck predict --help
"""

NEEDS_MORE = {"kcheck fleet publish": "a catalog", "kcheck fleet submit": "Spark", "man": "a program of its own"}
"""Examples that need more than kcheck; the tests of these commands have one."""


def commands() -> list[Command]:
    """Return every command that runs, not the groups."""
    root, by_path = command_tree()
    return [command for command in (*root.walk(), by_path) if not command.commands]


def test_the_first_screen() -> None:
    """To the letter; without arguments it is the answer to a mistake."""
    for words in (("--help",), ("-h",), ("help",)):
        assert (0, FIRST_SCREEN) == (kcheck(*words).code, kcheck(*words).out)
    alone = kcheck()
    assert (2, "", FIRST_SCREEN) == (alone.code, alone.out, alone.err)


def test_the_short_help() -> None:
    assert PREDICT == kcheck("predict", "-h").out


@pytest.mark.parametrize("command", commands(), ids=lambda command: command.key)
def test_a_help_fits_and_has_all_parts(command: Command) -> None:
    """Eighty columns, two examples, exit codes; the long one has every option and what else counts."""
    words = command.path[1:] if command.key != "overview" else ("help", "PATH")
    full = kcheck(*words, *(() if words[0] == "help" and words[1:] else ("--help",))).out
    assert max(map(len, full.splitlines())) <= 80
    assert 2 == len(command.examples)
    assert full.count("\nExamples\n") == full.count("\nExit codes\n") == full.count("\nSee also: ") == 1
    assert [] == [option.shown for option in command.options if option.names[-1] not in full]
    if command.key != "overview":
        short = kcheck(*words, "-h").out
        assert max(map(len, short.splitlines())) <= 80
        assert all(example in " ".join(short.replace("\\\n", "").split()) for example in command.examples)
        assert f"All options: {command.typed} --help\n" in short
        assert full == kcheck("help", *words).out


def test_no_help_shows_what_typer_calls_a_type() -> None:
    """A value is called by what it is: EPOCH, OFFSET, N."""
    shown = [option for command in commands() for option in (*command.arguments, *command.options)]
    assert [] == [option.shown for option in shown if re.search(r"<|INTEGER|TEXT|FLOAT", option.shown)]
    assert [] == [option.shown for option in shown if not option.words]


def test_tables_of_help_name_commands_that_are_there() -> None:
    known = {command.key for command in commands()}
    hidden = {"version", "manual"}
    assert known | hidden == set(EXAMPLES) == set(ANSWERS)
    assert {name for names in SEE_ALSO.values() for name in names} | set(SEE_ALSO) <= known
    assert set(HIDDEN) == hidden | {"overview"}
    assert set(SENTENCES) == set(HIDDEN) | {name for group in GROUPS.values() for name in group}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder where every example of the help finds its files, below `data`."""
    folder = tmp_path_factory.mktemp("examples")
    for number in (1, 2, 3):
        broker = folder / "data" / f"kafka-{number}"
        shutil.copytree(ROOT / "fixtures" / "brokers" / "4.3.1" / "stopped" / f"broker-{number}", broker)
        (folder / "data" / f"b{number}").symlink_to(broker)
    (folder / "data" / "controller").mkdir()
    (folder / "data" / "kafka-1" / "data2" / "plain-0" / "leader-epoch-checkpoint").write_bytes(bytes(8))
    (folder / "data" / "server.properties").write_text(f"node.id=2\nlog.dirs={folder}/data/kafka-2/data1\n", "utf-8")
    (folder / "data" / "server.log").write_text(
        "[2026-01-01 00:00:00,000] INFO Kafka version: 4.3.1 (org.apache.kafka)\n", "utf-8"
    )
    for name in ("monday", "tuesday"):
        forged(folder / "runs", name)
    return folder


def examples() -> Iterator[tuple[str, str]]:
    """Yield every example that kcheck alone can run, with its command."""
    for command, lines in EXAMPLES.items():
        for line in lines:
            if not line.startswith(tuple(NEEDS_MORE)):
                yield command, line


def test_every_example_runs(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It answers, whatever the answer is; one may read what another has written."""
    monkeypatch.chdir(data)
    ends = {}
    for command, example in examples():
        words = shlex.split(example.replace("/data/", f"{data}/data/"))
        done = shell(*words[1:], cwd=data) if command == "export" else kcheck(*words[1:])
        ends[example] = (done.code, done.err)
        assert done.out or command in ("manual", "capture", "export")
    # The scan has two brokers of a cluster of three.
    incomplete = {example for example, (code, _) in ends.items() if code == 3}
    assert {"kcheck fleet scan /data/kafka-1 /data/kafka-2 --output-dir runs"} == incomplete
    assert {} == {example: end for example, end in ends.items() if end[0] not in (0, 1, 3)}


@pytest.mark.parametrize("topic", ["topics", *TOPICS])
def test_a_topic_is_a_text(topic: str) -> None:
    done = kcheck("help", topic)
    assert (0, "") == (done.code, done.err)
    words = [line for line in done.out.splitlines() if not line.startswith("  ") and " " in line]  # commands are whole
    assert max(map(len, words)) <= 80
    assert done.out.count("\n") > 5


def test_help_for_what_is_not_there() -> None:
    assert kcheck("help", "predikt").err == ("kcheck: help predikt: no such command or topic; did you mean predict?\n")
    assert kcheck("help", "fleet", "nothing").err.endswith("; kcheck help topics lists the topics\n")
    assert kcheck("help", "fleet", "history").out == kcheck("help", "fleet", "trend").out != ""


def test_version_has_three_names() -> None:
    assert kcheck("version").out == kcheck("--version").out == kcheck("-V").out != ""


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("-v",), "-v: kcheck PATH... has no such option; -V shows the version, --all shows everything"),
        (("versio",), "versio: no such command or file; did you mean version?"),
        (("zzz",), "zzz: no such command or file; kcheck -h shows what to type"),
        (("check",), "PATH... is missing; for example: kcheck check /data/kafka-1 --depth crc"),
        (("check", ".", "--selct", "x"), "--selct: kcheck check has no such option; did you mean --select?"),
        (("check", ".", "--jobs", "x"),
         "--jobs: 'x' is not an integer; for example: kcheck check /data/kafka-1 --depth crc"),
        (("check", ".", "--nice=1"), "--nice: takes no value; kcheck -h shows what to type"),
        (("check", ".", "--depth"), "--depth: its value is missing; kcheck -h shows what to type"),
        (("rules", "x"), "x: kcheck rules takes no such argument; for example: kcheck rules"),
        (
            ("preflight", "a.properties", "b"),
            (
                "b: kcheck preflight takes one FILE, so run kcheck once for each; for example: kcheck preflight"
                " /data/server.properties"
            ),
        ),
        (("fleet", "scna"), "scna: no such command or file; did you mean scan?"),
        (("check", ".", "--color", "red"), "--color red: not one of auto, always, never"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line(words: tuple[str, ...], line: str) -> None:
    """What is wrong, and what to type."""
    done = kcheck(*words)
    assert (2, "", f"kcheck: {line}\n") == (done.code, done.out, done.err)


def test_bad_news_can_be_no_failure() -> None:
    """--exit-zero, in every command that can end with 1."""
    broken = ROOT / "fixtures" / "cases" / "kc102-damaged" / "not-a-number" / "before"
    paths = [path for path in broken.parent.parent.parent.glob("kc10*/*/before") if kcheck("check", path).code == 1]
    assert paths
    assert 0 == kcheck("check", paths[0], "--exit-zero").code
    assert 2 == kcheck("check", "none", "--exit-zero").code


def test_a_long_help_is_paged(tmp_path: Path) -> None:
    """On a terminal that it does not fit, by PAGER."""
    pager = tmp_path / "pager"
    pager.write_text("#!/bin/sh\necho PAGED\n")
    pager.chmod(0o755)
    assert "PAGED" in on_a_terminal("help", "check", PAGER=str(pager))
    assert "PAGED" not in on_a_terminal("help", "rules", PAGER=str(pager), LINES="100")


def on_a_terminal(*words: str, **changes: str) -> str:
    """Return what a command shows on a terminal."""
    leader, follower = pty.openpty()
    with subprocess.Popen(
        [*KCHECK, *words], stdin=follower, stdout=follower, stderr=follower, env=environment(**changes)
    ) as process:
        os.close(follower)
        shown = drained(leader)
        process.wait()
    os.close(leader)
    return shown.decode()


def test_help_is_there_without_docstrings() -> None:
    """PYTHONOPTIMIZE=2 strips them from every module: commands, their sentences, and the pages of rules."""
    for words in (["fleet", "--help"], ["help", "check"], ["explain", "KC141"]):
        assert shell(*words) == shell(*words, PYTHONOPTIMIZE="2"), words


@pytest.mark.parametrize("options", [("-OO",), ("-X", "utf8", "-O", "-O"), ("-W", "error", "-BOOm")])
def test_help_is_there_under_every_form_of_the_option(options: tuple[str, ...]) -> None:
    """As `python -OO -m kcheck`: the command starts again without the option."""
    module = () if options[-1].endswith("m") else ("-m",)
    command = [sys.executable, *options, *module, "kcheck", "help", "check"]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    assert (0, shell("help", "check").out) == (done.returncode, done.stdout)
