"""Data on stdout, all else on stderr; colour and width of a terminal; a closed pipe; nothing written into evidence."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.builders import broker, log_dir, meta_properties, partition_dir, run, write
from tests.cli.command import KCHECK, drained, environment, kcheck, shell

ESCAPE = "\x1b["


def on_a_terminal(*arguments: str | Path, **changes: str) -> str:
    """Return what kcheck shows on a terminal."""
    leader, follower = pty.openpty()
    command = [*KCHECK, *map(str, arguments)]
    with subprocess.Popen(command, stdout=follower, stderr=subprocess.DEVNULL, env=environment(**changes)) as process:
        os.close(follower)
        shown = drained(leader)
        process.wait()
    os.close(leader)
    return shown.decode()


def test_a_terminal_is_coloured(damaged: Path) -> None:
    assert ESCAPE in on_a_terminal("inspect", damaged)


@pytest.mark.parametrize(
    "options",
    [
        (
            "--color",
            "never",
        ),
        ("--format", "json"),
    ],
)
def test_who_wants_no_colour_gets_none(damaged: Path, options: tuple[str, ...]) -> None:
    assert ESCAPE not in on_a_terminal("inspect", damaged, *options)


def test_no_color_in_the_environment_counts(damaged: Path) -> None:
    """And an empty one does not (no-color.org)."""
    assert ESCAPE not in on_a_terminal("inspect", damaged, NO_COLOR="1")
    assert ESCAPE in on_a_terminal("inspect", damaged, NO_COLOR="")
    assert ESCAPE not in on_a_terminal("inspect", damaged, TERM="dumb")


@pytest.mark.parametrize(
    ("options", "variables", "has_color"),
    [
        ((), {}, False),
        ((), {"CLICOLOR_FORCE": "1"}, False),
        ((), {"FORCE_COLOR": "1"}, True),
        ((), {"FORCE_COLOR": ""}, False),
        ((), {"FORCE_COLOR": "1", "TERM": "dumb"}, True),
        ((), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (("--color", "always"), {"NO_COLOR": "1", "TERM": "dumb"}, True),
        (("--color", "never"), {"FORCE_COLOR": "1"}, False),
        (("--color", "auto"), {"FORCE_COLOR": "1"}, True),
    ],
)
def test_what_decides_about_color(
    damaged: Path, options: tuple[str, ...], variables: dict[str, str], has_color: bool
) -> None:
    """First the option, then NO_COLOR, FORCE_COLOR and TERM, then whether stdout is a terminal."""
    assert has_color == (ESCAPE in shell("inspect", damaged, *options, **variables).out)


def test_a_pipe_gets_the_same_text_without_colour(damaged: Path) -> None:
    shown = on_a_terminal("inspect", damaged, COLUMNS="80").replace("\r\n", "\n")
    assert shell("inspect", damaged, COLUMNS="80").out == re.sub(r"\x1b\[[0-9;]*m", "", shown)


def test_a_file_is_never_coloured(damaged: Path, tmp_path: Path) -> None:
    on_a_terminal("inspect", damaged, "-o", tmp_path / "out")
    text = (tmp_path / "out").read_text()
    assert text
    assert ESCAPE not in text


def every_answer(damaged: Path, pair: list[str]) -> list[list[str]]:
    """Return a command line for each layout."""
    whole = ["--segments", "--epochs", "--batches", "--files"]
    return [
        ["inspect", str(damaged)],
        ["inspect", str(damaged), *whole],
        ["inspect", f"{damaged}/t-0", *whole],
        ["inspect", f"{damaged}/recovery-point-offset-checkpoint", f"{damaged}/meta.properties"],
        ["inspect", f"{damaged}/t-0/leader-epoch-checkpoint", f"{damaged}/t-0/00000000000000000000.log"],
        ["end-offset", str(damaged)],
        ["check", str(damaged)],
        ["truncation", *pair],
        ["truncation", *pair, "--leader", "1"],
        ["truncation", *pair, "--leader", "1", "--kafka", "0.10.2"],
        ["rules"],
        ["explain", "KC201"],
    ]


@pytest.mark.parametrize("columns", [80, 120, 200])
@pytest.mark.parametrize("number", range(12))
def test_text_is_as_wide_as_the_screen(damaged: Path, pair: list[str], columns: int, number: int) -> None:
    """No line is wider, unless it is one word with its indent, or a command to type."""
    command = every_answer(damaged, pair)[number]
    out = kcheck(*command, columns=columns).out
    assert out
    prose = [line for line in out.splitlines() if not line.startswith("  kcheck ")]
    too_wide = [line for line in prose if len(line) > columns and len(line.split()) > 1]
    assert not too_wide


def test_long_names_do_not_make_lines_wider(tmp_path: Path) -> None:
    """A topic may have 249 characters."""
    name = "t" * 249 + "-0"
    path = broker(tmp_path / "data", run(0, 99), partition=name, epoch_entries=[(0, 0), (5, 50), (4, 60)])
    for columns in (80, 200):
        out = kcheck("inspect", path, columns=columns).out.partition("Next:")[0]
        assert not [line for line in out.splitlines() if len(line) > columns and len(line.split()) > 1]


def test_a_wider_screen_needs_fewer_lines(damaged: Path) -> None:
    narrow, wide = (kcheck("inspect", damaged, columns=columns).out for columns in (80, 200))
    assert narrow.count("\n") > wide.count("\n")


@pytest.mark.sample(2)
@pytest.mark.parametrize("columns", ["", "0", "x", "-5", "²", "9" * 5000])
def test_a_pipe_without_a_width_is_not_wrapped(damaged: Path, columns: str) -> None:
    """So that grep shows whole sentences."""
    assert shell("check", damaged, COLUMNS="9999").out == shell("check", damaged, COLUMNS=columns).out
    assert shell("check", damaged, KCHECK_WIDTH="80").out == shell("check", damaged, COLUMNS="80").out


@pytest.mark.parametrize("style", ["text", "json", "ndjson"])
def test_a_reader_that_has_seen_enough_is_no_error(tmp_path: Path, style: str) -> None:
    """`kcheck ... | head` ends quietly."""
    path = log_dir(tmp_path / "data")
    for number in range(300):
        partition_dir(path / f"topic-with-quite-a-long-name-{number}", [run(0, 9)])
    command = [*KCHECK, "inspect", str(path), "--format", style, "--files", "--batches"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        err = process.stderr.read().decode()
        code = process.wait()
    assert (0, "") == (code, err)


@pytest.mark.parametrize("verb", ["rules", "--help"])
def test_a_pipe_that_is_closed_at_once_is_no_error(verb: str) -> None:
    """All fits into the buffer: the write fails when Python flushes."""
    reader, writer = os.pipe()
    os.close(reader)
    with subprocess.Popen([*KCHECK, verb], stdout=writer, stderr=subprocess.PIPE, env=environment()) as process:
        os.close(writer)
        _, err = process.communicate()
    assert b"Traceback" not in err
    assert b"Exception" not in err


@pytest.mark.sample(1)
@pytest.mark.parametrize("style", ["text", "ndjson", "json"])
def test_the_same_input_gives_the_same_bytes(damaged: Path, pair: list[str], style: str) -> None:
    """In other processes, with other hash seeds."""
    for command in (["inspect", str(damaged), "--files"], ["truncation", *pair], ["end-offset", str(damaged)]):
        first, second = (shell(*command, "--format", style, PYTHONHASHSEED=seed) for seed in ("1", "2"))
        assert first == second


def test_an_answer_goes_into_a_file(damaged: Path, tmp_path: Path) -> None:
    """The same bytes; stdout stays empty."""
    expected = shell("inspect", damaged, "--format", "json")
    done = shell("inspect", damaged, "--format", "json", "-o", tmp_path / "out.json")
    assert (1, "", f"Written: {tmp_path}/out.json\n") == (done.code, done.out, done.err)
    assert expected.out == (tmp_path / "out.json").read_text()


def test_an_answer_that_is_not_one_table_leaves_the_file_alone(damaged: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("of yesterday")
    done = kcheck("inspect", damaged, "--format", "csv", "-o", tmp_path / "out")
    assert (2, "of yesterday") == (done.code, (tmp_path / "out").read_text())


def test_a_file_that_cannot_be_written_is_a_usage_error(damaged: Path, tmp_path: Path) -> None:
    done = kcheck("inspect", damaged, "-o", tmp_path / "gone" / "out")
    assert (2, "") == (done.code, done.out)
    assert "no such file or directory" in done.err


@pytest.mark.parametrize(
    ("path", "output"),
    [
        ("data", "data/out"),
        ("data", "data/t-0/out"),
        ("data", "link/out"),
        ("data", "data/../data/out"),
        ("link", "data/out"),
        (".", "data/out"),
        ("data/t-0", "data/t-0/out"),
        ("data/t-0", "data/out"),
        ("server.properties", "data/out"),
        ("server.properties", "server.properties"),
    ],
)
@pytest.mark.parametrize("verb", [("inspect",), ("check",), ("end-offset",), ("truncation", "2=other")])
def test_nothing_is_written_into_what_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, output: str, verb: tuple[str, ...]
) -> None:
    """Whatever names lead there."""
    monkeypatch.chdir(tmp_path)
    broker(Path("data"), run(0, 9))
    if "link" in path + output:
        Path("link").symlink_to("data")
    Path("server.properties").write_text("broker.id=1\nlog.dirs=data\n")
    log_dir(Path("other"), broker_id=2)
    before = {str(found): found.read_bytes() for found in Path().rglob("*") if found.is_file()}
    done = kcheck(*verb, path, "-o", output, "--format", "json")
    assert before == {str(found): found.read_bytes() for found in Path().rglob("*") if found.is_file()}
    assert 2 == done.code
    assert "which was checked; choose a file outside" in done.err


def test_a_bare_file_is_not_written_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what is said of it behind its path."""
    monkeypatch.chdir(tmp_path)
    write(Path(), {"a": b"0\n1\n0 0\n"})
    done = kcheck("truncation", "1=a,leo=5,hw=5", "2=a,leo=5,hw=5", "-o", "a")
    assert (2, b"0\n1\n0 0\n") == (done.code, Path("a").read_bytes())


