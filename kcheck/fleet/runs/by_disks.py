"""Tells whether a run shows a plan, with the command that plans by the disks.

`kcheck recover --from` and the plan of `kcheck elect --from` ask here, so no plan of a run goes beyond its tables.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from kcheck.core.election.early_elections import kept_out
from kcheck.core.election.election import BrokerStart
from kcheck.core.election.plans import BrokerGap, PartitionElection
from kcheck.core.election.scenarios import START_ALL, Scenario, scenarios
from kcheck.core.premises.presence import lacks_log_dirs
from kcheck.core.premises.table import OF_OTHERS
from kcheck.disk.paths import split
from kcheck.documents.comes_first import ComesFirst, comes_first
from kcheck.documents.next_commands import FOLDER
from kcheck.documents.premises import with_disk_elsewhere
from kcheck.fleet.run import FleetRun
from kcheck.fleet.runs.cluster import RunCluster
from kcheck.model.depth import Depth
from kcheck.model.premises import JudgedPremise, PremiseStatus
from kcheck.replicas.candidates import ClusterHere
from kcheck.replicas.partition_directories import log_dirs_not_named
from kcheck.replicas.uncounted import uncounted_premises
from kcheck.words import LISTED_MAX, broker_names, shell_line, some_of

_NOT_COUNTED = "the run does not show the loss of each leader"


class ByDisks(NamedTuple):
    """The reasons to plan by the disks, and the command."""

    first: ComesFirst
    """The missing log dirs and brokers that come before any step."""
    lacks: tuple[str, ...]
    """The reasons, as clauses; none if the run shows the steps."""
    command: str
    """The command that decides by the disks. Log dirs and brokers that come first are named too."""

    @property
    def title(self) -> str:
        """The step that plans by the disks."""
        return f"Plan by the disks, because {'; '.join(self.lacks)}"

    @property
    def are_first(self) -> bool:
        """True if only the disks show the first step, or log dirs or brokers are missing."""
        return bool(self.lacks) or self.first.is_alone


def is_counted(scenarios: Iterable[Scenario]) -> bool:
    """Return whether the loss of starting everything, and of the plan, is known or has a bound.

    True without metadata, because then the leader that Kafka elects is unknown in any case.
    """
    by_name = {row.name: row for row in scenarios}
    start_all, plan = by_name[START_ALL], by_name["plan"]
    return start_all.offline_partitions is None or None not in (start_all.lost.upper_records, plan.lost.upper_records)


def are_shown(
    partitions: Sequence[PartitionElection], costs: Sequence[Scenario], starts: Mapping[int, BrokerStart],
    order: Sequence[int],
) -> bool:  # fmt: skip
    """Return whether the run shows the `costs` of partitions with all replicas."""
    whole = [row for row in partitions if row.best is not None or not row.unknown_replicas]
    return is_counted(costs) or is_counted(scenarios(whole, starts, order))


def by_disks(
    run: FleetRun, cluster: RunCluster, here: ClusterHere, elections: Sequence[PartitionElection],
    premises: Sequence[JudgedPremise], gaps: Iterable[BrokerGap], costs: Sequence[Scenario], *, has_rescue: bool,
) -> ByDisks:  # fmt: skip
    """Return the reasons to plan by the disks. A rescue of the metadata comes first, and needs none."""
    uncounted = uncounted_premises(premises, elections)
    first, lacks = ComesFirst(), tuple[str, ...]()
    if not has_rescue:
        first = comes_first(gaps, uncounted, elections, cluster.brokers, incomplete_ok=here.incomplete_ok)
        lacks = tuple(_reasons(cluster, elections, premises, uncounted, run.depth, is_counted=is_counted(costs)))
    return ByDisks(first, lacks, _command(run, cluster, uncounted, first, sorted(here.dead)))


def not_shown_words(
    cluster: RunCluster, partitions: Iterable[PartitionElection], depth: str, unreached: Sequence[str]
) -> Iterator[str]:
    """Yield the sentences about repairs, log dirs and batches that a run does not show."""
    if cluster.mendable:
        names = broker_names(cluster.mendable, LISTED_MAX)
        yield f"A run plans no repairs. First ask kcheck recover whether a repair of {names} saves records."
    if unreached:
        yield f"Records of log dirs that the scan did not reach are not counted ({some_of(unreached)})."
    if _moves_unseen(partitions, depth):
        yield (
            "The scan did not compare batches, so a directory that would move aside may only have a wrong name. First"
            " run kcheck recover on the disks."
        )


def _moves_unseen(partitions: Iterable[PartitionElection], depth: str) -> bool:
    """Return whether directories that would move aside may be exchanged. Only batches show that."""
    return not Depth(depth).verifies and any(kept_out(partitions))


def _reasons(
    cluster: RunCluster, partitions: Iterable[PartitionElection], premises: Iterable[JudgedPremise],
    uncounted: Collection[JudgedPremise], depth: str, *, is_counted: bool,
) -> Iterator[str]:  # fmt: skip
    """Yield the reasons to plan by the disks, as clauses."""
    if not is_counted:
        yield _NOT_COUNTED
    if cluster.image is None:
        yield "the run has no metadata of the cluster"
    if cluster.mendable:
        yield f"a repair of {broker_names(cluster.mendable, LISTED_MAX)} may come first"
    known = tuple(premises)
    if any(row.status is PremiseStatus.REFUTED and row.id in OF_OTHERS for row in known):
        yield "a disk or its settings are of another broker or cluster"
    if with_disk_elsewhere(uncounted):
        yield "a newer disk may exist"
    added = sorted({row.broker_id for row in log_dirs_not_named(known)})
    if added:
        yield f"log.dirs of {broker_names(added, LISTED_MAX)} may change first"
    if _moves_unseen(partitions, depth):
        yield "the scan did not compare the batches of directories that would move aside"


def _command(
    run: FleetRun, cluster: RunCluster, uncounted: Iterable[JudgedPremise], first: ComesFirst, dead: Sequence[int]
) -> str:
    """Return the command that decides by the disks. Log dirs and brokers that come first are named too."""
    dirs = log_dirs_of(run, cluster)
    words = [f"{number}={path}" for number, path in dirs]
    if cluster.metadata is not None and split(cluster.metadata)[0] not in {path for _, path in dirs}:
        words += ["--metadata", split(cluster.metadata)[0]]
    if first.log_dirs:
        rows = (row for row in uncounted if lacks_log_dirs(row) and row.log_dir is not None)
        words += [f"{row.broker_id}={row.log_dir}" for row in rows]
    words += [f"{number}=PATH" for number in first.brokers]
    words += [word for number in dead for word in ("--dead", str(number))]
    line = shell_line(["kcheck", "recover", *words])
    return line if first.is_alone else f"{line} --output-dir {FOLDER}"


def log_dirs_of(run: FleetRun, cluster: RunCluster) -> list[tuple[int, str]]:
    """Return the log dirs of the brokers of a cluster, by broker."""
    rows = run.values("log_dirs", ("cluster", "broker_id", "log_dir"), cluster.name)
    return sorted((row[1], row[2]) for row in rows if row[0] == cluster.name and row[1] in cluster.brokers)
