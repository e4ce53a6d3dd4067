"""The premises of an answer about the next start, each proven, refuted, or not seen."""

from enum import StrEnum
from typing import NamedTuple

SAME_HISTORY, MAJORITY_KNOWN, TOPICS_KNOWN = "P201", "P204", "P851"
"""The premises that the controllers have a broker's history, that most of them are known, and that topics are."""


class PremiseStatus(StrEnum):
    """The status of a premise. The value is the name in an answer."""

    PROVEN = "proven"
    """The files show that it holds."""
    REFUTED = "refuted"
    """The files show that it does not hold."""
    NOT_SEEN = "not-seen"
    """The given files do not show it."""


class PremiseEvidence(NamedTuple):
    """The content of one file about a premise."""

    path: str
    """The file or directory."""
    says: str
    """The value in it, in a few words."""


def request(provide: str | None) -> str:
    """Return the request for a file or option, without subject."""
    return f"{'run with' if (provide or '').startswith('--allow') else 'name'} {provide}"


class JudgedPremise(NamedTuple):
    """A premise of one broker's start, with its status."""

    id: str
    """The id of the premise, such as P101."""
    status: PremiseStatus
    """The judgement."""
    sentence: str
    """The fact that is true, is not true, or was not seen."""
    broker_id: int | None
    """The broker; None if its id is not known."""
    log_dir: str | None = None
    """The log dir; None for the complete broker."""
    partition: str | None = None
    """The partition, such as orders-0; None for the complete log dir or broker."""
    evidence: tuple[PremiseEvidence, ...] = ()
    """The files that show it."""
    provide: str | None = None
    """The file or option that would show what was not seen."""

    @property
    def wanted(self) -> str:
        """The request to the user for the evidence, without subject."""
        return request(self.provide)

    @property
    def may_lose_history(self) -> bool:
        """True if the controllers can have another history than the brokers, which is not seen here."""
        return self.id in (SAME_HISTORY, MAJORITY_KNOWN, TOPICS_KNOWN) and self.status is PremiseStatus.NOT_SEEN
