"""The rows of `kcheck dump`: every batch, record or entry of one file, and its damaged places.

In: an open file, a `Filter` (which rows) and a `DumpDetail` (how much of each). Out: blocks of rows, and `Damage` with
position and message. A file of any size is read piece by piece, in bounded memory.

- `rows`: which reader does each kind of file have?
- `batches`: the batches of a `.log`; where and why valid data ends.
- `batch_columns`: the fast path: headers and records of many batches at once, as columns.
- `records`: the records of one batch, one by one: the path for damaged, large and control batches.
- `entries`: the entries of indexes and producer snapshots.
- `decode`: what do the records of an internal topic mean?
- `filter`: which rows does `--offset`, `--time`, `--epoch` or `--only-damaged` select?
- `open_file`: an open file, and the damage found in it.

`verbs/dump.py` opens the files. `segments` finds the batches, and `formats` parses bytes.
"""
