"""Questions about several copies of a partition (truncation offsets, lost records, leaders).

A partition has one leader and followers that copy it. A follower whose log differs asks the leader, epoch by epoch, for
the place where the two logs diverge. It truncates its own log there. The truncated records are lost if no other copy
has them.

In: `BROKER=PATH` arguments. Out: a typed answer, such as `EndOffsets`, `Truncation` or `ClusterElection`.
`core.replication` decides the protocol between follower and leader, `core.election` the elections.

- `loading`: Which replicas are in these paths?
- `replica`: Which state does a replica have, on disk or after its broker has started?
- `end_offset`: How does a replica answer OffsetsForLeaderEpoch?
- `truncation`: For each follower, which requests, which truncation, which loss?
- `leader_plans`: What does each follower do under one leader?
- `committed`: Below which offset are the records of a replica committed?
- `costed_plans`: What does each leader of a partition cost, and which one least?
- `election_kinds`: Can the controller elect that leader cleanly?
- `unserved_copies`: Which records has a copy that no broker serves?
- `shared_records`: Up to where do two logs of old messages have the same records?
- `loss`: How many records and bytes are in a range of offsets?
- `elect`: Who should lead each partition, and in which order should the brokers start?
- `election_output`: Which files does an election write?
- `broker_gaps`: Which brokers have replicas that no election counts?
- `uncounted`: Which premises cost records that no election counts?
- `partition_directories`: Which partition directories and brokers does the command have, after they have started?
- `aside`: Which partition directories were moved aside, and may hold the best log?
- `candidates`: What would each candidate of a partition cost as leader?
- `lost_amounts`: Which records are lost for the cluster once a replica leads?
- `remote_losses`: Which records in remote storage are lost once a replica leads?
- `distinct_records`: How many records do several replicas lose together, each counted once?
- `lost_transactions`, `transaction_batches`: Which transactions are open at an offset, and which of them lose records?
- `group_offsets`: Which offsets have consumer groups committed?
- `transaction_states`: Which transactions do coordinators know?
- `coordinators`: Do the logs of a check agree with the coordinators?
- `removed_at_start`: Which records do brokers truncate for good when they start, and which of them are readable before?
- `saved_records`: Where are copies of the batches that a replica loses?
- `served_now`: Does the leader still serve the remote offsets of a plan?
- `plan_steps`: Which steps of a saved plan came true?
- `verification`: Do the directories look as the plan of `elect --output-dir` expects?
"""
