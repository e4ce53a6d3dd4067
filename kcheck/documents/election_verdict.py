"""The verdict on the elections of a cluster, in sentences: the cheapest remedy first."""

from collections.abc import Iterator, Mapping, Sequence

from kcheck.core.election.early_elections import Displaced, by_broker, displaced
from kcheck.core.election.election import BrokerStart
from kcheck.core.election.plans import PartitionElection
from kcheck.core.election.scenarios import after_order
from kcheck.core.election.start_order import StartOrder
from kcheck.core.replication.leader_costs import Amounts, total
from kcheck.model.release import Release
from kcheck.words import agree, counted, listed, partition_name, record_count, some_of


def verdict(
    partitions: Sequence[PartitionElection],
    starts: Mapping[int, BrokerStart],
    order: StartOrder,
    release: Release,
) -> str:
    """Return what to do, and what that costs, for a person."""
    if not partitions:
        return "There are no partitions in these paths."
    early = by_broker(displaced(partitions, order.brokers, starts, release))
    return " ".join(
        (
            *_empty(partitions),
            *_incomplete(partitions),
            *_starts(partitions, starts, order),
            *_early(early),
            *_elections(partitions),
        )
    )


def _empty(partitions: Sequence[PartitionElection]) -> Iterator[str]:
    """Yield the partitions of which no broker here serves a log."""
    empty = [row for row in partitions if row.starts_empty]
    if empty:
        verb = agree(len(empty), "starts", "start")
        yield f"{_names(empty)} {verb} empty: no broker here serves {agree(len(empty), 'its', 'their')} log."


def _incomplete(partitions: Sequence[PartitionElection]) -> Iterator[str]:
    """Yield which disks to bring."""
    without = [row for row in partitions if row.best is None and row.unknown_replicas]
    if without:
        brokers = sorted({number for row in without for number in row.unknown_replicas})
        count = len(brokers)
        name, them = agree(count, "broker", "brokers"), agree(count, "it", "them")
        yield (
            f"Start no broker yet: kcheck recommends no leader for {counted(len(without), 'partition')}. Bring the log"
            f" dirs of {name} {listed(brokers, most=count)}, or give {them} up with --dead. If you have to go on"
            f" without {them}:"
        )


def _starts(
    partitions: Sequence[PartitionElection], starts: Mapping[int, BrokerStart], order: StartOrder
) -> Iterator[str]:
    """Yield the order of starts, why it begins so, and what it costs."""
    if not order.brokers:
        yield "No broker here starts."
        return
    first, *rest = order.brokers
    then = f" Then start {', then '.join(map(str, rest))}." if rest else ""
    yield f"Start broker {first} first{_why_first(partitions, first)}.{then}"
    scenario = after_order(partitions, starts, order.brokers)
    led = len(partitions) - (scenario.offline_partitions or 0)
    if led:
        whose = "Every partition" if led == len(partitions) else counted(led, "partition")
        verb = "gets" if led in (1, len(partitions)) else "get"
        yield f"{whose} then {verb} a leader, and {amount_lost(scenario.lost)}."


def _early(early: Mapping[int, Sequence[Displaced]]) -> Iterator[str]:
    """Yield what elections save that come before the start of a broker."""
    for number, rows in early.items():
        worse = total(row.partition.leaders[row.leader].lost for row in rows).records
        better = total(row.partition.recommended and row.partition.recommended.lost for row in rows).records
        saved = "records" if worse is None or better is None else counted(worse - better, "record")
        yield (
            f"An unclean election of {counted(len(rows), 'partition')} before broker {number} starts saves {saved}: "
            "plan.md of --out has the command."
        )


def _why_first(partitions: Sequence[PartitionElection], first: int) -> str:
    """Return which seat the first broker has that others have not; what the controller changes first is said."""
    named = [row for row in partitions if row.seats and first in (row.seats.isr or row.seats.elr)]
    if not named:
        return ""
    in_elr = [row for row in named if row.seats and not row.seats.isr]
    is_so_now = all(row.registration and first in row.registration.elr for row in in_elr)
    when = "" if is_so_now else "once the controller is back, "
    return f": {when}it is in the {'ELR' if in_elr else 'ISR'} of {_names(named)}"


def _elections(partitions: Sequence[PartitionElection]) -> Iterator[str]:
    """Yield what needs an unclean election, and what the best one costs."""
    needed = [row for row in partitions if row.needs_unclean]
    elected = [row.recommended for row in needed if row.recommended is not None]
    if needed:
        verb = agree(len(needed), "gets", "get")
        yield f"{counted(len(needed), 'partition')} {verb} no leader without an unclean election: {_names(needed)}."
    if elected:
        yield f"Under the best leaders {amount_lost(total(row.lost for row in elected))} there."
    unserved = [row for row in partitions if not row.leaders]
    if unserved:
        verb = agree(len(unserved), "has", "have")
        yield f"{counted(len(unserved), 'partition')} {verb} no replica here that can lead: {_names(unserved)}."


def _names(partitions: Sequence[PartitionElection]) -> str:
    return some_of([partition_name(row.topic, row.partition) for row in partitions])


def amount_lost(lost: Amounts) -> str:
    """Return what an election costs, as `26 records are lost, 17 of them committed`."""
    if lost.records == 0:
        return "nothing is lost"
    upper, committed = lost.upper_records, lost.upper_committed
    words = f"{record_count(lost.records, at_most=lost.at_most)} {agree(upper or 0, 'is', 'are')} lost"
    if committed is None:
        return words
    if upper == committed and (lost.records is None) == (lost.committed is None):
        return f"{words}, {agree(committed, 'which was', 'all of them')} committed"
    return f"{words}, {'at most ' * (lost.committed is None)}{committed or 'none'} of them committed"
