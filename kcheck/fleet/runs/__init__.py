"""Reads the runs that `fleet.scan` wrote.

In: the directory or URL of a run, or of several. Out: reports, election plans, and tables for other tools.

- `report`: What did a run find?
- `places`: On which brokers and clusters?
- `clusters`: Of which releases are the brokers of a cluster, and how many should there be?
- `broker_starts`: What do the brokers do when they start?
- `premises`: What do these starts rest on?
- `quorum`: Does a majority of its controllers start, and which rescue comes first?
- `unserved`: Which directories have records that no election counts?
- `across`: Which premises do the replicas of a partition decide together?
- `remote_storage`: Which replicas must not lead, because of records in remote storage?
- `trend`: How did the counts change over earlier runs?
- `actions`: What should be done first?
- `told`: Which rows decide that, whatever is shown?
- `by_cluster`: What should be done about each cluster, and by when?
- `commands`: Which command shows more of a row?
- `diff`: Which findings are new, changed or fixed since another run?
- `history`: When did a finding appear, and when was it last there?
- `elect`: Who should lead in one cluster?
- `elections`: Which elections of a cluster are held together, and which are shown?
- `elect_clusters`: Which cluster should be looked at first?
- `recover`: What does starting everything now lose in each cluster, and which steps come first?
- `cluster`: Which brokers and metadata does a cluster have according to the tables?
- `election_rows`: Which rows do the tables have for each partition?
- `replicas`: Which replicas does a partition have according to the tables?
- `by_disks`: Why do only the disks show a plan, and which command plans by them?
- `election_plan`: Which files does `elect --from RUN --output-dir` write?
- `sql`, `sql_text`: How do DuckDB and Spark SQL read the tables, and how is a path written in SQL?
- `iceberg`: How does a run become Iceberg tables?
- `prune`: Which runs can be removed?
"""
