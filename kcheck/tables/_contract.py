"""What a module of this package provides."""

from typing import NamedTuple

from kcheck.model.report import Column


class Table(NamedTuple):
    """A table: each row has these columns, in this order. `title` says what a row is."""

    name: str
    title: str
    columns: tuple[Column, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)


PATH = Column("path", "string", "The file, as it was named.")
ENTRY = Column("entry", "int64", "Its number in the file, from 0.")
