"""What a premise is, and how its judgements are written."""

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import NamedTuple

from kcheck.core.premises.facts import BrokerFacts
from kcheck.model.premises import JudgedPremise

Judge = Callable[["Premise", BrokerFacts], Iterator[JudgedPremise]]
"""Yields what the files of one broker show; nothing where the premise does not apply to it."""


class PremiseKind(StrEnum):
    """What a premise is about."""

    IDENTITY = "identity"
    """Ids of clusters, nodes and log dirs."""
    METADATA = "metadata"
    """Which copy of the metadata decides."""
    PRESENCE = "presence"
    """What should be there."""
    RIGHTS = "rights"
    """Whose the files are, and what their modes allow."""
    RESOURCES = "resources"
    """What the host gives: mounts, bytes, maps."""
    SETTINGS = "settings"
    """Settings that the files contradict, or that the release refuses."""
    COMPACTION = "compaction"
    """What the log cleaner deletes."""
    RETENTION = "retention"
    """What retention by time deletes."""
    REMOTE = "remote"
    """What is in remote storage, and what a leader deletes there."""
    ELECTIONS = "elections"
    """Elections of replicas that are not in sync."""
    AGE = "age"
    """Whether a disk is older than the cluster."""


class PremiseCost(StrEnum):
    """What a refuted premise costs in an election."""

    HOLE = "hole"
    """A follower lacks what it does not fetch from its leader."""
    UNCOUNTED = "uncounted"
    """The broker loses what no election counts."""
    METADATA = "metadata"
    """The metadata shows nothing about the next election."""


class Premise(NamedTuple):
    """One premise of "may start", "will boot" and "nothing is lost"."""

    id: str
    """Its id; never reused."""
    kind: PremiseKind
    """What it is about."""
    sentence: str
    """What must be true."""
    proof: str
    """What proves it."""
    against: str
    """What refutes it, or why it was not seen."""
    refutation: str
    """What the broker does if it is not true."""
    remedy: str
    """What a person does then."""
    kafka: str
    """Kafka's class and releases."""
    judge: Judge
    """Judges it for one broker."""
    ends_start: bool = True
    """Whether the broker does not start, or never joins its cluster, if the premise is refuted."""
    takes_offline: bool = False
    """Whether a log dir goes offline if the premise is refuted."""
    rules: tuple[str, ...] = ()
    """The rules of logs by which `check` reports a refutation; empty if KC315 does."""
    cost: PremiseCost | None = None
    """What a refutation adds to the loss of an election; None: nothing, or the losses of partitions contain it."""
    is_counted: bool = False
    """Whether the losses of partitions contain what a refutation costs."""
    may_lack: bool = False
    """Whether the broker may lack records if the premise is not seen: no file tells how many."""
    is_of_quorum: bool = False
    """Whether `kcheck recover quorum` is the way out of a refutation."""
