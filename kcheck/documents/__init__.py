"""Typed answers as JSON documents. Only this package turns a value into the fields of an answer.

In: the values of `model` and `core`. Out: rows, which are mappings of plain values, in the order of the document.
Nothing is decided in these modules, and nothing reads a row back. `kcheck.tables` has the same values as columns of
published tables. Field names are an interface for scripts, so they do not change.

- `answer`: Which methods does every typed answer have?
- `inspection`: Which values does `kcheck inspect` return?
- `remote_log`: Which part of a partition is in remote storage?
- `inspect`, `predict`, `explain`: Which rows does the answer of a command about one broker have?
- `election_verdict`, `next_start`, `preflight`, `strays`, `unserved`: Which sentences describe the decisions of `core`?
- `uncounted`: Which records does no loss of an answer count, in sentences?
- `wrong_places`: What do findings advise about disks and directories in a wrong place?
- `comes_first`: Which log dirs, brokers and disks come before the steps of a recovery?
- `election_words`: Which sentences about elections, their losses and gaps do all screens share?
- `removed_records`: Which sentences describe the records that brokers remove for good when they start?
- `premises`: Which rows does an answer about a next start have for its assumptions?
- `truncation`, `election`, `verification`, `cluster`: Which rows does the answer of a command about several have?
- `recovery`: Which rows do the steps of a recovery have?
- `recovery_next`: Which fields describe the progress of a cluster with a plan?
- `recovery_quorum`: Which rows and sentences describe the remaining controllers?
- `recovery_metadata`: Which rows and sentences describe the metadata from disks alone?
- `simulation`: Which rows does a simulated history have?
- `next_commands`: Which findings and pages lead to which next command?
- `table`: Which rows does an answer have if it is one table, for csv and parquet?
- `schema`: Which fields does a document have? They are rows of `fields.tsv`.
- `blocks`: How do large numbers of rows become JSON text?
"""
