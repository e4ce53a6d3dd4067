"""How ZooKeeper and Kafka lay out the metadata of a cluster in ZooKeeper's files.

- `jute`: how does ZooKeeper encode values?
- `snapshot`, `transaction_log`: what is in snapshot.ZXID and in log.ZXID?
- `kafka_znodes`: what does the data of Kafka's znodes mean?
- `znode_export`, `topics_describe`: what do an export of znodes and the output of kafka-topics --describe contain?
"""
