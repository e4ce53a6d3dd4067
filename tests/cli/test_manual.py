"""`kcheck manual`: man pages and completion files, read by the programs that they are for."""

import os
import pty
import re
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from kcheck.cli import completions, man_pages
from kcheck.cli.command_tree import OWN, Command, command_tree
from tests.cli.command import kcheck

BASH = "bash-completion/completions/kcheck"
ZSH = "zsh/site-functions"
FISH = "fish/vendor_completions.d/kcheck.fish"
LIMIT = 60
"""Seconds until a shell that does not answer fails the test."""

CASES = (
    (("kcheck", "trunc"), {"truncation"}),
    (("kcheck", "fleet", "s"), {"scan", "sql", "submit"}),
    (("kcheck", "check", "--dep"), {"--depth"}),
    (("kcheck", "check", "--depth", "h"), {"headers"}),
    (("kcheck", "fleet", "scan", "--engine", ""), {"local", "spark"}),
    (("kcheck", "check", "--fail-on", "f"), {"fatal"}),
    (("kcheck", "explain", "KC20"), {f"KC20{number}" for number in range(1, 7)}),
    (("kcheck", "PATH", "--kaf"), {"--kafka"}),
    (("kcheck", "fleet", "scan", "ROOT", "--kafka", "4.4"), {"4.4"}),
    (("kcheck", "simulate", "run", "kip-96"), {"kip-966"}),
    (("kcheck", "simulate", "wr"), {"write"}),
    (("kcheck", "help", "gloss"), {"glossary"}),
)
"""What is typed before a TAB, and what the shell offers."""


def program(name: str) -> str:
    """Return the path of a program; skip without it, but in CI."""
    found = shutil.which(name)
    if found is None:
        assert os.environ.get("CI") != "true", f"{name} is missing"
        pytest.skip(f"{name} is missing")
    return found


