"""Shared parts of the rules on a partition directory."""

from kcheck.model.finding import Claim, Claimed, Effect
from kcheck.model.names import LIVE
from kcheck.model.views import PartitionView
from kcheck.words import counted, offset_span


def served(view: PartitionView) -> bool:
    """Return whether a broker loads the directory as a replica; it does not load -delete and -stray directories."""
    return view.state in LIVE


def has_data(view: PartitionView) -> bool:
    """Return whether the log has any bytes, as far as is known."""
    return view.size > 0 or any(segment.size > 0 for segment in view.segments)


def offsets_held(view: PartitionView) -> str:
    """Return ` (offsets 0 to 39)`, from log start to log end; nothing if they are not known."""
    start, end = view.log_start_offset, view.log_end_offset
    return f" ({offset_span(start, end)})" if start is not None and end is not None and start < end else ""


def says(words: str, claimed: Claimed, value: int | None = None) -> Effect:
    """Return an effect that makes one claim of the next start."""
    return Effect(words, (Claim(claimed, value),))


def segments_in_words(view: PartitionView) -> str:
    """Return `3 segments, 1200 bytes`."""
    return f"{counted(len(view.segments), 'segment')}, {counted(view.size, 'byte')}"
