"""Typed answers as JSON documents: the only place where a value becomes the fields of an answer.

In: the values of `model` and `core`. Out: rows, which are mappings of plain values, in the order of the document.
Nothing is decided here, and nothing reads a row back. `kcheck.tables` holds the same values as columns of published
tables.

- `answer`: the base class of every typed answer: `report()`, `to_dict()`, `to_arrow()`.
- `inspect`, `predict`, `truncation`: the rows of these commands.
- `inspection`: the values that `kcheck inspect` returns.
- `table`: the rows of an answer that is one table, for csv and parquet.
- `blocks`: large numbers of rows as JSON text.

Field names are an interface for scripts: they do not change.
"""
