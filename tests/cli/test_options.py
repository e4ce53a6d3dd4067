"""Every option of every command changes an answer, or the table says why not in this folder."""

import contextlib
import shlex
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kcheck.cli.command_tree import Command, command_tree
from kcheck.renderers._next_command import CARRIED
from tests.cli.command import ROOT, Ended, kcheck
from tests.fleets import finding, forged

_BROKERS = ROOT / "fixtures" / "brokers" / "4.3.1" / "diverged"
_THREE = ("1=b1", "2=b2", "3=b3")
_SEGMENT = "b1/data1/diverged-0/00000000000000000000.log"

COMMANDS: dict[str, tuple[str, ...]] = {
    "overview": ("b1",), "check": ("check", "b1"), "predict": ("predict", "b1"),
    "preflight": ("preflight", "server.properties"), "explain": ("explain", "server.log"),
    "recover": ("recover", "1=b1", "2=b2"), "recover-quorum": ("recover", "quorum", "1=b1", "2=b2"),
    "recover-metadata": ("recover", "metadata", "1=b1", "2=b2"),
    "recover-topic": ("recover", "topic", "emptied", "1=b1", "2=b2"), "elect": ("elect", "1=b1", "2=b2"),
    "verify": ("verify", "plan", "1=b1", "2=b2"), "truncation": ("truncation", "1=b1", "2=b2"),
    "cluster": ("cluster", "b1"), "repair": ("repair", "bad"), "apply": ("apply", "plan.json", "--backup", "NEW"),
    "undo": ("undo", "backup"), "inspect": ("inspect", "b1"), "dump": ("dump", _SEGMENT),
    "tiered": ("tiered", "1=tiered"), "end-offset": ("end-offset", "b1"), "capture": ("capture", "b1", "--dry-run"),
    "export": ("export", "b1", "--topic", "diverged"),
    "fleet scan": ("fleet", "scan", "b1", "--run", "r", "--output-dir", "NEW"),
    "fleet report": ("fleet", "report", "runs/run=b"), "fleet diff": ("fleet", "diff", "runs/run=a", "runs/run=b"),
    "fleet trend": ("fleet", "trend", "runs"), "fleet prune": ("fleet", "prune", "runs", "--keep", "1", "--dry-run"),
    "simulate run": ("simulate", "run", "kip-101-1", "--kafka", "0.10.2"),
    "simulate search": ("simulate", "search", "--max-events", "4"),
    "simulate script": ("simulate", "script", "kip-966"), "simulate list": ("simulate", "list"),
    "simulate write": ("simulate", "write", "kip-966", "--output-dir", "NEW"), "rules": ("rules",),
    "schema": ("schema", "check"),
}  # fmt: skip
"""What is typed for each command, without the option."""

VALUES: dict[str, tuple[str, ...]] = {
    "--format": ("json",), "--output": ("NEW",), "--color": ("always",), "--exit-zero": (), "--help": (), "--quiet": (),
    "--kafka": ("4.0",), "--ibp": ("2.7",), "--config": ("other.properties",), "--server-log": ("server.log",),
    "--topic": ("behind",), "--partition": ("behind-0",), "--metadata": ("b2/data1/__cluster_metadata-0",),
    "--select": ("KC6",), "--ignore": ("KC",), "--severity": ("fatal",), "--fail-on": ("info",), "--unclean": (),
    "--clean": (),
    "--define": ("segment.index.bytes=x",), "--output-dir": ("NEW",),
    "--brokers": ("2",), "--rf": ("2",), "--min-isr": ("2",), "--acks": ("0",), "--promise": ("x",), "--mode": ("x",),
    "--layout": ("x",), "--records": (), "--offset": ("10",), "--epoch": ("0",), "--only-damaged": (),
    "--print-data": ("utf8",), "--segments": (), "--epochs": (), "--batches": (), "--files": (), "--at": ("5",),
    "--changes": ("behind-0",), "--fetchers": ("2",), "--table": ("brokers",), "--leader": ("1",),
    "--leader-epoch": ("9",), "--live": (), "--current-leader-epoch": ("1",), "--log-end-offset": ("3",),
    "--after-start": (), "--dead": ("2",), "--save-lost": ("NEW",), "--depth": ("crc",), "--as": ("log",),
    "--from": ("5",), "--to": ("5",), "--summary": ("NEW",), "--html": ("NEW",), "--prometheus": ("NEW",),
    "--after": ("3",), "--allow": ("loss",), "--tidy": (), "--voter": ("x@y",), "--way": ("x",), "--topic-id": ("x",),
    "--answers": ("none",), "--until": ("2001-01-01",), "--since": ("2040-01-01",),
}  # fmt: skip
"""A value for the options that several commands have."""

