"""Real clusters elect, truncate and lose what `kcheck elect` says; `kcheck verify` tells what of it came true.

Twenty partitions with different histories, and three more where a topic can leave remote storage (see diverged.py),
started from the same files in several orders, with unclean elections on and off, and by the commands of plan.md. One
release is asked, which goes on from a recorded cluster by its plan;
`KCHECK_SWEEP=1 .venv/bin/pytest tests/oracle/clusters/test_elect.py` asks all RELEASES for all COURSES.

Not forced, as no setting can: that brokers register at the same moment. Where Kafka's tool elects after all brokers
have started, the controller chooses among all of them, as it does then.
"""

import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import kcheck
from kcheck.core.election.early_elections import displaced, means_for, means_of
from kcheck.core.election.election import first_leader, leader_of_all
from kcheck.core.election.plans import Candidate, PartitionElection
from kcheck.core.replication.truncation_plans import FollowerPlan
from kcheck.documents.verification import StepKind
from kcheck.replicas.elect import ClusterElection
from tests.oracle.ask import IS_WHOLE
from tests.oracle.clusters import diverged
from tests.oracle.jars import numbers, run_java
from tests.oracle.kafka import Cluster
from tests.oracle.scenes import unpacked

pytestmark = pytest.mark.oracle

RELEASES = (
    ("4.3.1", "kraft", True), ("4.3.1", "kraft", False), ("4.0.2", "kraft", False), ("3.9.2", "kraft", False),
    ("3.9.2", "zk", False), ("3.5.2", "kraft", False), ("3.5.2", "zk", False), ("2.8.2", "zk", False),
    ("2.4.1", "zk", False), ("1.1.1", "zk", False),
)  # fmt: skip
"""Release, mode, and whether there is an ELR."""


class Course(NamedTuple):
    """A way to go on: the brokers that start, one after the other, and what elects uncleanly."""

    brokers: tuple[int, ...]
    unclean: bool = True
    """Whether the static configuration of the controllers allows unclean elections."""
    by: str | None = None
    """What elects when all have started: "tool", the tool alone; "plan", the commands of plan.md; None: nothing."""

    @property
    def dead(self) -> tuple[int, ...]:
        """The brokers that never start."""
        return tuple(number for number in (1, 2, 3) if number not in self.brokers)


COURSES = (
    *(Course(order) for order in diverged.PERMUTATIONS),
    Course((1, 2, 3), unclean=False), Course((1, 2), unclean=False, by="plan"),
    Course((2, 3), unclean=False, by="plan"), Course((2, 1), unclean=False, by="tool"),
)  # fmt: skip


def courses(version: str) -> tuple[Course, ...]:
    """Return what is tried: before 2.4 no tool elects uncleanly."""
    if not IS_WHOLE:
        return tuple(course for course in COURSES if course.by == "plan")[:1]
    return COURSES if numbers(version) >= (2, 4) else COURSES[:-1]


class Outcome(NamedTuple):
    """What becomes of a partition."""

    leader: int | None
    ends: Mapping[int, int | None]
    """The log ends of the brokers that have started."""
    lost: tuple[int | None, int | None] | None
    """The records that nobody has any more, and how many lay below the high watermark of a replica that had them."""
    truncations: Mapping[int, int]
    """The offsets to which followers truncate."""


@pytest.mark.parametrize(("version", "mode", "elr"), RELEASES if IS_WHOLE else RELEASES[:1])
def test_a_cluster_does_what_was_predicted(
    version: str, mode: str, elr: bool, tmp_path: Path, start: Callable[..., Cluster]
) -> None:
    """Who leads, where every log ends, where followers truncate, and which records nobody has any more."""
    kept = tmp_path / "kept"
    if IS_WHOLE:
        writing = diverged.first_config(version, mode, tmp_path / "remote")
        with start(version, 3, dir=kept, mode=mode, broker_config=writing) as cluster:
            if version == "4.3.1" and not elr:
                feature = ("downgrade", "--feature", "eligible.leader.replicas.version=0")
                name = "org.apache.kafka.tools.FeatureCommand"
                run_java(version, name, "--bootstrap-server", cluster.bootstrap, *feature)
            diverged.diverge(cluster)
    else:
        unpacked("clusters/4.3.1/diverged", kept)
    differs = []
    for number, course in enumerate(courses(version)):
        settings = {
            **diverged.config(version),
            "unclean.leader.election.enable": str(course.unclean).lower(),
            "log.cleaner.enable": "false",
        }
        place = tmp_path / str(number)
        cluster = start(version, 3, dir=place, mode=mode, broker_config=settings, begins_with=kept)
        found = gone_through(cluster, course, place / "plan")
        order = " ".join((",".join(map(str, course.brokers)), "unclean" if course.unclean else "", course.by or ""))
        print(
            f"{version} {mode} {'ELR' if elr else ''}, {order}, {len(diverged.partitions(cluster))} partitions:",
            "equal" if not found else "\n  ".join(("differs", *found)),
            flush=True,
        )
        if not found:
            shutil.rmtree(place)
        differs += [f"{course}: {text}" for text in found]
    assert not differs, "\n".join(differs)


