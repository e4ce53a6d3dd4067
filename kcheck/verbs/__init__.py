"""The commands about one broker: each decides what to read and returns one typed answer.

In: paths, options and a `Release`. Out: an answer such as `CheckReport` or `Prediction`, a subclass of
`documents.answer.Answer`; its `report()` gives the rows for a renderer. `kcheck.api` calls these functions.

- `inspect`: what is in a file, a partition directory or a log dir?
- `check`: what is wrong, and what will the broker do about it? Worker processes start here.
- `predict`: does the next start of the broker succeed, and which records does it lose?
- `overview`: `kcheck PATH`, which is `check` and `predict` on the same opened log dirs.
- `dump`: which batches, records or index entries does a file have?
- `release`: for which release do they answer?
- `explain`: which rules are there, and what does one mean?

Questions that need several brokers belong to `replicas`, repairs to `plans`. What Kafka does is decided in `core` and
`startup`; a verb only calls them.
"""
