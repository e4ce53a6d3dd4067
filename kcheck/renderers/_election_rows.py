"""What text and HTML both say of elections: words for gaps, cells of tables, and the logs side by side."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from kcheck.handouts.aside_copies import AsideCopy, aside_words
from kcheck.model.report import Row
from kcheck.renderers._text_truncation import row_name
from kcheck.screen.page import cell, known, size
from kcheck.words import bare_range, counted, some_of

SCENARIO_TITLES = ("", "lost", "committed", "bytes", "offline")
PARTITION_TITLES = ("partition", "isr", "elr", "elected now", "best", "lost", "committed", "worst leader loses")
LOSS_TITLES = ("broker lost for good", "survived", "partitions", "offline", "only copies", "lost", "committed")
CLUSTER_TITLES = ("cluster", "start in this order", "lost if all start", "committed", "offline", "best", "not survived")
CANDIDATE_TITLES = ("broker", "election", "log end", "lost", "committed", "refetch", "open txns", "groups beyond")
_WAYS = {"start-all": "start all that is here", "best": "best leaders", "kafka-unclean": "unclean elections on now"}
"""The scenarios in words. In the others, `broker-N-first`, a broker leads even where that needs an unclean election."""


def warnings(body: Any, rows: Sequence[Any]) -> Iterator[str]:
    """Yield what the answer does not know: it comes before the verdict."""
    yield from map(gap_words, body["gaps"])
    yield from aside_words(_aside(rows))
    if any(row["replicas"] is None for row in rows):
        text = "No metadata for all of these partitions: kcheck does not know their ISR, nor all of their replicas."
        yield f"{text} Name a controller's log dir with --metadata."
    if "run" in body:
        text = "A run has no batches: it does not say which transactions a leader cuts or leaves open, nor which groups"
        yield f"{text} have read further than its log goes. kcheck elect on the log dirs does."
    else:
        yield from _group_words(rows)
    if body.get("unread_replicas"):
        replicas = counted(body["unread_replicas"], "replica")
        text = f"The run does not know what {replicas} will hold: a start reads the logs through."
        yield f"{text} Scan with --depth crc."
    otherwise, assumed = body["controllers_otherwise"], body["controller_id"]
    if otherwise:
        whose = "the cluster's default" if assumed is None else f"node {assumed}"
        text = f"Whether unclean elections are on depends on the active controller: nodes {brokers_of(otherwise)} are"
        yield f"{text} configured otherwise than {whose}, which kcheck assumes."
    running = body["running_in_metadata"]
    if len(running) > 1:
        text = (
            f"By the metadata brokers {brokers_of(running)} still run: whom the controller keeps in sync depends on the"
        )
        yield f"{text} order in which it fences them; kcheck assumes this one."


def _group_words(rows: Sequence[Any]) -> Iterator[str]:
    """Yield where consumer groups have read further than the log of the best leader goes."""
    ahead = [row for row in rows if (leader := best_of(row)) is not None and leader["groups_beyond"]]
    if ahead:
        names = some_of([row_name(row) for row in ahead])
        text = f"Consumer groups have committed offsets beyond the log end of the best leader of {names}:"
        yield f"{text} they skip or repeat records. plan.md of --out has the command that resets them."


def _aside(rows: Sequence[Any]) -> Iterator[AsideCopy]:
    """Yield the copies that no broker serves, and that have what no replica has."""
    for row in rows:
        for copy in row["candidates"]:
            only = copy["only_here"]
            if only is not None and only["records"] != 0:
                yield AsideCopy(only["records"], copy["broker_id"], row_name(row), cell(copy["dir"]), copy["state"])


def gap_words(gap: Row) -> str:
    """Return in words what is not part of the picture, and why."""
    replicas = f"broker {gap['broker_id']} holds {counted(int(str(gap['replicas'])), 'replica')}"
    if gap["why"] is None:
        return f"{replicas} and is not here: their loss is not known"
    if gap["why"] == "given up":
        return f"{replicas} and is given up: what only it holds is lost"
    return f"{replicas} and does not start: {gap['why']}"


def loss_cells(row: Any) -> tuple[object, ...]:
    """Return what goes with a broker."""
    survived = {True: "yes", False: "no", None: "?"}[row["survived"]]
    counts = (row["partitions"], known(row["offline_partitions"]), row["only_copies"])
    return (row["broker_id"], survived, *counts, *(known(row["lost"][name]) for name in ("records", "committed")))


def cluster_cells(row: Any) -> tuple[object, ...]:
    """Return what one cluster costs, and the brokers whose loss it does not survive."""
    costs = {scenario["name"]: scenario for scenario in row["scenarios"]}
    together, best = costs["start-all"], costs["best"]
    fatal = [loss["broker_id"] for loss in row["broker_losses"] if loss["survived"] is False]
    return (
        cell(row["cluster"]), brokers_of(row["start_order"]), known(together["lost"]["records"]),
        known(together["lost"]["committed"]), known(together["offline_partitions"]), known(best["lost"]["records"]),
        brokers_of(fatal) if fatal else "-",
    )  # fmt: skip


def leaders(row: Row) -> list[Any]:
    """Return the candidates that can lead."""
    candidates: Any = row["candidates"]
    return [candidate for candidate in candidates if candidate["lost"] is not None]


def is_at_stake(row: Any) -> bool:
    """Whether a leader of it loses records, or nobody is recommended."""
    return row["best"] is None or any(candidate["lost"]["records"] != 0 for candidate in leaders(row))


def harm(row: Any) -> tuple[object, ...]:
    """Return what orders partitions, the worst first."""
    best = best_of(row)
    lost = {"committed": 0, "records": 0} if best is None else best["lost"]
    return best is not None, -(lost["committed"] or 0), -(lost["records"] or 0), -worst_loss(row), row_name(row)


def worst_loss(row: Row) -> int:
    """Return how many records the worst leader loses."""
    return max((candidate["lost"]["records"] or 0 for candidate in leaders(row)), default=0)


def best_of(row: Row) -> Any:
    """Return the recommended candidate; None if there is none."""
    return next((candidate for candidate in leaders(row) if candidate["broker_id"] == row["best"]), None)


def brokers_of(numbers: Any) -> str:
    """Return ids with commas; `-` if there are none."""
    return "?" if numbers is None else ",".join(map(str, numbers)) or "-"


def scenario_cells(row: Row) -> tuple[object, ...]:
    """Return the cells of a way to go on."""
    lost: Any = row["lost"]
    name = str(row["name"])
    words = _WAYS.get(name) or f"broker {name.split('-')[1]} leads all it has"
    return words, cell(lost["records"]), cell(lost["committed"]), size(lost["bytes"]), cell(row["offline_partitions"])


_KINDS = {True: "clean", False: "unclean", None: "?"}


def candidate_cells(candidate: Any, best: object) -> tuple[object, ...]:
    """Return the cells of a candidate; the best one has a star."""
    lost, refetch = candidate["lost"] or {}, candidate["refetch"] or {}
    is_best = candidate["broker_id"] == best and candidate["state"] in {"current", "missing"}
    name = f"{candidate['broker_id']}{' *' if is_best else ''}"
    state = candidate["state"]
    kind = _KINDS[candidate["clean"]] if state in {"current", "missing"} else f"{state} copy"
    return (
        name,
        f"{kind}, empty log" if state == "missing" else kind,
        cell(candidate["log_end_offset"]),
        cell(lost.get("records")),
        cell(lost.get("committed")),
        size(refetch.get("bytes")),
        cell(candidate["open_transactions"]),
        cell(candidate["groups_beyond"]),
    )


def partition_cells(row: Any) -> tuple[object, ...]:
    """Return the cells of a partition."""
    best = best_of(row)
    lost = {"records": None, "committed": None} if best is None else best["lost"]
    return (
        row_name(row),
        brokers_of(row["isr"]),
        brokers_of(row["elr"]),
        "?" if row["isr"] is None else known(row["kafka_elects"]["clean"]),
        cell(row["best"]),
        cell(lost["records"]),
        cell(lost["committed"]),
        str(worst_loss(row)),
    )


class LogPart(NamedTuple):
    """The offsets of a log that one thing happens to."""

    kind: str
    """`lost`, `kept` or `fetched`."""
    start: int
    end: int

    def covers(self, first: int, last: int) -> bool:
        """Whether it shows where these offsets are one mark; the smallest loss does."""
        return self.start <= (last if self.kind == "lost" else first) and first < self.end


class LogLine(NamedTuple):
    """One log of the picture."""

    broker_id: int
    start: int
    end: int
    parts: tuple[LogPart, ...]
    """What is lost comes first: it hides what is kept."""


def log_lines(row: Any, best: Any) -> list[LogLine]:
    """Return the logs side by side as they are when the best candidate leads."""
    followers = {part["broker_id"]: part for part in best["followers"]}
    lines = []
    for candidate in leaders(row):
        if candidate["state"] not in {"current", "missing"}:
            continue
        part = followers.get(candidate["broker_id"])
        lost = None if part is None else part["lost"]
        start, end = candidate["log_start_offset"], candidate["log_end_offset"]
        parts = [] if lost is None else [LogPart("lost", lost["from"], lost["to"])]
        parts += [LogPart("kept", start, end), LogPart("fetched", end, best["log_end_offset"])]
        shown = tuple(part for part in parts if part.end > part.start)
        lines.append(LogLine(candidate["broker_id"], start, end, shown))
    return lines


def offsets(start: int, end: int) -> str:
    """Return in words the offsets from `start` up to, and without, `end`."""
    if end <= start:
        return f"empty at {start}"
    return bare_range(start, end)


def extent(lines: list[LogLine]) -> tuple[int, int]:
    """Return the lowest log start offset and the highest log end offset."""
    return min(line.start for line in lines), max(line.end for line in lines)
