"""Rows of Arrow batches in another order; lists of numbers are moved as bytes.

Arrow moves a list entry by entry, but bytes all at once. No list in these batches is None, or has a None in it.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyarrow as pa

Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_NUMBER_SIZE = 8


def joined(batches: "list[pa.RecordBatch]") -> "pa.RecordBatch":
    """Return batches of one schema as one; texts that are written once are so again."""
    import pyarrow as pa

    if len(batches) == 1:
        return batches[0]
    names = batches[0].schema.names
    columns = [pa.concat_arrays([batch.column(name) for batch in batches]) for name in names]
    return pa.RecordBatch.from_arrays(columns, schema=batches[0].schema)


def taken(batch: "pa.RecordBatch", rows: Numbers) -> "pa.RecordBatch":
    """Return some rows of a batch, each at most once, in the order of their numbers."""
    (batch_taken,) = taken_in_parts(batch, rows, max(len(rows), 1))
    return batch_taken


def taken_in_parts(batch: "pa.RecordBatch", rows: Numbers, count: int) -> "Iterator[pa.RecordBatch]":
    """Yield the result of `taken` in slices of a number of rows."""
    import pyarrow as pa

    moves = [_move(column) for column in batch.columns]
    for begin in range(0, max(len(rows), 1), count):
        numbers = pa.array(rows[begin : begin + count])
        yield pa.RecordBatch.from_arrays([move(numbers) for move in moves], schema=batch.schema)


def _move(column: "pa.Array") -> "Callable[[pa.Array], pa.Array]":
    """Return a function that takes some rows of a column."""
    import pyarrow as pa
    from pyarrow import compute

    is_list = pa.types.is_list(column.type)
    if column.null_count == len(column) or (is_list and not len(column.values)):
        return lambda numbers: column.slice(0, len(numbers))  # one is like the other
    if not is_list:
        return lambda numbers: compute.take(column, numbers, boundscheck=False)
    parts = _as_bytes(column)
    return lambda numbers: _lists([compute.take(array, numbers, boundscheck=False) for array in parts], column.type)


def _lists(parts: "list[pa.LargeBinaryArray]", kind: "pa.ListType") -> "pa.ListArray":
    """Return lists from the parts that `_as_bytes` made of their columns."""
    import pyarrow as pa

    ends = np.frombuffer(parts[0].buffers()[1], np.int64)[: len(parts[0]) + 1] // _NUMBER_SIZE
    values = [pa.Array.from_buffers(pa.int64(), int(ends[-1]), [None, part.buffers()[2]]) for part in parts]
    entries = pa.StructArray.from_arrays(values, fields=list(kind.value_type))
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), entries, type=kind)


def _as_bytes(lists: "pa.ListArray") -> "list[pa.LargeBinaryArray]":
    """Return each column of the entries, the numbers of a list as bytes."""
    import pyarrow as pa

    offsets = lists.offsets.to_numpy().astype(np.int64)
    return [
        pa.Array.from_buffers(
            pa.large_binary(),
            len(lists),
            [None, pa.py_buffer((offsets + field.offset) * _NUMBER_SIZE), field.buffers()[1]],
        )
        for field in lists.values.flatten()
    ]
