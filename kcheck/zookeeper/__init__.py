"""The metadata of a cluster in ZooKeeper's files, as ZooKeeper and Kafka write it.

In: bytes or text. Out: `model.znodes` and `model.zookeeper_metadata`.

- `jute`: How does ZooKeeper encode values?
- `snapshot`: Which znodes are in snapshot.ZXID?
- `transaction_log`: Which transactions are in log.ZXID?
- `kafka_znodes`: What does the data of Kafka's znodes mean?
- `znode_export`: Which znodes does an export as JSON contain?
- `topics_describe`: What does the output of kafka-topics --describe contain?
"""
