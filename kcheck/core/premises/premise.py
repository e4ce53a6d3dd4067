"""A premise, and the form of its judgements."""

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import NamedTuple

from kcheck.core.premises.facts import BrokerFacts
from kcheck.model.premises import JudgedPremise

Judge = Callable[["Premise", BrokerFacts], Iterator[JudgedPremise]]
"""Yields what the files of one broker show; nothing where the premise does not apply to it."""


class PremiseKind(StrEnum):
    """The subject of a premise."""

    IDENTITY = "identity"
    """Ids of clusters, nodes and log dirs."""
    METADATA = "metadata"
    """The copy of the metadata that counts."""
    PRESENCE = "presence"
    """Expected files and directories."""
    RIGHTS = "rights"
    """Whose the files are, and what their modes allow."""
    RESOURCES = "resources"
    """The resources of the host (mounts, bytes, maps)."""
    SETTINGS = "settings"
    """Settings that the files contradict, or that the release refuses."""
    COMPACTION = "compaction"
    """Records that the log cleaner deletes."""
    RETENTION = "retention"
    """Records that retention by time deletes."""
    REMOTE = "remote"
    """The contents of remote storage, and the segments that a leader deletes there."""
    ELECTIONS = "elections"
    """Elections of replicas that are not in sync."""
    AGE = "age"
    """Disks that may be older than the cluster."""


class PremiseCost(StrEnum):
    """The cost of a refuted premise in an election."""

    HOLE = "hole"
    """A follower lacks what it does not fetch from its leader."""
    UNCOUNTED = "uncounted"
    """The broker loses what no election counts."""
    REMOVED = "removed"
    """As UNCOUNTED. The running broker removes records that its disk has now."""
    METADATA = "metadata"
    """The metadata shows nothing about the next election."""


class Premise(NamedTuple):
    """One premise of "may start", "will boot" and "nothing is lost"."""

    id: str
    """Its id; never reused."""
    kind: PremiseKind
    """Its subject."""
    sentence: str
    """The condition."""
    proof: str
    """Its proof."""
    against: str
    """Its refutation, or the reason why it was not seen."""
    refutation: str
    """The effect on the broker if it is not true."""
    remedy: str
    """The step of an operator then."""
    kafka: str
    """Kafka's class and releases."""
    judge: Judge
    """Judges it for one broker."""
    ends_start: bool = True
    """True if the broker does not start, or never joins its cluster, if the premise is refuted."""
    takes_offline: bool = False
    """True if a log dir goes offline if the premise is refuted."""
    rules: tuple[str, ...] = ()
    """The rules of logs by which `check` reports a refutation; empty if KC315 does."""
    cost: PremiseCost | None = None
    """The additional loss of an election if the premise is refuted.

    None for no loss, or if the losses of partitions contain it.
    """
    is_counted: bool = False
    """True if the losses of partitions contain what a refutation costs."""
    may_lack: bool = False
    """True if the broker may lack an unknown number of records if the premise is not seen."""
    is_of_quorum: bool = False
    """True if `kcheck recover quorum` is the way out of a refutation."""
