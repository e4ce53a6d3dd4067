"""Two replicas of one partition, made at random: what elections, retention and damage leave of a common history."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.builders import Made, batch_of, log, log_dir, message, partition_dir, record, write


class Written(NamedTuple):
    """A batch that the leader of an epoch wrote; `shown` is the epoch that stands in it, None for messages."""

    epoch: int
    base: int
    size: int
    shown: int | None

    @property
    def end(self) -> int:
        """Return the offset behind it."""
        return self.base + self.size


class Log(NamedTuple):
    """The log of a replica from its first segment, at `first`, to `end`, and what the files beside it say."""

    segments: tuple[tuple[Written, ...], ...]
    first: int
    end: int
    log_start: int | None
    high_watermark: int | None
    epochs: tuple[tuple[int, int], ...] | None
    recovery_point: int | None

    def write(self, path: Path) -> None:
        """Write the partition directory."""
        segments = [[_made(each) for each in segment] for segment in self.segments] or [[]]
        partition_dir(path, segments, epoch_entries=self.epochs, base_offset=self.first)


class Pair(NamedTuple):
    """A leader, its follower, and an epoch above all that they know."""

    leader: Log
    follower: Log
    leader_epoch: int


def pair(name: str) -> Pair:
    """Make a pair; `name` is its seed."""
    random = Random(name)
    logs, epoch = _history(random)
    one, other = random.sample(logs, 2)
    damage = random.random() < 0.5
    leader, follower = (_log(random, each, damage=damage and random.random() < 0.7) for each in (one, other))
    return Pair(leader, follower, epoch + 5)


def write_logs(path: Path, logs: Mapping[str, Log], *, clean: bool) -> Path:
    """Write the log dir of a broker."""
    marks = {f"{topic}-0": each.high_watermark for topic, each in logs.items() if each.high_watermark is not None}
    starts = {f"{topic}-0": each.log_start for topic, each in logs.items() if each.log_start is not None}
    points = {f"{topic}-0": each.recovery_point for topic, each in logs.items() if each.recovery_point is not None}
    log_dir(path, broker_id=None, clean=False, recovery_point=points, high_watermark=marks, log_start=starts)
    if clean:
        write(path, {".kafka_cleanshutdown": b'{"version":0,"brokerEpoch":-1}'})
    for topic, each in logs.items():
        each.write(path / f"{topic}-0")
    return path


def _made(batch: Written) -> Made:
    values = {offset: f"{batch.epoch}/{offset}".encode() for offset in range(batch.base, batch.end)}
    if batch.shown is None:
        messages = log(message(offset, value) for offset, value in values.items())
        return Made(data=messages, base_offset=batch.base, last_offset=batch.end - 1)
    records = (record(offset - batch.base, value=value) for offset, value in values.items())
    return batch_of(batch.base, *records, epoch=batch.shown)


def _history(random: Random) -> tuple[list[list[Written]], int]:
    """Return the logs of three replicas, any of which may have been elected, and the next epoch."""
    logs: list[list[Written]] = [[], [], []]
    epoch = random.choice((0, 0, 3))
    first_v2 = epoch + random.choice((1, 2, 4)) if random.random() < 0.15 else 0
    for _ in range(random.choice((1, 2, 3, 4, 6, 9))):
        leader = random.randrange(3)
        own = logs[leader]
        for _ in range(random.choice((0, 1, 2, 4))):
            base = own[-1].end if own else 0
            own.append(Written(epoch, base, random.choice((1, 1, 2, 5, 10)), None if epoch < first_v2 else epoch))
        for follower in {0, 1, 2} - {leader}:
            if random.random() < 0.6:
                shared = sum(1 for _ in _common(own, logs[follower]))
                logs[follower] = own[: random.randint(shared, len(own))]
        epoch += random.choice((1, 1, 1, 2, 3))
    return logs, epoch


def _common(one: Sequence[Written], other: Sequence[Written]) -> Iterator[Written]:
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            return
        yield mine


def _log(random: Random, batches: list[Written], *, damage: bool) -> Log:
    """Return what is left of a log: the first batches may be gone, records may be deleted."""
    end = batches[-1].end if batches else 0
    compacts = random.random() < 0.2
    if compacts and random.random() < 0.5:
        batches = _compacted(random, batches)
    epochs = _epochs(batches)
    if compacts:
        batches = _compacted(random, batches)
    if random.random() < 0.3:  # A cleaner of 4.0 and later makes batches without an epoch of messages.
        batches = [each._replace(shown=-1) if each.shown is None else each for each in batches]
    first = 0
    if batches and random.random() < 0.3:
        gone = random.randrange(len(batches))
        first, batches = batches[gone].base, batches[gone:]
        if random.random() < 0.1:
            first, batches = end, []
        if random.random() < 0.8:
            epochs = _from(epochs, first)
    log_start = None
    if first < end and random.random() < 0.25:
        log_start = random.randint(first, end) if random.random() < 0.9 else end + random.randint(1, 9)
        epochs = _from(epochs, log_start)
    if damage and random.random() < 0.1:
        batches = _shown(random, batches)
    segments = []
    while batches:
        count = random.randint(1, len(batches))
        segments.append(tuple(batches[:count]))
        batches = batches[count:]
    mark = random.choice((None, 0, end, end, end, end + 3, first, random.randint(0, end)))
    told = _damaged(random, epochs, end) if damage else epochs
    point = random.choice((end, end, None, 0, first, random.randint(0, end)))
    return Log(tuple(segments), first, end, log_start, mark, None if told is None else tuple(told), point)


def _epochs(batches: Sequence[Written]) -> list[tuple[int, int]]:
    """Return the entries that a broker has after it appended these."""
    epochs: list[tuple[int, int]] = []
    for each in batches:
        if each.shown is None:
            epochs = []
        elif not epochs or epochs[-1][0] < each.shown:
            epochs.append((each.shown, each.base))
    return epochs


def _compacted(random: Random, batches: list[Written]) -> list[Written]:
    """Return what a cleaner leaves: the first batch of the first segment and the last one are kept."""
    return [each for n, each in enumerate(batches) if n in (0, len(batches) - 1) or random.random() < 0.6]


def _shown(random: Random, batches: list[Written]) -> list[Written]:
    """Return batches of which one shows an epoch that is not its own."""
    at = random.randrange(len(batches)) if batches else 0
    here, off = batches[at : at + 1], random.choice((-2, -1, 1))
    shown = [each._replace(shown=max(0, each.shown + off)) for each in here if each.shown is not None]
    return [*batches[:at], *(shown or here), *batches[at + 1 :]]


def _from(epochs: list[tuple[int, int]], start: int) -> list[tuple[int, int]]:
    below = [epoch for epoch, offset in epochs if offset <= start]
    return [(epoch, start) for epoch in below[-1:]] + [entry for entry in epochs if entry[1] > start]


def _damaged(random: Random, epochs: list[tuple[int, int]], end: int) -> list[tuple[int, int]] | None:
    """Return the entries of a file that was lost, emptied, edited, or taken from another time."""
    kind = random.choice(("missing", "empty", "drop", "drop", "phantom", "ahead", "shift", "swap", "repeat", "late"))
    last = epochs[-1][0] if epochs else 0
    if kind in ("missing", "empty"):
        return None if kind == "missing" else []
    if kind in ("phantom", "ahead") or not epochs:
        return [*epochs, (last + 1, end) if kind == "phantom" else (last + 2, end + random.randint(1, 9))]
    at = random.randrange(len(epochs))
    entry = epochs[at]
    match kind:
        case "drop":
            changed = []
        case "shift":
            changed = [(entry[0], max(0, entry[1] + random.choice((-3, -1, 1, 2))))]
        case "swap":
            changed = [*epochs[at + 1 : at + 2], entry]
            return [*epochs[:at], *changed, *epochs[at + 2 :]]
        case "late":
            return epochs[at:]
        case _:
            changed = [entry, entry]
    return [*epochs[:at], *changed, *epochs[at + 1 :]]
