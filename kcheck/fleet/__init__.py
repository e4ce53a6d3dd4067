"""Scans all brokers at once: thousands of log dirs in, Parquet tables out.

In: folders, URLs or inventories of log dirs. Out: a run, a directory of tables with `_manifest.json`; `report` and
`diff` read it back. A run takes the steps of `steps`, each a function of small values and Arrow batches, so that any
process on any machine can run it:

1. `inventory`, `layouts`, `identify`: which log dirs are there, and whose are they? `broker_logs`: what did the brokers
   write in their logs? `cluster_steps`, `cluster_metadata`: what do the metadata of their clusters say?
2. `local_engine` or `spark/engine`: runs the steps, with `retry` for directories whose batch failed.
3. `scan_rows`, `predictions`: what is in a partition directory, and what does its next start do?
4. `replica_groups`: brings the replicas of each partition together in bounded memory.
5. `comparison`: compares them: `truncation_columns` many at once, `replicas` one partition at a time;
   `comparison_rows` makes the rows.
6. `broker_starts`, `risk`: the outcome for each broker, and the partitions at risk.
7. `run_output`: writes the tables; `remembered` keeps state for `--since` and `--resume`.

`run` opens a finished run; `report` summarizes it, with `places`, `actions`, `commands` and `trend`; `diff` compares
two, `history` follows findings over several. `sql` makes views of runs, `iceberg` publishes one, `prune` removes old
ones. `elections` decides who should lead, by `run_cluster` and `run_replicas`. `arrow_take` copies rows between Arrow
batches.
"""
