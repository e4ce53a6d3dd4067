"""The tables that kcheck publishes: their columns, types and meanings.

Each public module sets `TABLE`: the name of a table, what a row stands for, and its columns. CSV and Parquet output
have exactly these columns, and docs/tables.md is generated from them. A few modules also have `row` or `rows`, which
make the rows of a `kcheck fleet scan` run from what was read of a log dir or a partition. They take values and yield
plain tuples; nothing here reads a file or depends on Arrow.

To publish another table, add a module that sets `TABLE`.
"""

from kcheck.tables._contract import DIRECTORY, ENTRY, LOG_DIR, PATH, PLACE, Table

__all__ = ["DIRECTORY", "ENTRY", "LOG_DIR", "PATH", "PLACE", "Table"]
