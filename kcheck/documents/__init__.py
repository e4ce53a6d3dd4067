"""Typed results as JSON documents: the only place where a value becomes the fields of an answer.

In: the values of `model` and `core`. Out: rows, which are mappings of plain values, in the order of the document.
Nothing is decided here, and nothing reads a row back. One module a verb; `kcheck.tables` holds the same values as
columns of published tables.
"""
