"""The next start of the brokers of a fleet, with the verdict, the loss and the reads of each."""

import heapq
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from kcheck.core.start.predictions import stops_serving
from kcheck.core.start.startup import NEXT_START_RANKS, NEXT_STARTS, Outcome
from kcheck.errors import KcheckError
from kcheck.fleet.run import BrokerKey, FleetRun, name_order
from kcheck.model.report import Row

LOSS_COUNT = 500
"""Partitions losing records that are listed one by one."""
_LOST = ("from", "to", "records", "bytes", "below_high_watermark")
_COLUMNS = ("cluster", "broker", "log_dir", "dir", "topic", "partition", "outcome", "reason", "lost", "scan_bytes")


class Starts(NamedTuple):
    """The brokers with a prediction, and clusters of them, worst first, and the `losses` of partitions.

    `losing` counts the partitions that lose records, listed or not.
    """

    clusters: tuple[Row, ...]
    brokers: tuple[Row, ...]
    losing: int
    losses: tuple[Row, ...]


class _Start:
    """The facts about a broker, or about a cluster: `outcomes` counts its log dirs, or its brokers."""

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()
        self.losing = self.unserved = self.scan_bytes = 0
        self.records: int | None = 0
        self.whys: dict[Outcome, str] = {}
        self.first_unserved: tuple[str, str] | None = None

    @property
    def worst(self) -> Outcome:
        return next(outcome for outcome in NEXT_STARTS if self.outcomes[outcome])

    @property
    def why(self) -> str | None:
        """The reason why it does not boot, or why a log dir goes offline; None if all are loaded."""
        return self.whys.get(Outcome.ABORT) or self.whys.get(Outcome.OFFLINE) or None

    def lose(self, partitions: int, records: int | None) -> None:
        """Add what partitions lose; once it is not known of one of them, the sum is not."""
        self.losing += partitions
        self.records = None if self.records is None or records is None else self.records + records

    def row(self) -> dict[str, object]:
        return {
            "next_start": str(self.worst),
            "outcomes": {str(outcome): self.outcomes[outcome] for outcome in NEXT_STARTS},
            "losing_partitions": self.losing,
            "unserved_partitions": self.unserved,
            "lost_records": self.records,
            "scan_bytes": self.scan_bytes,
        }

    def order(self) -> tuple[int, ...]:
        """Return the sort key (the worst first, unknown counts before known ones)."""
        records = (-1, 0) if self.records is None else (0, -self.records)
        return (NEXT_START_RANKS[self.worst], *records, -self.losing, -self.unserved, -self.scan_bytes)


def starts_of(run: FleetRun) -> Starts:
    """Return the rows of the table `predictions`; a run of an older kcheck has none. KcheckError if it is corrupt."""
    log_dirs: dict[tuple[str | None, str | None, str], str] = {}
    effects: dict[tuple[str | None, str | None, str], set[Outcome]] = defaultdict(set)
    brokers: dict[BrokerKey, _Start] = defaultdict(_Start)

    def losses() -> Iterator[Row]:
        for row in _rows(run):
            place = row["cluster"], row["broker"]
            at = (*place, row["log_dir"])
            if row["dir"] is None:
                log_dirs[at] = row["outcome"]
                brokers[place].scan_bytes += row["scan_bytes"] or 0
                brokers[place].whys.setdefault(row["outcome"], (row["reason"] or "").partition(": ")[2])
                if row["outcome"] == Outcome.UNKNOWN:
                    brokers[place].records = None  # What is read through may be cut.
            elif stops_serving(row["outcome"], row["dir"]):
                effects[at].add(Outcome.STRAY)
                brokers[place].unserved += 1
                brokers[place].first_unserved = brokers[place].first_unserved or (row["dir"], row["outcome"])
            if row["lost"] is not None:
                effects[at].add(Outcome.LOST)
                brokers[place].lose(1, row["lost"]["records"])
                yield {**{name: row[name] for name in _COLUMNS[:-2]}, **row["lost"]}

    worst = heapq.nsmallest(LOSS_COUNT, losses(), key=_loss_order)
    for at, outcome in log_dirs.items():
        worst_effect = next((effect for effect in NEXT_STARTS if effect in effects[at]), outcome)
        brokers[at[:2]].outcomes[worst_effect if outcome == Outcome.OK else outcome] += 1
    predicted = {place: start for place, start in brokers.items() if start.outcomes}
    clusters: dict[str | None, _Start] = defaultdict(_Start)
    for (cluster, _), start in predicted.items():
        cluster_start = clusters[cluster]
        cluster_start.outcomes[start.worst] += 1
        cluster_start.scan_bytes += start.scan_bytes
        cluster_start.unserved += start.unserved
        cluster_start.lose(start.losing, start.records)
    named = {
        place: {"cluster": place[0], "broker": place[1], "why": start.why,
                **dict(zip(("first_unserved", "unserved_by"), start.first_unserved or (None, None), strict=True))}
        for place, start in predicted.items()
    }  # fmt: skip
    return Starts(
        _worst_first(clusters.items(), lambda cluster: {"cluster": cluster}),
        _worst_first(predicted.items(), named.__getitem__),
        sum(start.losing for start in predicted.values()),
        tuple(worst),
    )


def _rows(run: FleetRun) -> Iterator[dict[str, Any]]:
    """Yield the rows of log dirs, and of partitions that lose records or may not be served."""
    import pyarrow as pa
    from pyarrow import compute

    unserved = pa.array([str(Outcome.STRAY), str(Outcome.DELETED)])

    for batch in run.batches("predictions", _COLUMNS):
        chosen = compute.or_(compute.is_null(batch.column("dir")), compute.is_valid(batch.column("lost")))
        chosen = compute.or_(chosen, compute.is_in(batch.column("outcome"), unserved))
        for row in batch.filter(chosen).to_pylist():
            if row["dir"] is None and row["outcome"] not in NEXT_STARTS:
                raise KcheckError(f"{run.path}: a log dir has the outcome {row['outcome']!r}")
            yield {**row, "lost": None if row["lost"] is None else _lost(run, row["lost"])}


def _lost(run: FleetRun, text: str) -> dict[str, int | None]:
    try:
        loss = json.loads(text)
        lost = {name: loss[name] for name in _LOST}
    except (ValueError, TypeError, KeyError, RecursionError):
        lost = {"": text}
    if not all(type(value) in (int, type(None)) for value in lost.values()):
        raise KcheckError(f"{run.path}: invalid loss of a partition: {text[:80]!r}")
    return lost


def _loss_order(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the sort key (unknown counts first, then committed losses)."""
    counts = (row["below_high_watermark"], row["records"], row["bytes"])
    place = (name_order(row["cluster"]), name_order(row["broker"]), row["log_dir"] or "", row["dir"] or "")
    return (*((0, 0) if count is None else (1, -count) for count in counts), place)


def _worst_first(starts: Iterable[tuple[Any, _Start]], named: Callable[[Any], Row]) -> tuple[Row, ...]:
    ranked = [(start.order(), {**named(key), **start.row()}) for key, start in starts]
    ranked.sort(
        key=lambda ranked_row: (
            ranked_row[0],
            name_order(ranked_row[1]["cluster"]),
            name_order(ranked_row[1].get("broker")),
        )
    )
    return tuple(row for _, row in ranked)
