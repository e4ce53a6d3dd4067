"""The tables that kcheck publishes, with their columns, types and meanings.

Each public module sets `TABLE`, with the name of a table, the meaning of a row, and the columns. CSV and Parquet output
have exactly these columns, and docs/tables.md is generated from them. A few modules also have `row` or `rows`, which
make the rows of a `kcheck fleet scan` run. They take the values of a log dir or a partition and yield plain tuples.
Nothing in this package reads a file or depends on Arrow.

To publish another table, add a module that sets `TABLE`; `registry.discover` finds it.

- `_contract`: What must a table provide, and which columns do several tables share?
"""

from kcheck.tables._contract import DIRECTORY, ENTRY, KAFKA_DIFFERS, LOG_DIR, PATH, PLACE, ScanStep, Table

__all__ = ["DIRECTORY", "ENTRY", "KAFKA_DIFFERS", "LOG_DIR", "PATH", "PLACE", "ScanStep", "Table"]
