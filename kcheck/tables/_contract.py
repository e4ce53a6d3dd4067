"""What a module of this package provides."""

from typing import NamedTuple

from kcheck.model.report import Column


class Table(NamedTuple):
    """A table: each row has these columns, in this order. `title` says what a row is.

    `in_run`: the columns with which a row begins in a run of `fleet scan`; None if it is no table of a run. `version`
    is raised when a column changes its meaning or goes; columns that come do not change it.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    in_run: tuple[Column, ...] | None = None
    version: int = 1

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def run_columns(self) -> tuple[Column, ...]:
        """The columns in a run of `fleet scan`."""
        return (*(self.in_run or ()), *self.columns)


PATH = Column("path", "string", "The file, as it was named.")
ENTRY = Column("entry", "int64", "Its number in the file, from 0.")
PLACE = (
    Column("cluster", "string", "The cluster, as the layout or the inventory names it, else its cluster.id."),
    Column("broker", "string", "The broker, as the layout or the inventory names it, else its id."),
)
LOG_DIR = (
    Column("broker_id", "int64", "The id of the broker."),
    Column("log_dir", "string", "The log dir."),
)
DIRECTORY = (
    *LOG_DIR,
    Column("dir", "string", "The partition directory in it."),
    Column("topic", "string", "The topic."),
    Column("partition", "int64", "The partition."),
)
