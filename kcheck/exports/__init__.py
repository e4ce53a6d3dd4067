"""The records of logs in a form for producers, by `kcheck export`.

In: paths, a range of offsets, whether to leave out uncommitted records. Out: records one by one, in bounded memory, and
a count of omitted records, by reason.

- `sources`: Which logs do the paths name, and which of them are not exported?
- `backups`: Which logs does a backup of `kcheck apply` have?
- `batches`: Which intact batches does a log have, from its first segment to its last, and what is between them?
- `transactions`: Which records belong to no committed transaction, by the markers in the log?
- `left_out`: Why is a record not exported, and how many are not?
- `records`: Which records of a log are exported?
- `lines`: How does a record look to a producer that reads lines (Kafka's own, kcat, your own client)?
- `columns`: How do records look in Parquet?
- `write`: Which bytes go where?

`verbs/export.py` joins these.
"""
