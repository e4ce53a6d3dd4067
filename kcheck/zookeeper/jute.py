"""Jute, the encoding of ZooKeeper's files (org.apache.jute.BinaryInputArchive): big-endian, with lengths of 32 bits."""

from typing import Any

from kcheck.records.layout import Layout

INT = Layout((("int", "i32"),))
LONG = Layout((("long", "i64"),))


class JuteError(Exception):
    """The bytes at `position` are no value of the expected type."""

    def __init__(self, message: str, position: int) -> None:
        """Say what is wrong where."""
        super().__init__(message)
        self.position = position


class JuteEndError(JuteError):
    """The bytes end inside a value: EOFException."""


class JuteReader:
    """Reads one value after the other between `position` and `end`; raises JuteError for impossible ones.

    ZooKeeper refuses lengths above jute.maxbuffer, which each server sets for itself. In this reader the end is the
    limit.
    """

    def __init__(self, data: bytes | memoryview, position: int = 0, end: int | None = None) -> None:
        """Take the bytes; positions in errors are positions in `data`."""
        self.position: int = position
        self.end: int = len(data) if end is None else end
        self.data: memoryview[int] = memoryview(data)

    def take(self, size: int, what: str) -> memoryview:
        """Return the next bytes."""
        begin = self.position
        if size > self.end - begin:
            raise JuteEndError(f"{what} needs {size} bytes, but {self.end - begin} are left", begin)
        self.position = begin + size
        return self.data[begin : self.position]

    def unpack(self, layout: Layout, what: str) -> tuple[Any, ...]:
        """Return the fields of a fixed-size structure."""
        return layout.unpack_from(self.take(layout.size, what))

    def i32(self, what: str) -> int:
        """Return the next integer of 32 bits."""
        number: int = self.unpack(INT, what)[0]
        return number

    def i64(self, what: str) -> int:
        """Return the next integer of 64 bits."""
        number: int = self.unpack(LONG, what)[0]
        return number

    def boolean(self, what: str) -> bool:
        """Return the next boolean."""
        return self.take(1, what)[0] != 0

    def view(self, what: str) -> memoryview | None:
        """Return the bytes of the next buffer; None for length -1, Java's null."""
        begin = self.position
        size = self.i32(what)
        if size < -1:
            raise JuteError(f"the length of {what} is {size}", begin)
        return None if size == -1 else self.take(size, what)

    def buffer(self, what: str) -> bytes | None:
        """Return a copy of the next buffer; None for Java's null."""
        view = self.view(what)
        return None if view is None else bytes(view)

    def string(self, what: str) -> str:
        """Return the next string; bytes that are not UTF-8 become U+FFFD, as in Java, and null becomes empty."""
        return str(self.view(what) or b"", "utf-8", "replace")

    def count(self, what: str) -> int:
        """Return the number of elements of the next vector; 0 for null."""
        begin = self.position
        number = self.i32(what)
        if number > self.end - self.position:  # each element has at least one byte
            raise JuteEndError(f"{number} {what} cannot fit into {self.end - self.position} bytes", begin)
        return max(number, 0)

    def skip_acls(self) -> None:
        """Skip a vector of ACLs. They are never kept, because they have password digests."""
        for _ in range(self.count("ACLs")):
            self.i32("the permissions of an ACL")
            self.view("the scheme of an ACL")
            self.view("the id of an ACL")
