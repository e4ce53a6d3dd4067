"""The metadata of a cluster, in KRaft or in ZooKeeper (its content, its copies, and its health).

In: decoded metadata records or znodes. Out: a `ClusterImage` (`model.cluster`), and facts about its copies.

- `metadata_replay`: Which topics, partitions and brokers do the records of the metadata log add up to?
- `znode_tree`: Which znodes does a ZooKeeper server restore?
- `metadata_version`: Does a release start with the features of the cluster?
- `copies`: What does one copy of the metadata contain?
- `quorum`: Which committed offsets, possible leaders and possible losses do several copies prove?
- `health`: Which partitions are not healthy?
- `owner`: Which broker do the replicas on some disks belong to?
- `topic_ids`: Is a topic with another id in ZooKeeper the topic of a directory?
- `history`: What happened to one partition?
"""
