"""A new release is one row of the table: every verb answers for it, and no test of release evidence needs a change."""

import json
import subprocess
import sys
from pathlib import Path

from tests.cli.command import ROOT, environment
from tests.test_brokers import BROKERS

ASK = """
import json, sys
from tests.next_release import LAST, NEXT
from kcheck.core.releases.release_evidence import registered
from kcheck.core.releases.releases import NEWEST_TESTED, release
from kcheck.disk.package_data import log_catalogue
from tests.cli.command import kcheck

line = {"LAST": LAST, "NEXT": NEXT}[sys.argv[1]].line
assert NEXT.line == registered(7, NEXT.level)
assert release(NEXT.line, ibp=NEXT.line).version == (*map(int, NEXT.line.split(".")), 0)
wording = next(one for one in log_catalogue().wordings if one.spans == "0.8.2-")
assert wording.has(NEXT.line)
assert wording.releases == "0.8.2-" + NEWEST_TESTED
answers = [kcheck(*command, "--kafka", line) for command in json.loads(sys.argv[2])]
print(json.dumps([[one.code, one.out.replace(line, "RELEASE"), one.err] for one in answers]))
"""
SCENE = BROKERS / "4.3.1" / "diverged"
ONE = str(SCENE / "broker-1")
PAIR = [f"{number}={SCENE / f'broker-{number}'}" for number in (1, 2)]
COMMANDS = (
    [ONE], ["check", ONE], ["inspect", ONE], ["predict", ONE], ["repair", ONE], ["cluster", ONE], ["end-offset", ONE],
    ["preflight", "server.properties"], ["truncation", *PAIR], ["elect", *PAIR, "--output-dir", "PLAN"],
    ["verify", "PLAN", *PAIR], ["explain", "KC201"], ["explain", "server.log"], ["simulate", "kip-320"],
    ["fleet", "scan", f"{SCENE}/{{broker}}/{{log_dir}}", "--output-dir", "RUNS", "--run", "one", "--jobs", "1"],
)  # fmt: skip


def answers(of: Path, line: str) -> list[tuple[int, str]]:
    """Return what a kcheck with the row answers for LAST or NEXT, without the name of that line."""
    command = [sys.executable, "-c", ASK, line, json.dumps(COMMANDS)]
    done = subprocess.run(command, cwd=of, env=environment(), capture_output=True, check=False)
    assert (0, b"") == (done.returncode, done.stderr)
    ended = json.loads(done.stdout)
    assert [] == [one for one in ended if one[0] > 1]
    return [(code, out) for code, out, _ in ended]


def test_the_tests_of_release_evidence_need_no_change() -> None:
    """They name the newest line where it is meant, not its number."""
    tests = ("core/releases/test_release_evidence.py", "views/test_named_evidence.py", "views/test_release_evidence.py")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.next_release", "-k", "not damage_in_a_zookeeper"]
    named = [f"tests/{name}" for name in tests]
    done = subprocess.run([*command, *named], cwd=ROOT, env=environment(), capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode()


def test_every_verb_answers_for_a_row_that_was_added(tmp_path: Path) -> None:
    """As for the release before it: no behaviour has changed."""
    of_release = []
    for line in ("LAST", "NEXT"):
        folder = tmp_path / line
        folder.mkdir()
        (folder / "server.properties").write_text(f"process.roles=broker\nnode.id=1\nlog.dirs={ONE}/data1\n")
        (folder / "server.log").write_text("[2026-01-01 00:00:00,000] INFO Loading logs. (kafka.log.LogManager)\n")
        of_release.append(answers(folder, line))
    assert of_release[0] == of_release[1]