@pytest.fixture(scope="session")
def share(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder with the files that the command writes."""
    folder = tmp_path_factory.mktemp("manual") / "share"
    done = kcheck("manual", folder)
    assert (0, "") == (done.code, done.err)
    return folder


def all_commands() -> list[Command]:
    """Return every command that the help names, kcheck itself too."""
    return list(command_tree()[0].walk())


def test_each_command_has_a_page_with_every_option(share: Path) -> None:
    """What the help shows stands in the page, word by word."""
    pages = {path.name: path.read_text("utf-8") for path in (share / "man/man1").iterdir()}
    assert pages.keys() == {"-".join(command.path) + ".1" for command in all_commands()}
    for command in all_commands():
        page = pages["-".join(command.path) + ".1"].replace("\\-", "-").replace("\\&", "")
        shown = [text for part in (*command.arguments, *command.options) for text in (part.shown, part.words) if text]
        assert [] == [text for text in (command.usage, command.short.rstrip("."), *shown) if text not in page]
        assert [title for title in command.groups if title != OWN and command.groups[title]] == re.findall(
            r"^\.SS (.*)$", page.partition(".SH OPTIONS WITH A PATH")[0], re.MULTILINE
        )


def test_a_page_leads_to_related_commands_and_to_the_guide(share: Path) -> None:
    """As the help does, and each page that it names is there."""
    for command in all_commands():
        page = (share / "man/man1" / f"{'-'.join(command.path)}.1").read_text("utf-8").replace("\\-", "-")
        named = re.findall(r"^\.BR (\S+) \(1\)", page, re.MULTILINE)
        assert {f"kcheck-{key.replace(' ', '-')}" for key in command.see_also} <= {*named}
        assert [] == [name for name in named if not (share / f"man/man1/{name}.1").is_file()]
        assert command.guide in page


def test_a_page_has_what_the_help_says_after_its_options(share: Path) -> None:
    """Examples, exit codes and variables from the same tables, and the configuration files."""
    for command in all_commands():
        page = (share / "man/man1" / f"{'-'.join(command.path)}.1").read_text("utf-8").replace("\\-", "-")
        heads = re.findall(r"^\.SH (EXAMPLES|EXIT STATUS|ENVIRONMENT|FILES)$", page, re.MULTILINE)
        if command.commands and len(command.path) > 1:
            assert [] == heads
            continue
        assert ["EXAMPLES", "EXIT STATUS", "ENVIRONMENT", "FILES"] == heads
        of_help = command_tree()[1] if command.commands else command
        shown = (*of_help.examples, *of_help.variables, *(words for _, words in of_help.exit_codes), "/etc/kcheck.toml")
        assert [] == [text for text in shown if text not in page]


def test_the_pages_are_clean_for_mandoc(share: Path) -> None:
    """No warning of its lint."""
    pages = sorted((share / "man/man1").iterdir())
    command = [program("mandoc"), "-T", "lint", "-W", "warning", *map(str, pages)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (0, "") == (done.returncode, done.stdout)


def test_text_that_roff_would_take_for_a_request_is_text() -> None:
    """A dot, a quote or a backslash at the beginning of a line."""
    assert ["\\&.log", "\\&'", "\\ex", "\\&"] == [man_pages._line(words) for words in (".log", "'", "\\x", "")]


def test_bash_offers_what_the_help_knows(share: Path) -> None:
    """By the function that the file defines."""
    code = (
        f"source {share / BASH}\n"
        'offer() { COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))\n'
        '_kcheck kcheck "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"; echo "${COMPREPLY[*]}"; }\n'
    )
    lines = [f"offer {' '.join(word or repr('') for word in words)}" for words, _ in CASES]
    more = ["offer kcheck check --depth = h", "offer kcheck check --config ''", "offer kcheck truncation 1 = /"]
    done = subprocess.run(
        ["bash", "--norc", "-c", code + "\n".join([*lines, *more])], capture_output=True, text=True, check=True
    )
    assert "" == done.stderr
    offered = [set(line.split()) for line in done.stdout.splitlines()]
    assert [*(wanted for _, wanted in CASES), {"headers"}, set(), set()] == offered


def test_fish_offers_what_the_help_knows(share: Path, tmp_path: Path) -> None:
    """It answers what it would show."""
    asked = [f"complete -C '{' '.join(words)}'; echo ---" for words, _ in CASES]
    code = f"source {share / FISH}\n" + "\n".join(asked)
    command = [program("fish"), "--no-config", "-c", code]
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "HOME": str(tmp_path)}, capture_output=True, text=True, check=True
    )
    answers = done.stdout.split("---\n")[:-1]
    assert [wanted for _, wanted in CASES] == [
        {line.partition("\t")[0] for line in answer.splitlines()} for answer in answers
    ]


def test_zsh_completes_on_a_terminal(share: Path, tmp_path: Path) -> None:
    """What is unique is completed on the line, at a TAB."""
    unique = [(words, wanted) for words, wanted in CASES if len(wanted) == 1 and wanted != {words[-1]}]
    typed = [" ".join(words) + "\t" for words, _ in unique]
    expected = [" ".join([*words[:-1], *wanted]) for words, wanted in unique]
    assert expected == zsh(share / ZSH, tmp_path, typed)


def zsh(functions: Path, home: Path, lines: Sequence[str]) -> list[str]:
    """Return what the lines are after their TABs: a function named kcheck prints its arguments."""
    start = (
        f"PS1=; unsetopt zle_bracketed_paste; fpath=({functions} $fpath); autoload -Uz compinit; compinit -u -D\n"
        'kcheck() { print -r -- "<<kcheck $*>>"; }\n'
    )
    terminal, theirs = pty.openpty()
    environment = {"HOME": str(home), "TERM": "dumb", "PATH": os.environ["PATH"]}
    command = [program("zsh"), "-f", "-i"]
    out = b""
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True
    ) as shell:
        try:
            os.write(terminal, start.encode())
            for number, line in enumerate(lines, start=1):
                os.write(terminal, line.encode() + b"\n")
                until = time.monotonic() + LIMIT
                while out.count(b">>\r\n") < number and time.monotonic() < until:
                    out += os.read(terminal, 4096)
        finally:
            shell.kill()
    os.close(theirs)
    os.close(terminal)
    return [found.strip() for found in re.findall(r"<<(kcheck [^>$]*)>>\r\n", out.decode())]


def test_the_files_are_the_same_each_time() -> None:
    """They hold no time and no path."""
    assert completions.files() == completions.files()
    assert man_pages.pages() == man_pages.pages()


def test_a_directory_with_files_is_refused(share: Path) -> None:
    """The command never mixes its files with others."""
    done = kcheck("manual", share)
    assert (2, f"kcheck: {share} is not empty; choose a new directory\n") == (done.code, done.err)
