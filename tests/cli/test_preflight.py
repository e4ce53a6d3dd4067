"""`kcheck preflight` as a unit file runs it: its exit code decides."""

from pathlib import Path

import pytest

from tests.cases.build import CASES
from tests.cli.command import kcheck
from tests.test_brokers import BROKERS
from tests.verbs.test_preflight import controller

LOSES = CASES / "kc141-batch-crc" / "flipped-bit-unclean" / "before"
GOOD = BROKERS / "4.3.1" / "stopped" / "broker-2" / "data1"
BROKER_2 = "process.roles=broker\nnode.id=2\n"
KNOWN = ("--metadata", "CONTROLLER")
"""A copy of the metadata that is not the broker's own: the settings of a controller stand for it."""


def given(options: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    """Return options with the settings of a controller in the place of CONTROLLER."""
    return tuple(str(controller(folder)) if word == "CONTROLLER" else word for word in options)


@pytest.mark.parametrize(
    ("log_dirs", "options", "code", "first"),
    [
        (GOOD, KNOWN, 0, "may start"),
        (GOOD, (), 1, "not known"),
        (GOOD, ("--allow", "P303"), 0, "may start"),
        (LOSES, ("--allow", "P303"), 1, "should not start"),
        (LOSES, ("--allow", "P303", "--allow", "loss"), 0, "may start"),
        ("/nowhere", ("--kafka", "4.3"), 1, "should not start"),
    ],
)
def test_the_exit_code_decides(
    log_dirs: Path | str, options: tuple[str, ...], code: int, first: str, tmp_path: Path
) -> None:
    path = tmp_path / "server.properties"
    identity = BROKER_2 if log_dirs != LOSES else BROKER_2.replace("2", "1")
    path.write_text(f"{identity}log.dirs={log_dirs}\n", "utf-8")
    done = kcheck("preflight", path, *given(options, tmp_path))
    assert done.code == code
    assert first in done.out.splitlines()[:4]


def test_wrong_arguments(tmp_path: Path) -> None:
    assert kcheck("preflight", tmp_path / "gone").code == 2
    path = tmp_path / "server.properties"
    path.write_text(f"log.dirs={GOOD}\n", "utf-8")
    done = kcheck("preflight", path, "--allow", "all")
    assert (done.code, done.err.splitlines()[0]) == (
        2,
        "kcheck: --allow all: use loss, stray, elr, offline, or the id of a premise",
    )


def test_reasons_are_lines(tmp_path: Path) -> None:
    path = tmp_path / "server.properties"
    path.write_text(f"process.roles=broker\nnode.id=1\nlog.dirs={LOSES}\nssl.key.password=${{file:/a:b}}\n", "utf-8")
    done = kcheck("preflight", path, columns=200)
    assert "  loss " in done.out
    assert "from config providers, not resolved: ssl.key.password" in done.out


@pytest.mark.parametrize(
    ("lines", "options", "code", "words"),
    [
        ("log.segment.bytes=${file:/a:b}", (), 1, "unknown log.segment.bytes comes from a config provider"),
        ("log.segment.bytes=${file:/a:b}", ("-D", "log.segment.bytes=1048576"), 0, "may start"),
        ("node.id=${env:ID}", ("-D", "node.id=2"), 1, "unknown node.id comes from a config provider"),
        ("ssl.key.password=${file:/a:b}", (), 0, "not resolved: ssl.key.password"),
        ("node.id=3", (), 1, "meta.properties says broker 2, but the settings name 3"),
        ("node.id=2", (), 0, "may start"),
    ],
)
def test_what_a_setting_says(lines: str, options: tuple[str, ...], code: int, words: str, tmp_path: Path) -> None:
    """A value that decides about the start must be known, and the log dirs are those of the broker."""
    path = tmp_path / "server.properties"
    path.write_text(f"process.roles=broker\nlog.dirs={GOOD}\n{lines}\n", "utf-8")
    done = kcheck("preflight", path, *options, *given(KNOWN, tmp_path), columns=200)
    assert (done.code, done.err) == (code, "")
    assert words in done.out
