"""The verdict on the elections of a cluster, in sentences, with the cheapest remedy first."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from kcheck.core.election.early_elections import Displaced, by_broker, displaced, kept_out, saved_by
from kcheck.core.election.election import BrokerStart
from kcheck.core.election.misplaced import Misplaced
from kcheck.core.election.phases import Course, Phase
from kcheck.core.election.plans import BrokerGap, CopyState, PartitionElection
from kcheck.core.election.scenarios import Scenario, lost_by_all, with_plan
from kcheck.core.election.start_order import StartOrder
from kcheck.core.premises.table import OTHER_RECORDS, WRONG_METADATA, why_not_started
from kcheck.core.replication.leader_costs import total
from kcheck.documents.election_words import amount_lost, empty_words, names_of
from kcheck.documents.uncounted import NOTHING, in_sync_words, premise_words
from kcheck.model.cluster import UNCLEAN, ClusterImage, Seat
from kcheck.model.premises import JudgedPremise
from kcheck.model.remote_log import REMOTE_LOG_METADATA
from kcheck.words import agree, broker_names, counted, listed, record_count

_SEATS = {
    Seat.ISR: "in the ISR of", Seat.ELR: "in the ELR (after registration) of",
    Seat.LAST_KNOWN: "the last known leader of",
}  # fmt: skip
"""The name of a place that makes a leader."""


def why_empty(premises: Iterable[JudgedPremise], image: ClusterImage | None) -> str | None:
    """Return why an answer without any partition proves nothing; None if the cluster has none."""
    unseen = "the partitions of the cluster are not known: name a copy of its metadata with --metadata"
    return why_not_started(premises) or (unseen if image is None else None)


def verdict(
    partitions: Sequence[PartitionElection],
    starts: Mapping[int, BrokerStart],
    order: StartOrder,
    course: Course,
    *,
    why_empty: str | None = None,
    failing: Sequence[BrokerGap] = (),
    is_mistaken: bool = False,
    moved: Sequence[Misplaced] = (),
    uncounted: Sequence[JudgedPremise] = (),
    apart: Collection[str] = (),
    nothing: str = NOTHING,
    is_all: bool = True,
    by_disks: str | None = None,
) -> str:
    """Return the recommendation, and its cost, for an operator.

    The partitions are `planned`, all or some; the `course` is for all. `failing` are brokers here that do not start;
    `is_mistaken` is true if some have disks or settings of another one. `moved` are the directories that belong at
    another place. `why_empty` is the reason for an answer without known partitions. `uncounted` are the premises with
    losses that no election counts, `apart` sentences about directories that no election counts. `nothing` are the words
    for no loss. `is_all` is true if the partitions are all of the cluster. `by_disks` is the first step where a run
    does not show the losses, so that no order is known.
    """
    if not partitions:
        return f"These paths have no partitions{'.' if why_empty is None else f', and {why_empty}.'}"
    first = (*apart, *premise_words((row for row in uncounted if row.id not in WRONG_METADATA), partitions))
    if is_mistaken:
        none = () if order.brokers else ("No broker here starts.",)
        return " ".join((*first, *_failing(failing), *none, "kcheck compares no leaders before that."))
    if any(row.id in OTHER_RECORDS for row in uncounted):
        return " ".join((*first, "Then ask again: kcheck compares no leaders under wrong names."))
    if moved:
        return " ".join((*first, *empty_words(partitions), *_moved(moved)))
    if by_disks is not None:
        known = (*_failing(failing), *empty_words(partitions), *in_sync_words(partitions))
        return " ".join((*first, *known, f"Start no broker yet. {by_disks}."))
    early = by_broker(displaced(partitions, order.brokers, starts, course.means))
    return " ".join(
        (
            *first,
            *_failing(failing),
            *(("Otherwise:",) if failing else ()),
            *empty_words(partitions),
            *in_sync_words(partitions),
            *_incomplete(partitions, starts),
            *_starts(partitions, starts, order, course.phases, is_all=is_all),
            *_kept_out(partitions),
            *_early(early),
            *_elections(partitions),
            *_without_remote_storage(partitions),
            *_unseen(partitions),
            *_outcome(partitions, with_plan(partitions), nothing),
        )
    )


def _moved(rows: Sequence[Misplaced]) -> Iterator[str]:
    """Yield which directories come back before any broker starts."""
    directories = agree(len(rows), "a directory", "directories")
    brokers = broker_names(sorted({row.broker_id for row in rows}))
    yield f"First put {directories} of {brokers} back, and ask again. kcheck recover has the commands."


def _failing(gaps: Sequence[BrokerGap]) -> Iterator[str]:
    """Yield the brokers whose start comes first, as their logs may hold records that the others lack."""
    if gaps:
        brokers = broker_names([gap.broker_id for gap in gaps])
        replicas, its = sum(gap.replicas for gap in gaps), agree(len(gaps), "its", "their")
        holders = f"{counted(replicas, 'replica')} {agree(replicas, 'holds', 'hold')}" if replicas else "disks hold"
        yield f"First make {brokers} able to start, and ask again. Data that only {its} {holders} is not counted."


def _incomplete(partitions: Sequence[PartitionElection], starts: Mapping[int, BrokerStart]) -> Iterator[str]:
    """Yield which disks to bring. A premise names the missing log dirs of brokers that are here."""
    without = [row for row in partitions if row.best is None and row.unknown_replicas]
    brokers = sorted({number for row in without for number in row.unknown_replicas} - {*starts})
    if brokers:
        them = agree(len(brokers), "it", "them")
        yield (
            f"Start no broker yet: kcheck recommends no leader for {counted(len(without), 'partition')}. Bring the log"
            f" dirs of {broker_names(brokers)}, or give {them} up with --dead. If you have to go on"
            f" without {them}:"
        )


def _starts(
    partitions: Sequence[PartitionElection],
    starts: Mapping[int, BrokerStart],
    order: StartOrder,
    course: Sequence[Phase],
    *,
    is_all: bool,
) -> Iterator[str]:
    """Yield the order of starts, with the stops between them, and why it begins so."""
    if not order.brokers:
        yield "No broker here starts."
        return
    first, more = order.brokers[0], [*_more_phases(course)]
    then = f" Then {', then '.join(more)}." if more else ""
    if order.together:
        nodes, are = broker_names(order.together), "together: they are controllers, and no leader is elected with fewer"
        yield f"Start {nodes} {are if len(order.together) > 1 else 'first: it is the controller'}.{then}"
        return
    yield f"Start broker {first} first{_why_first(partitions, starts.get(first))}.{then}"
    if more and is_all and _is_any_order(partitions, course):
        yield "Any other order loses no more."


def _is_any_order(partitions: Sequence[PartitionElection], course: Sequence[Phase]) -> bool:
    """Return whether every order of starts gives each partition a leader, and loses as little as the plan."""
    if any(phase.stops for phase in course) or any(kept_out(partitions)):
        return False
    return all(row.race and None not in row.race and _is_any_leader(row) for row in partitions)


def _is_any_leader(row: PartitionElection) -> bool:
    """Return whether a partition loses as little under each of its first leaders. Unknown losses are never equal."""
    lost = lost_by_all(row)
    return lost == row.lost_planned and (lost.records is not None or row.race == {row.planned})


def _more_phases(course: Sequence[Phase]) -> Iterator[str]:
    """Yield what follows the first start; the verb is said once where brokers only start."""
    begun, verb = {*course[0].starts}, "start "
    for phase in course[1:]:
        stop = f"stop {listed(phase.stops, most=len(phase.stops))} and " if phase.stops else ""
        again = " again" if begun.issuperset(phase.starts) else ""
        yield f"{stop}{verb}{listed(phase.starts, most=len(phase.starts))}{again}"
        begun.update(phase.starts)
        verb = "start " if any(phase.stops for phase in course) else ""


def _kept_out(partitions: Sequence[PartitionElection]) -> Iterator[str]:
    """Yield which replicas to move aside before their broker starts, and why."""
    by_number: dict[int, list[PartitionElection]] = {}
    for partition, number in kept_out(partitions):
        by_number.setdefault(number, []).append(partition)
    for number, rows in sorted(by_number.items()):
        directories = agree(len(rows), "directory", "directories")
        yield (
            f"Before broker {number} starts, move its {directories} of {names_of(rows)} outside every log dir."
            f" {agree(len(rows), 'It lacks', 'They lack')} records that no fetch brings back."
        )


def _early(early: Mapping[int, Sequence[Displaced]]) -> Iterator[str]:
    """Yield the records saved by elections that come before a broker starts."""
    for number, rows in early.items():
        gain = saved_by(rows)
        saved = "records" if gain.upper_records is None else record_count(gain.records, at_most=gain.at_most)
        alone = next((f", while broker {row.instead} runs alone," for row in rows if row.alone), None)
        when = f" before broker {number} starts" if alone is None else alone
        yield (
            f"An unclean election of {counted(len(rows), 'partition')}{when} saves {saved}: plan.md of --output-dir has"
            " the command."
        )


def _why_first(partitions: Sequence[PartitionElection], first: BrokerStart | None) -> str:
    """Return which places the first broker has once it has registered, that make it the leader."""
    by_seat: dict[Seat, list[PartitionElection]] = {}
    for row in partitions if first is not None else ():
        candidate = None if first is None else row.leaders.get(first.broker_id)
        if candidate is not None and candidate.state is not CopyState.MISSING and candidate.seat in _SEATS:
            by_seat.setdefault(candidate.seat, []).append(row)
    only = [row for rows in by_seat.values() for row in rows if len(row.leaders) == 1]
    alone = [row for row in only if row.registration is not None and len(row.registration.replicas) == 1]
    if alone:
        return f": it has the only replica of {names_of(alone)}"
    if only:
        return f": only it can lead {names_of(only)}"
    places = [f"{words} {names_of(by_seat[seat])}" for seat, words in _SEATS.items() if seat in by_seat]
    return f": it is {listed(places, most=len(places))}" if places else ""


def _elections(partitions: Sequence[PartitionElection]) -> Iterator[str]:
    """Yield what needs an unclean election, and what no replica can lead."""
    needed = [row for row in partitions if row.needs_unclean]
    if needed:
        verb = agree(len(needed), "gets", "get")
        yield f"{counted(len(needed), 'partition')} {verb} no leader without an unclean election: {names_of(needed)}."
    unserved = [row for row in partitions if not row.leaders]
    if unserved:
        verb = agree(len(unserved), "has", "have")
        yield f"{counted(len(unserved), 'partition')} {verb} no replica here that can lead: {names_of(unserved)}."


def _without_remote_storage(partitions: Sequence[PartitionElection]) -> Iterator[str]:
    """Yield the partitions of __remote_log_metadata without a leader. Their topics have only their local part."""
    rows = [row for row in partitions if row.topic == REMOTE_LOG_METADATA and row.seats is not None and not row.planned]
    if rows:
        yield (
            f"Until {names_of(rows)} {agree(len(rows), 'has', 'have')} a leader, Kafka copies, deletes and reads"
            " nothing in remote storage there."
        )


def _unseen(partitions: Sequence[PartitionElection]) -> Iterator[str]:
    """Yield what depends on settings that were not seen."""
    rows = [row for row in partitions if row.is_in_doubt]
    if rows:
        yield (
            "It is not known if the controllers elect replicas that are not in sync"
            f" ({UNCLEAN}). If they do, records of {names_of(rows)} can be lost. Name the server.properties of a"
            " controller by --config."
        )


def _outcome(partitions: Sequence[PartitionElection], plan: Scenario, nothing: str) -> Iterator[str]:
    """Yield what comes of the plan, as far as it is known."""
    if plan.offline_partitions is None:
        best = total(row.recommended.lost for row in partitions if row.recommended is not None)
        yield "Without metadata it is not known which leader Kafka elects."
        yield f"Under the best leaders {amount_lost(best, nothing)}."
        return
    led = len(partitions) - plan.offline_partitions
    if led:
        lost = amount_lost(plan.lost, nothing)
        if led == len(partitions):
            yield f"With this plan every partition gets a leader, and {lost}."
        else:
            verb = agree(led, "gets", "get")
            yield f"With this plan {counted(led, 'partition')} of {len(partitions)} {verb} a leader, and there {lost}."
