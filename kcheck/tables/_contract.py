"""The part that every public module of this package provides, a `TABLE`."""

from enum import StrEnum
from typing import NamedTuple

from kcheck.model.report import Column


class ScanStep(StrEnum):
    """The subject of a step of `fleet scan`."""

    DIRECTORY = "directory"
    """One partition directory."""
    PARTITION = "partition"
    """The replicas of a partition, on several brokers."""
    BROKER = "broker"
    """All log dirs of a broker."""
    CLUSTER = "cluster"
    """The metadata of a cluster."""


class Table(NamedTuple):
    """A table: every row has these columns, in this order."""

    name: str
    """The name of the table."""
    title: str
    """The meaning of a row, in a sentence."""
    columns: tuple[Column, ...]
    """The columns."""
    in_run: tuple[Column, ...] | None = None
    """The columns that precede them in a run of `fleet scan`; None if a run has no such table."""
    steps: tuple[ScanStep, ...] = ()
    """The steps of `fleet scan` that make its rows; rows of the run, broker logs and remote storage have none."""
    version: int = 1
    """Increased when a column changes its meaning or is removed; a new column does not change it."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def run_columns(self) -> tuple[Column, ...]:
        """The columns in a run of `fleet scan`."""
        return (*(self.in_run or ()), *self.columns)


PATH = Column("path", "string", "The file, as named on the command line.")
ENTRY = Column("entry", "int64", "The number of the entry in the file, from 0.")
PLACE = (
    Column("cluster", "string", "The cluster's name in the layout or the inventory, otherwise its cluster.id."),
    Column("broker", "string", "The broker's name in the layout or the inventory, otherwise its id."),
)
LOG_DIR = (
    Column("broker_id", "int64", "The broker id."),
    Column("log_dir", "string", "The log dir."),
)
KAFKA_DIFFERS = Column(
    "kafka_differs",
    "string",
    "The other end of the range of Kafka releases that the files fit, if the row differs there. The row is for the end"
    " at which more is lost. Null without a difference.",
)
DIRECTORY = (
    *LOG_DIR,
    Column("dir", "string", "The partition directory in the log dir."),
    Column("topic", "string", "The topic."),
    Column("partition", "int64", "The partition number."),
)