def predicted(cluster: Cluster, course: Course, out: Path) -> ClusterElection:
    """Return what elect says of the cluster: a plan is of every partition."""
    paths, how = asked(cluster, course)
    return kcheck.elect(
        *paths,
        **how | {"partitions": kcheck.PartitionFilter()},
        dead=course.dead,
        out=out,
        save_lost=out.with_name("saved"),
    )


def asked(cluster: Cluster, course: Course) -> tuple[list[str], dict[str, Any]]:
    """Return the paths of a course's brokers, and the other arguments about the cluster."""
    paths = [f"{number}={cluster[number].log_dirs[0]}" for number in (1, 2, 3) if number in course.brokers]
    metadata = cluster.beside.dir if cluster.mode == "zk" else cluster.beside.log_dirs[0]
    only = kcheck.PartitionFilter(topics=diverged.topics(cluster))
    return paths, {"metadata": [metadata], "partitions": only, "kafka": cluster.version}


def verified(
    cluster: Cluster, course: Course, plan: Path, rows: Iterable[PartitionElection], leaders: Mapping[Any, int | None]
) -> list[str]:
    """Return where verify is wrong: nothing differs exactly where the recommended broker came to lead."""
    paths, how = asked(cluster, course)
    steps = kcheck.verify(plan, *paths, **how).steps
    wrong = [f"{step}" for step in steps if step.topic is None and step.ok is False]
    for row in rows:
        own = [step for step in steps if (step.topic, step.partition) == (row.topic, row.partition)]
        is_led = {step.ok for step in own if step.kind is StepKind.LEADER}
        if row.best is not None and is_led != {leaders[row.topic, row.partition] == row.best}:
            wrong.append(f"{row.topic}-{row.partition}: {is_led}, {leaders[row.topic, row.partition]}, {row.best}")
        if is_led == {True}:
            wrong += [f"{step}" for step in own if step.ok is False]
    return wrong


def elected(answer: ClusterElection, row: PartitionElection, course: Course, count: int | None = None) -> int | None:
    """Return who leads first if the first `count` brokers of a course have started, None: all, and the tools asked."""
    assert row.seats is not None
    if course.by == "plan" and early(answer, row, course) in course.brokers[:count]:
        return row.best
    obeys = answer.release.kraft_obeys_unclean_election or not answer.kraft
    rules = row.rules._replace(unclean=row.rules.unclean or (course.unclean and obeys))
    starts = [answer.starts[number] for number in course.brokers[:count]]
    leader = first_leader(row.seats, starts, row.leaders, rules)
    if leader is None and count is None and (course.by == "tool" or (course.unclean and not obeys)):
        leader = leader_of_all(row.seats, starts, row.leaders, rules._replace(unclean=True))
    if leader is None and count is None and course.by == "plan":
        assert row.needs_unclean
        return row.best
    return None if leader is None else leader.broker_id


def early(answer: ClusterElection, row: PartitionElection, course: Course) -> int | None:
    """Return the broker before whose start the plan elects the best leader of a partition; None if it does not."""
    means = means_of(answer.partitions, answer.release)
    rows = displaced(
        (row,), course.brokers, answer.starts, means_for(answer.partitions, course.brokers, answer.starts, means)
    )
    return next((found.before for found in rows), None)


def expected(answer: ClusterElection, row: PartitionElection, course: Course) -> Outcome:
    """Return what becomes of a partition, as elect says."""
    leader = elected(answer, row, course)
    if leader is None:
        return Outcome(None, {part.broker_id: part.log_end_offset for part in row.candidates}, None, {})
    candidate = row.leaders[leader]
    assert candidate.lost is not None
    assert candidate.plan is not None
    followers = {part.broker_id: part for part in candidate.plan.followers if part.broker_id is not None}
    ends = {number: end_of(part, candidate) for number, part in followers.items()}
    ends[leader] = candidate.log_end_offset
    cuts = {number: part.truncate_to for number, part in followers.items() if part.truncate_to is not None}
    return Outcome(leader, dict(sorted(ends.items())), candidate.lost[:2], cuts)


def end_of(follower: FollowerPlan, leader: Candidate) -> int | None:
    """Return where the files of a follower end: a broker removes whole batches, and remembers the offset."""
    if follower.status == "truncation_fails":
        return follower.truncate_to
    fetches = follower.status == "ok" and follower.log_end_offset_after != leader.log_end_offset
    if fetches or (follower.status == "ok" and follower.cut is None):
        return leader.log_end_offset
    return follower.log_end_offset_after if follower.cut is None else follower.cut.end_after_restart


