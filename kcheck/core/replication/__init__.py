"""How replicas of one partition follow each other, and what a follower loses.

- `dialogue`: what do leader and follower say to each other?
- `truncation`: where does a follower truncate its log?
- `refetch`: what does the follower fetch afterwards?
- `leader_epochs`, `offsets_for_leader_epoch`: where does an epoch end, and what does a leader answer about it?
- `epoch_rebuild`: can leader-epoch-checkpoint be rebuilt from the batches?
- `lineage`: where do two logs diverge, and which records are lost?
- `truncation_plans`: which leader costs least?
- `distinct_records`, `lost_transactions`, `group_offsets`: which records, transactions and group offsets are affected?
- `replication`: who is in the ISR, and how far does the high watermark go?
- `replica_fetchers`: which thread fetches a partition?
"""