MORE: dict[str, tuple[tuple[str, ...], ...]] = {"--fail-on": (("fatal",),)}
"""More values, for answers that the first one does not change."""

OTHER = {
    ("overview", "--config"): ("old",), ("inspect", "--config"): ("inspect", "old"),
    ("end-offset", "--config"): ("end-offset", "old"),
    ("truncation", "--leader-epoch"): ("truncation", "1=b1", "2=b2", "--leader", "1"),
    ("cluster", "--table"): ("cluster", "b1", "--format", "csv"),
    ("dump", "--epoch"): ("dump", "b2/data1/diverged-0/00000000000000000000.log"),
    ("check", "--as"): ("check", "b1/data1/meta.properties"),
    ("inspect", "--as"): ("inspect", "b1/data1/meta.properties"),
    ("fleet scan", "--fail-on"): ("fleet", "scan", "b1", "--run", "r", "--output-dir", "NEW", "--ignore", "KC3,KC505"),
}  # fmt: skip
"""What is typed for a command where an option changes nothing in the common folder."""

_JUDGING = ("--select", "--ignore", "--severity", "--fail-on")
_WITHOUT_FINDINGS = ("recover", "recover-quorum", "recover-metadata", "recover-topic", "elect", "cluster", "tiered")
SAME: dict[tuple[str, str], str] = {
    **{(key, name): "no finding in this folder" for key in _WITHOUT_FINDINGS for name in _JUDGING},
    **dict.fromkeys([("apply", name) for name in ("--format", "--output", "--color")], "applied once: test_apply"),
    **dict.fromkeys([("undo", name) for name in ("--format", "--output", "--color")], "undone once: test_apply"),
    **dict.fromkeys([("fleet prune", name) for name in ("--format", "--output", "--color")], "a summary, as of scan"),
    ("cluster", "--config"): "the metadata name the release",
    ("tiered", "--config"): "the metadata name the release",
    ("tiered", "--metadata"): "the broker has the same metadata",
    ("repair", "--fail-on"): "every finding of this folder has a repair",
    ("export", "--quiet"): "what was left out is an error, not a note",
    ("preflight", "--allow"): "the broker loses nothing here that --allow accepts: test_preflight",
    ("recover-metadata", "--dead"): "refused: test_recover_metadata",
    ("recover-topic", "--topic-id"): "refused: test_recover_topic",
    ("end-offset", "--log-end-offset"): "a log without this leader epoch answers alike: test_end_offset",
    ("simulate search", "--brokers"): "the search of this depth ends before a second broker matters: test_simulate",
    **dict.fromkeys([("export", name) for name in ("--from", "--to", "--summary")], "writes to stdout: test_export"),
    ("capture", "--output"): "--dry-run writes nothing",
    ("recover-quorum", "--output-dir"): "refused: no plan to write",
    ("recover-topic", "--output-dir"): "refused: no plan to write",
    ("recover-topic", "--metadata"): "the brokers have the same metadata",
}  # fmt: skip
"""Why an option changes no answer in this folder."""

