"""Remembers each broker of a run, so that a later run reuses the rows of its log dirs.

A broker is the same if its log dirs are not in use, and their files have the same names, sizes and times. All of their
directories must have the same signatures, and the options must be the same. Its rows are kept under its signature, in a
file of their own. A broker with unreadable files is looked at again.
"""

import hashlib
import stat
from collections.abc import Sequence
from contextlib import suppress

from kcheck.arrow import batch_of, from_bytes
from kcheck.disk.lock import locked_by
from kcheck.disk.output import have_same, replacing
from kcheck.disk.paths import join
from kcheck.disk.tree import tree_of
from kcheck.fleet.scan.identify import Identified, ScanOptions
from kcheck.fleet.scan.premises import settings_of
from kcheck.fleet.scan.remembered import how_text, read_rows, writer_of
from kcheck.model.names import REMOTE_INDEX_CACHE
from kcheck.model.report import Column
from kcheck.model.unreadable import UnreadableError

BrokerTables = tuple[tuple[str, bytes], ...]
"""Names of tables, and batches of rows of them."""
_COLUMNS = (Column("table", "string", "The table."), Column("rows", "bytes", "A batch of its rows."))


def broker_signature(log_dirs_seen: Sequence[tuple[Identified, Sequence[bytes]]], how: ScanOptions) -> str | None:
    """Return the signature of a broker, given its seen partitions; None if it is not to be remembered."""
    if how.memory is None:
        return None
    digest = hashlib.sha256(how_text(str(how.depth), how.release, how.wanted).encode())
    for log_dir, seen in log_dirs_seen:
        top, directories = _top(log_dir.path), _signatures(seen)
        if top is None or directories is None:
            return None
        digest.update(repr((log_dir, top, directories)).encode())
    digest.update(settings_of(log_dir for log_dir, _ in log_dirs_seen).encode(errors="surrogateescape"))
    return digest.hexdigest()


def _top(log_dir: str) -> list[tuple[str, object, int, object]] | None:
    """Return the entries at the top of a log dir; None if a look at it depends on more."""
    if tree_of(log_dir).is_remote or locked_by(log_dir) is not None:
        return None
    try:
        entries = tree_of(log_dir).states(log_dir)
    except UnreadableError:
        return None
    modes = [mode for name, mode, *_ in entries if isinstance(mode, int) and name != REMOTE_INDEX_CACHE]
    is_plain = all(stat.S_ISREG(mode) or stat.S_ISDIR(mode) for mode in modes)
    return entries if is_plain and len(modes) == len(entries) else None


def _signatures(seen: Sequence[bytes]) -> list[str] | None:
    """Return the signatures of directories in their order; None if one has none, or was not read completely."""
    batches = [batch for data in seen for batch in from_bytes(data)]
    signatures: list[str] = [text for batch in batches for text in batch.column("signature").to_pylist()]
    complete = (is_complete for batch in batches for is_complete in batch.column("complete").to_pylist())
    return signatures if all(complete) and None not in signatures else None


def remembered_broker(signature: str, how: ScanOptions) -> BrokerTables | None:
    """Return the rows kept under a signature, and keep them in this run too; None without any."""
    assert how.memory is not None
    if how.since is None:
        return None
    path = join(how.since, signature)
    rows = read_rows(path)
    if rows is None:
        return None
    with suppress(UnreadableError, OSError):  # What is gone is looked at again by the next run.
        have_same(path, join(how.memory, signature))
    return tuple(zip(*(column.to_pylist() for column in rows.columns), strict=True))


def keep_broker(signature: str, rows: BrokerTables, how: ScanOptions) -> None:
    """Keep the rows of a broker under its signature; a disk that is full keeps nothing."""
    assert how.memory is not None
    batch = batch_of(rows, _COLUMNS)
    with (
        suppress(OSError),
        replacing(join(how.memory, signature)) as stream,
        writer_of(stream, batch.schema) as writer,
    ):
        writer.write_batch(batch)
