"""A file without any rows to dump."""

from kcheck.tables._contract import PATH, Table

TABLE = Table(
    "files",
    "A file without any rows to dump.",
    (PATH,),
)
