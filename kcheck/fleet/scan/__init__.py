"""Writes a run: every log dir of a fleet in, Parquet tables out.

1. `inventory`, `layouts`, `identify`: which log dirs are there, and which broker owns each of them? `releases`: for
   which release is each answer?
2. `broker_logs`: what did the brokers write in their logs?
3. `cluster_steps`, `cluster_metadata`: what does the metadata of each cluster contain?
4. `steps`: which pure functions does a scan consist of?
5. `local_engine`: how does one machine run them? `retry`: what happens to directories whose batch failed?
6. `rows`, `predictions`: what is in a partition directory, and what does its next start do?
7. `replica_groups`: how do the replicas of a partition come together in bounded memory?
8. `comparison`: how do they differ? `truncation_columns` decides many at once and `comparison_rows` makes their rows;
   `replicas` decides one partition at a time. `arrow_take` reorders rows of batches.
9. `remembered`, `remembered_brokers`: what did an earlier run already see?
10. `covered`: did the scan reach enough of the fleet?
"""
