"""Shared words and cells of text and HTML for elections (gaps, tables, and logs side by side)."""

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

from kcheck.core.election.broker_losses import BrokerLoss
from kcheck.core.election.plans import SERVED, Candidate, CopyState, PartitionElection
from kcheck.core.election.scenarios import Scenario, lost_by_all
from kcheck.core.premises.judged import EVERY_DISK
from kcheck.core.premises.table import WRONG_METADATA
from kcheck.core.replication.leader_costs import NOT_KNOWN, Amounts
from kcheck.documents.election_words import (
    SEATS,
    brokers_of,
    controller_words,
    fenced_words,
    gap_words,
    group_words,
    run_words,
    unregistered_words,
    why_first,
)
from kcheck.documents.premises import losing_premises, notes
from kcheck.handouts.aside_copies import aside_words
from kcheck.handouts.repair_steps import commands
from kcheck.model.premises import JudgedPremise, PremiseStatus
from kcheck.replicas.broker_gaps import is_out_of_place
from kcheck.replicas.elect import ClusterElection
from kcheck.screen.page import Page, bound_cell, cell, known, size
from kcheck.words import agree, bare_range, counted, listed, some_of

if TYPE_CHECKING:
    from kcheck.fleet.runs.elect import RunElection

Election: TypeAlias = "ClusterElection | RunElection"
_Cell = TypeVar("_Cell")

SCENARIO_TITLES = ("", "lost", "committed", "bytes", "offline")
PARTITION_TITLES = ("partition", "ISR", "ELR", "if all start", "lost", "plan", "lost", "best", "lost")
LEADERS_LEGEND = (
    'Each pair is a leader and the records lost under this leader. "2, later 1" means that broker 1 leads in the end.'
)
_COMPARES_NONE = "kcheck compares no leaders of these disks yet, so plan and best show none."
LOSS_TITLES = ("broker lost for good", "survived", "partitions", "offline", "only copies", "lost", "committed")
CLUSTER_TITLES = ("cluster", "start in this order", "lost if all start", "committed", "offline", "best", "not survived")
_CANDIDATE_TITLES = ("broker", "election", "log end", "lost", "committed", "refetch", "open txns", "groups beyond")
_REMOTE_TITLE, _REMOTE_COLUMN = "remote lost", _CANDIDATE_TITLES.index("refetch")
_WORST_COUNT, _LOSING_MAX = 5, 50
_WAYS = {
    "start-all": "start all brokers",
    "start-all-unrepaired": "start all brokers as they are",
    "plan": "follow the plan",
    "best": "choose the best leaders",
    "kafka-unclean": "enable unclean elections",
}
"""The scenarios in words. In the others, `broker-N-first`, a broker leads even where that needs an unclean election."""


def warnings(election: Election) -> Iterator[str]:
    """Yield the unknown facts, which come before the verdict."""
    yield from map(gap_words, election.gaps)
    if isinstance(election, ClusterElection):
        yield from map(why_first, election.repairs)
    said = [row for row in election.uncounted if row.id not in WRONG_METADATA]
    yield from losing_premises(row for row in election.premises if row not in said and not _is_counted(row, election))
    yield from aside_words(election.partitions, cell)
    yield from unregistered_words(election.partitions, kraft=election.kraft)
    if isinstance(election, ClusterElection):
        yield from group_words(election.partitions)
    else:
        yield from run_words(election.unread, election.cluster.remote)
    if election.image is not None:
        yield from controller_words(election.image, kraft=election.kraft)
    release = election.release if isinstance(election, ClusterElection) else election.cluster.release
    yield from fenced_words(election.fenced, release)
    yield from notes(election.premises)


def interrupted(election: Election, page: Page) -> None:
    """Write what an answer lacks because the user interrupted it."""
    if isinstance(election, ClusterElection) and election.interrupted is not None:
        page.wrapped(f"Interrupted: this is a part of the answer, {election.interrupted}.", style="bold red")


def repair_commands(election: Election) -> Iterator[str]:
    """Yield the commands of the repairs that come first."""
    if isinstance(election, ClusterElection):
        yield from chain.from_iterable(map(commands, election.repairs))


def _is_counted(premise: JudgedPremise, election: Election) -> bool:
    """Return whether the election answers an unseen premise, because every disk is here."""
    is_open = premise.status is PremiseStatus.NOT_SEEN and (premise.provide or "").startswith(EVERY_DISK)
    return is_open and not election.gaps and isinstance(election, ClusterElection) and election.image is not None


def lost_cells(lost: Amounts) -> tuple[str, str]:
    """Return how many records are lost, and how many of them committed; `?` if not even a bound is known."""
    return bound_cell(lost.records, lost.at_most), bound_cell(lost.committed, lost.committed_at_most)