def gone_through(cluster: Cluster, course: Course, plan: Path) -> list[str]:
    """Let the brokers start; return in what the cluster did something else than was predicted."""
    before = diverged.contents(cluster)
    answer = predicted(cluster, course, plan)
    asked_for = set(diverged.partitions(cluster))
    rows = {key: row for row in answer.partitions if (key := (row.topic, row.partition)) in asked_for}
    assert set(rows) == asked_for
    wanted = {key: expected(answer, row, course) for key, row in rows.items()}
    differs = []
    try:
        diverged.begin(cluster)
        for count, number in enumerate(course.brokers, 1):
            if course.by == "plan" and (plan / f"election-before-{number}.json").exists():
                diverged.run_plan(cluster, plan, course.brokers[0], number)
            cluster[number].start()
            now = {key: elected(answer, row, course, count) for key, row in rows.items()}
            if not diverged.settled(lambda now=now: diverged.leaders(cluster) == now):  # type: ignore[misc]
                seen = diverged.leaders(cluster)
                differs += [
                    f"{key} after {number}: {now[key]}, not {seen[key]}" for key in now if now[key] != seen[key]
                ]
        go_on(cluster, course, plan)
        exits = exiting(rows.values(), wanted, course)
        if exits:
            has_ended = diverged.settled(lambda: not any(cluster[number].alive for number in exits))
            return differs if has_ended else [*differs, f"brokers {sorted(exits)} go on"]
        diverged.settled(lambda: have_followed(cluster, wanted))
        leaders = diverged.leaders(cluster)
    finally:
        cluster.kill()
    after = diverged.contents(cluster)
    for key, row in rows.items():
        lost = held(before[key], course) - held(after[key], course)
        theirs = outcome(cluster, key, leaders[key], before[key], after[key], lost)
        if theirs != wanted[key]:
            differs.append(f"{key}: {wanted[key]}, not {theirs}; {row.seats}")
        if key[0] != "torn" and not lost <= diverged.saved(plan.with_name("saved"), *key):  # Starts lose the others.
            differs.append(f"{key}: not saved")
    differs += verified(cluster, course, plan, rows.values(), leaders)
    return differs


def exiting(
    rows: Iterable[PartitionElection], wanted: Mapping[tuple[str, int], Outcome], course: Course
) -> frozenset[int]:
    """Return the brokers that exit as they follow a leader with a shorter log, and unclean elections are off."""
    found = set[int]()
    for row in rows:
        leader = wanted[row.topic, row.partition].leader
        if leader is not None and not (row.rules.unclean or course.unclean):
            plan = row.leaders[leader].plan
            assert plan is not None
            found |= {
                part.broker_id
                for part in plan.followers
                if part.broker_id is not None and part.dialogue and part.dialogue.exits_without_unclean_election
            }
    return frozenset(found)


def held(replicas: Mapping[int, diverged.Replica], course: Course) -> diverged.Content:
    """Return the records that some broker of a course has."""
    return frozenset().union(*(replicas[number].records for number in course.brokers))


def go_on(cluster: Cluster, course: Course, plan: Path) -> None:
    """Elect leaders by the tools of a course."""
    if course.by == "plan":
        diverged.run_plan(cluster, plan, course.brokers[0])
    elif course.by == "tool":
        diverged.elect_uncleanly(cluster, course.brokers[0])
    elif course.unclean:
        diverged.elect_all(cluster, course.brokers[0])


def have_followed(cluster: Cluster, wanted: Mapping[tuple[str, int], Outcome]) -> bool:
    """Whether all that is expected has happened, and every follower is in sync."""
    seats, ends = diverged.registrations(cluster), diverged.ends(cluster)
    return diverged.leaders(cluster) == {key: row.leader for key, row in wanted.items()} and all(
        all(ends[key][number] == end for number, end in row.ends.items())
        and (
            row.leader is None
            or {number for number in row.ends if row.ends[number] == row.ends[row.leader]} <= set(seats[key].isr)
        )
        for key, row in wanted.items()
    )


def outcome(
    cluster: Cluster,
    key: tuple[str, int],
    leader: int | None,
    before: Mapping[int, diverged.Replica],
    after: Mapping[int, diverged.Replica],
    lost: diverged.Content,
) -> Outcome:
    """Return what became of a partition."""
    ends = {number: replica.end for number, replica in after.items() if cluster[number].log.exists()}
    if leader is None:
        return Outcome(None, ends, None, {})
    committed = {record for replica in before.values() for record in replica.records if record[0] < replica.mark}
    said = {number: replica.end for number, replica in before.items()}
    truncations = dict(diverged.truncations(cluster, *key, said))
    return Outcome(leader, ends, (len(lost), len(lost & committed)), truncations)