_NEW = Path("new")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with all that the commands read."""
    path = tmp_path_factory.mktemp("options")
    for number in (1, 2):
        shutil.copytree(_BROKERS / f"broker-{number}", path / f"b{number}")
    cases = ROOT / "fixtures" / "cases"
    shutil.copytree(cases / "kc211-log-start-above-log-end" / "above" / "before", path / "bad")
    shutil.copytree(_BROKERS.parent / "tiered" / "broker-1", path / "tiered")
    shutil.copytree(_BROKERS.parents[1] / "2.0.1" / "diverged" / "broker-1", path / "old")
    (path / "server.properties").write_text(f"node.id=1\nlog.dirs={path}/b1/data1\n", "utf-8")
    (path / "other.properties").write_text("inter.broker.protocol.version=2.0\n", "utf-8")
    (path / "server.log").write_text("[2026-01-01 00:00:00,000] INFO Kafka version: 3.9.1 (x)\n", "utf-8")
    with contextlib.chdir(path):
        forged(path / "runs", "a")
        forged(path / "runs", "b", findings=[finding(severity="warning")])
        kcheck("elect", "1=b1", "2=b2", "--output-dir", "plan")
        kcheck("repair", "bad", "-o", "plan.json")
    return path


def leaves() -> Iterator[Command]:
    """Yield the commands that run."""
    root, by_path = command_tree()
    yield from (command for command in (*root.walk(), by_path) if not command.commands)


def outcome(words: tuple[str, ...], ask: Callable[..., Ended] = kcheck) -> tuple[object, ...]:
    """Return all that a command leaves: its exit code, what it prints, and the sizes of the files it writes."""
    try:
        done = ask(*(word.replace("NEW", "new") for word in words))
        paths = sorted(_NEW.rglob("*")) if _NEW.is_dir() else [_NEW] if _NEW.exists() else []
        return done.code, done.out, done.err, tuple((str(path), path.stat().st_size) for path in paths)
    finally:
        shutil.rmtree(_NEW) if _NEW.is_dir() else _NEW.unlink(missing_ok=True)


def is_silent(words: tuple[str, ...], names: tuple[str, ...]) -> bool:
    """Return whether a command ends alike with and without an option, by each of its names and values."""
    plain = outcome(words)
    values = [(name, *value) for name in names if name in VALUES for value in (VALUES[name], *MORE.get(name, ()))]
    return all(outcome((*words, *value)) == plain for value in values)


@pytest.mark.parametrize("key", COMMANDS)
def test_an_option_changes_the_answer(key: str, folder: Path) -> None:
    """No option is silent: the same command without it ends otherwise, or there is a reason."""
    (command,) = (command for command in leaves() if command.key == key)
    words = COMMANDS[key]
    with contextlib.chdir(folder):
        plain = outcome(words)
        silent = {
            name
            for option in command.options
            if (name := option.names[-1]) in VALUES
            if name not in words
            if (key, name) not in SAME
            if is_silent(OTHER.get((key, name), words), option.names)
        }
    quiet = {"--quiet"} if not plain[2] else set()
    silent -= quiet | ({"--exit-zero"} if plain[0] != 1 else set())
    assert set() == silent


def test_every_other_option_is_typed_by_a_test() -> None:
    """Options that few commands have are held by the tests of these commands."""
    texts = [path.read_text("utf-8") for path in (ROOT / "tests").rglob("*.py") if path != Path(__file__)]
    own = {option.names[-1] for command in leaves() for option in command.options} - set(VALUES)
    assert [] == [name for name in sorted(own) if not any(name in text or f'"{name[2:]}"' in text for text in texts)]


def test_a_next_command_repeats_only_options_that_it_has() -> None:
    of_commands = {command.key: {name for option in command.options for name in option.names} for command in leaves()}
    assert {} == {key: set(names) - of_commands[key] for key, names in CARRIED.items() if set(names) - of_commands[key]}


def test_every_command_is_asked() -> None:
    """But for those that run another program or write to a catalog, and for the guides."""
    guides = {"help", "demo", "fleet submit", "fleet sql", "fleet publish"}
    assert {command.key for command in leaves()} == set(COMMANDS) | guides


@pytest.mark.parametrize(
    "line",
    ["check ''", "elect 1=''", "apply '' --backup b", "undo ''", "verify '' 1=b", "dump ''", "preflight ''",
     "check b --config ''", "check b -o ''", "simulate run ''", "fleet diff '' r", "recover topic t 1=''"],
)  # fmt: skip
def test_an_empty_path_has_one_wording(line: str) -> None:
    """As a shell passes a variable that is not set; nothing is read or changed."""
    ended = kcheck(*shlex.split(line))
    assert (2, "kcheck: a path is empty; a variable may not be set") == (ended.code, ended.err.splitlines()[0])
