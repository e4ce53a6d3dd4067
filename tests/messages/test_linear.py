"""The time for a line is linear in its length, whatever repeats in the line."""

from itertools import product
from random import Random
from time import process_time

import pytest

from kcheck.capture.logs import redacted
from kcheck.messages.lines import LogEvent, events, pasted
from tests.messages.catalogue import CATALOGUE

_REPEATED = (
    *" \t\xa0aA1-.:;|,[](){}<>\"'\\/=$_+*%~&`\x00\x1bé…\u2028",
    "\x1b[", "[0", "a.", "A.", "a b ", "a-", " -", " - ", "- ", "1 ", "1:", "[] ", "[a] ", "[a]", "() ", "(a) ", "a: ",
    "a:", "a=", "a=1 ", 'a="', '{"', '"a":', "[{", "a.Exception: ", "Caused by: ", "Error: ", "Partition [", "a | ",
    "a[1]: ", "<1>", "INFO ", "ERROR", "[INFO] ", "[pod/a] ", "2026-01-01T00:00:00Z ", "12:00:00 ",
    "2026-01-01 00:00:00,000 ", "Jan 01 00:00:00 ", "Cleaner 1: ", "<pre>", "{code}", "&amp;", "...", "]:", "] [",
    "x.y.Z ", "requirement failed: ", "topic ", "partition=", "1,", "Optional[", "Some(", "baseOffset=1",
)  # fmt: skip
_HEADS = (
    "", "ERROR ", "[", "(", "\tat ", "java.io.IOException: ", '{"message": "', 'level=warn msg="',
    "2026-01-01T00:00:00Z stdout F ", "[2026-01-01 00:00:00,000] ERROR ",
    "[2026-01-01 00:00:00,000] INFO [Log partition=a-0, dir=/a] ",
    "[2026-01-01 00:00:00,000] ERROR Error while reading checkpoint file ",
)  # fmt: skip
_TAILS = ("", " ", "x", '"}', " (kafka.log.Log)")
_LINES = Random(7).sample([*product(_REPEATED, _HEADS, _TAILS)], 600)
_SIZE = 8_192
_LONGER = 8
"""A quadratic pattern takes 64 times as long for a line of eight times the length."""
_RATIO_MAX = 32
_SECONDS_MIN = 0.05
"""CPU time below which a ratio is noise."""


def _read(line: str) -> list[LogEvent]:
    above = "[2026-01-01 00:00:00,000] ERROR Error (kafka.log.Log)"
    some = [*events(CATALOGUE, ((1, above), (2, line))), *pasted(CATALOGUE, line)]
    assert all("\x1b" not in text for text in redacted(some, str.upper))
    return some


def _seconds(line: str) -> float:
    begin = process_time()
    _read(line)
    return process_time() - begin


@pytest.mark.parametrize("part", range(6))
def test_a_repeated_text_takes_time_linear_in_the_length_of_a_line(part: int) -> None:
    for text, head, tail in _LINES[part::6]:
        short, long = (head + text * (size // len(text)) + tail for size in (_SIZE, _SIZE * _LONGER))
        base = _seconds(short)
        longer = _seconds(long)
        assert longer < max(_SECONDS_MIN, _RATIO_MAX * base), (text, head, tail)
