"""The rows of `kcheck dump`, which are every batch, record or entry of one file, and its corrupt places.

In: an open file, a `Filter` (which rows) and a `DumpDetail` (how much of each). Out: blocks of rows, and `Damage` with
position and message. A file of any size is read piece by piece, in bounded memory.

- `filter`: Which rows does `--offset`, `--time`, `--epoch` or `--only-damaged` select?
- `open_file`: Which defects were found in the open file?
- `rows`: Which reader does each kind of file have?
- `batches`: Which batches does a `.log` have, and where and why does valid data end?
- `batch_columns`: Which rows do the headers and records of many batches give, as columns? This is the fast path.
- `records`: Which rows do the records of one batch give? This is the path for corrupt, large and control batches.
- `decode`: What do the records of an internal topic mean?
- `entries`: Which entries does an index or a producer snapshot have?

`verbs/dump.py` opens the files. `segments` finds the batches, and `formats` parses bytes.
"""
