"""The steps of a broker when it starts, decided from names, numbers and settings.

In: facts about a log dir and its partition directories, the metadata of the cluster, a `Release`. Out: predictions,
verdicts, and reasons not to start the broker. `startup` acts the steps out on files, `documents` says the results.

- `identity`: Which node owns a log dir?
- `meta_properties`: Does the broker accept meta.properties?
- `node_settings`: Which ids are in the settings of a node?
- `startup`: What happens to a file, a checkpoint or a setting?
- `leftovers`: What happens to .cleaned, .swap and .deleted files?
- `segments`: Where do a loaded log and its high watermark start?
- `producer_state`: Which producers and transactions does the broker find in the batches?
- `remote_index_cache`: What happens to the cached indexes of remote segments?
- `topic_settings`: How do the settings of a topic change its logs?
- `partitioner`: Which partition do the keys of records belong to?
- `strays`: Is a replica part of the KRaft metadata?
- `zookeeper_replicas`: Is a replica part of the metadata in ZooKeeper?
- `cordoned`: Does a log dir get new replicas?
- `predictions`: Which values describe the next start, and what is the verdict on a log dir?
- `verdicts`: How severe is a verdict, and which partition is worst?
- `unserved`: Which records are in directories that a broker does not serve?
- `claims`: Does the broker do what a finding claims?
- `preflight`: May the broker start?
"""
