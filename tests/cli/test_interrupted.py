"""^C, as a real signal, during recover and elect of many partitions: a part of the answer that is marked as one."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from typing import Any

import pytest

import kcheck.cli.report_output as output
import kcheck.replicas.elect as elections
import kcheck.replicas.partition_directories as directories
from kcheck.disk.signals import held_back
from tests.bench.elect import make
from tests.cli.command import kcheck

COUNT = 40
INTERRUPTED = 130
PROGRAM = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it for what runs in the background
from kcheck.__main__ import main
main()
"""


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the arguments that name three brokers and a controller."""
    folder = tmp_path_factory.mktemp("many")
    return [*make(folder, COUNT), "--metadata", f"{folder}/201", "--kafka", "4.3", "--format", "json"]


def _signalled(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, after: int = 0) -> None:
    """Send ^C to this process as a function is called, after some calls of it."""
    real: Callable[..., Any] = getattr(module, name)
    calls = iter(range(after))

    def function(*given: Any, **how: Any) -> Any:
        if next(calls, None) is None:
            monkeypatch.undo()
            os.kill(os.getpid(), signal.SIGINT)
        return real(*given, **how)

    monkeypatch.setattr(module, name, function)


@pytest.mark.parametrize("verb", ["recover", "elect"])
@pytest.mark.parametrize(
    ("module", "name", "after", "left"),
    [
        (directories, "start_of", 2, "the log dirs of broker 3 not read"),
        (directories, "judged_starts", 0, f"{COUNT} partitions of {COUNT} not looked at"),
        (elections, "election_of", 30, f"{COUNT - 30} partitions of {COUNT} not looked at"),
        (elections, "verdict", 0, "the repairs that come first not looked for"),
        (output, "write", 0, None),
    ],
)
def test_what_is_known_by_then_is_said(
    words: list[str], monkeypatch: pytest.MonkeyPatch, verb: str, module: Any, name: str, after: int, left: str | None
) -> None:
    """No loss is promised for all of it unless all was looked at; an answer that is being written is whole."""
    _signalled(monkeypatch, module, name, after)
    done = kcheck(verb, *words)
    answer = json.loads(done.out)
    assert (answer.get("not_looked_at"), done.code) == (left, 1 if left is None else INTERRUPTED)
    if left is not None and "repairs" not in left:
        assert answer["verdict"] == f"The best order of starts and its loss are not known: {left}."
        scenarios = [answer[one] for one in ("start_all", "plan", "best")] if verb == "recover" else answer["scenarios"]
        assert {(row["lost"]["records"], row["offline_partitions"]) for row in scenarios} == {(None, None)}
        assert answer.get("steps", ()) == ([] if verb == "recover" else ())


def test_a_second_one_ends_it() -> None:
    """The first is held back."""

    def twice() -> None:
        with held_back() as came:
            os.kill(os.getpid(), signal.SIGINT)
            assert came == [signal.SIGINT]
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        twice()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_one_that_is_ignored_stays_ignored() -> None:
    """As for a command in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    with held_back() as came:
        os.kill(os.getpid(), signal.SIGINT)
    assert (came, signal.signal(signal.SIGINT, before)) == ([], signal.SIG_IGN)


def test_a_write_that_a_signal_ends_early(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a buffer of Python's own, the rest of it is written too."""
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    command = [sys.executable, "-c", PROGRAM, "recover", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        held, before = bytearray(4), b""
        while not any(held) or held != before:  # nobody reads: the write waits
            before = bytes(held)
            time.sleep(0.3)
            fcntl.ioctl(process.stdout, termios.FIONREAD, held)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate()
    assert json.loads(out)["schema"] == "kcheck.recovery/1"


def test_a_process_at_any_moment(words: list[str]) -> None:
    """It prints a whole document or nothing, whenever the signal comes."""

    def taken(after: float | None) -> tuple[int, str, float]:
        begun = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, "recover", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        if after is not None:
            time.sleep(after)
            process.send_signal(signal.SIGINT)
        out, _ = process.communicate()
        return process.returncode, out, time.monotonic() - begun

    whole = taken(None)
    assert whole[0] == 1
    for share in (0.5, 0.7, 0.9):
        code, out, _ = taken(share * whole[2])
        interrupted = bool(out) and json.loads(out).get("interrupted") is True
        assert (code == INTERRUPTED) is (interrupted or not out)
