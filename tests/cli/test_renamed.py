"""Old names of options and commands: the same bytes on stdout, and a line on stderr."""

import os
import shutil
from pathlib import Path

import pytest

from kcheck.cli.command_tree import command_tree
from kcheck.cli.commands import TWO_WORDS
from kcheck.cli.renamed import ALL, COMMANDS, IGNORED, MODES, RENAMED, renamed_command, rewritten
from tests.builders import log_dir
from tests.cli.command import Ended, kcheck
from tests.fleets import forged

FIXTURES = Path(__file__).parents[2] / "fixtures"
BROKERS = FIXTURES / "brokers" / "4.3.1" / "diverged"
PAIR = (f"1={BROKERS}/broker-1", f"2={BROKERS}/broker-2")
LOG = "server.log"
SEGMENT = str(BROKERS / "broker-1" / "data1" / "diverged-0" / "00000000000000000000.log")

CASES: dict[tuple[str, str], tuple[str, ...]] = {
    (ALL, "--no-color"): ("inspect", str(BROKERS / "broker-1")),
    ("apply", "--at"): ("apply", "plan.json", "--backup", "backup", "--yes", "broker"),
    ("capture", "--limit"): ("capture", str(BROKERS / "broker-1"), "-o", "NEW.kcheck", "-q", "50M"),
    ("capture", "--list"): ("capture", str(BROKERS / "broker-1")),
    ("capture", "--with-logs"): ("capture", str(BROKERS / "broker-1"), "-o", "NEW.kcheck", "-q", LOG),
    ("cluster", "--brokers"): ("cluster", str(BROKERS / "broker-1"), "--format", "csv"),
    ("cluster", "--history"): ("cluster", str(BROKERS / "broker-1"), "diverged-0"),
    ("demo", "--keep"): ("demo", "--no-pause", "DIR"),
    ("dump", "--producer"): ("dump", SEGMENT, "-1"),
    ("elect", "--out"): ("elect", *PAIR, "DIR"),
    ("recover", "--out"): ("recover", *PAIR, "DIR"),
    ("recover-quorum", "--out"): ("recover", "quorum", *PAIR, "DIR"),
    ("fleet scan", "--logs"): ("fleet", "scan", str(BROKERS / "{broker}"), "--run", "r", "--output-dir", "DIR",
                               f"{{broker}}/{LOG}"),
    ("fleet scan", "--out"): ("fleet", "scan", str(BROKERS / "broker-1"), "--run", "r", "DIR"),
    ("fleet scan", "--since"): ("fleet", "scan", str(BROKERS / "broker-1"), "--run", "r", "--output-dir", "DIR",
                                "before"),
    **{
        (command, "--log"): (command, str(BROKERS / "broker-1"), LOG)
        for command in ("check", "inspect", "cluster", "predict", "repair", "end-offset")
    },
    ("overview", "--log"): (str(BROKERS / "broker-1"), LOG),
    ("preflight", "--log"): ("preflight", "server.properties", LOG),
    **{(command, "--log"): (command, *PAIR, LOG) for command in ("truncation", "recover", "elect")},
    ("verify", "--log"): ("verify", "plan", *PAIR, LOG),
    ("simulate search", "--depth"): ("simulate", "search", "3"),
    ("simulate search", "--states"): ("simulate", "search", "9"),
    ("simulate search", "--records"): ("simulate", "search", "--max-events", "4", "1"),
    ("simulate write", "--write"): ("simulate", "write", "kip-966", "DIR"),
    ("simulate write", "--step"): ("simulate", "write", "kip-966", "--output-dir", "DIR", "3"),
}  # fmt: skip
"""For each old name a command; the value of the option, if it has one, comes last. DIR is a new directory."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with all that the commands read."""
    path = tmp_path_factory.mktemp("renamed")
    (path / LOG).write_text("[2026-01-01 00:00:00,000] INFO Kafka version: 4.3.1 (org.apache.kafka)\n", "utf-8")
    (path / "server.properties").write_text(f"node.id=1\nlog.dirs={log_dir(path / 'broker' / 'data')}\n", "utf-8")
    for number in (1, 2):
        (path / f"broker-{number}").mkdir()
        shutil.copy(path / LOG, path / f"broker-{number}")
    with inside(path):
        assert kcheck("elect", *PAIR, "--output-dir", "plan").code in (0, 1)
        scan = ("fleet", "scan", BROKERS / "broker-1", "--run", "r", "--output-dir", "before", "--remember")
        assert kcheck(*scan).code == 3  # The metadata lists log dirs of broker 2, too.
    return path


class inside:  # noqa: N801 - a context
    """Works in a folder."""

    def __init__(self, path: Path) -> None:
        self._path, self._before = path, Path.cwd()

    def __enter__(self) -> None:
        os.chdir(self._path)

    def __exit__(self, *_: object) -> None:
        os.chdir(self._before)


def test_every_old_name_has_its_case() -> None:
    assert {(row.command, row.old) for row in RENAMED} == set(CASES)


def test_no_help_shows_an_old_name() -> None:
    """Nor does completion, which is made of the same values."""
    root, by_path = command_tree()
    names = {
        (command.key, name) for command in (*root.walk(), by_path) for one in command.options for name in one.names
    }
    assert not {(row.command, row.old) for row in RENAMED} & names
    assert not {(command, name) for command, options in IGNORED.items() for name in options} & names


