"""Texts and paths in SQL, of printable characters alone, as a path may end a line or move a cursor."""

import re
from itertools import groupby


def duckdb_text(value: str) -> str:
    """Return a text as an expression of DuckDB, which has no escapes in literals."""
    runs = ("".join(run) for _, run in groupby(value, str.isprintable))
    return " || ".join(_quoted(run) if run.isprintable() else _characters(run) for run in runs) or "''"


def duckdb_files(folder: str, table: str) -> str:
    """Return the Parquet files of a run's table for DuckDB, and no files of other folders."""
    exact = re.sub(r"[*?[]", r"[\g<0>]", folder)
    return duckdb_text(f"{exact}/{table}/*.parquet")


def spark_text(value: str) -> str:
    """Return a text as a literal of Spark, which reads backslashes in it."""
    quoted = value.replace("\\", "\\\\").replace("'", "\\'")
    return "'{}'".format("".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in quoted))


def _quoted(text: str) -> str:
    return "'{}'".format(text.replace("'", "''"))


def _characters(text: str) -> str:
    return " || ".join(f"chr({ord(character)})" for character in text)
