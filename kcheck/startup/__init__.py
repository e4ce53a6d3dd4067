"""The next start of a broker, acted out on its files in memory: what LogManager and LogLoader would do.

Decides: what becomes of each log dir and each partition directory, which records the start loses, and which files it
changes. Decisions that need no file are in `core/`: `startup`, `leader_epochs`, `producer_state`.
Comes in: a `LogDir` (`model.views`), the `Files` of each directory (`model.source`), the user's `StartOptions`, and the
Kafka release. The release says how it behaves (`core.releases`); no module here compares versions, or opens a path.
Goes out: `core.start.predictions.LogDirPrediction` with one `PartitionPrediction` a directory. Nothing is written.

Every step acts on a `virtual_files.Folder`. Where the broker would throw, a step raises `StartError`: the whole broker
fails to start (abort), or, where `offline` is set, only its log dir fails. `UnseenError` says that kcheck, not the
broker, could not read a file: the outcome is unknown. After an error the folder has the files that the broker leaves.

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

LogLoader: one partition directory, `partition.start_partition` > `start_folder` > `log_loader.LogLoader.load`
 1. Leader epochs     `leader_epochs.EpochCache`        LeaderEpochFileCache     error: unreadable file, negative number
 2. Snapshot list     `producer_state.Producers`        ProducerStateManager     error: a name without a number
 3. Leftovers, swaps  `swaps.rename_swaps`              LogLoader.load           error: a name without a number,
                      (to 2.8 `delete_swapped_indexes`)                          a swap whose batches cannot be read
 4. Open segments     `LogLoader._load_segments`        loadSegmentFiles         error: a name without a number,
                      `segment.Segment`, `index.Index`  LogSegment               a `.log` above 2 GiB, an unknown
                                                                                 version in a transaction index
    A segment without its index, or (to 2.2) with a bad one, is recovered here, even after a clean shutdown.
 5. Recover           `LogLoader._recover_unflushed`    recoverLog               only after an unclean shutdown
    a. producers      `producer_replay.reload_before`   recoverSegment           error: a batch that cannot be read
    b. batches        `recover.recover`                 LogSegment.recover       error: full index, invalid transaction
       Offsets out of order empty the segment. Lost bytes delete every later segment.
    c. overflow       `split_overflow.split`            splitOverflowedSegment   error: the last batch does not
       The split replaces the segment, and step 4 or 5 starts again.             overflow, or the split never ends
 6. Log end           `LogLoader._recover`,             recoverLog,              error: the last batches cannot be read
                      `Segment.next_offset`             readNextOffset
    A log end below the log start checkpoint deletes every segment. A log without segments gets an empty one.
 7. Full indexes      `Segment.resize_indexes`          AbstractIndex.resize     error: more entries than fit
 8. Log start, epochs `EpochCache.truncate`             truncateFromEnd, -Start
 9. Producers         `Producers.remove_stray`,         removeStraySnapshots,    error: a batch that cannot be read,
                      `producer_replay.reload_log`      rebuildProducerState     an invalid transaction
10. First unstable    `LogLoader._locate`               UnifiedLog               error: no batch at this offset
A directory that ends in -delete skips 5 to 7. `partition` then reads partition.metadata (error: abort or offline),
counts the lost records, and asks whether the log is a stray, or a future log that replaces the current one.
`unchanged.unchanged_prediction` gives the same answer without a load where a clean shutdown left nothing to do.

LogManager: one log dir, then one broker, `log_manager`
 1. `start_context`      clean or unclean, KRaft or ZooKeeper, and what the cluster metadata says
 2. `load_directories`   each directory that the broker loads, by the steps above
 3. `log_dir_start`      the log dir: abort before offline before load (`log_dir_outcome`)
      abort    a bad meta.properties (from 3.7 an unreadable one: offline), a directory name that cannot be parsed,
               a partition that aborts, one that exists twice, or a log with an open transaction that loads
               after a failed read
      offline  an unreadable checkpoint, or a partition that fails offline
 4. `combined_starts`    the log dirs of one broker: different identities, a partition in two, or one abort: all abort

KRaft's log: `__cluster_metadata-0` is loaded as after an unclean shutdown, from offset 0, whatever the checkpoints say
(`log_manager.directory_load_of`). Then `metadata_log.finish`: KafkaMetadataLog, KafkaRaftLog 4.3
 1. topic id of partition.metadata                      error: another id
 2. snapshots: remove the unneeded                      error: a bad name, or no snapshot below the log start
 3. a snapshot beyond the log end replaces the log      error: the broker looks for another name
 4. read the newest snapshot (3.8), then quorum-state   error: unreadable
All errors of this log abort the start.
"""
