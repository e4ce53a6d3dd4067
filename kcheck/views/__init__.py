"""Turns paths into views, which are the values of log dirs, partitions and files that the rules see.

In: the arguments of a command. Out: `LogDirView`, `PartitionView` and `FileView` (see `model/views.py`), the metadata
of clusters, and findings about files that cannot be read. `rules` decide whether a view is healthy.

1. `targets`: What is each path? A file, a partition directory, a log dir, a folder of these, a server.properties.
2. `release_evidence`: Which evidence do log dirs contain for the release of their brokers?
3. `partition_evidence`, `named_evidence`: Which evidence do partition directories contain, and which the files that the
   user names?
4. `log_dir`: Which checkpoints and partitions does a log dir have? Each log dir is opened once per command.
5. `partition`: Which files does a partition directory have, and where does its log end?
6. `remote_index_cache`: Which indexes of remote segments has the broker cached?
   `remote_logs`: Which part of a partition is in remote storage, according to `__remote_log_metadata`?
   `remote_store`: Which objects are in a remote store?
7. `broker_settings`: Which settings does a simulated start use?
   `settings_files`: Which server.properties lists a log dir?
8. `metadata_at_hand`: Which metadata does a command use, of its own log dirs and of the paths that the user names?
   `owned_arguments`: Which broker do log dirs belong to that name none?
9. `metadata_paths`: Which of these paths contain a copy of the metadata?
10. `metadata_copy`: What does the copy of one KRaft node contain?
11. `zookeeper_copy`: What does the metadata of a cluster with ZooKeeper contain?
    `zookeeper_beside`: Which ZooKeeper data is in the folders that the user names?
12. `zookeeper_server`: Which znodes does a ZooKeeper server restore?
13. `zookeeper_history`: How did one partition change, according to ZooKeeper's files?
14. `zookeeper_elections`: Which partitions got a leader uncleanly, according to these files?
    `zookeeper_sessions`: Which brokers stopped cleanly, according to these files?
15. `zookeeper_topics`: Which ids did topics have, according to these files?
16. `host_facts`: What may the broker's user do with its files, and what does its machine still give?
17. `controller_settings`: Which settings do controllers have for elections?
18. `broker_facts`: Which settings, log dirs and metadata does a broker start with?
19. `rescue_nodes`: What is on the disks of the nodes of a cluster that lost its controllers?
"""
