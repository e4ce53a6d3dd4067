"""Rows of Arrow batches in another order; lists of numbers are moved, and compared, as bytes.

Arrow moves a list entry by entry, bytes all at once. Here no list is None, and none has a None in it.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from kcheck.scan.fleet.cross_columns import Mask, Numbers

if TYPE_CHECKING:
    import pyarrow as pa

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
    import pyarrow as pa

    numbers = pa.array(rows)
    return pa.RecordBatch.from_arrays([_taken(each, numbers) for each in batch.columns], schema=batch.schema)


def _taken(column: "pa.Array", numbers: "pa.Array") -> "pa.Array":
    import pyarrow as pa

    is_list = pa.types.is_list(column.type)
    if not len(numbers) or column.null_count == len(column) or (is_list and not len(column.values)):
        return column.slice(0, len(numbers))  # one is like the other
    if not is_list:
        return column.take(numbers)
    found = [each.take(numbers) for each in _as_bytes(column)]
    ends = np.frombuffer(found[0].buffers()[1], np.int64)[: len(numbers) + 1] // _NUMBER_SIZE
    values = [pa.Array.from_buffers(pa.int64(), int(ends[-1]), [None, each.buffers()[2]]) for each in found]
    entries = pa.StructArray.from_arrays(values, fields=list(column.type.value_type))
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), entries, type=column.type)


def _as_bytes(lists: "pa.ListArray") -> "list[pa.LargeBinaryArray]":
    """Return each column of the entries, the numbers of a list as bytes."""
    import pyarrow as pa

    offsets = lists.offsets.to_numpy().astype(np.int64)
    return [
        pa.Array.from_buffers(
            pa.large_binary(),
            len(lists),
            [None, pa.py_buffer((offsets + each.offset) * _NUMBER_SIZE), each.buffers()[1]],
        )
        for each in lists.values.flatten()
    ]


def listed(column: "pa.Array") -> list[Any]:
    """Return a column of texts or numbers as `to_pylist` does, several times as fast where there is no None in it."""
    found: list[Any] = column.to_pylist() if column.null_count else column.to_numpy(zero_copy_only=False).tolist()
    return found


def is_as_before(column: "pa.Array") -> Mask:
    """Return which values, or lists, are those of the row before."""
    import pyarrow as pa
    from pyarrow import compute

    found = np.zeros(len(column), bool)
    if len(column) > 1:
        parts = _as_bytes(column) if pa.types.is_list(column.type) else [column]
        found[1:] = True
        for each in parts:
            same = compute.fill_null(compute.equal(each.slice(1), each.slice(0, len(column) - 1)), False)
            found[1:] &= same.to_numpy(zero_copy_only=False)
    return found