@pytest.mark.parametrize("row", RENAMED, ids=lambda row: f"{row.command} {row.old}".strip())
def test_an_old_name_gives_the_same_bytes(row: object, folder: Path) -> None:
    """And names the new one on stderr, unless -q is there."""
    command, old, new = row.command, row.old, row.new  # type: ignore[attr-defined]
    words = CASES[command, old]
    value = () if len(new) > 1 or old == "--list" else (words[-1],)
    common = words[: len(words) - len(value)]
    with inside(folder):
        if command == "apply":
            (folder / "plan.json").write_bytes(b"{}")
        before = run((*common, old, *value))
        after = run((*common, *new, *value))
    assert (after.code, after.out) == (before.code, before.out)
    notice = f"kcheck: {old} is now {' '.join(new)}\n"
    assert before.err.startswith(notice) == ("-q" not in common), before.err
    assert before.err.removeprefix(notice) == after.err
    assert after.out or after.err or "-q" in common


def run(words: tuple[str, ...]) -> Ended:
    """Run a command; what it writes is gone afterwards."""
    new = Path("new")
    try:
        return kcheck(*(word.replace("NEW", "new").replace("DIR", "new") if word in ("DIR", "NEW.kcheck") else word
                        for word in words))  # fmt: skip
    finally:
        shutil.rmtree(new, ignore_errors=True)
        Path("new.kcheck").unlink(missing_ok=True)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (("simulate", "--list"), ("simulate", "list")),
        (("simulate", "--list", "--format", "json"), ("simulate", "list", "--format", "json")),
        (("simulate", "--search", "--depth", "3"), ("simulate", "search", "--max-events", "3")),
        (("simulate", "kip-966", "--reproduce", "--kafka", "4.3"), ("simulate", "script", "kip-966", "--kafka", "4.3")),
        (("simulate", "kip-966", "--write", "new"), ("simulate", "write", "kip-966", "--output-dir", "new")),
        (("simulate", "kip-966", "--write=new", "--step=3"), ("simulate", "write", "kip-966", "--output-dir=new",
                                                              "--after=3")),
        (("simulate", "kip-966"), ("simulate", "run", "kip-966")),
    ],
)  # fmt: skip
def test_a_mode_of_simulate_is_a_command(old: tuple[str, ...], new: tuple[str, ...], tmp_path: Path) -> None:
    with inside(tmp_path):
        assert run(old).out == run(new).out != ""


def test_every_mode_is_tried() -> None:
    assert {"--list", "--search", "--reproduce", "--write"} == set(MODES)


def test_fleet_history_is_fleet_trend(tmp_path: Path) -> None:
    for name in ("a", "b"):
        forged(tmp_path, name)
    old, new = (kcheck("fleet", name, tmp_path) for name in ("history", "trend"))
    assert (new.code, new.out, "kcheck: fleet history is now fleet trend\n") == (old.code, old.out, old.err)
    assert COMMANDS == {("fleet", "history"): "trend"}


def test_a_page_by_its_old_option(tmp_path: Path) -> None:
    """`fleet report -o NAME.html` wrote the page; now -o is the file of the answer."""
    forged(tmp_path / "out")
    page = tmp_path / "x.html"
    old = kcheck("fleet", "report", tmp_path / "out", "-o", page)
    first = page.read_bytes()
    new = kcheck("fleet", "report", tmp_path / "out", "--html", page)
    assert (new.code, new.out, first) == (old.code, old.out, page.read_bytes())
    assert old.err == f"kcheck: -o {page} is now --html {page}\n{new.err}"
    kcheck("fleet", "report", tmp_path / "out", "-o", tmp_path / "x.json", "--format", "json")
    assert (tmp_path / "x.json").read_text("utf-8").startswith('{\n "schema": "kcheck.fleet-report/1"')


@pytest.mark.parametrize(("command", "option"), [(command, name) for command in IGNORED for name in IGNORED[command]])
def test_an_option_without_effect_is_named(command: str, option: str, folder: Path) -> None:
    """It is accepted for one release, whatever its value is."""
    words = {"preflight": ("server.properties",), "verify": ("plan", *PAIR)}.get(command, (str(BROKERS / "broker-1"),))
    with inside(folder):
        plain = kcheck(command, *words)
        for ignored in ((option, "x"), (f"{option}=x",)):
            done = kcheck(command, *words, *ignored)
            assert (plain.code, plain.out) == (done.code, done.out)
            typed = TWO_WORDS.get(command, command)
            notice = f"kcheck: {typed} ignores {option}; it will be refused in the next release\n"
            assert notice + plain.err == done.err


def test_the_argument_of_preflight_is_its_configuration(folder: Path) -> None:
    """--config is accepted if it is the same file."""
    with inside(folder):
        plain = kcheck("preflight", "server.properties")
        assert plain == kcheck("preflight", "server.properties", "--config", folder / "server.properties")
        other = kcheck("preflight", "server.properties", "--config", "other.properties")
    said = "kcheck: --config other.properties: the server.properties is the argument, server.properties\n"
    assert (2, "", said) == (other.code, other.out, other.err)


def test_values_and_arguments_are_left_alone() -> None:
    """Only an option is renamed: not the value of another one, not what follows two hyphens."""
    takes = {"--topic", "-o", "--server-log"}
    words = ["--topic", "--log", "-o", "--no-color", "--", "--log"]
    assert (words, []) == rewritten("check", words, takes)
    assert (["--server-log"], ["--log is now --server-log"]) == rewritten("check", ["--log"], takes)
    assert (["--server-log=a"], ["--log is now --server-log"]) == rewritten("check", ["--log=a"], takes)
    assert ([], ["predict ignores --select; it will be refused in the next release"]) == rewritten(
        "predict", ["--select"], takes
    )
    assert (["report"], None) == renamed_command("fleet", ["report"])
