"""The reasons why records are not exported, and their number."""

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from kcheck.model.entries import Offset
from kcheck.words import offset_range, record_count


class Omission(StrEnum):
    """The reason why a record is not exported."""

    CONTROL = "control"
    """It is a control record, such as a transaction marker. Brokers write these, not producers."""
    ABORTED = "aborted"
    """Its transaction was aborted."""
    OPEN = "open"
    """Its transaction has no end in the log."""
    UNPROVEN = "unproven"
    """The end of its transaction may be in a part of the log that is corrupt or missing."""
    BELOW_START = "below-log-start"
    """It is below the log start offset, so it was deleted."""
    OUTSIDE = "outside-range"
    """It is outside of the range that was asked for."""
    REPEATED = "repeated"
    """The log has its offset, or a higher one, before it."""
    MISSING = "missing"
    """No segment here holds its offset, and the log is not known to be compacted."""
    UNFINISHED = "unfinished"
    """It is in a `.log.swap`, which a broker's start puts in the place of segments."""
    DAMAGED = "damaged"
    """Its bytes are not what a broker wrote."""
    UNKNOWN = "unknown-format"
    """Its batch has a magic or a codec that no release knows."""
    FORMAT = "not-in-format"
    """The format that was asked for cannot hold it."""


UNWANTED = (
    Omission.DAMAGED, Omission.UNKNOWN, Omission.UNPROVEN, Omission.REPEATED, Omission.MISSING, Omission.UNFINISHED,
    Omission.FORMAT,
)  # fmt: skip
"""The reasons that the user did not ask for. The output may lack wanted records."""
_WORDS = {
    Omission.CONTROL: "control records",
    Omission.ABORTED: "of aborted transactions",
    Omission.OPEN: "of transactions without an end",
    Omission.UNPROVEN: "of transactions whose end may be in a damaged or missing part",
    Omission.BELOW_START: "below the log start offset",
    Omission.OUTSIDE: "outside of --from and --to",
    Omission.REPEATED: "at offsets that the log holds twice",
    Omission.MISSING: "in no segment here",
    Omission.UNFINISHED: "in a file that replaces segments when the broker starts",
    Omission.DAMAGED: "damaged",
    Omission.UNKNOWN: "of an unknown format",
    Omission.FORMAT: "not possible in this format",
}


class LeftOut(NamedTuple):
    """Records that are not exported for one reason."""

    why: Omission
    """The reason."""
    detail: str
    """More about it; empty if there is no more to say."""
    records: int | None
    """Their number; None if they cannot be counted."""
    start: Offset | None
    """The first of their offsets; None if it is not known."""
    end: Offset | None
    """The offset after the last of them; None if it is not known."""

    def row(self) -> dict[str, object]:
        """Return the JSON fields."""
        return {
            "why": str(self.why), "detail": self.detail or None, "records": self.records, "from": self.start,
            "to": self.end,
        }  # fmt: skip

    def __str__(self) -> str:
        """Return `15 records of aborted transactions (offsets 20-34)`."""
        span = offset_range(self.start, self.end)
        counted = record_count(self.records)
        words = counted.replace("record", "control record") if self.why is Omission.CONTROL else None
        text = words or f"{counted} {_WORDS[self.why]}"
        return "".join((text, f": {self.detail}" if self.detail else "", f" ({span})" if span else ""))


class Omissions:
    """Counts what is left out, by its reason."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._rows: dict[tuple[Omission, str], LeftOut] = {}

    def take(
        self, why: Omission, records: int | None, start: Offset | None, end: Offset | None, detail: str = ""
    ) -> None:
        """Count records at the offsets `[start, end)`; `records` is None if they cannot be counted."""
        key = why, detail
        known = self._rows.get(key)
        if known is None:
            self._rows[key] = LeftOut(why, detail, records, start, end)
            return
        self._rows[key] = known._replace(
            records=None if known.records is None or records is None else known.records + records,
            start=min((at for at in (known.start, start) if at is not None), default=None),
            end=None if known.end is None or end is None else max(known.end, end),
        )

    def rows(self) -> Iterator[LeftOut]:
        """Yield what was left out, in the order of the reasons."""
        order = list(Omission)
        yield from sorted(self._rows.values(), key=lambda row: (order.index(row.why), row.detail))
