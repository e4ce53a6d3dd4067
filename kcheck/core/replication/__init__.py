"""Replication between the replicas of one partition, and the records that a follower loses.

In: the log of each replica as values (epochs, offsets, batches), and a `Release`. Out: requests, truncation offsets,
and lost ranges.

- `leader_epochs`: Where does an epoch end?
- `offsets_for_leader_epoch`: What does a leader answer about an epoch?
- `dialogue`: What do leader and follower send to each other?
- `truncation`: Where does a follower truncate its log?
- `refetch`: What does the follower fetch afterwards?
- `lineage`: Where do two logs diverge, and which records are lost?
- `log_names`: Does a log have the name of another partition?
- `truncation_plans`: What does a truncation cost?
- `leader_costs`: Which leader costs least?
- `distinct_records`: Which records do several replicas lose together?
- `lost_transactions`: Which transactions lose records?
- `group_offsets`: Which offsets have consumer groups committed?
- `epoch_rebuild`: Can leader-epoch-checkpoint be rebuilt from the batches?
- `replica_fetchers`: Which thread fetches a partition?
- `replication`: Who is in the ISR, and how far does the high watermark go?

The states of a follower, in order (`truncation.plan_truncation`):

1. No leader epoch: The follower truncates to its high watermark. In 0.10.2 and earlier every follower does this. In
   0.11 to 2.0.0 a follower without an epoch asks as in state 2.
2. 0.11 to 2.7: The follower sends OffsetsForLeaderEpoch and truncates, until a reply completes the truncation. 0.11 to
   1.1 sends one request.
3. The follower fetches at its log end. In 2.8 and later a fetch names the last epoch of the follower. A leader whose
   log diverges there answers with an epoch and its end offset. The follower truncates and fetches again.
4. The offset is out of the leader's range. The follower truncates to the leader's log end, starts again at the leader's
   log start, or keeps its log. Then it fetches again.
5. The leader sends records. The truncation ends with `Status.OK`. It ends with `NEVER_COMPLETES` when a state comes
   back. It ends with `FETCH_FAILS` when the follower refuses an answer, with `TRUNCATION_FAILS` when the truncation
   fails.
"""
