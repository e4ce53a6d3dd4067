"""What the rules on a partition directory share."""

from kcheck.model.finding import Claim, Claimed, Effect
from kcheck.model.names import LIVE
from kcheck.model.views import PartitionView
from kcheck.words import counted


def served(view: PartitionView) -> bool:
    """Whether a broker loads the directory as a replica; -delete and -stray directories only wait for their end."""
    return view.state in LIVE


def has_data(view: PartitionView) -> bool:
    """Whether the log holds anything, as far as is known."""
    return view.size > 0 or any(segment.size > 0 for segment in view.segments)


def says(words: str, claimed: Claimed, value: int | None = None) -> Effect:
    """Return an effect that makes one claim of the next start."""
    return Effect(words, (Claim(claimed, value),))


def segments_in_words(view: PartitionView) -> str:
    """Return `3 segments, 1200 bytes`."""
    return f"{counted(len(view.segments), 'segment')}, {counted(view.size, 'byte')}"
