"""What several brokers do: elect, truncate, lose records, come back.

Traps of a rescue. Each destroys a cluster if a plan forgets it: a test lets it bite, and a test shows the plan that
goes around it. `test_trap_table.py` holds that the tests exist.

| Trap | Bites | Is avoided |
|---|---|---|
| quorum-state names other voters (3.3) | voters_of_a_state_that_the_configuration_does_not_name | \
a_survivor_of_static_voters_leads_alone |
| an epoch that a node knows | an_epoch_that_a_broker_has_seen_already | an_epoch_that_a_broker_has_seen_already |
| voters of the log, by configuration | a_configuration_changes_no_voter_of_the_log | \
a_record_names_a_survivor_as_the_only_voter |
| a record of the same epoch | a_record_of_the_same_epoch_makes_two_histories | \
a_new_controller_gets_the_copy_of_a_broker_and_the_record |
| a stand-in of the last leader | a_stand_in_of_the_remembered_leader_ends | \
an_empty_node_stands_in_for_a_lost_voter |
| empty voters that are first | empty_voters_that_start_first_take_the_cluster | \
static_voters_grow_from_one_to_three |
| a survivor that lacks records | a_stale_survivor_that_is_forced_makes_strays_of_what_it_lacks | \
a_stale_survivor_gets_the_copy_of_a_broker |
| a survivor with a bad byte | a_bad_byte_of_the_survivor_costs_all_that_follows | \
a_bad_byte_of_the_survivor_costs_all_that_follows |
| a snapshot above an empty log | brokers_with_a_snapshot_end_where_their_log_is_cut_to_nothing | \
brokers_drop_their_older_copies |
| a snapshot above a stale log | brokers_with_a_later_snapshot_serve_another_cluster | \
a_stale_survivor_that_is_forced_makes_strays_of_what_it_lacks |
| M1 the first records, brokers first | brokers_that_wait_for_the_first_records_see_no_topic | \
the_metadata_as_the_first_records_of_the_controller |
| M2 ELR, no registration | elr_without_registrations_leaves_no_leader | \
with_elr_and_registrations_a_leader_is_left |
| M3 a leader in the records | a_leader_in_the_records_is_elected_uncleanly | \
a_leader_in_the_records_is_elected_uncleanly |
| M4 a short replica in the ISR | a_short_replica_in_the_isr_loses_records | a_short_replica_in_the_isr_loses_records |
| M5 no partition 0 | a_topic_without_partition_0_stops_every_registration | \
a_topic_without_partition_0_stops_every_registration |
| M6 no producer ids | producer_ids_that_are_given_twice_lose_records | all_comes_back_from_disks_without_metadata |
| M7 no retention | the_defaults_of_a_broker_delete_records_without_a_configuration | \
the_defaults_of_a_broker_delete_records_without_a_configuration |
| M8 leader epoch 0, by hand | a_topic_that_is_created_by_hand_loses_its_followers | \
an_empty_zookeeper_gets_the_metadata_as_znodes |
| M9 brokers with newer copies | brokers_with_a_newer_copy_wait_for_ever | brokers_drop_their_older_copies |
| M10 no partition.metadata | a_replica_without_a_topic_id_becomes_stray | a_replica_without_a_topic_id_becomes_stray |
| M11 more than 10,000 records | too_many_records_for_the_first_batch | twenty_thousand_partitions_load |
| M12 a record of another version | a_partition_with_directories_below_their_version_stops_the_controller | \
brokers_drop_their_older_copies |
| M13 a controller with a log | a_controller_with_a_log_ignores_the_bootstrap_file | \
a_controller_with_a_log_ignores_the_bootstrap_file |

Acceptance of rescues: a cell, its test, the releases with `KCHECK_SWEEP`, and the releases that were played on November
28, 2026 after the last change of the test (`-`: none).

| Cell | Test | Releases | Played |
|---|---|---|---|
| static, a survivor | a_survivor_of_static_voters_leads_alone | 3.3.2 3.6.2 3.8.1 3.9.2 4.0.2 4.3.1 | all |
| static, three again | static_voters_grow_from_one_to_three | 3.3.2 3.6.2 3.8.1 3.9.2 4.0.2 4.3.1 | all |
| static, a broker's copy | a_new_controller_gets_the_copy_of_a_broker | 3.3.2 3.6.2 3.8.1 3.9.2 4.0.2 4.3.1 | all |
| static, old state | voters_of_an_old_state_get_the_copy_of_a_broker | 3.3.2 3.6.2 3.8.1 3.9.2 4.0.2 4.3.1 | all |
| dynamic, old state | voters_of_an_old_state_that_the_log_names_get_it_too | 3.9.2 4.0.2 4.3.1 | all |
| dynamic, identity | an_empty_node_stands_in_for_a_lost_voter | 3.9.2 4.0.2 4.3.1 | - |
| dynamic, voters, add-controller | a_record_names_a_survivor_as_the_only_voter | 3.9.2 4.0.2 4.3.1 | all |
| dynamic, copy | a_new_controller_gets_the_copy_of_a_broker_and_the_record | 3.9.2 4.0.2 4.3.1 | - |
| dynamic, brokers run | brokers_run_on_while_a_record_names_the_voter | 3.9.2 4.0.2 4.3.1 | - |
| five controllers, static | two_of_five_static_controllers_are_left | 4.3.1 | all |
| five controllers, dynamic | two_of_five_dynamic_controllers_get_a_stand_in | 3.9.2 4.3.1 | all |
| metadata, kill, copies gone | all_comes_back_from_disks_without_metadata | 4.3.1 | - |
| metadata, kill, copies kept | brokers_drop_their_older_copies | 3.3.2 3.9.2 4.0.2 4.3.1 | - |
| metadata, clean stop, log dirs, ELR | log_dirs_and_clean_stops | 3.3.2 3.9.2 4.0.2 4.3.1 | all |
| metadata, kill, ELR | with_elr_and_registrations_a_leader_is_left | 4.0.2 4.3.1 | all |
| metadata, as first records | the_metadata_as_the_first_records_of_the_controller | 3.3.2 3.9.2 4.0.2 4.3.1 | - |
| metadata, dynamic | a_dynamic_quorum_grows_again | 3.9.2 4.0.2 4.3.1 | - |
| metadata, a broker missing | one_broker_alone_serves_what_it_has | 4.0.2 4.3.1 | all |
| metadata, a torn snapshot and older files | older_files_have_what_a_torn_snapshot_had | \
3.6.2 3.9.2 4.0.2 4.3.1 | 3.9.2 4.3.1 |
| metadata, a torn snapshot alone | what_is_left_of_a_torn_snapshot_fills_the_answers | 3.6.2 3.9.2 4.0.2 4.3.1 | - |
| metadata, ACLs and users | acls_and_credentials_of_the_answers_hold | 3.9.2 4.3.1 | - |
| metadata, 20,000 partitions | twenty_thousand_partitions_load | 3.3.2 4.3.1 | - |
| metadata, 20,000 of brokers | twenty_thousand_partitions_come_back | 3.3.2 4.3.1 | - |
| metadata, remote storage | records_in_remote_storage_are_read_again | 3.9.2 4.3.1 | all |
| metadata, share groups | a_share_group_goes_on | 4.3.1 | all |
| metadata, a late old disk | a_broker_comes_back_with_its_old_disk | 4.3.1 | all |
| metadata, a log dir is lost | one_of_two_log_dirs_is_lost | 4.3.1 | all |
| ZooKeeper, znodes | an_empty_zookeeper_gets_the_metadata_as_znodes | 2.4.1 2.6.3 2.8.2 3.9.2 | all |
| ZooKeeper, access | acls_users_and_quotas_of_the_answers_are_as_brokers_wrote_them | 2.8.2 3.9.2 | 2.8.2 |
| ZooKeeper into KRaft | disks_of_zookeeper_serve_in_kraft | 2.6.3 2.8.2 3.6.2 | - |
| topic, created again | the_directories_of_a_topic_that_was_created_again_serve | 3.6.2 3.9.2 | - |
| topic, deleted | a_deleted_topic_comes_back | 4.3.1 | - |
| pages of KRaft | the_commands_of_a_page_bring_the_cluster_back | 4.3.1 | - |
| page of ZooKeeper | a_new_zookeeper_gets_its_metadata | 2.8.2 | all |
"""
