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
"""