def loss_cells(loss: BrokerLoss) -> tuple[object, ...]:
    """Return the cells of a broker's loss."""
    survived = {True: "yes", False: "no", None: "?"}[loss.is_survived]
    counts = (loss.partitions, known(loss.offline), loss.only_copy)
    return (loss.broker_id, survived, *counts, *lost_cells(loss.lost))


def cluster_cells(election: "RunElection") -> tuple[object, ...]:
    """Return the cost of one cluster, and the brokers whose loss it does not survive."""
    costs = {scenario.name: scenario for scenario in election.scenarios}
    together, best = costs["start-all"], costs["best"]
    fatal = [loss.broker_id for loss in election.broker_losses if loss.is_survived is False]
    return (
        cell(election.cluster.name), brokers_of(election.order.brokers), *lost_cells(together.lost),
        known(together.offline_partitions), lost_cells(best.lost)[0],
        brokers_of(fatal),
    )  # fmt: skip


def _leaders(partition: PartitionElection) -> Iterator[tuple[Candidate, Amounts]]:
    """Yield the candidates that can lead, and what is lost then."""
    return ((candidate, candidate.lost) for candidate in partition.candidates if candidate.lost is not None)


def worst(
    rows: Sequence[PartitionElection], left_out: int = 0, *, every: bool = False
) -> tuple[list[PartitionElection], str]:
    """Return the partitions to show, and the sentence about the others, or none.

    Every partition that loses by the plan, or gets no leader, comes first, at most `_LOSING_MAX`. Others fill up a
    short table. `every` shows all. `left_out` more are not among the rows.
    """
    losing = [row for row in rows if _loses_by_plan(row)]
    others = [row for row in rows if not _loses_by_plan(row)]
    shown = [*rows] if every else [*losing[:_LOSING_MAX], *others[: max(0, _WORST_COUNT - len(losing))]]
    left, more = 0 if every else len(losing[_LOSING_MAX:]), len(rows) - len(shown) + left_out
    if left:
        loses, gets = (agree(left, *words) for words in (("loses", "lose"), ("gets", "get")))
        what = f"{counted(left, 'more partition')} {loses} records by this plan, or {gets} no leader"
    else:
        what = f"{counted(more, 'more partition')} {_under_another(shown, more)}"
    return shown, f"{what}; --all lists them." if more else ""


def _under_another(shown: Sequence[PartitionElection], more: int) -> str:
    """Return the risk of `more` partitions that are not shown, which lose nothing by the plan if there is one."""
    if any(row.seats is None for row in shown):
        return "can lose records under another leader"
    return f"{agree(more, 'loses', 'lose')} nothing by this plan, but can under another leader"


def _loses_by_plan(row: PartitionElection) -> bool:
    """Return whether a partition with known places loses records by the plan, or gets no leader."""
    return row.seats is not None and (row.lost_planned is None or row.lost_planned.records != 0)


def scenario_rows(election: Election) -> list[tuple[object, ...]]:
    """Return the cells of each way to go on."""
    after = ", once repaired" if any(row.name.endswith("-unrepaired") for row in election.scenarios) else ""
    return [_scenario_cells(row, after) for row in election.scenarios]


def _scenario_cells(scenario: Scenario, after: str) -> tuple[object, ...]:
    lost, name = scenario.lost, scenario.name
    words = _WAYS.get(name) or f"let broker {name.split('-')[1]} lead first"
    words += after if name == "start-all" else ""
    return words, *lost_cells(lost), size(lost.bytes), cell(scenario.offline_partitions)


def candidate_table(partition: PartitionElection) -> tuple[Sequence[str], list[Sequence[object]]]:
    """Return the titles and rows of all candidates; with remote offsets if one of them loses some."""
    rows: list[Sequence[object]] = [_candidate_cells(row, partition.best) for row in partition.candidates]
    lost = [() if row.plan is None else row.plan.remote_lost for row in partition.candidates]
    if not any(lost):
        return _CANDIDATE_TITLES, rows
    words = [some_of([bare_range(*span) for span in spans], _WORST_COUNT) if spans else "-" for spans in lost]
    titles = _with_remote(_CANDIDATE_TITLES, _REMOTE_TITLE)
    return titles, [_with_remote(row, each) for row, each in zip(rows, words, strict=True)]


def _with_remote(row: Sequence[_Cell], value: _Cell) -> list[_Cell]:
    return [*row[:_REMOTE_COLUMN], value, *row[_REMOTE_COLUMN:]]


