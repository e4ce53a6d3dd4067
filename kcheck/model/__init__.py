"""The values that every other package shares. They are immutable, and use the standard library only.

Nothing here reads a file. Parsers and scans make these values from bytes, `core` and the rules decide by them, and
renderers turn them into rows. A value that kcheck has not seen is None.

- `names`: What is a file or directory, by its name?
- `source`: Which bytes are at a position, wherever the file is?
- `unreadable`: Why could kcheck not read a file?
- `depth`: How much of a file does kcheck read?
- `when`: By when has a person to act for a cluster?
- `parsed`: What could a parser read of a file, and which defects are there?
- `entries`: What is a line of a checkpoint, a batch header, an offset, an epoch?
- `segments`: Which faults, gaps and index entries does a segment have?
- `producers`: Which producers and transactions are in the batches?
- `remote_log`: Which part of a log is in remote storage?
- `remote_index_cache`: Which indexes of remote segments has the broker cached?
- `views`: What do rules see of a file, a partition directory, a log dir, or the replicas of a partition?
- `finding`: What is wrong, where, and what should be done?
- `cluster`: Which topics, partitions, brokers and controllers does a cluster have?
- `coordinators`: Which offsets and transactions do coordinators know, and of which logs?
- `znodes`: Which znodes and transactions are in a ZooKeeper data directory?
- `zookeeper_metadata`: Which facts of a cluster does ZooKeeper keep, but KRaft not?
- `loss`: Which records does a broker or a repair take from the files?
- `evidence`: Which release wrote the files, by their evidence?
- `release`: What does a release of Kafka do?
- `behaviour`: In which releases does a behavior hold? No other module compares versions.
- `behaviours`: Which behaviors change with the release?
- `directory_behaviours`, `replication_behaviours`, `tool_behaviours`: Which of them are about partition directories,
  running brokers, and Kafka's command line tools?
- `lost`: What should a run of a fleet have, and lacks?
- `premises`: Which assumptions does an answer about a next start have, and do they hold?
- `rights`: Whose is a file, what does its mode allow, and what does its file system still take?
- `plan`: What does a repair change, one operation for each path?
- `plan_json`: What does a plan file contain?
- `report`: Which header, rows and findings does a result have?
- `java`: How does Java parse numbers and decode text?
- `mapped`: How does a long sequence make its items on demand?
"""
