"""The unclean elections that a disk has not followed, in words for people."""

from collections.abc import Iterable

from kcheck.core.election.plans import PartitionElection
from kcheck.core.premises.elections import FOLLOWED
from kcheck.replicas.elect import ClusterElection
from kcheck.words import agree, bare_range, counted, listed

CAUSES_MAX = 3
"""Maximum number of named partitions."""


def causes(election: ClusterElection, partitions: Iterable[PartitionElection]) -> tuple[str, ...]:
    """Return a sentence for each such partition, with the offsets on every disk."""
    image, rows = election.image, list[str]()
    unfollowed = {row.partition for row in election.refuted if row.id == FOLLOWED}
    for part in partitions:
        topic = None if image is None or part.name not in unfollowed else image.topics.get(part.topic)
        past = None if image is None or topic is None else image.unclean_election(topic, part.partition)
        leader = None if past is None else part.leaders.get(past.leader)
        count = None if leader is None or leader.lost is None else leader.lost.records
        if past is None or leader is part.recommended or not count:
            continue
        lost = f"{counted(count, 'record')} of others {agree(count, 'is', 'are')} lost"
        rows.append(
            f"{part.name}: broker {past.leader} was elected uncleanly at epoch {past.epoch}. Under this leader {lost},"
            f" so start broker {past.leader} only in its step. {_offsets(part)}"
        )
    more = len(rows) - CAUSES_MAX
    others = f"{counted(more, 'more partition')} had an unclean election too, perhaps of another broker."
    return (*rows[:CAUSES_MAX], *([others] if more > 0 else ()))


def _offsets(part: PartitionElection) -> str:
    """Return the offsets that each replica has, as a sentence."""
    held = [
        f"{bare_range(row.log_start_offset, row.log_end_offset)} on broker {number}"
        for number, row in sorted(part.leaders.items())
        if row.log_start_offset is not None and row.log_end_offset is not None
    ]
    return f"The disks have offsets {listed(held)}."