def _candidate_cells(candidate: Candidate, best: int | None) -> tuple[object, ...]:
    """Return the cells of a candidate; the best one has a star."""
    state, lost = candidate.state, candidate.lost or NOT_KNOWN
    is_best = candidate.broker_id == best and state in SERVED
    kind = SEATS[candidate.seat] if state in SERVED else f"{state} copy"
    return (
        f"{candidate.broker_id}{' *' if is_best else ''}",
        f"{kind}, empty" if state is CopyState.MISSING else kind,
        cell(candidate.log_end_offset),
        *lost_cells(lost),
        size(None if candidate.refetch is None else candidate.refetch.bytes),
        cell(candidate.open_transactions),
        cell(candidate.groups_beyond),
    )


def compares_leaders(election: Election) -> bool:
    """Return False for directories under wrong names and for disks at wrong brokers."""
    return not is_out_of_place(election.gaps, election.premises)


def legend(election: Election) -> str:
    """Return the sentence below a table of partitions."""
    return LEADERS_LEGEND if compares_leaders(election) else f"{LEADERS_LEGEND} {_COMPARES_NONE}"


def partition_cells(partition: PartitionElection, *, is_compared: bool = True) -> tuple[object, ...]:
    """Return the cells of a partition, with each leader and the loss when nothing changes any more.

    `is_compared` is from `compares_leaders`.
    """
    best, now, registration = partition.recommended, partition.now, partition.registration
    pairs = (
        (_course(partition, now), now and lost_by_all(partition)),
        ("?" if registration is None else str(known(partition.planned)), partition.lost_planned),
        (cell(partition.best), best and best.lost),
    )  # fmt: skip
    if not is_compared:
        pairs = (pairs[0], ("?", None), ("?", None))
    return (
        partition.name,
        brokers_of(None if registration is None else registration.isr),
        brokers_of(None if registration is None else registration.elr),
        *(text for leader, lost in pairs for text in (leader, _lost(leader, lost))),
    )


def _lost(leader: object, lost: Amounts | None) -> str:
    return "-" if leader == "-" else lost_cells(lost or NOT_KNOWN)[0]


def _course(partition: PartitionElection, first: Candidate | None) -> str:
    """Return the first leader, and the later leader."""
    if partition.registration is None:
        return "?"
    if first is None:
        return "-"
    return f"{first.broker_id}" + (f", later {first.later.broker_id}" if first.later is not None else "")


class LogPart(NamedTuple):
    """The offsets of a log that one thing happens to."""

    kind: str
    """`lost`, `kept` or `fetched`; a missing segment is no part."""
    start: int
    end: int

    def covers(self, first: int, last: int) -> bool:
        """Return whether it shows where these offsets are one mark; the smallest loss does."""
        return self.start <= (last if self.kind == "lost" else first) and first < self.end


class LogLine(NamedTuple):
    """One log of the picture."""

    broker_id: int
    start: int
    end: int
    parts: tuple[LogPart, ...]
    """The parts, lost ones first, because they hide kept ones."""

    @property
    def words(self) -> str:
        """Its offsets, and which of them are missing."""
        kept = [part for part in self.parts if part.kind == "kept"]
        gaps = [offsets(one.end, two.start) for one, two in pairwise(kept)]
        return f"{offsets(self.start, self.end)}{f' without {listed(gaps)}' if gaps else ''}"


def log_lines(partition: PartitionElection, best: Candidate) -> list[LogLine]:
    """Return the logs side by side as they are when the best candidate leads."""
    followers = {} if best.plan is None else {part.broker_id: part for part in best.plan.followers}
    lines = []
    for candidate, _ in _leaders(partition):
        start, end = candidate.log_start_offset, candidate.log_end_offset
        if candidate.state not in SERVED or start is None or end is None:
            continue
        part = followers.get(candidate.broker_id)
        gone = () if part is None else (part.lost, part.expired)
        parts = [LogPart("lost", lost.start, lost.end) for lost in gone if lost is not None]
        if candidate.broker_id == best.broker_id:
            parts += [LogPart("lost", *span) for span in (() if best.plan is None else best.plan.remote_lost)]
        edges = [start, *(edge for hole in candidate.holes if start <= hole.start < end for edge in hole), end]
        parts += [LogPart("kept", *piece) for piece in zip(edges[::2], edges[1::2], strict=True)]
        parts.append(LogPart("fetched", end, best.log_end_offset or end))
        shown = tuple(part for part in parts if part.end > part.start)
        lines.append(LogLine(candidate.broker_id, start, end, shown))
    return lines


def offsets(start: int, end: int) -> str:
    """Return in words the offsets from `start` up to, and without, `end`."""
    if end <= start:
        return f"empty at {start}"
    return bare_range(start, end)


def extent(lines: list[LogLine]) -> tuple[int, int]:
    """Return the lowest log start offset and the highest log end offset."""
    return min(line.start for line in lines), max(line.end for line in lines)
