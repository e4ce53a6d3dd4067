"""Checks all brokers at once, with thousands of log dirs in, Parquet tables out.

In: folders, URLs or inventories of log dirs. Out: a scan run, which is a directory of tables with `_manifest.json`.

- `scan`: How is a run written?
- `owners`: Who owns a topic in a run?
- `spark`: How does Apache Spark write a run, or decide its elections?
- `runs`: What do finished runs show?

Shared by these, where each may import modules above it:

- `run_output`: Where are the tables of a run, and when is the run complete?
- `run`: Which runs are there, and which rows do their tables have?
- `not_known`: Which facts about expected disks and files does a run not show?
- `lost`: What does a run lack of an earlier one?
- `went_back`: Which replicas are older than in an earlier run?
- `risk`: Which clusters and partitions are at risk?
"""
