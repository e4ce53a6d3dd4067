"""The values that every other package shares: immutable, and built from the standard library only.

Nothing here reads a file. Parsers and scans make these values from bytes, `core` and the rules decide by them, and
renderers turn them into rows. A value that kcheck has not seen is None.

| Value | Module |
|---|---|
| A line of a checkpoint, a batch header, an offset, an epoch | `entries` |
| What a file or directory is, by its name | `names` |
| What a parser could read of a file, and what it could not | `parsed` |
| A segment after its batches were read: faults, gaps, indexes | `segments` |
| The producers and transactions in the batches | `producers` |
| A file, partition directory, log dir or partition with its replicas, as rules see it | `views` |
| What is wrong, where, and what to do about it | `finding` |
| How much of a file kcheck reads, and why it could not | `depth`, `unreadable` |
| What a repair changes, one operation per file | `plan`; a plan file is read by `plan_json` |
| What a release of Kafka does | `release`; when a behaviour began and ended: `behaviour`, `behaviours` |
| The header and rows of a result | `report` |
| How Java parses numbers and decodes text | `java` |
| Long sequences whose items are made on demand | `mapped` |
"""
