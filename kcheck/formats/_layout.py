"""A layout is a table: names and types of the fields, big-endian as everything in Kafka's files."""

import struct

_CODES = {"i8": "b", "i16": "h", "i32": "i", "u32": "I", "i64": "q"}


class Layout:
    """Fixed-size fields one after the other.

    `fields` are (name, type) pairs, `names` the names alone, `sizes` the bytes of each; `size` is the sum of these.
    `pack`, `unpack_from` and `iter_unpack` are struct's.
    """

    def __init__(self, fields: tuple[tuple[str, str], ...]) -> None:
        """Take (name, type) pairs; types are i8, i16, i32, u32, i64."""
        self.fields = fields
        self.names = tuple(name for name, _ in fields)
        self.sizes = tuple(struct.calcsize(">" + _CODES[kind]) for _, kind in fields)
        self._struct = struct.Struct(">" + "".join(_CODES[kind] for _, kind in fields))
        self.size = self._struct.size
        self.unpack_from = self._struct.unpack_from
        self.iter_unpack = self._struct.iter_unpack
        self.pack = self._struct.pack

    def __reduce__(self) -> tuple[type["Layout"], tuple[tuple[tuple[str, str], ...]]]:
        """Return what a pickle keeps: the fields."""
        return Layout, (self.fields,)
