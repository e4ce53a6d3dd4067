"""`kcheck elect --from RUN --output-dir DIR`, the plan of elections from a run."""

from collections.abc import Iterable, Mapping, Sequence

from kcheck.core.election.fencing import fences_alone
from kcheck.core.election.first_rescue import FirstRescue
from kcheck.core.election.plans import PartitionElection
from kcheck.core.election.recovery_plan import Recovery
from kcheck.core.election.start_order import StartOrder
from kcheck.core.election.steps import RecoveryAction, RecoveryStep, steps_of
from kcheck.core.start.unserved import Unserved
from kcheck.disk.new_files import NewFiles
from kcheck.disk.paths import absolute, join
from kcheck.documents.next_commands import FOLDER
from kcheck.documents.uncounted import missing_words
from kcheck.errors import UsageError
from kcheck.fleet.run import FleetRun, open_run
from kcheck.fleet.runs.by_disks import ByDisks, log_dirs_of
from kcheck.fleet.runs.cluster import RunCluster, run_cluster
from kcheck.handouts.election_files import PAGE, files_of
from kcheck.handouts.group_resets import resets_of
from kcheck.handouts.plan_context import PlanContext
from kcheck.handouts.runbook import runbook
from kcheck.handouts.step_words import nodes_first, step_texts
from kcheck.model.cluster import TopicImage
from kcheck.model.names import DirectoryState
from kcheck.model.premises import JudgedPremise
from kcheck.replicas.candidates import ClusterHere
from kcheck.replicas.election_output import write_texts
from kcheck.words import shell_line, some_of

_NAMED_MAX = 12
_BY_RUN = (
    "Tables of kcheck fleet scan gave this answer, not the logs. It does not name consumer groups with offsets beyond"
    " the new log ends, or open transactions."
)


def require_metadata(run: FleetRun, cluster: RunCluster) -> None:
    """Raise UsageError unless the run has the ISR and the assignments for a plan."""
    if cluster.image is None:
        raise UsageError(
            f"--output-dir: {run.path} has no metadata of the cluster to elect by; scan a log dir with "
            "__cluster_metadata-0 too. You can also run kcheck elect BROKER=PATH... --metadata PATH --output-dir DIR "
            "on the log dirs"
        )


def require_steps(disks: ByDisks) -> None:
    """Raise UsageError if only the disks show the first step of a plan, with the command that plans by them."""
    if disks.are_first:
        why = disks.title if disks.lacks else "Log dirs or brokers are missing"
        raise UsageError(f"--output-dir: the run has no plan. {why}: {disks.command}")


def write_plan_of_run(
    run: FleetRun,
    cluster: RunCluster,
    here: ClusterHere,
    elections: Sequence[PartitionElection],
    order: StartOrder,
    uncounted: Sequence[JudgedPremise],
    rescue: FirstRescue | None,
    unserved: Iterable[Unserved],
    sought: Mapping[int, str],
    verdict: str,
    out: str,
) -> tuple[str, ...]:
    """Write the plan into a directory; return the paths of its files. The page begins with the verdict.

    UsageError if a file exists already or cannot be written. UsageError also if the directory is in a log dir or in the
    run.
    """
    assert cluster.image is not None
    columns = ("cluster", "topic", "topic_id")
    ids = {row[1]: row[2] for row in run.values("cluster_partitions", columns, cluster.name) if row[0] == cluster.name}
    image = cluster.image._replace(topics={name: TopicImage(name, topic_id, {}) for name, topic_id in ids.items()})
    recovery = recovery_of(run, cluster, here, elections, order, uncounted, rescue, unserved, sought, out)
    recovery = recovery._replace(image=image)
    steps = steps_of(recovery)
    context = PlanContext(
        recovery, resets_of(recovery), {}, {}, moved_places(run, cluster, steps), join(out, "aside"),
        sought=sought, save=shell_line(["kcheck", "recover", *recovery.paths, "--output-dir", FOLDER]),
    )  # fmt: skip
    done = shell_line(["kcheck", "verify", out, *recovery.paths])
    head = (verdict, *recovery.uncounted, _BY_RUN)
    page = runbook(recovery, step_texts(context, steps), head, done, nodes_first(context, steps), place=absolute("."))
    with NewFiles(out, (), apart_from=(run.path,)) as files:
        return write_texts(files, {**files_of(recovery), PAGE: page})


def moved_places(run: FleetRun, cluster: RunCluster, steps: Iterable[RecoveryStep]) -> dict[tuple[int, str], str]:
    """Return the directories that steps move, by broker and name."""
    names = {
        (number, name)
        for step in steps
        for moved in (step.partitions if step.kind is RecoveryAction.SET_ASIDE else step.emptied,)
        for number in (step.brokers if moved or step.directories else ())
        for name in (*step.directories, *(part.name for part in moved))
    }
    rows = run.values("replicas", ("cluster", "broker_id", "dir", "log_dir"), cluster.name) if names else ()
    return {(row[1], row[2]): join(row[3], row[2]) for row in rows if (row[1], row[2]) in names}


def recovery_of(
    run: FleetRun,
    cluster: RunCluster,
    here: ClusterHere,
    elections: Sequence[PartitionElection],
    order: StartOrder,
    uncounted: Sequence[JudgedPremise],
    rescue: FirstRescue | None,
    unserved: Iterable[Unserved],
    sought: Mapping[int, str],
    out: str,
) -> Recovery:
    """Return the recommendation, without topics in its metadata, with the directory that its files are for.

    `uncounted` are the premises whose losses no election counts, `rescue` comes before any start. `unserved` are the
    directories that no election counts, `sought` the first step for each broker with a missing disk.
    """
    removed = {
        row.broker_id: tuple(part.dir for part in row.directories)
        for row in unserved
        if row.state is DirectoryState.DELETED and row.broker_id is not None
    }
    is_alone = fences_alone(here.fenced, {*cluster.brokers, *here.dead}, cluster.release, order)
    return Recovery(
        partitions=elections,
        order=(*order.brokers, *(number for number in cluster.brokers if number not in here.starts)),
        starts=here.starts,
        dead=here.dead,
        release=cluster.release,
        kraft=cluster.kraft,
        image=cluster.image,
        paths=tuple(f"{number}={log_dir}" for number, log_dir in log_dirs_of(run, cluster)),
        folder=out,
        together=order.together,
        fenced=here.fenced if is_alone else (),
        uncounted=tuple(missing_words(uncounted, here.dead, elections)),
        rescue=rescue,
        removed=removed,
        sought=tuple(sorted(sought)),
        by_run=True,
    )


def logs_wanted(path: str, name: str | None) -> UsageError:
    """Return the error of `--save-lost`: it names the log dirs where the records are."""
    run = open_run(path)
    places = [f"broker {number} {log_dir}" for number, log_dir in log_dirs_of(run, run_cluster(run, name))]
    return UsageError(
        "--save-lost copies records, and a run has none; run kcheck elect BROKER=PATH... --save-lost DIR where these "
        f"log dirs are: {some_of(places, _NAMED_MAX)}"
    )
