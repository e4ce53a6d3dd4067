"""The foundation of a green answer about a start: one table of premises, asked by every verb.

- `facts`: what is known about a broker that is about to start?
- `premise`, `judged`: what is a premise, and which judgements are there?
- `identity`: do the ids of cluster, broker, log dirs and voters agree?
- `voters`: do the settings of the controllers name the voters of the last election?
- `clusters`: which cluster are brokers of, whose disks name different ones?
- `metadata`: has the metadata log been lost, or is it in the wrong log dir?
- `presence`: are all log dirs and a copy of the metadata there?
- `batches`: can everything that the broker serves be read?
- `rights`: may the broker's user use all files?
- `resources`: are the mounts, the bytes and the maps there that a start needs?
- `setting_relations`: does a setting contradict others?
- `listeners`: may a node have these listeners and voters?
- `security`: can the listeners of a node load their keys, logins and classes?
- `limits`: which values of settings does each release refuse?
- `settings`: does the release accept the settings and the configurations of topics?
- `elections`: was, or is, a replica elected that is not in sync?
- `age`: is a disk an old copy?
- `compaction`: what does the log cleaner delete after the start?
- `retention`: what does retention by time delete after the start?
- `remote`: what does a leader delete in remote storage, and can all of it be read?
- `table`: which premises are there, and what do the files of a broker show?
"""
