"""Questions about several copies of a partition: who truncates where, and which records are lost.

A partition has one leader and followers that copy it. A follower whose log differs from the leader's asks it, epoch by
epoch, where the two logs diverge, and truncates its own log there. What it truncates is lost if no other copy has it.

In: `BROKER=PATH` arguments. Out: a typed answer, `EndOffsets` or `Truncation`.

- `loading`: which replicas are in these paths?
- `replica`: what state does a replica have, on disk or after the next start of its broker?
- `end_offset`: how does a replica answer OffsetsForLeaderEpoch?
- `truncation`: for each follower, which requests, which truncation, which loss?
- `loss`: how many records and bytes are in a range of offsets, and where do two logs diverge?
- `distinct_records`: how many records do several replicas lose together, each counted once?
- `lost_amounts`: which records has nobody any more once a replica leads, by truncations and by the starts before?
- `lost_transactions`: which transactions are open at an offset, and which of them does a truncation cut?
- `group_offsets`: which offsets have consumer groups committed?
- `saved_records`: copies the batches that a replica loses

`core.replication` decides the protocol between follower and leader, and the best leader.
"""
