"""The broker is an eligible leader replica of the partition, and the controller will not accept its last stop.

What is wrong: Possibly only a crash. An eligible leader replica (ELR, 4.0 and later) is out of sync, but has every
committed record. So the controller may elect it without loss. That holds only until its broker stops uncleanly. The log
dir has no .kafka_cleanshutdown, or one without the broker epoch of the last registration.

What the broker does: When it registers, it names the broker epoch in .kafka_cleanshutdown of its log dirs. If the
controller has another one, it removes the broker from ISR and ELR of all its partitions. If no member is left, only the
last leader (`lastKnownElr`) or an unclean election leads the partition again. Committed records can then be lost.

If it is the only replica of the partition, the controller elects it anyway, and the finding is an info.

What to do: Start the other members of ISR and ELR first. Start this broker when the partition has a leader. If the
finding is an error, there is no other member. Keep a copy of the directory, and compare the replicas (`kcheck
truncation`) before the controller elects one.

See: operations/old-copy.md
"""

from collections.abc import Iterable

from kcheck.core.start.strays import registers_cleanly
from kcheck.model.cluster import PartitionRegistration, ReplicaInCluster
from kcheck.model.finding import Finding, Severity
from kcheck.model.names import CLEAN_SHUTDOWN
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._cluster import has_metadata, source_of
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import kafka
from kcheck.words import listed


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Find the member of an ELR that the controller will remove.

    LogManager.readBrokerEpochFromCleanShutdownFiles, ClusterControlManager.registerBroker,
    ReplicationControlManager.handleBrokerShutdown 4.0 to 4.3.1.
    """
    replica, broker_id = view.in_cluster, view.where.broker_id
    if replica is None or replica.registration is None or not release.has_eligible_leader_replicas:
        return
    registration = replica.registration
    why = _why_unclean(view, replica)
    if broker_id in registration.elr and why is not None:
        is_last = not registration.isr and registration.elr == (broker_id,)
        yield RULE.finding(
            view.where,
            f"broker {broker_id} is in the ELR, but {why}, according to {source_of(replica)}",
            effect=f"{kafka(release)} removes broker {broker_id} from the ELR when it registers. "
            + _left(registration, broker_id, is_last=is_last),
            advice="Before the controller elects a leader, ask kcheck recover with the log dirs of all brokers."
            if is_last
            else "Start the other members of ISR and ELR first.",
            severity=_severity(replica, registration, is_last=is_last),
            data={
                "isr": registration.isr,
                "elr": registration.elr,
                "broker_epoch": replica.broker_epoch,
                "shutdown_epoch": replica.shutdown_epoch,
            },
        )


def _severity(replica: ReplicaInCluster, registration: PartitionRegistration, *, is_last: bool) -> Severity:
    if len(registration.replicas) == 1:
        return Severity.INFO  # no other replica can have more
    return Severity.ERROR if is_last and replica.is_certain else Severity.WARNING


def _why_unclean(view: PartitionView, replica: ReplicaInCluster) -> str | None:
    """Return why the controller takes the last stop for unclean; None if it does not."""
    shutdown, registered = replica.shutdown_epoch, replica.broker_epoch
    if registers_cleanly(clean=bool(view.clean_shutdown), shutdown_epoch=shutdown, broker_epoch=registered):
        return None
    if not view.clean_shutdown:
        return "did not stop cleanly"
    named = "no broker epoch" if shutdown is None else f"broker epoch {shutdown}, not {registered}"
    return f"{CLEAN_SHUTDOWN} names {named}"


def _left(registration: PartitionRegistration, broker_id: int | None, *, is_last: bool) -> str:
    if not is_last:
        others = sorted({*registration.isr, *registration.elr} - {broker_id})
        return f"ISR and ELR then hold only broker {listed(others)}."
    left = "Then ISR and ELR are empty"
    if len(registration.last_known_elr) != 1:
        return f"{left}, and only an unclean election gives the partition a leader."
    last = registration.last_known_elr[0]
    return f"{left}. The controller elects broker {last}, which led last, even if its log has lost records."


RULE = Rule(
    severity=Severity.WARNING,
    scope=Scope.PARTITION,
    check=check,
    when=has_metadata,
    depends_on_others=True,
    cites_metadata=True,
)
