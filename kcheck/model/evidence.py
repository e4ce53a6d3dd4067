"""The evidence in the files of brokers about the release of Kafka that wrote them."""

from typing import NamedTuple

AUTO = "auto"
"""The value of `--kafka` that means the release by the evidence in the files."""


def rules_of(kafka: str) -> str:
    """Return the rules by which a run of a fleet was judged, in words."""
    return "rules of each broker's Kafka" if kafka == AUTO else f"Kafka {kafka} rules"


class Reason(NamedTuple):
    """One thing in the files that bounds the release."""

    source: str
    """Its description."""
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


class OtherEnd(NamedTuple):
    """The differences between the answer for the lowest release of a range and the answer for the used one."""

    kafka: str
    """The line: the lowest one, or the newest tested one if the answer is for the lowest."""
    differs_in: tuple[str, ...] | None
    """The rules and the answers about partitions that differ; None if there is too much to compare."""


class ReleaseEvidence(NamedTuple):
    """The lines of releases that the files fit, and the release of the answer."""

    lowest: str | None
    """The first line that they fit, None if nothing is known."""
    highest: str | None
    """The last one."""
    used: str
    """The release that the answer holds for."""
    given: bool
    """True if the user named that release."""
    reasons: tuple[Reason, ...]
    """The evidence for the range, broker by broker."""
    agrees: bool = True
    """False if brokers, or the evidence of one, have different releases. The range then covers all of them."""
    contradicted: bool = False
    """True if the user named a release outside the range."""
    other: OtherEnd | None = None
    """The other end of the range; None without one, or if the command does not compare it."""
    refused: tuple[tuple[str, str], ...] = ()
    """The paths that were refused when evidence was looked for, each with the reason."""
    given_by: str | None = None
    """The variable or file that names the release; None if the command line does, or without a name."""

    def row(self) -> dict[str, object]:
        """Return it as JSON shows it."""
        return {
            "lowest": self.lowest,
            "highest": self.highest,
            "used": self.used,
            "given": self.given,
            "given_by": self.given_by,
            "other": self.other and {"kafka": self.other.kafka, "differs_in": self.other.differs_in},
            "reasons": tuple(
                {"says": reason.says, "from": reason.source, "path": reason.path, "broker_id": reason.broker_id}
                for reason in self.reasons
            ),
        }

    @property
    def sources(self) -> str:
        """The evidence for the range, in words, each piece once."""
        return ", ".join(dict.fromkeys(reason.source for reason in self.reasons))
