"""`kcheck preflight` as a unit file runs it: its exit code decides."""

from pathlib import Path

import pytest

from tests.cases.build import CASES
from tests.cli.command import kcheck
from tests.test_brokers import BROKERS

LOSES = CASES / "kc141-batch-crc" / "flipped-bit-unclean" / "before"
GOOD = BROKERS / "4.3.1" / "stopped" / "broker-2" / "data1"


@pytest.mark.parametrize(
    ("log_dirs", "options", "code", "first"),
    [
        (GOOD, (), 0, "may start"),
        (LOSES, (), 1, "should not start"),
        (LOSES, ("--allow", "loss"), 0, "may start"),
        ("/nowhere", ("--kafka", "4.3"), 3, "should not start"),
    ],
)
def test_the_exit_code_decides(
    log_dirs: Path | str, options: tuple[str, ...], code: int, first: str, tmp_path: Path
) -> None:
    path = tmp_path / "server.properties"
    path.write_text(f"log.dirs={log_dirs}\n", "utf-8")
    done = kcheck("preflight", path, *options)
    assert done.code == code
    assert first in done.out.splitlines()[:4]


def test_wrong_arguments(tmp_path: Path) -> None:
    assert kcheck("preflight", tmp_path / "gone").code == 2
    path = tmp_path / "server.properties"
    path.write_text(f"log.dirs={GOOD}\n", "utf-8")
    done = kcheck("preflight", path, "--allow", "all")
    assert (done.code, done.err.splitlines()[0]) == (2, "kcheck: --allow all: use loss, stray, elr, offline")


def test_reasons_are_lines(tmp_path: Path) -> None:
    path = tmp_path / "server.properties"
    path.write_text(f"log.dirs={LOSES}\nssl.key.password=${{file:/a:b}}\n", "utf-8")
    done = kcheck("preflight", path, columns=200)
    assert "  loss " in done.out
    assert "from config providers, not resolved: ssl.key.password" in done.out


@pytest.mark.parametrize(
    ("lines", "options", "code", "words"),
    [
        ("log.segment.bytes=${file:/a:b}", (), 3, "unknown log.segment.bytes comes from a config provider"),
        ("log.segment.bytes=${file:/a:b}", ("-D", "log.segment.bytes=1048576"), 0, "may start"),
        ("node.id=${env:ID}", ("-D", "node.id=2"), 3, "unknown node.id comes from a config provider"),
        ("ssl.key.password=${file:/a:b}", (), 0, "not resolved: ssl.key.password"),
        ("node.id=3", (), 1, "meta.properties says broker 2, but the settings say 3"),
        ("node.id=2", (), 0, "may start"),
    ],
)
def test_what_a_setting_says(lines: str, options: tuple[str, ...], code: int, words: str, tmp_path: Path) -> None:
    """A value that decides about the start must be known, and the log dirs are those of the broker."""
    path = tmp_path / "server.properties"
    path.write_text(f"log.dirs={GOOD}\n{lines}\n", "utf-8")
    done = kcheck("preflight", path, *options, columns=200)
    assert (done.code, done.err) == (code, "")
    assert words in done.out
