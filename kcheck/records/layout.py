"""Layouts of binary structures, as tables of field names and types. Kafka's files are big-endian."""

import struct
from collections.abc import Callable, Iterator
from typing import Any

_CODES = {"i8": "b", "i16": "h", "i32": "i", "u32": "I", "i64": "q"}


class Layout:
    """A structure of fixed-size fields.

    `fields` are (name, type) pairs, `names` the names alone and `sizes` their sizes in bytes; `size` is the total.
    `pack`, `unpack_from` and `iter_unpack` work as in `struct.Struct`.
    """

    def __init__(self, fields: tuple[tuple[str, str], ...]) -> None:
        """Take (name, type) pairs; types are i8, i16, i32, u32, i64."""
        self.fields: tuple[tuple[str, str], ...] = fields
        self.names: tuple[str, ...] = tuple(name for name, _ in fields)
        self.sizes: tuple[int, ...] = tuple(struct.calcsize(">" + _CODES[kind]) for _, kind in fields)
        self._struct = struct.Struct(">" + "".join(_CODES[kind] for _, kind in fields))
        self.size: int = self._struct.size
        self.unpack_from: Callable[..., tuple[Any, ...]] = self._struct.unpack_from
        self.iter_unpack: Callable[..., Iterator[tuple[Any, ...]]] = self._struct.iter_unpack
        self.pack: Callable[..., bytes] = self._struct.pack

    def __reduce__(self) -> tuple[type["Layout"], tuple[tuple[tuple[str, str], ...]]]:
        """Pickle the fields alone; the rest is derived from them."""
        return Layout, (self.fields,)
