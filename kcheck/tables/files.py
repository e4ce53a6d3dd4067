"""A file of which nothing could be dumped."""

from kcheck.tables._contract import PATH, Table

TABLE = Table(
    "files",
    "A file of which nothing could be dumped.",
    (PATH,),
)