HOSTILE = ("\x1b]0;owned\x07", "\x1b[2J", "a\nb", "a\rb", "a\tb", "\u202eevil", "\x9b31m", "\u2066x")


@pytest.mark.sample(20)
@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("style", ["text", "json", "ndjson", "csv", "kafka"])
def test_a_hostile_name_moves_no_cursor(tmp_path: Path, name: str, style: str) -> None:
    """Of directories, topics in checkpoints, ids in meta.properties, and of the path itself."""
    path = broker(tmp_path / f"dir{name}", run(0, 99), partition=f"{name}-0")
    write(path, {"cleaner-offset-checkpoint": f"0\n2\n{name} 0 1\n{name} 0 x\n".encode()})
    write(path, {"meta.properties": meta_properties(1, cluster_id=name)})
    (path / name).mkdir()
    (path / f"{name}-1").symlink_to("/")
    for command in (
        ["inspect", str(path), "--files"],
        ["inspect", f"{path}/cleaner-offset-checkpoint", f"{path}/meta.properties"],
        ["inspect", f"{path}/{name}-0"],
        ["inspect", f"{path}/{name}"],
        ["dump", f"{path}/{name}-0/00000000000000000000.log"],
        ["dump", f"{path}/{name}-0/00000000000000000000.log", "--as", "offset-index"],
        ["end-offset", str(path)],
        ["truncation", f"1={path}", "--leader", "1"],
        ["truncation", f"7={path}"],
    ):
        done = kcheck(*command, "--format", style)
        lines = (done.out + done.err).replace("\r\n", "\n").split("\n")
        assert all(line.isprintable() for line in lines), command
        assert "bug in kcheck" not in done.err
        assert "Traceback" not in done.err


@pytest.mark.sample(3)
@pytest.mark.skipif(sys.platform == "darwin", reason="names are UTF-8 there")
@pytest.mark.parametrize("style", ["text", "json", "ndjson", "csv"])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_undecodable_names_are_shown_escaped(tmp_path: Path, style: str, encoding: str) -> None:
    """On stdout and in a file, whatever the terminal's encoding has."""
    name = os.fsdecode(b"\xff\xc3")
    path = broker(tmp_path / name, run(0, 99), partition=f"t{name}-0")
    other = log_dir(tmp_path / "other", broker_id=2)
    for command in (["inspect", path], ["end-offset", path], ["truncation", path, other, "--leader", "1", "--all"]):
        if style == "csv" and command[0] != "end-offset":
            continue
        done = shell(*command, "--format", style, PYTHONIOENCODING=encoding)
        assert done.code in (0, 1), done.err
        assert "udcff" in done.out
        into = kcheck(*command, "--format", style, "-o", tmp_path / "out")
        assert done.code == into.code, into.err
