"""The foundation of a green answer about the next start, as one table of premises for every verb.

- `facts`: What is known about a broker before it starts?
- `premise`, `judged`: What is a premise, and which judgements are there?
- `identity`: Do the ids of cluster, broker, log dirs and voters agree?
- `voters`: Do the settings of the controllers name the voters of the last election?
- `joining`: Does a node that starts take part in its cluster?
- `migration`: Do the nodes take part in a migration to KRaft?
- `clusters`: Which cluster has these brokers, if their disks name different ones?
- `metadata`: Has the metadata log been lost, or is it in the wrong log dir?
- `presence`: Are all log dirs and a copy of the metadata there?
- `log_ranges`: Does a log have its beginning, its middle and its end?
- `followers`: Does a leader lack what its followers have?
- `short_leaders`: Does a leader end the broker of a follower?
- `batches`: Can everything that the broker serves be read?
- `rights`: May the broker's user use all files?
- `resources`: Are the necessary mounts, bytes and maps there?
- `setting_relations`: Does a setting contradict others?
- `listeners`: May a node have these listeners and voters?
- `security`: Can the listeners of a node load their keys, logins and classes?
- `outside`: Which needs of a node does no file show?
- `limits`: Which values of settings does each release refuse?
- `settings`: Does the release accept the settings and the configurations of topics?
- `elections`: Was, or is, a replica elected that is not in sync?
- `age`: Is a disk an old copy?
- `compaction`: Which records does the log cleaner delete afterwards?
- `retention`: Which records does retention by time delete afterwards?
- `remote`: Which remote segments does a leader delete, and can all of them be read?
- `table`: Which premises are there, and what do the files of a broker show?
"""
