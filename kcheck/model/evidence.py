"""What the files of brokers say about the release of Kafka that wrote them."""

from typing import NamedTuple

AUTO = "auto"
"""The value of `--kafka` that stands for the release that the files prove."""


class Reason(NamedTuple):
    """One thing in the files that bounds the release."""

    source: str
    """What it is, in words."""
    path: str
    """The file or directory where it is."""
    broker_id: int | None
    """The broker whose file it is, None where that is not known."""
    first: str | None
    """The first line of releases that it fits, None for any."""
    last: str | None
    """The last one, None for any."""

    @property
    def says(self) -> str:
        """The releases that it fits, in words."""
        if self.first is None or self.last is None:
            return f"{self.last} or earlier" if self.first is None else f"{self.first} or later"
        return self.first if self.first == self.last else f"{self.first} to {self.last}"


class ReleaseEvidence(NamedTuple):
    """The lines of releases that the files fit, and the one that an answer holds for."""

    lowest: str | None
    """The first line that they fit, None if nothing is known."""
    highest: str | None
    """The last one."""
    used: str
    """The release that the answer holds for."""
    given: bool
    """Whether the user named that release."""
    reasons: tuple[Reason, ...]
    """What decides the range, broker by broker."""
    agrees: bool = True
    """False if the brokers run releases that differ: the range then holds those of all brokers."""
    contradicted: bool = False
    """Whether the user named a release outside the range."""

    def row(self) -> dict[str, object]:
        """Return it as JSON shows it."""
        return {
            "lowest": self.lowest,
            "highest": self.highest,
            "used": self.used,
            "given": self.given,
            "reasons": tuple(
                {"says": reason.says, "from": reason.source, "path": reason.path, "broker_id": reason.broker_id}
                for reason in self.reasons
            ),
        }

    @property
    def sources(self) -> str:
        """What decides the range, in words: each thing once."""
        return ", ".join(dict.fromkeys(reason.source for reason in self.reasons))
