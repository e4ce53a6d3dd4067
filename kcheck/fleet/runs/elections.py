"""The elections of a cluster of a run, put together partition by partition, in bounded memory."""

import heapq
import sys
from collections.abc import Iterable
from typing import Any, NamedTuple, Self

from kcheck.core.election.broker_losses import Lacking, lacking
from kcheck.core.election.plans import PartitionElection, is_at_stake, lean
from kcheck.core.election.scenarios import harm
from kcheck.core.premises.facts import LogFacts
from kcheck.model.premises import JudgedPremise
from kcheck.model.report import PartitionFilter

SHOWN_MAX = 1000
"""Partitions that an answer lists, the worst first."""


class Elections:
    """The elections of a cluster, all of them lean, the worst in full. For a plan each has its best leader's plan."""

    def __init__(self, wanted: PartitionFilter, *, is_planned: bool = False) -> None:
        """Begin.

        `wanted` selects the shown partitions. `is_planned` is true if files are to be written for the recommendation.
        """
        self.wanted: PartitionFilter = wanted
        self._is_planned = is_planned
        self.lean: list[PartitionElection] = []
        self.unread: int = 0
        self.at_stake: int = 0
        self.lacking: list[Lacking] = []
        self.lacking_count: int = 0
        self.premises: list[JudgedPremise] = []
        self.differing: list[tuple[int, LogFacts]] = []
        self._alike: dict[object, Any] = {}
        self._worst: list[tuple[_Reversed, int, PartitionElection]] = []

    def add(
        self,
        election: PartitionElection,
        unread: int,
        premises: Iterable[JudgedPremise],
        differing: Iterable[tuple[int, LogFacts]],
    ) -> None:
        """Take the election of one partition, the premises of its replicas together, and the replicas if two differ."""
        self.premises.extend(premises)
        self.differing.extend(differing)
        if not election.is_of_cluster:
            return
        self._keep(_with_best_plan(election) if self._is_planned else lean(election))
        if not self.wanted.has(election.topic, election.partition):
            return
        self.unread += unread
        self.at_stake += is_at_stake(election)
        self._keep_lacking(lacking(election))
        self._keep_worst(election)

    def _keep(self, small: PartitionElection) -> None:
        if self._is_planned:
            self.lean.append(small)
            return
        shared = (small.registration, small.seats, small.rules, small.candidates)
        registration, seats, rules, candidates = self._alike.setdefault(shared, shared)
        topic = sys.intern(small.topic)
        self.lean.append(
            small._replace(topic=topic, registration=registration, seats=seats, rules=rules, candidates=candidates)
        )

    def _keep_lacking(self, replicas: Iterable[Lacking]) -> None:
        for replica in replicas:
            self.lacking_count += 1
            if len(self.lacking) < SHOWN_MAX:
                self.lacking.append(replica)

    def _keep_worst(self, election: PartitionElection) -> None:
        item = (_Reversed((not is_at_stake(election), harm(election))), len(self.lean), election)
        if len(self._worst) < SHOWN_MAX:
            heapq.heappush(self._worst, item)
        else:
            heapq.heappushpop(self._worst, item)

    def with_other(self, other: Self) -> Self:
        """Return these elections and the elections of another task."""
        for election in other.lean:
            self._keep(election)
        for election in other.shown:
            self._keep_worst(election)
        self.unread += other.unread
        self.at_stake += other.at_stake
        self.lacking = sorted((*self.lacking, *other.lacking))[:SHOWN_MAX]
        self.lacking_count += other.lacking_count
        self.premises += other.premises
        self.differing += other.differing
        return self

    @property
    def shown(self) -> tuple[PartitionElection, ...]:
        """The worst partitions, by topic and number."""
        return tuple(sorted((election for *_, election in self._worst), key=lambda row: (row.topic, row.partition)))


def _with_best_plan(election: PartitionElection) -> PartitionElection:
    """Return an election with only the followers' plans under the recommended leader."""
    best = election.recommended
    candidates = tuple(
        candidate if candidate is best else candidate._replace(plan=None) for candidate in election.candidates
    )
    return election._replace(candidates=candidates)


class _Reversed(NamedTuple):
    """Sorts the least first that would come last."""

    key: tuple[Any, ...]

    def __lt__(self, other: tuple[Any, ...]) -> bool:
        """Compare the other way round."""
        return bool(self.key > other[0])
