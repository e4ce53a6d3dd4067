"""Kafka's decisions as pure functions of values, without files or a clock.

A partition is a log, and several brokers keep a copy of it, a replica. One replica leads, the others follow and fetch
from it. Every record has an offset. A leader stamps its leader epoch on each batch that it writes. So an epoch tells
which leader wrote which offsets. Every function here takes the state of a log or a log dir as a value. If releases of
Kafka differ, it also takes a `Release`, and returns the result of that release. Docstrings name Kafka's class and
method.

In the order in which a command meets them (each imports only packages above it):

- `sums`: What is the sum of counts if some are unknown?
- `hash_order`: In which order do Java's and Scala's hash tables iterate?
- `releases`: Which facts belong to which release, and which releases can have written the files?
- `cluster`: What does the metadata of a cluster contain, and which partitions are not healthy?
- `start`: What does a broker do when it starts?
- `tiered`: What is in remote storage, and what does a leader delete there?
- `replication`: Where does a follower truncate, and which records does it lose?
- `election`: Who leads each partition, and what does each choice cost?
- `rescue`: How does a cluster come back from its disks alone?
- `premises`: Which assumptions does a good answer need, and do the files show them?
"""
