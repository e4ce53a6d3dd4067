"""Turns paths into views: the values of log dirs, partitions and files that the rules see.

In: the arguments of a command. Out: `LogDirView`, `PartitionView` and `FileView` (see `model/views.py`), and findings
about files that cannot be read. Nothing here decides whether a view is healthy: that is the task of `rules`.

A command passes through these modules in this order:

1. `targets`: what is each path? A file, a partition directory, a log dir, a folder of these, a server.properties.
2. `log_dir`: which checkpoints and partitions does a log dir have? Each log dir is opened once per command.
3. `partition`: which files does a partition directory have, and where does its log end?
4. `segment_scan`: what is in the segments, if the depth asks for more than their tails?
5. `rule_runner`: which rules apply to a view?
6. `survey`: runs steps 2 to 5 for the targets of a command.
7. `recheck`: are findings in a log dir in use real, or was the broker writing?

`release_evidence`, with `partition_evidence` and `named_evidence`, looks before them for what the files tell about the
release of their brokers. `coverage` counts what
has been read. `broker_settings` and `metadata_copy` read the settings and the cluster metadata
for a simulated start. `zookeeper_copy` reads the metadata of a cluster that runs with ZooKeeper, by `zookeeper_server`
what its server restores, and `zookeeper_history` the changes of a partition.
"""
