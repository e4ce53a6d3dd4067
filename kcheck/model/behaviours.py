"""The one table of behaviors that change with the release. Each row is also an attribute of each `Release`.

docs/releases.md is made of the same rows. Two kinds of facts are not rows. One is the behavior of a line of releases
(`TABLE` of `kcheck.core.releases.releases`). The other is behavior that depends on more than the release.
"""

from kcheck.model.behaviour import Behaviour
from kcheck.model.directory_behaviours import DirectoryBehaviours
from kcheck.model.replication_behaviours import ReplicationBehaviours
from kcheck.model.tool_behaviours import ToolBehaviours


class Behaviours(DirectoryBehaviours, ReplicationBehaviours, ToolBehaviours):
    """The table."""

    # KRaft and ZooKeeper.
    previews_kraft: Behaviour = Behaviour(
        "KRaft is a preview, and its metadata log is called `@metadata`.", since="2.8", until="3.0", reference="KIP-500"
    )
    has_kraft: Behaviour = Behaviour(
        "A broker can run in KRaft mode, and its metadata log is called `__cluster_metadata`.",
        since="3.0",
        reference="KIP-500",
    )
    kraft_is_production_ready: Behaviour = Behaviour(
        "KRaft mode is ready for production.", since="3.3", reference="KIP-833"
    )
    may_migrate_to_kraft: Behaviour = Behaviour(
        "A ZooKeeper cluster can migrate to KRaft.", since="3.4", until="4.0", reference="KIP-866"
    )
    is_kraft_only: Behaviour = Behaviour(
        "KRaft is the only mode, and metadata.version is at least 3.3-IV3.", since="4.0"
    )

    # Files of a log dir.
    reads_meta_properties: Behaviour = Behaviour(
        "A broker reads meta.properties.", since="0.9.0", reference="KAFKA-1070"
    )
    takes_any_meta_properties: Behaviour = Behaviour(
        "A broker reads any properties, and fails when it uses a value that it cannot parse.", since="2.8", until="3.7"
    )
    outlives_bad_meta_properties: Behaviour = Behaviour(
        "A broker with an unreadable meta.properties takes that log dir offline; before, it does not start.",
        since="3.7",
    )
    has_directory_ids: Behaviour = Behaviour(
        "A log dir has a directory.id in meta.properties.", since="3.7", reference="KIP-858"
    )
    compares_cluster_ids: Behaviour = Behaviour(
        "A broker does not start if its log dirs name different clusters.", since="2.4", reference="KAFKA-7335"
    )
    compares_meta_properties: Behaviour = Behaviour(
        "In ZooKeeper mode a broker does not start if any property differs between its log dirs.",
        since="2.8",
        until="3.7",
    )
    compares_meta_properties_in_kraft: Behaviour = Behaviour(
        "In KRaft mode a broker does not start if any property differs between its log dirs.", since="2.8", until="3.4"
    )
    refuses_zookeeper_disks: Behaviour = Behaviour(
        "A KRaft broker refuses a meta.properties of version 0.", since="2.8", until="3.4"
    )
    refuses_kraft_disks: Behaviour = Behaviour(
        "A ZooKeeper broker that is not migrating refuses a meta.properties of version 1; before, it joins ZooKeeper.",
        since="3.7",
        until="4.0",
    )
    needs_meta_properties_in_kraft: Behaviour = Behaviour(
        "A KRaft broker does not start if only some of its log dirs have a meta.properties.", since="2.8"
    )
    has_offline_log_dirs: Behaviour = Behaviour(
        "A broker that cannot read a checkpoint takes that log dir offline.", since="1.0", reference="KIP-112"
    )
    removes_marker_first: Behaviour = Behaviour(
        "Startup removes .kafka_cleanshutdown before it lists the partition directories; before, after their load.",
        since="2.8",
    )
    aborts_on_bad_recovery_point: Behaviour = Behaviour(
        "A broker does not start if it cannot read recovery-point-offset-checkpoint.", until="0.9.0"
    )
    runs_on_without_high_watermarks: Behaviour = Behaviour(
        "A KRaft broker that fails on replication-offset-checkpoint runs on with only some replicas started.",
        since="3.1",
    )
    has_log_start_checkpoint: Behaviour = Behaviour(
        "A log dir has a log-start-offset-checkpoint.", since="0.11.0", reference="KIP-107"
    )
    cleaner_skips_bad_partitions: Behaviour = Behaviour(
        "The log cleaner skips a partition that it cannot clean; before, its thread ends.",
        since="2.1",
        reference="KAFKA-7215",
    )
    cleaner_dies_of_duplicates: Behaviour = Behaviour(
        "Every cleaner thread ends if the cleaner checkpoints of two log dirs name the same partition.", since="4.1"
    )
    writes_broker_epoch_at_stop: Behaviour = Behaviour(
        "A clean shutdown writes the broker epoch into .kafka_cleanshutdown.", since="3.7", reference="KIP-966"
    )
    has_eligible_leader_replicas: Behaviour = Behaviour(
        "The controller keeps eligible leader replicas, if that feature is on.", since="4.0", reference="KIP-966"
    )
    elects_uncleanly_by_default: Behaviour = Behaviour(
        "Unclean leader election is on by default.", until="0.11.0", reference="KIP-106"
    )
    deletes_topics_by_default: Behaviour = Behaviour("Deletion of topics is on by default.", since="1.0")
    kraft_obeys_unclean_election: Behaviour = Behaviour(
        "KRaft obeys unclean election.", since="3.9", reference="KAFKA-12670"
    )
    fences_in_hash_order: Behaviour = Behaviour(
        "A hash map orders the brokers that a controller fences at once.", since="4.0"
    )
    hashes_broker_epochs_as_record: Behaviour = Behaviour(
        "That map hashes ids and epochs as a record does.", since="4.2"
    )

    # Metadata log.
    knows_quorum_state_version_1: Behaviour = Behaviour(
        "A KRaft node reads version 1 of quorum-state, and does not start if the file is not a JSON object.",
        since="3.8",
        reference="KIP-853",
    )
    compares_voters_with_quorum_state: Behaviour = Behaviour(
        "A KRaft node does not start if controller.quorum.voters names other voters than quorum-state.",
        since="2.8",
        until="3.9",
    )
    reads_metadata_snapshot_at_start: Behaviour = Behaviour(
        "A KRaft node reads its newest snapshot before all else, and does not start if it is corrupt.",
        since="3.8",
        reference="KIP-853",
    )
    aborts_on_misnamed_snapshots: Behaviour = Behaviour(
        "A KRaft node does not start if the name of its newest snapshot is not canonical.", since="3.8", until="4.3"
    )
    needs_snapshot_of_cut_metadata: Behaviour = Behaviour(
        "A KRaft node does not start if no snapshot covers the offsets below its metadata log.",
        since="3.3",
    )
    keeps_deleted_snapshots: Behaviour = Behaviour(
        "The first pass of startup leaves .checkpoint.deleted files alone.", since="3.3"
    )
    reads_bootstrap_checkpoint: Behaviour = Behaviour(
        "A KRaft node reads bootstrap.checkpoint, and does not start if that names no metadata.version.",
        since="3.3",
        reference="KIP-778",
    )
    refuses_newer_metadata_versions: Behaviour = Behaviour(
        "A KRaft node does not start if bootstrap.checkpoint names a metadata.version newer than it knows.",
        since="3.3",
        until="4.0",
    )
    knows_voter_records: Behaviour = Behaviour(
        "A KRaft node accepts the control records of kraft.version and voters in bootstrap.checkpoint.",
        since="3.9",
        reference="KIP-853",
    )

    # Segments and indexes.
    has_time_indexes: Behaviour = Behaviour("A segment has a .timeindex.", since="0.10.1", reference="KIP-33")
    stores_timestamps: Behaviour = Behaviour("A message has a timestamp (magic 1).", since="0.10.0", reference="KIP-32")
    reads_batches: Behaviour = Behaviour(
        "A broker reads batches of version 2; before, it takes them for messages with a wrong CRC.",
        since="0.11.0",
        reference="KIP-98",
    )
    reads_zstd: Behaviour = Behaviour(
        "A broker reads batches that are compressed with zstd.", since="2.1", reference="KIP-110"
    )
    decodes_wrappers_in_search: Behaviour = Behaviour(
        "A search for an offset decompresses the messages of version 0 and 1 that it passes.", since="4.0"
    )
    searches_by_base_offset: Behaviour = Behaviour(
        "A search for an offset compares base offsets (FileRecords.searchForOffsetFromPosition).", since="4.1"
    )
    refuses_large_logs: Behaviour = Behaviour(
        "A broker does not open a .log above 2 GiB; before, it casts the size to an int.", since="2.1"
    )
    checks_indexes: Behaviour = Behaviour(
        "Startup opens each index, and recovers the segments whose indexes fail a check.",
        until="2.3",
        reference="KAFKA-7283",
    )
    makes_missing_indexes: Behaviour = Behaviour(
        "Startup makes an empty index for a missing `.index`; other releases recover the segment.",
        since="1.1",
        until="2.3",
    )
    deletes_failing_indexes: Behaviour = Behaviour(
        "Startup deletes all indexes of a segment if one of them fails a check.", until="1.1"
    )
    empties_unwritable_segments: Behaviour = Behaviour(
        "Startup empties a segment if an I/O error ends its recovery; before, the log dir goes offline.", since="4.0"
    )
    splits_segments: Behaviour = Behaviour(
        "A recovery indexes last offsets, and splits a segment whose offsets do not fit.",
        since="2.0",
        reference="KAFKA-6264",
    )
    splits_batch_by_batch: Behaviour = Behaviour(
        "Startup indexes a split segment batch by batch; before, by pieces of 1 MiB.", since="3.9.1", but_not="4.0.0"
    )
    finds_nothing_in_nothing: Behaviour = Behaviour(
        "An empty range of offsets has no segments; before, a recovery from the largest offset finds one.",
        since="2.5.1",
    )
    finishes_swaps_by_renaming: Behaviour = Behaviour(
        "Startup deletes the files that a `.swap` replaces, and renames it; before, it reads the `.swap`.",
        since="3.0",
        reference="KAFKA-12520",
    )
    drops_swaps_of_unfinished_splits: Behaviour = Behaviour(
        "Startup deletes each `.swap` that is not below the lowest `.cleaned`.", since="2.0", reference="KAFKA-6264"
    )
    ignores_records_in_first_snapshot: Behaviour = Behaviour(
        "A KRaft node ignores records of metadata in `00000000000000000000-0000000000.checkpoint`.",
        since="4.3",
        until="4.4",
        reference="KIP-1170",
    )
    keeps_swapped_indexes: Behaviour = Behaviour(
        "Startup keeps an `.index.swap` (Log.removeTempFilesAndCollectSwapFiles).", since="1.1"
    )
    reads_txnindex_version_strictly: Behaviour = Behaviour(
        "A broker refuses a .txnindex entry whose version is not 0; before, it looks at the high byte alone.",
        since="4.4",
    )

    # Log start, log end, recovery point, high watermark.
    wipes_log_start_above_log_end: Behaviour = Behaviour(
        "Startup deletes every segment of a log whose log-start checkpoint is above its log end.",
        since="2.2.1",
        reference="KAFKA-8306",
    )
    bounds_recovery_point: Behaviour = Behaviour(
        "Startup bounds the recovery point by the log start and the log end.", since="2.4.1"
    )
    recovery_moves_recovery_point: Behaviour = Behaviour(
        "The recovery point after an unclean shutdown is the log end.", since="1.0", until="2.8"
    )
    begins_empty_log_with_batch: Behaviour = Behaviour(
        "An empty log begins where its first batch does, if that is below its log end.",
        since="1.0.2",
        but_not="1.1.0",
        reference="KAFKA-6975",
    )
    has_remote_storage: Behaviour = Behaviour(
        "A log can have a part in remote storage.", since="3.6", reference="KIP-405"
    )
    failing_remote_deletes_move_log_start: Behaviour = Behaviour(
        "With retention.bytes each failing delete of a remote segment moves the log start by one segment.", since="3.7"
    )
    forgets_copied_segments: Behaviour = Behaviour(
        "A new leader counts segments twice that are on disk and in remote storage, until a copy has ended.",
        since="3.6",
        until="3.7",
    )
    cleans_beside_copying: Behaviour = Behaviour(
        "The first pass of retention may count segments twice that are on disk and in remote storage.", since="3.9"
    )
    counts_unfinished_copies: Behaviour = Behaviour(
        "Remote segments whose copy has not ended count for retention.bytes.", since="3.6", until="3.8"
    )
    counts_begun_deletions: Behaviour = Behaviour(
        "Remote segments whose deletion has begun count for retention.bytes.", since="3.6", until="4.0"
    )
    skips_remote_segments_at_log_start: Behaviour = Behaviour(
        "Remote segments with offsets below the log start do not count for retention.bytes.", since="3.6", until="3.7"
    )
    keeps_snapshot_of_remote_segments: Behaviour = Behaviour(
        "A log with a part in remote storage has a snapshot file of its remote segments.", since="3.6", until="3.8"
    )
    high_watermark_floor_is_log_start: Behaviour = Behaviour(
        "Startup raises a high watermark below the log start (Partition.createLog).", since="2.4"
    )
    truncation_lowers_high_watermark: Behaviour = Behaviour(
        "A truncation below the high watermark lowers it at once (Log.truncateTo).", since="2.4"
    )

    # Leader epochs and followers.
    has_leader_epochs: Behaviour = Behaviour(
        "A log has a leader-epoch-checkpoint.", since="0.11.0", reference="KIP-101"
    )
    writes_epoch_as_leader: Behaviour = Behaviour(
        "A leader writes its epoch before its first record (Partition.makeLeader).", since="2.0"
    )
    recovery_skips_epoch_zero: Behaviour = Behaviour(
        "A recovery does not add epoch 0 to the epochs (LogSegment.recover).",
        since="2.1.1",
        until="2.6.1",
        reference="KAFKA-10432",
    )
    drops_epochs_of_old_formats: Behaviour = Behaviour(
        "Startup deletes leader-epoch-checkpoint if the message format of the log is below version 2.",
        since="2.1.1",
        reference="KAFKA-7897",
    )
    cuts_epochs_at_log_start_checkpoint: Behaviour = Behaviour(
        "Startup truncates epochs at the log-start checkpoint, even if the first segment begins above it.", since="3.0"
    )
    recovers_epochs_without_index: Behaviour = Behaviour(
        "Startup adds the epochs of a segment that it recovers for a missing index.", since="3.0"
    )
    forgets_epochs_of_wiped_logs: Behaviour = Behaviour(
        "Startup also clears the epochs and producers of a log when it deletes every segment.",
        since="2.8",
        reference="KAFKA-10101",
    )
    writes_epochs_in_background: Behaviour = Behaviour(
        "A truncation writes leader-epoch-checkpoint in the background, so a kill can leave the old file.",
        since="3.8",
        reference="KAFKA-16541",
    )
    exits_out_of_range_without_unclean_election: Behaviour = Behaviour(
        "A broker exits if it follows beyond its leader's log end and unclean election is off.", until="2.0.1"
    )
    applies_diverging_fetches: Behaviour = Behaviour(
        "A follower takes over the leader's log start before it truncates on fetch.",
        since="2.8",
        until="3.4.1",
        reference="KAFKA-14704",
    )
    fences_by_current_leader_epoch: Behaviour = Behaviour(
        "A request names the leader epoch that its sender knows.", since="2.1", reference="KIP-320"
    )

    # Producers and transactions.
    has_producer_state: Behaviour = Behaviour(
        "Startup rebuilds the producer state and writes snapshots of it.", since="0.11.0", reference="KIP-98"
    )
    throws_several_snapshot_errors: Behaviour = Behaviour(
        "A corrupt snapshot throws SchemaException or IllegalArgumentException too.", since="0.11.0.0", until="0.11.0.1"
    )
    recovery_takes_snapshots: Behaviour = Behaviour(
        "A recovery writes a snapshot at the base of each segment before it reads that.", since="1.0"
    )
    keeps_snapshot_per_segment: Behaviour = Behaviour(
        "Startup keeps the producer snapshot of each segment, and deletes all others.",
        since="2.8",
        reference="KAFKA-9393",
    )
    deletes_snapshots_with_segments: Behaviour = Behaviour(
        "Startup also deletes the producer snapshot of a segment that it deletes or splits.", since="3.0"
    )
    keeps_wiped_snapshots: Behaviour = Behaviour(
        "Startup renames producer snapshots, not deletes them, when it deletes every segment of a log.",
        since="3.0",
        until="3.1",
    )
    replays_with_snapshots: Behaviour = Behaviour(
        "A replay at startup writes a snapshot for each segment, and none at the log end.", until="2.0"
    )
    replays_below_log_end: Behaviour = Behaviour(
        "A replay at startup bounds each segment by the log end, not the last one alone.", until="2.4"
    )
    replays_recovery_anew: Behaviour = Behaviour(
        "A replay before a recovery begins each segment with no known producer.", until="2.8"
    )
    counts_by_sequence: Behaviour = Behaviour(
        "The sequences, not the offsets, give the length of a producer's batch.", until="2.1.1"
    )
    forgets_producers_below_log_start: Behaviour = Behaviour(
        "Startup forgets each producer of a snapshot whose last record is below the log start.",
        until="2.4",
        reference="KAFKA-7190",
    )
    refuses_transactions_behind_log_end: Behaviour = Behaviour(
        "Startup aborts if a transaction begins after the log end.", since="2.4", until="3.8"
    )
    looks_up_cut_transactions: Behaviour = Behaviour(
        "A follower that truncates below its high watermark and all its open transactions fails until its broker "
        "restarts.",
        since="2.4",
        until="2.7.1",
    )
    own_transactions_are_unstable: Behaviour = Behaviour(
        "Another open transaction of the same producer also bounds the last stable offset.", until="2.2.1"
    )
    ends_unopened_transactions: Behaviour = Behaviour("A marker ends a transaction even if none is open.", until="2.8")
    refuses_old_markers: Behaviour = Behaviour(
        "Startup aborts at a marker with an older epoch of its producer or of its coordinator.",
        until="2.4.1",
        reference="KAFKA-9144",
    )
    coordinates_by_partition: Behaviour = Behaviour(
        "Each partition of __consumer_offsets has a group coordinator, which knows no groups of the other ones.",
        since="4.0",
        reference="KIP-848",
    )
    refuses_empty_control_batches: Behaviour = Behaviour(
        "Startup aborts at a control batch without a record.", until="2.0"
    )
    aborts_on_short_markers: Behaviour = Behaviour(
        "Startup aborts at a marker whose value is too short; before, the segment is truncated there.", since="4.1"
    )
    marker_is_batch: Behaviour = Behaviour("A marker counts as the last batch of its producer.", until="1.0")
    marker_leaves_timestamp: Behaviour = Behaviour(
        "A marker leaves the timestamp of its producer as it is.", since="1.0", until="2.4.1", reference="KAFKA-9144"
    )
    has_scala_2_12_maps: Behaviour = Behaviour(
        "Hash maps of Scala 2.12 order the producers of a snapshot and of a replay.", until="2.4"
    )
    snapshots_java_maps: Behaviour = Behaviour(
        "A hash map of Java orders the producers of a snapshot; before, one of Scala.", since="3.5"
    )
    replays_java_maps: Behaviour = Behaviour(
        "A hash map of Java orders the producers that a replay finds in a segment; before, one of Scala.", since="4.0"
    )


_TABLES = (Behaviours, DirectoryBehaviours, ReplicationBehaviours, ToolBehaviours)
BEHAVIOURS = tuple(row for table in _TABLES for row in vars(table).values() if isinstance(row, Behaviour))
"""Every row, in the order of the table."""
