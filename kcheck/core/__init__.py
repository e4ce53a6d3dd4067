"""What Kafka decides, as pure functions: values in, values out, no file and no clock.

A partition is a log, and several brokers keep a copy of it, a replica. One replica leads, the others follow and fetch
from it. Every record has an offset. A leader stamps its leader epoch on each batch that it writes, so an epoch tells
which leader wrote which offsets. Every function here takes the state of a log or a log dir as a value and, where
releases of Kafka differ, a `Release`. It returns what that release would do. Docstrings name Kafka's class and method.

| Question | Module |
|---|---|
| Where does a follower truncate its log? | `truncation`; its values are in `dialogue` |
| What does the follower fetch afterwards? | `refetch` |
| Where do two logs part, and which records are lost? | `lineage` |
| Which leader costs least? | `truncation_plans` |
| At which offset does an epoch end? | `leader_epochs` |
| What does a leader answer to OffsetsForLeaderEpoch? | `offsets_for_leader_epoch` |
| Can leader-epoch-checkpoint be rebuilt from the batches? | `epoch_rebuild` |
| Where do a loaded log and its high watermark start? | `segments` |
| What does a start do with a file, a checkpoint or a setting? | `startup` |
| Does a start accept meta.properties? | `meta_properties` |
| Does a start abort, or take a log dir offline? | `log_dir_outcome`; for one file: `startup` |
| Does the start do what a finding says of it? | `claims` |
| What does a start do with .cleaned, .swap and .deleted files? | `leftovers` |
| What does a start learn about producers and transactions? | `producer_state`; their order: `hash_order` |
| What do the controllers know? | `metadata_replay` |
| Which partitions are not healthy by that, and what happened to one? | `cluster_health`, `cluster_history` |
| What do several copies of it prove? | `quorum`; one copy: `cluster_copies` |
| Which thread fetches a partition? | `replica_fetchers` |
| Which replicas does the cluster no longer know? | `strays` |
| What happens at the next start, in values and in one line? | `predictions`, `verdicts` |
| Which facts belong to which release? | `releases` |
| Which releases can have written the files? | `release_evidence` |

The states of a follower, in order (`truncation.plan_truncation`):

1. No leader epoch: it truncates to its high watermark. Up to 0.10.2 every follower does; from 0.11 to
   2.0.0 a follower that has none asks as in state 2.
2. 0.11 to 2.7: it sends OffsetsForLeaderEpoch and truncates, until a reply completes the truncation. 0.11 to 1.1
   sends one request.
3. It fetches at its log end. From 2.8 a fetch names the last epoch of the follower. A leader whose log diverges there
   answers with an epoch and its end offset, and the follower truncates and fetches again.
4. Its offset is out of the leader's range: it truncates to the leader's log end, starts again at the leader's log
   start, or keeps its log. Then it fetches again.
5. The leader sends records: the truncation ends with `Status.OK`. It ends with `NEVER_COMPLETES` when a state comes
   back, with `FETCH_FAILS` when the follower refuses an answer, with `TRUNCATION_FAILS` when it fails as it truncates.
"""
