"""The rows: a number of its subject, the function that damages, and which clusters it is for."""

from typing import NamedTuple

from tests.oracle.incidents.damages import (
    checkpoints,
    exchanged,
    filesystems,
    generations,
    handiwork,
    hands,
    hosts,
    identities,
    operators,
    pieces,
    places,
    records,
    restores,
    subtle,
)
from tests.oracle.incidents.damages.site import Damage
from tests.oracle.incidents.shapes import Shape


class Kind(NamedTuple):
    """A kind of damage; `needs`: words of kraft, zk, many (brokers), jbod, beside (a controller of its own)."""

    number: int
    damage: Damage
    needs: str = ""

    @property
    def name(self) -> str:
        """The name of the kind."""
        return self.damage.__name__.replace("_", "-")

    def fits(self, shape: Shape) -> bool:
        """Whether a cluster has what the kind needs."""
        has = {
            shape.mode: True, "many": shape.brokers > 1, "jbod": shape.log_dirs > 1,
            "beside": shape.beside == "controller", "combined": shape.combined,
        }  # fmt: skip
        return all(has.get(word, False) for word in self.needs.split())


def nothing(_: object) -> str | None:
    """Damage nothing."""
    return "nothing"


KINDS = (
    Kind(0, nothing),
    Kind(1, records.cut_tail),
    Kind(2, records.zero_tail), Kind(2, records.zeros_behind), Kind(2, records.zero_in_last),
    Kind(2, records.empty_log),
    Kind(3, records.flip_middle), Kind(3, records.flip_active), Kind(3, records.flip_header),
    Kind(4, records.remove_first), Kind(4, records.remove_middle), Kind(4, records.remove_last),
    Kind(4, records.remove_log_alone), Kind(4, records.remove_files),
    Kind(5, records.repeat_batch), Kind(5, records.overlap), Kind(5, records.other_segment, "many"),
    Kind(6, pieces.cut_batches), Kind(6, pieces.drop_batch), Kind(6, pieces.drop_head_batch),
    Kind(6, pieces.zero_middle), Kind(6, pieces.cut_everywhere),
    Kind(6, exchanged.other_base_offset), Kind(6, exchanged.other_leader_epoch),
    Kind(6, exchanged.foreign_segment), Kind(6, exchanged.swap_segments),
    Kind(7, pieces.other_suffix), Kind(7, pieces.second_segment),
    Kind(8, records.remove_indexes), Kind(8, records.zero_indexes), Kind(8, records.garbage_indexes),
    Kind(8, records.preallocated_indexes),
    Kind(8, exchanged.shorten_indexes), Kind(8, exchanged.remove_transaction_indexes),
    Kind(9, records.remove_snapshots), Kind(9, records.spoil_snapshot),
    Kind(10, checkpoints.zero_epochs), Kind(10, checkpoints.empty_epochs), Kind(10, checkpoints.remove_epochs),
    Kind(10, checkpoints.other_epochs),
    Kind(10, exchanged.epochs_of_replica, "many"),
    Kind(11, exchanged.lower_high_watermark), Kind(12, exchanged.swap_checkpoints, "jbod"),
    Kind(11, checkpoints.empty_high_watermarks), Kind(11, checkpoints.raise_high_watermark),
    Kind(12, checkpoints.raise_recovery_point), Kind(12, checkpoints.raise_log_start),
    Kind(12, checkpoints.remove_recovery_points), Kind(12, checkpoints.garbage_checkpoint),
    Kind(12, places.drop_checkpoint_lines),
    Kind(13, checkpoints.remove_marker), Kind(13, checkpoints.add_marker), Kind(13, checkpoints.other_broker_epoch),
    Kind(14, checkpoints.directory_for_checkpoint), Kind(14, checkpoints.directory_in_partition),
    Kind(14, checkpoints.file_for_partition),
    Kind(15, identities.other_cluster), Kind(15, identities.other_node_on_disk),
    Kind(15, identities.other_node_in_settings),
    Kind(16, identities.remove_meta), Kind(16, identities.remove_metas), Kind(16, identities.garbage_meta),
    Kind(16, exchanged.swap_meta),
    Kind(17, places.swap_disks, "many"), Kind(17, identities.cloned_disk, "many"),
    Kind(18, identities.other_directory_id, "kraft"), Kind(18, identities.directory_id_twice, "kraft jbod"),
    Kind(19, identities.other_topic_id), Kind(19, identities.remove_topic_id),
    Kind(20, places.lose_log_dir, "jbod"), Kind(20, places.empty_log_dir), Kind(20, places.formatted_log_dir),
    Kind(22, places.old_copy), Kind(22, pieces.old_log_dir, "jbod"),
    Kind(23, pieces.old_partition), Kind(23, pieces.old_epochs), Kind(23, pieces.old_checkpoints),
    Kind(24, pieces.replica_copy, "many"), Kind(24, pieces.swap_partitions), Kind(24, pieces.rename_partition),
    Kind(25, places.segment_of_root), Kind(25, places.directory_of_root), Kind(25, places.checkpoint_of_root),
    Kind(25, places.log_dir_of_root),
    Kind(14, checkpoints.file_for_metadata_log, "kraft"),
    Kind(26, checkpoints.spoil_metadata_log, "kraft"), Kind(26, checkpoints.remove_quorum_state, "kraft"),
    Kind(26, exchanged.other_election, "kraft"), Kind(26, exchanged.remove_metadata_snapshots, "kraft"),
    Kind(27, places.move_partition, "jbod"), Kind(27, pieces.merge_log_dirs, "jbod"),
    Kind(28, places.double_partition, "jbod"), Kind(28, places.foreign_partition, "many"),
    Kind(29, places.backup_beside),
    Kind(30, places.only_future), Kind(30, places.future_beside),
    Kind(31, places.to_stray), Kind(31, places.to_delete),
    Kind(34, exchanged.dangling_link),
    Kind(34, places.remove_partition), Kind(34, places.remove_everywhere), Kind(34, places.empty_partition),
    Kind(35, places.lose_controller, "kraft beside"), Kind(36, places.lose_metadata, "kraft"),
    Kind(37, places.old_controller, "kraft beside"), Kind(38, identities.other_voters, "kraft"),
    Kind(40, places.empty_zookeeper, "zk"), Kind(40, places.old_zookeeper, "zk"),
    Kind(46, identities.reverse_log_dirs, "jbod"), Kind(46, identities.shorter_log_dirs, "jbod"),
    Kind(46, identities.more_log_dirs), Kind(48, identities.role_of_a_broker, "combined"),
    Kind(52, identities.other_release), Kind(53, identities.refused_setting),
    Kind(53, identities.no_roles, "kraft beside"),
    Kind(54, identities.unclean_allowed),
    Kind(55, generations.old_generation), Kind(55, generations.old_partition_with_lines, "many"),
    Kind(56, generations.partition_of_other_cluster), Kind(56, generations.disks_of_other_cluster),
    Kind(56, generations.controller_of_other_cluster, "kraft beside"),
    Kind(15, generations.other_cluster_of_controller, "kraft beside"),
    Kind(26, generations.old_metadata, "kraft"), Kind(26, generations.metadata_of_controller, "kraft beside"),
    Kind(26, generations.move_metadata, "kraft jbod"), Kind(26, generations.quorum_state_of_other, "kraft"),
    Kind(26, generations.spoil_metadata_snapshot, "kraft"), Kind(26, generations.later_metadata_log, "kraft"),
    Kind(12, generations.checkpoints_of_other, "many"), Kind(16, generations.other_meta_version),
    Kind(17, generations.swap_one_disk, "many jbod"), Kind(17, generations.swap_log_dirs, "jbod"),
    Kind(38, generations.fewer_voters, "combined"),
    Kind(8, subtle.other_index_entry), Kind(8, subtle.foreign_index), Kind(8, subtle.old_time_index),
    Kind(6, subtle.foreign_segment_whole), Kind(24, subtle.partition_over_other), Kind(24, subtle.exchange_in_topic),
    Kind(24, subtle.exchange_keyed),
    Kind(1, subtle.tail_without_trace, "many"), Kind(2, subtle.power_loss), Kind(2, subtle.zero_length_files),
    Kind(29, handiwork.nested_copy), Kind(34, handiwork.linked_partition), Kind(34, handiwork.linked_segment),
    Kind(34, handiwork.linked_log_dir), Kind(7, handiwork.renamed_segment), Kind(28, handiwork.second_name),
    Kind(12, handiwork.edited_checkpoint), Kind(14, handiwork.lock_directory),
    Kind(26, handiwork.spoil_bootstrap, "kraft"), Kind(46, handiwork.log_dir_twice),
    Kind(46, handiwork.log_dirs_of_other), Kind(40, handiwork.other_chroot, "zk"),
    Kind(18, handiwork.no_directory_id), Kind(25, handiwork.old_times), Kind(9, handiwork.later_snapshot),
    Kind(14, handiwork.leftovers), Kind(4, handiwork.packed_segment), Kind(25, handiwork.closed_path),
    Kind(40, handiwork.spoil_zookeeper, "zk"), Kind(22, handiwork.live_copy), Kind(22, handiwork.live_copies),
    Kind(37, handiwork.live_controller), Kind(30, subtle.longer_future, "jbod"),
    Kind(25, subtle.read_only_path), Kind(53, subtle.odd_setting),
    Kind(23, restores.rsync_topic), Kind(34, restores.stopped_restore), Kind(34, restores.without_empty_files),
    Kind(4, restores.segments_alone), Kind(20, restores.deeper_mount), Kind(53, restores.settings_of_other, "many"),
    Kind(24, restores.copied_number), Kind(24, restores.other_case), Kind(28, restores.adopted_partitions, "many"),
    Kind(46, restores.copied_log_dir), Kind(4, restores.oldest_removed), Kind(17, restores.home_of_other, "many"),
    Kind(2, filesystems.zeroed_blocks), Kind(1, filesystems.whole_blocks), Kind(34, filesystems.lost_found),
    Kind(3, filesystems.bit_rot), Kind(8, filesystems.later_times), Kind(6, filesystems.wrong_clock),
    Kind(22, filesystems.snapshot_of_moments, "jbod"),
    Kind(8, hosts.cleaned_up), Kind(7, hosts.rotated), Kind(5, hosts.joined_segments),
    Kind(4, hosts.moved_segments, "many"), Kind(34, hosts.removed_topic), Kind(22, hosts.same_size_kept),
    Kind(20, hosts.new_hardware), Kind(20, hosts.volumes_lost, "many"), Kind(46, hosts.disk_of_dead, "many"),
    Kind(2, hosts.full_disk), Kind(6, hosts.clock_set_back), Kind(15, hosts.cluster_id_everywhere),
    Kind(20, hosts.unmounted), Kind(26, hosts.alone_of_snapshot, "kraft"),
    Kind(26, operators.spoil_quorum_state, "kraft"), Kind(48, operators.role_of_a_controller, "kraft"),
    Kind(38, operators.wrong_controller_port, "kraft beside"), Kind(53, operators.short_retention),
    Kind(24, hands.swap_replicas, "many"), Kind(24, hands.swap_between, "many"), Kind(24, hands.rsync_replica, "many"),
    Kind(4, hands.freed_space), Kind(12, hands.swept), Kind(13, hands.touched_marker), Kind(2, hands.truncated_file),
    Kind(20, hands.replaced_disk), Kind(18, hands.formatted_again, "kraft"), Kind(46, hands.moved_log_dir),
    Kind(15, hands.renumbered, "many"), Kind(17, hands.dirs_of_another, "many"),
)  # fmt: skip
"""Numbers are those of the subjects: 1-9 records, 10-14 checkpoints, 15-19 ids, 20-37 places, 38-54 settings;
55 and 56 are of other times and clusters."""

BY_NAME = {kind.name: kind for kind in KINDS}
