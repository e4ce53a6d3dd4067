"""Simulates the next start of a broker on its files in memory, as LogManager and LogLoader do it.

Decides: the fate of each log dir and each partition directory, the records that are lost, and the files that change.
Decisions that need no file are in `core/` (`startup`, `leader_epochs`, `producer_state`). Comes in: a `LogDir`
(`model.views`), the `Files` of each directory (`model.source`), `StartOptions`, and the release. The release has the
behavior (`core.releases`). No module here compares versions, or opens a path. Goes out:
`core.start.predictions.LogDirPrediction` with one `PartitionPrediction` a directory. Nothing is written.

Every step acts on a `virtual_files.Folder`. Where the broker would throw, a step raises `StartError`. Then the broker
aborts, or, where `offline` is set, only its log dir fails. `UnseenError` says that kcheck, not the broker, could not
read a file, so the outcome is unknown. After an error the folder has the files that the broker leaves.

- `options`: Which options does a prediction have?
- `log_manager`: What happens to the log dirs of one broker?
- `log_dir_outcome`: Does the broker abort, or does a log dir go offline?
- `inputs`: Which settings and checkpoints does each step use?
- `partition`: What happens to one partition directory, and which records are lost?
- `unchanged`: Which logs are loaded unchanged, as their views prove?
- `log_loader`: In which order are the steps of a load taken?
- `virtual_files`: Which files does the directory have after each step?
- `leader_epochs`, `producer_state`: Which epochs, producers and transactions does the loaded log have?
- `swaps`: What happens to the files of an unfinished swap?
- `segment`, `index`: Which batches and index entries does a loaded segment have?
- `sorted_map`: Which segment or snapshot is next to an offset?
- `recover`: Which batches does a segment have after recovery?
- `producer_replay`: Which producers do the batches of the log give?
- `split_overflow`: How is a segment split if an offset does not fit into it?
- `metadata_log`: What happens to KRaft's log after its load?

One partition directory: `partition.start_partition` > `start_folder` > `log_loader.LogLoader.load`

| Step                 | Code                             | Kafka                  | Error                             |
| -------------------- | -------------------------------- | ---------------------- | --------------------------------- |
| 1. Leader epochs     | `leader_epochs.EpochCache`       | LeaderEpochFileCache   | unreadable file, negative number  |
| 2. Snapshot list     | `producer_state.Producers`       | ProducerStateManager   | a name without a number           |
| 3. Leftovers, swaps  | `swaps.rename_swaps`, to 2.8     | LogLoader.load         | a name without a number, a swap   |
|                      | `delete_swapped_indexes`         |                        | with unreadable batches           |
| 4. Open segments     | `LogLoader._load_segments`,      | loadSegmentFiles,      | a name without a number,          |
|                      | `segment.Segment`, `index.Index` | LogSegment             | a `.log` above 2 GiB, an unknown  |
|                      |                                  |                        | version in a transaction index    |
| 5. Recover           | `LogLoader._recover_unflushed`   | recoverLog             | after an unclean shutdown only    |
| 5a. producers        | `producer_replay.reload_before`  | recoverSegment         | an unreadable batch               |
| 5b. batches          | `recover.recover`                | LogSegment.recover     | full index, invalid transaction   |
| 5c. overflow         | `split_overflow.split`           | splitOverflowedSegment | the last batch does not overflow, |
|                      |                                  |                        | or the split never ends           |
| 6. Log end           | `LogLoader._recover`,            | recoverLog,            | the last batches are unreadable   |
|                      | `Segment.next_offset`            | readNextOffset         |                                   |
| 7. Full indexes      | `Segment.resize_indexes`         | AbstractIndex.resize   | more entries than fit             |
| 8. Log start, epochs | `EpochCache.truncate`            | truncateFromEnd,       |                                   |
|                      |                                  | truncateFromStart      |                                   |
| 9. Producers         | `Producers.remove_stray`,        | removeStraySnapshots,  | an unreadable batch,              |
|                      | `producer_replay.reload_log`     | rebuildProducerState   | an invalid transaction            |
| 10. First unstable   | `LogLoader._locate`              | UnifiedLog             | no batch at this offset           |

- Step 4 recovers a segment without its index, even after a clean shutdown. 2.2 and earlier also do so for an invalid
  index.
- Step 5b empties a segment whose offsets are out of order. Lost bytes delete every later segment.
- Step 5c replaces the segment, and step 4 or 5 starts again.
- Step 6 deletes every segment if the log end is below the log start checkpoint. A log without segments gets an empty
  one.
- A directory that ends in -delete skips 5 to 7.

`partition` then reads partition.metadata (an error aborts or takes the log dir offline), and counts the lost records.
It asks whether the log is a stray, or a future log that replaces the current one. `unchanged.unchanged_prediction`
gives the same answer without a load if a clean shutdown left nothing to do.

One log dir, then one broker: `log_manager`

1. `start_context` finds a clean or unclean shutdown, KRaft or ZooKeeper, and the cluster metadata.
2. `load_directories` loads each directory by the steps above.
3. `log_dir_start` gives the outcome of the log dir. Abort comes before offline, and offline before load
   (`log_dir_outcome`).
   - A corrupt meta.properties aborts; an unreadable one takes the log dir offline (3.7 and later).
   - A directory name that cannot be parsed aborts, like a partition that aborts or exists twice.
   - A log with an open transaction that loads after a failed read aborts.
   - An unreadable checkpoint, or a partition that fails offline, takes the log dir offline.
4. `combined_starts` compares the log dirs of one broker. With different identities, a partition in two of them, or one
   abort, all of them abort.

KRaft loads `__cluster_metadata-0` as after an unclean shutdown, from offset 0, whatever the checkpoints contain
(`log_manager.directory_load_of`). Then `metadata_log.finish` follows (KafkaMetadataLog, KafkaRaftLog 4.3).

1. It compares the topic id of partition.metadata. Another id is an error.
2. It removes unneeded snapshots. An invalid name, or no snapshot below the log start, is an error.
3. A snapshot beyond the log end replaces the log. If the broker looks for another name, that is an error.
4. It reads the newest snapshot (3.8), then quorum-state. An unreadable file is an error.

All errors of this log abort the broker.
"""
