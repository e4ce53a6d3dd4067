"""A log dir, a broker or a partition is missing in a fleet scan.

What is wrong: The scan lacks something that was there before, or that the cluster still counts on. Only `kcheck fleet
scan` looks. It reports

- a log dir that is empty, without meta.properties and partition directories;
- a broker with replicas according to the metadata of its cluster, if the scan has no log dir of it;
- a log dir that a broker of the scan registered with its cluster (3.7 and later);
- a log dir of the earlier run that is not in this run;
- partition directories of the earlier run that are missing on a broker. If the scan has the metadata of the cluster,
  only partitions that are still assigned to that broker count. Otherwise deleted topics are in this list too.

The earlier run is the one of `--since-run`, or the newest in `--output-dir` that scanned the same ROOTs. The second
choice is the newest run with the same layout below another folder and a cluster in common.

What the broker does: If a disk is not mounted, Kafka can start on the empty mount point. It then fetches every replica
again. A KRaft broker does not start on a log dir without meta.properties. The only replica of a partition is lost with
its disk.

What to do: Find out whether the disk is mounted and healthy before you start the broker. If the broker was retired,
remove it from the cluster with kafka-cluster.sh unregister. If you scan only part of a cluster on purpose, add --ignore
KC505.

See: operations/dead-disk.md
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Location, Severity
from kcheck.model.lost import Lost, LostKind, RunView
from kcheck.model.release import Release
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import kafka
from kcheck.words import agree, counted, some_of


def check(view: RunView, release: Release) -> Iterable[Finding]:
    """Report what is lost."""
    if not isinstance(view, Lost):
        return
    message, effect, advice = _words(view, release)
    yield RULE.finding(
        Location(broker_id=view.broker_id, log_dir=view.log_dir),
        message,
        effect=effect,
        advice=advice,
        severity=Severity.WARNING if view.kind is LostKind.PARTITIONS else Severity.ERROR,
        data={
            "kind": str(view.kind), "directory_id": view.directory_id, "source": view.source, "count": view.counted,
            "partitions": view.names,
        },
    )  # fmt: skip


def _words(view: Lost, release: Release) -> tuple[str, str, str]:
    """Return the message, the effect and the advice."""
    unmounted = f"{kafka(release)} can start on an empty mount point and fetch every replica again."
    if view.kind is LostKind.EMPTY:
        message = "the log dir is empty, without meta.properties and partition directories"
        return message, unmounted, "Mount its disk before you start the broker."
    if view.kind is LostKind.BROKER:
        replicas = counted(view.counted, "replica")
        return (
            f"broker {view.broker_id} has {replicas} according to {view.source}, and no log dir of it was scanned",
            "kcheck knows nothing about its replicas.",
            "Add its log dirs to ROOT, or mount its disks. If it was retired, run kafka-cluster.sh unregister.",
        )
    if view.kind is LostKind.REGISTERED:
        ids = some_of(view.names, 3)
        verb = agree(len(view.names), "was", "were")
        return (
            f"broker {view.broker_id} registered {counted(view.counted, 'log dir')}, and {ids} {verb} not scanned",
            unmounted,
            "Mount its disk before you start the broker, or add the log dir to ROOT.",
        )
    if view.kind is LostKind.LOG_DIR:
        message = f"the log dir is not in this scan; run {view.source} has {_directories(view)} in it"
        return message, unmounted, "Mount its disk before you start the broker."
    are = agree(view.counted, "is", "are")
    names = some_of(view.names, 3, view.counted)
    return (
        f"{_directories(view)} of run {view.source} {are} missing on this broker: {names}",
        "Their records are lost on this broker.",
        "If you did not delete or move these partitions, look for their disk before you start the broker.",
    )


def _directories(view: Lost) -> str:
    return counted(view.counted, "partition directory", "partition directories")


RULE = Rule(severity=Severity.ERROR, scope=Scope.RUN, check=check)
