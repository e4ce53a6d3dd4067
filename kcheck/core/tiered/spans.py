"""Arithmetic on offsets `[start, end)`."""

from collections.abc import Iterable

from kcheck.model.entries import Offset
from kcheck.model.remote_log import Spans


def merged(spans: Iterable[tuple[Offset, Offset]]) -> Spans:
    """Return the spans in order, with touching ones joined, without empty ones."""
    joined: list[tuple[Offset, Offset]] = []
    for start, end in sorted(spans):
        if start >= end:
            continue
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return tuple(joined)


def without(spans: Spans, gone: Spans) -> Spans:
    """Return the offsets of `spans` that are not in the other spans."""
    left: list[tuple[Offset, Offset]] = []
    for start, end in spans:
        at = start
        for first, until in gone:
            if until > at and first < end:
                left.append((at, first))
                at = until
        left.append((at, end))
    return merged(left)


def within(spans: Spans, start: Offset, end: Offset) -> Spans:
    """Return the offsets of `spans` in `[start, end)`."""
    return merged((max(first, start), min(until, end)) for first, until in spans)


def offset_count(spans: Spans) -> int:
    """Return the number of offsets."""
    return sum(end - start for start, end in spans)
