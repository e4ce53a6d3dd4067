"""Texts and paths in SQL, of printable characters alone, as a path may end a line or move a cursor."""

import re
from collections.abc import Sequence
from itertools import groupby

from kcheck.errors import UsageError


def duckdb_text(value: str) -> str:
    """Return a text as an expression of DuckDB, which has no escapes in literals."""
    runs = ("".join(run) for _, run in groupby(value, str.isprintable))
    return " || ".join(_quoted(run) if run.isprintable() else _characters(run) for run in runs) or "''"


def duckdb_files(folder: str, table: str) -> str:
    """Return the Parquet files of a run's table for DuckDB, and no files of other folders.

    UsageError for a folder that DuckDB cannot read.
    """
    if "\\" in folder:
        raise UsageError(f"{folder}: DuckDB reads no path with a backslash; move the runs")
    exact = re.sub(r"[*?[]", r"[\g<0>]", f"./{folder}" if folder.startswith("~") else folder)
    return duckdb_text(f"{exact}/{table}/*.parquet")


def spark_files(before: str, runs: Sequence[str], table: str) -> str:
    """Return the folders of a table in runs, as Spark reads them; `before` is the path before their names."""
    exact = re.sub(r"[{}\[\]*?\\]", r"\\\g<0>", before)
    return f"{exact}{{{','.join(runs)}}}/{table}"


def spark_text(value: str) -> str:
    """Return a text as a literal of Spark, which reads backslashes in it."""
    quoted = value.replace("\\", "\\\\").replace("'", "\\'")
    return "'{}'".format("".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in quoted))


def _quoted(text: str) -> str:
    return "'{}'".format(text.replace("'", "''"))


def _characters(text: str) -> str:
    return " || ".join(f"chr({ord(character)})" for character in text)
