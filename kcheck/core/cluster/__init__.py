"""What the controllers know: the metadata of a cluster, in KRaft or in ZooKeeper.

- `metadata_replay`: what do the records of the metadata log add up to?
- `metadata_version`: does a release start with the features of the cluster?
- `copies`, `quorum`: what does one copy hold, and what do several copies prove?
- `health`, `history`: which partitions are not healthy, and what happened to one?
- `topic_settings`: what do topic configurations say about a log?
- `znode_tree`, `zookeeper_replicas`: what does a ZooKeeper server restore, and which replicas does it know?
"""
