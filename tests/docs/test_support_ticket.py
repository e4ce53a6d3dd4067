"""The commands of docs/operations/support-ticket.md run one after the other, on the log dirs of real brokers."""

import re
import shlex
import subprocess
from pathlib import Path

from tests.cli.command import KCHECK, environment
from tests.docs.examples import ROOT
from tests.docs.incidents import power_loss

PAGE = (ROOT / "docs" / "operations" / "support-ticket.md").read_text("utf-8")
COMMANDS = [line for block in re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]
DATA = "/var/lib/kafka/data"


def run(line: str, folder: Path) -> tuple[int, str]:
    """Run a command of the page in a folder; return its exit code and what it prints."""
    words, _, answer = line.partition(" < ")
    name, *arguments = shlex.split(words)
    assert name == "kcheck"
    done = subprocess.run(
        [*KCHECK, *arguments], cwd=folder, env=environment(COLUMNS="80"), check=False, capture_output=True, text=True,
        input=(folder / answer).read_text() if answer else "",
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout


def test_the_commands_of_the_page(tmp_path: Path) -> None:
    """Only at home the answer has the names of topics: the partitions that lose records are named in pseudonyms.

    One broker is damaged so that it does not start, and each start loses records that another broker has.
    """
    power_loss(tmp_path)
    what, capture, check, predict, truncation, elect, translate = COMMANDS
    assert "orders-0" in run(what.replace(DATA, "broker-1"), tmp_path)[1]
    for number in (1, 2, 3):
        own = capture.replace(DATA, f"broker-{number}").replace("broker-1.kcheck", f"broker-{number}.kcheck")
        assert run(own, tmp_path)[0] == 0
    answers = [run(line, tmp_path) for line in (check, predict, truncation, elect)]
    assert [code for code, _ in answers] == [1, 1, 1, 1]
    for _, answer in answers:
        assert "orders-0" not in answer
        assert "payments-0" not in answer
    (tmp_path / "answer.txt").write_text(answers[-1][1])
    code, translated = run(translate, tmp_path)
    assert (code, re.findall(r"^(orders-1) ", translated, re.MULTILINE)) == (0, ["orders-1"])
