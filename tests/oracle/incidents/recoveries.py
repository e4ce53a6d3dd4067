"""What `kcheck recover` says of its plan, beside what became of it."""

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import kcheck
from kcheck.core.replication.leader_costs import Amounts
from kcheck.model.cluster import NO_LEADER
from kcheck.plans.recover import ClusterRecovery
from tests.oracle.incidents import asked
from tests.oracle.incidents.shapes import Shape

EQUAL, LESS, MORE, BOUNDED, UNKNOWN = "equal", "SAID LESS", "said more", "bounded", "unknown"


class Outcome(NamedTuple):
    """What a course led to."""

    lost: dict[str, int]
    """Records by partition that has a leader: some broker had them before."""
    gone_before: dict[str, int]
    """Records in these that nobody had any more after the damage."""
    uncounted: dict[str, int]
    """Those of the lost that only brokers had of which the answer says that they are not counted."""
    corrupt: dict[str, int]
    """Records in batches that became corrupt while they lay in the leader's log: no clean start reads them."""
    first: dict[str, int]
    """Who leads each partition; -1: nobody."""
    leaders: dict[str, int]
    """Who leads after the preferred replicas were elected, where the controller would do that."""
    replaced: Mapping[str, int] = {}
    """Records in compacted topics that nobody misses, as newer ones of their keys are there: a plan may count them."""

    @property
    def offline(self) -> list[str]:
        """The partitions without a leader in the end."""
        return sorted(name for name, leader in self.leaders.items() if leader == NO_LEADER)

    @property
    def cost(self) -> tuple[int, int]:
        """Partitions without a leader, and records."""
        return len(self.offline), sum(self.lost.values())


class Said(NamedTuple):
    """What `recover` says of its plan."""

    records: int | None
    at_most: int | None
    offline: int | None
    lost: dict[str, Amounts | None]
    """By partition."""
    leaders: dict[str, int | None]
    steps: tuple[str, ...]
    uncounted: tuple[int, ...]
    """The brokers whose own records the answer says not to count."""
    committed: dict[str, dict[int, int]]
    """Committed records that each leader costs, by partition: they count before all others."""


def ask(folder: Path, like: Shape, out: str | None = None) -> ClusterRecovery:
    """Ask `recover` in the folder of a cluster that does not run."""
    words = asked.words(folder, like, "controller" if like.beside is None else "")
    kafka = words[words.index("--kafka") + 1] if "--kafka" in words else "auto"
    metadata = [word for at, word in enumerate(words) if at and words[at - 1] == "--metadata"]
    names = [name for name in like.nodes if name.startswith("broker-") and (folder / name).is_dir()]
    brokers = [f"{name.removeprefix('broker-')}={name}" for name in names]
    with contextlib.chdir(folder):
        return kcheck.recover(*brokers, metadata=metadata, out=out, kafka=kafka)


def said(answer: ClusterRecovery) -> Said:
    """Return what is compared."""
    plan = answer.scenario("plan")
    rows = {f"{row.topic}-{row.partition}": row for row in answer.election.partitions}
    return Said(
        records=plan.lost.records,
        at_most=plan.lost.upper_records,
        offline=plan.offline_partitions,
        lost={name: row.lost_planned for name, row in rows.items()},
        leaders={name: row.planned for name, row in rows.items()},
        steps=tuple(text.title for text in answer.texts),
        uncounted=tuple(gap.broker_id for gap in answer.election.gaps),
        committed={
            name: {number: one.lost.upper_committed or 0 for number, one in row.leaders.items() if one.lost is not None}
            for name, row in rows.items()
        },
    )


def committed(said: Said, course: Outcome) -> int:
    """Return how many committed records the leaders of a course cost, as far as they are known."""
    return sum(said.committed.get(name, {}).get(leader, 0) for name, leader in course.leaders.items())


def judged(said: Said, course: Outcome) -> str:
    """Return what was said of all partitions: the worst first."""
    rows = {of_partition(said, course, name) for name in said.leaders.keys() | course.leaders.keys()}
    return next((verdict for verdict in (LESS, MORE, UNKNOWN, BOUNDED) if verdict in rows), EQUAL)


def others(said: Said, course: Outcome) -> Iterator[str]:
    """Yield the partitions that another broker leads first than was planned."""
    for name, leader in said.leaders.items():
        if leader is not None and course.first.get(name) != leader:
            yield name


def of_partition(said: Said, course: Outcome, name: str) -> str:
    """Return what was said of a partition; what the damage alone has taken may be part of it, or not."""
    leader, planned = course.leaders.get(name, NO_LEADER), said.leaders.get(name) or NO_LEADER
    if NO_LEADER in (leader, planned):
        return EQUAL if leader == planned else LESS if leader == NO_LEADER else MORE
    amounts, lost = said.lost[name], course.lost.get(name, 0) - course.uncounted.get(name, 0)
    if amounts is None or amounts.upper_records is None:
        return UNKNOWN
    if lost > amounts.upper_records:
        return LESS
    if amounts.records is None:
        return BOUNDED
    at_most = lost + course.gone_before.get(name, 0) + course.replaced.get(name, 0)
    return MORE if amounts.records > at_most else EQUAL
