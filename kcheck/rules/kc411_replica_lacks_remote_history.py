"""A replica lacks leader epochs of remote segments that another replica serves.

What is wrong: The leader epochs of this replica begin later than another replica's. Remote segments have the older
epochs. An old leader that came back after an unclean election may have to truncate below its first local segment. It
then gives up its epochs and its log start. An empty replica that was elected uncleanly has none.

What the broker does (3.6 and later), when this replica leads: It DELETES every remote segment with only lower epochs.
It raises the log start of all replicas. A preferred election is enough. With auto.leader.rebalance.enable it happens by
itself, every 5 minutes. The deletion needs a leader of the partition of __remote_log_metadata. Until there is one, it
waits.

What to do: Let the other replica lead. Set auto.leader.rebalance.enable=false on the controllers until then. Stop this
broker and move this partition directory outside every log dir. The broker then fetches the epochs from remote storage.
Without another replica use `kcheck repair PATH --store STORE`.
"""

from collections.abc import Iterable

from kcheck.model.cluster import NO_LEADER
from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import ReplicasView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._epochs import entry_words
from kcheck.rules._remote import (
    has_epochs_from_log_start,
    is_tiered,
    lacked_histories,
    metadata_words,
    remote_replica,
    report_of,
    span_rows,
    spans_words,
)
from kcheck.rules._words import kafka


def check(view: ReplicasView, release: Release) -> Iterable[Finding]:
    """Compare the remote segments that each replica deletes as leader with the offsets that the others serve.

    Without the other replicas, these offsets are not known.
    """
    yield from _alone(view, release)
    for own, replica, lost, deleted, segments in lacked_histories(view, release):
        waits = own.remote is not None and own.remote.leader == NO_LEADER
        window = f" It waits until {metadata_words(own)} has a leader." if waits else ""
        yield RULE.finding(
            own.where if own.epochs is None else own.epochs.where,
            f"leader-epoch-checkpoint begins with {entry_words(replica.epochs[0])}; another replica has older epochs",
            effect=f"If this replica leads, {kafka(release)} deletes {spans_words(lost)} for readers, and at most the "
            f"remote segments of {spans_words(deleted)} with older epochs.{window}",
            advice="Let another replica lead, and set auto.leader.rebalance.enable=false until this one is repaired.",
            data={
                "lost": span_rows(lost),
                "deleted_at_most": span_rows(deleted),
                "segments": segments,
                "waits_for_metadata_leader": waits,
            },
        )


def _alone(view: ReplicasView, release: Release) -> Iterable[Finding]:
    own = view.replicas[0]
    registration = None if own.in_cluster is None else own.in_cluster.registration
    is_only = registration is not None and len(registration.replicas) == 1
    if len(view.replicas) > 1 or is_only or not is_tiered(own):
        return
    replica, report = remote_replica(own, release), report_of(own, release)
    if replica is None or not report.deleted or not has_epochs_from_log_start(replica):
        return
    yield RULE.finding(
        own.where if own.epochs is None else own.epochs.where,
        f"leader-epoch-checkpoint begins with {entry_words(replica.epochs[0])}; remote segments have older epochs",
        effect=f"If this replica leads, {kafka(release)} deletes at most the remote segments of "
        f"{spans_words(report.deleted_offsets)} with older epochs. Another replica may serve them.",
        advice="Name the log dirs of all brokers, as in kcheck tiered 1=PATH 2=PATH.",
        data={"deleted_at_most": span_rows(report.deleted_offsets), "segments": report.deleted_count},
    )


RULE = Rule(severity=Severity.ERROR, scope=Scope.REPLICAS, check=check)
