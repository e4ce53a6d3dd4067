"""Puts many cases to the classes of one Kafka release: one JVM, a line for each case, a line for each answer."""

import os
import subprocess
import tempfile
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Protocol, TypeVar

import pytest

from tests.oracle.jars import java_command

T = TypeVar("T")

SWEEP = int(os.environ.get("KCHECK_SWEEP", "1"))
"""Every number of generated cases is multiplied by this."""

IS_WHOLE = "KCHECK_SWEEP" in os.environ
"""Whether all releases and all cases are asked; without KCHECK_SWEEP a sample of them is."""

SHARE = 0.1
"""Of the generated cases of a sweep of one, what the suite itself asks."""

SEED = os.environ.get("KCHECK_SEED", "0")

CASE_MAX = 1000
"""A message shows a longer case in part."""


READERS = (
    "0.11.0.3", "1.0.2", "1.1.1", "2.0.1", "2.1.1", "2.4.1", "2.8.2", "3.3.2", "3.6.2", "3.9.2", "4.0.2", "4.1.2",
    "4.3.1",
)  # fmt: skip
"""The releases that read damaged records and entries: those whose readers may differ."""


def generated(count: int) -> int:
    """Return how many cases are generated where a sweep of one has `count`."""
    return count * SWEEP if IS_WHOLE else int(count * SHARE)


def spread(cases: Sequence[T], count: int) -> Sequence[T]:
    """Return `count` of these cases, the last, the first and evenly between them; all of them with KCHECK_SWEEP."""
    if IS_WHOLE or len(cases) <= count:
        return cases
    last = len(cases) - 1
    return [cases[last - at * last // max(count - 1, 1)] for at in reversed(range(count))]


def sampled(releases: Sequence[T]) -> Sequence[T]:
    """Return the last, newest, of these releases and every ninth one before it, all of them with KCHECK_SWEEP."""
    return releases if IS_WHOLE else releases[::-9]


class Ask(Protocol):
    """The fixture `ask`: the answers of `java/<source>` on the jars of `version`, one for each case, in their order."""

    def __call__(
        self, version: str, source: str, cases: Iterable[object], *args: str, jvm: Sequence[str] = ()
    ) -> list[str]:
        """Run it with a folder to work in and `args`; `jvm` are more options of the JVM."""


def ask(version: str, source: str, cases: Iterable[object], *args: str, jvm: Sequence[str] = ()) -> list[str]:
    """Return what `Ask` promises."""
    lines = [f"{case}\n" for case in cases]
    with tempfile.TemporaryDirectory() as folder:
        command = java_command(version, Path(__file__).parent / "java" / source, folder, *args)
        at = command.index("-cp")
        # Up to 0.10 files are read in the charset of the platform; kcheck takes it to be UTF-8.
        command[at:at] = ["-Dfile.encoding=UTF-8", *jvm]
        done = subprocess.run(command, input="".join(lines), text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    answers = done.stdout.splitlines()
    assert len(answers) == len(lines)
    return answers


def encoded(files: Iterable[bytes]) -> list[str]:
    """Return files as the cases of `Readers.java`."""
    return [b64encode(file).decode() for file in files]


def assert_equal(cases: Sequence[object], ours: Sequence[object], theirs: Sequence[object]) -> None:
    """Fail with the number of cases that are answered differently and the shortest of them."""
    differ = [row for row in zip(map(str, cases), ours, theirs, strict=True) if row[1] != row[2]]
    if differ:
        case, our, their = min(differ, key=lambda row: len(row[0]))
        text = f"{len(differ)} of {len(cases)} answers differ, KCHECK_SEED={SEED}; the shortest case:"
        short = case if len(case) < CASE_MAX else f"{case[:200]} ... {case[-100:]} ({len(case)} characters)"
        pytest.fail(f"{text}\n{short}\nkcheck {our!r}\nKafka  {their!r}", pytrace=False)


NUMBERS = (
    "0", "-0", "+0", "000", "+5", "-5", "--5", "+-5", "+", "-", "", "005", "1_000", "1,000", "0x5", "5.0", "5L",
    "5e3", "5 ", "\t5", "5\x00", "\x005", "\xa05", "\ufeff5", "\u0665", "\u096b", "\uff15", "\U0001d7d3",
    "\u00b2", "\u2164", "-\u0660\u0665", "five", "null", "2147483647", "2147483648", "-2147483648",
    "-2147483649", "4294967296", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
    "-9223372036854775809", "9" * 40, "0" * 40 + "1",
)  # fmt: skip
"""What Integer.parseInt and Long.parseLong take, refuse, or take to be digits of another script."""

SPACES = (
    "\t", "\n", "\x0b", "\x0c", "\r", " ", "  ", " \t ", "\x00", "\x08", "\x1c", "\x1d", "\x1f", "\x85", "\xa0",
    "\u1680", "\u2003", "\u2007", "\u2028", "\u2029", "\u200b", "\u3000", "\ufeff",
)  # fmt: skip
"""White space of Java, of Python, and of neither."""

BAD_UTF8 = (
    b"\xff", b"\xfe\xff", b"\x80", b"\xbf\xbf", b"\xc3", b"\xc3(", b"\xc0\x80", b"\xc1\xbf", b"\xe2\x82",
    b"\xe2(\x82", b"\xe0\x80\x80", b"\xe0\x9f\xbf", b"\xed\xa0\x80", b"\xed\xa0\x80\xed\xb0\x80", b"\xed\xa0",
    b"\xed\xa0(", b"\xf0\x90\x80", b"\xf0\x8f\xbf\xbf", b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80",
    b"\xf8\x88\x80\x80\x80", b"\xf0\x90(", b"\xe2\xe2\x82\xac", b"\xf0\xf0\xf0",
)  # fmt: skip


def cuts(data: bytes) -> Iterator[bytes]:
    """Every beginning of a file, and its endings filled up with NUL bytes as after a power failure."""
    for size in range(len(data)):
        yield data[:size]
        yield data[:size] + bytes(len(data) - size)


def flips(random: Random, data: bytes, count: int) -> Iterator[bytes]:
    """Return `count` copies with one to three bytes changed, put in, or taken out."""
    for _ in range(count):
        changed = bytearray(data)
        for _ in range(random.choice((1, 1, 2, 3))):
            position = random.randrange(len(changed))
            byte = random.choice((random.randrange(256), *b"0123456789 -+:=\\\t\r\n"))
            changed[position : position + random.randrange(2)] = bytes([byte] * random.randrange(2))
        yield bytes(changed)


def broken(answer: str) -> str:
    """Return the class of the exception that an answer of `Readers.java` tells, "" if it tells none.

    That is the one the broker wraps in a KafkaStorageException; what caused that one in turn decides nothing.
    """
    classes = answer[1:].split() if answer.startswith("!") else []
    return next((name for name in classes if name != "KafkaStorageException"), "")


def text(encoded: str) -> str:
    """Return a text of an answer of `Readers.java`."""
    return b64decode(encoded).decode("utf-16-be", "surrogatepass")
