"""What the next start makes of the log dirs of one broker of a fleet, as rows of the table `predictions`."""

import json
from collections.abc import Iterator, Sequence

from kcheck.core.startup import Outcome, settings
from kcheck.model.finding import Finding
from kcheck.model.release import Release
from kcheck.model.report import Wanted
from kcheck.scan.host import LogDir, wanted_directories
from kcheck.scan.predict import partition_row, verdict
from kcheck.scan.start_host import LogDirStart, Wish, decided, start_log_dir
from kcheck.tables import predictions

Place = tuple[str | None, str | None, int | None, str, LogDir]
"""Cluster and broker as a run names them, the id of the broker, the path of the log dir, and that opened."""


def rows_of(places: Sequence[Place], wanted: Wanted, release: Release, *, reads: bool) -> Iterator[tuple[object, ...]]:
    """Yield a row for each log dir, and one for each partition directory in it.

    Findings are those of the look at the partitions, and not told again. `reads`: logs are read through where the start
    does it.
    """
    wish = Wish(None, settings({}, release), release, wanted, reads)
    collected: list[Finding] = []
    starts = []
    for _, _, _, path, opened in places:
        starts.append(start_log_dir(path, opened, wanted_directories(opened, wanted), wish, collected))
    for (cluster, broker, broker_id, *_), start in zip(places, decided(starts), strict=True):
        for row in _rows(start):
            yield (cluster, broker, broker_id, start.path, *row)


def _rows(start: LogDirStart) -> Iterator[tuple[object, ...]]:
    names = predictions.TABLE.names[2:]
    unknown = any(each.outcome is Outcome.UNKNOWN for each in start.partitions)
    outcome = Outcome.UNKNOWN if unknown and start.outcome is Outcome.OK else start.outcome
    own = {
        "outcome": str(outcome),
        "reason": ": ".join((verdict(start), *start.reasons[:1])),
        "uncertain": start.uncertain,
        "scan_bytes": sum(each.scan_bytes for each in start.partitions),
    }
    yield tuple(own.get(name) for name in names)
    for each in start.partitions:
        row = partition_row(each)
        yield tuple(_field(row.get(name)) for name in names)


def _field(value: object) -> object:
    return json.dumps(value) if isinstance(value, (tuple, dict)) else value
