"""Writes a run, with every log dir of a fleet in, Parquet tables out.

1. `local_engine`: In which order does one machine run the steps?
2. `steps`, `broker_step`: Which pure functions does a scan consist of?
3. `retry`: What happens to directories whose batch failed?
4. `inventory`, `layouts`: Which log dirs are there, and which paths match a layout?
5. `identify`: Which broker owns a log dir?
6. `releases`, `both_ends`: For which release is each answer, and which end of a range counts?
7. `broker_logs`: What did the brokers write in their logs?
8. `cluster_steps`, `cluster_metadata`: Which metadata does a cluster have, and what does it contain for each replica?
9. `remembered`, `remembered_brokers`: Which directories and brokers did not change since an earlier run?
10. `rows`: Which rows does a partition directory give?
11. `predictions`: What does the broker do with a partition directory when it starts?
12. `premises`: Which assumptions does the next start of a broker need?
13. `replica_groups`: How do the replicas of a partition come together in bounded memory?
14. `comparison`: How do the replicas of each partition differ?
15. `replicas`: Which columns does a replica have?
16. `log_values`: How does a log's seldom fact cross as JSON?
17. `arrow_take`: How are rows of Arrow batches reordered?
18. `covered`: Did the scan reach enough of the fleet?
19. `lost`: What does the run lack?
20. `decisions`: What does starting everything now lose in each cluster, and by which refuted premises?
21. `owners`: Which team owns a topic?
22. `remote_storage`: What is in remote storage, and which replicas must not lead?

Each step is a function of small values and Arrow batches, so that any process on any machine can run it.
"""
