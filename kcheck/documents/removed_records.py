"""The sentences about records that brokers remove for good when they start, and how to save the readable ones."""

from collections.abc import Iterable, Iterator, Sequence

from kcheck.core.election.start_losses import RemovedAtStart
from kcheck.core.election.steps import Cut
from kcheck.model.entries import Offset
from kcheck.words import bare_range, listed, partition_name, shell_line, some_of


def removed_words(rows: Sequence[RemovedAtStart], saver: str | None = None) -> Iterator[str]:
    """Yield the loss of one broker's start, and the way to the readable records, as clauses."""
    if rows:
        names = some_of([f"{_offsets(row.end, row.last)} of {_name(row)}" for row in rows])
        yield f"broker {rows[0].broker_id} truncates offsets {names}, and then no replica here has them"
    yield from readable_words(rows, saver)


def readable_words(rows: Iterable[RemovedAtStart], saver: str | None = None) -> Iterator[str]:
    """Yield the way to the readable records of each log that its broker truncates, as clauses.

    `saver` is the subject and verb of a step that saves them; None without one. Then an export does.
    """
    for row in rows:
        if row.readable:
            offsets = listed([bare_range(part.start, part.end) for part in row.readable])
            if saver is not None:
                yield f"{saver} the readable offsets {offsets} of {_name(row)} that broker {row.broker_id} truncates"
                continue
            first, file = str(row.readable[0].start), f"{_name(row)}.ndjson"
            command = shell_line(["kcheck", "export", row.path, "--from", first, "-o", file])
            yield f"before broker {row.broker_id} starts, {command} saves offsets {offsets} of {_name(row)}"


def range_words(removed: Iterable[RemovedAtStart], cuts: Iterable[Cut]) -> Iterator[str]:
    """Yield the offsets that starts and truncations remove for good, as `20-49 of orders-0`, by partition."""
    rows = [
        *((row.topic, row.partition, row.end, row.last) for row in removed),
        *((cut.topic, cut.partition, cut.lost.start, cut.lost.end) for cut in cuts),
    ]
    widest: dict[tuple[str, int], tuple[Offset, Offset | None]] = {}
    for topic, partition, start, end in rows:
        first, last = widest.get((topic, partition), (start, end))
        widest[topic, partition] = min(first, start), None if last is None or end is None else max(last, end)
    for name, (start, end) in sorted(widest.items()):
        yield f"{_offsets(start, end)} of {partition_name(*name)}"


def _name(row: RemovedAtStart) -> str:
    return partition_name(row.topic, row.partition)


def _offsets(start: Offset, end: Offset | None) -> str:
    return f"{start} and later" if end is None else bare_range(start, end)
