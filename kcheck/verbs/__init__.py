"""The commands about one broker. Each decides which files to read and returns one typed answer.

In: paths, options and a `Release`. Out: an answer such as `CheckReport` or `Prediction`, a subclass of
`documents.answer.Answer`; its `report()` gives the rows for a renderer. `kcheck.api` calls these functions.

- `release`: For which release do they answer?
- `overview`: Will the broker start, and what is wrong? This is `kcheck PATH`.
- `inspect`: What is in a file, a partition directory or a log dir?
- `check`: What is wrong, and what will the broker do about it? Worker processes start here.
- `predict`, `prediction`: Does the broker start, and which records does it lose then?
- `premises`: Which premises of the next starts hold?
- `log_facts`: Which logs lack segments, or look older than they are?
- `batch_reads`: Can consumers and followers read the batches that a starting broker skips?
- `next_starts`: Which predictions are the findings compared with?
- `lost_metadata`: Must the metadata be brought back before any start?
- `preflight`: May the broker start?
- `tiered`: What is in remote storage, and what is missing there?
- `rebuild`: Which lost metadata do the manifests of a store give back?
- `dump`: Which batches, records or index entries does a file have?
- `export`: Which records do logs have, in a form that a producer takes?
- `explain`: Which rules are there, and what does one mean?
- `explain_log`: What do the messages of a broker mean?
- `cluster`: What does the metadata of a cluster contain?
- `simulate`: What happens in a history of one partition, and which history breaks a promise?

Questions that need several brokers belong to `replicas`, repairs to `plans`. `core` and `startup` decide what Kafka
does; a verb only calls them.
"""
