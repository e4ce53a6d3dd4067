"""The behavior of running leaders, followers and controllers, which `kcheck simulate` switches by the release."""

from kcheck.model.behaviour import Behaviour


class ReplicationBehaviours:
    """Each row holds for the releases from `since` on, and before `until`."""

    # A leader's high watermark.
    caught_up_replicas_bound_high_watermark: Behaviour = Behaviour(
        "A replica that is caught up bounds the high watermark, even outside the ISR (maybeIncrementLeaderHW).",
        since="0.10.2",
        reference="KAFKA-4485",
    )
    pending_isr_bounds_high_watermark: Behaviour = Behaviour(
        "A replica that is about to join the ISR bounds the high watermark.", since="2.7", reference="KAFKA-8836"
    )
    only_eligible_replicas_bound_high_watermark: Behaviour = Behaviour(
        "A caught-up replica that may not join the ISR does not bound the high watermark.",
        since="3.6",
        reference="KAFKA-15021",
    )
    min_isr_bounds_high_watermark: Behaviour = Behaviour(
        "The high watermark does not advance while the ISR is below min.insync.replicas.",
        since="3.7",
        reference="KAFKA-15583",
    )
    diverging_fetches_leave_leo: Behaviour = Behaviour(
        "A leader does not record the offset of a fetch that it answers with a diverging epoch.",
        since="2.7.2",
        but_not="2.8.0",
        reference="KAFKA-13141",
    )

    # The ISR.
    equal_replicas_stay_in_isr: Behaviour = Behaviour(
        "A replica whose log ends where the leader's does stays in the ISR, however long ago it fetched.",
        since="2.1",
        reference="KAFKA-7152",
    )
    joins_isr_in_own_epoch: Behaviour = Behaviour(
        "A replica joins the ISR only at or beyond the offset where its leader's epoch starts.",
        since="2.0.1",
        reference="KAFKA-7128",
    )
    fenced_replicas_stay_outside_isr: Behaviour = Behaviour(
        "A replica that is fenced or shutting down does not join the ISR.", since="3.3", reference="KIP-841"
    )
    isr_needs_broker_epoch: Behaviour = Behaviour(
        "A replica joins the ISR only with the broker epoch of its fetches.", since="3.5", reference="KIP-903"
    )
    has_alter_partition: Behaviour = Behaviour(
        "A leader asks the controller to change the ISR; before, it writes the ISR into ZooKeeper.",
        since="2.7",
        reference="KIP-497",
    )
    isr_shrink_bumps_leader_epoch: Behaviour = Behaviour(
        "KRaft raises the leader epoch when the ISR shrinks.", until="3.6", reference="KAFKA-15021"
    )
    has_long_replica_lag_time: Behaviour = Behaviour(
        "By default a follower has 30 s to catch up (replica.lag.time.max.ms); before, 10 s.",
        since="2.5",
        reference="KIP-537",
    )
    reassignment_waits_for_every_replica: Behaviour = Behaviour(
        "KRaft completes a reassignment when all its replicas are in sync; before, when the added replicas are.",
        since="3.8",
        reference="KAFKA-15665",
    )
    keeps_eligible_leader_replicas_by_default: Behaviour = Behaviour(
        "A new cluster keeps eligible leader replicas.", since="4.1", reference="KIP-966"
    )

    reelection_forgets_fetches: Behaviour = Behaviour(
        "A leader that is elected again forgets when followers outside the ISR fetched last.", since="3.3"
    )

    # Becoming a follower.
    remakes_followers_after_epochs_missed: Behaviour = Behaviour(
        "A follower that missed a leader epoch begins again, even if the leader is the same.",
        since="2.0.1",
        reference="KAFKA-7164",
    )
    remakes_followers_in_each_epoch: Behaviour = Behaviour(
        "A follower begins again in each leader epoch, even if the leader is the same.",
        since="2.1",
        reference="KAFKA-7395",
    )
    drops_log_when_leader_ends_behind: Behaviour = Behaviour(
        "A follower out of range whose leader has caught up meanwhile deletes its log.",
        until="0.9.0.1",
        reference="KAFKA-2143",
    )
    truncates_removed_partitions: Behaviour = Behaviour(
        "A diverging answer truncates a log whose partition the fetcher no longer has.",
        since="2.8.0",
        until="2.8.1",
        reference="KAFKA-13207",
    )
    forgets_epoch_after_empty_answer: Behaviour = Behaviour(
        "After a first answer without records a follower's fetches name no epoch, until records come.",
        since="3.5.1",
        until="3.7",
        reference="KAFKA-15510",
    )
    sessions_forget_leader_epochs: Behaviour = Behaviour(
        "A leader does not compare the leader epoch of a fetch in a session, but for the first.",
        since="2.1",
        until="2.5",
        reference="KAFKA-9338",
    )
    leaves_truncated_epochs_unsynced: Behaviour = Behaviour(
        "A truncation writes leader-epoch-checkpoint and does not sync it.",
        since="3.7",
        until="3.8",
        reference="KAFKA-16541",
    )
    notices_bounced_brokers: Behaviour = Behaviour(
        "The controller notices that a broker came back within its session.", since="2.2", reference="KIP-380"
    )
