"""The effects of starting a broker on partition directories, by release."""

from kcheck.model.behaviour import Behaviour


class DirectoryBehaviours:
    """Each row holds for the releases from `since` on, and before `until`."""

    renames_deleted_directories: Behaviour = Behaviour(
        "A broker renames a partition directory to -delete before it deletes it.",
        since="0.10.2",
        reference="KAFKA-1911",
    )
    cuts_deleted_names_at_dot: Behaviour = Behaviour(
        "Startup shortens the name of a -delete directory at its first dot.",
        since="0.10.2",
        until="0.10.2.2",
        reference="KAFKA-5232",
    )
    has_future_logs: Behaviour = Behaviour(
        "A replica that moves to another log dir has a -future directory there.", since="1.1", reference="KIP-113"
    )
    has_stray_directories: Behaviour = Behaviour(
        "A broker renames a directory that belongs to no partition of the cluster to -stray.", since="3.6.1"
    )
    promotes_future_logs: Behaviour = Behaviour(
        "Startup promotes a -future log if the cluster already assigns the replica to its log dir.",
        since="3.7.1",
        reference="KAFKA-16082",
    )
    skips_remote_index_cache: Behaviour = Behaviour(
        "Startup skips the directory remote-log-index-cache.", since="3.5", reference="KIP-405"
    )
    removes_leftovers_of_index_cache: Behaviour = Behaviour(
        "Startup removes `.tmp` and `.deleted` files from remote-log-index-cache (RemoteIndexCache.init).",
        since="4.1",
    )
    cordons_log_dirs: Behaviour = Behaviour(
        "A broker can cordon log dirs, which then get no new replicas.", since="4.3", reference="KIP-1066"
    )
    needs_segment_to_delete: Behaviour = Behaviour(
        "Startup aborts if a -delete directory has no segment.", since="2.2.1", until="2.2.2"
    )
    takes_deleted_logs_as_empty: Behaviour = Behaviour(
        "Startup sets the log end offset of a -delete directory to 0.", since="1.0"
    )
    forgets_recovery_point_of_deleted_logs: Behaviour = Behaviour(
        "The recovery point of a -delete directory is its log start.", since="3.0"
    )
    keeps_strays: Behaviour = Behaviour(
        "KRaft startup keeps stray replicas as -stray directories; from 3.0 to 3.6 it deletes them.", since="3.7"
    )
    passes_over_logs_without_id: Behaviour = Behaviour(
        "A KRaft broker logs an error if a log has no partition.metadata, and looks for no stray replicas.",
        since="3.3",
        until="3.7",
    )
    aborts_without_topic_id: Behaviour = Behaviour(
        "KRaft startup aborts if a log has no partition.metadata.", since="3.7", until="3.7.1", reference="KAFKA-16814"
    )
    sets_aside_without_topic_id: Behaviour = Behaviour(
        "KRaft startup renames a directory without partition.metadata to -stray.",
        since="3.7.1",
        reference="KAFKA-16814",
    )
    has_partition_metadata: Behaviour = Behaviour(
        "A partition directory has a partition.metadata with the topic id.", since="2.8", reference="KIP-516"
    )
    reads_later_partition_metadata: Behaviour = Behaviour(
        "A broker reads a partition.metadata of a version above 0 as if it were 0.", since="3.7"
    )
    compares_topic_ids: Behaviour = Behaviour(
        "A broker serves no log that names another topic id than the cluster; 2.8 checks only new requests.",
        since="3.0",
        reference="KIP-516",
    )
    outlives_bad_partition_files: Behaviour = Behaviour(
        "A broker that cannot read a partition file takes the log dir offline; before, startup aborts.",
        since="3.2.1",
        reference="KAFKA-13773",
    )
    aborts_on_open_transactions_offline: Behaviour = Behaviour(
        "Startup aborts if a log with an open transaction is loaded after its log dir went offline.", since="3.0"
    )
