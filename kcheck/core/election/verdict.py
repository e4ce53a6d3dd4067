"""The verdict on the elections of a cluster, in sentences: the cheapest remedy first."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from kcheck.core.election.early_elections import Displaced, by_broker, displaced
from kcheck.core.election.election import BrokerStart
from kcheck.core.election.plans import Amounts, PartitionElection, total
from kcheck.core.election.scenarios import after_order
from kcheck.core.election.start_order import StartOrder
from kcheck.model.release import Release

_NAMED = 3


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
        (*_incomplete(partitions), *_starts(partitions, starts, order), *_early(early), *_elections(partitions))
    )


def _incomplete(partitions: Sequence[PartitionElection]) -> Iterator[str]:
    """Yield which disks to bring."""
    without = [row for row in partitions if row.best is None and row.unknown_replicas]
    if without:
        brokers = sorted({number for row in without for number in row.unknown_replicas})
        name, them = ("broker", "it") if len(brokers) == 1 else ("brokers", "them")
        yield (
            f"Start no broker yet: kcheck recommends no leader for {counted(len(without), 'partition')}. Bring the log"
            f" dirs of {name} {listed(brokers)}, or give {them} up with --dead. If you have to go on without {them}:"
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
        yield f"{whose} then {verb} a leader, and {lost_words(scenario.lost)}."


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
    names = some([f"{row.topic}-{row.partition}" for row in named])
    return f": {when}it is in the {'ELR' if in_elr else 'ISR'} of {names}"


def _elections(partitions: Sequence[PartitionElection]) -> Iterator[str]:
    """Yield what needs an unclean election, and what the best one costs."""
    needed = [row for row in partitions if row.needs_unclean]
    elected = [row.recommended for row in needed if row.recommended is not None]
    if needed:
        verb = "gets" if len(needed) == 1 else "get"
        yield f"{counted(len(needed), 'partition')} {verb} no leader without an unclean election{_named(needed)}."
    if elected:
        yield f"Under the best leaders {lost_words(total(row.lost for row in elected))} there."
    unserved = [row for row in partitions if not row.leaders]
    if unserved:
        verb = "has" if len(unserved) == 1 else "have"
        yield f"{counted(len(unserved), 'partition')} {verb} no replica here that can lead{_named(unserved)}."


def _named(partitions: Sequence[PartitionElection]) -> str:
    return f": {some([f'{row.topic}-{row.partition}' for row in partitions])}"


def lost_words(lost: Amounts) -> str:
    """Return a loss in words."""
    if lost.records == 0:
        return "nothing is lost"
    records = "an unknown number of records" if lost.records is None else counted(lost.records, "record")
    verb = "is" if lost.records == 1 else "are"
    if lost.committed is None:
        return f"{records} {verb} lost"
    if lost.records == lost.committed:
        share = "which was" if lost.records == 1 else "all of them"
    else:
        share = f"{lost.committed or 'none'} of them"
    return f"{records} {verb} lost, {share} committed"


class AsideCopy(NamedTuple):
    """A directory that no broker serves, and that has what no replica here has."""

    records: int | None
    """How many records only it has; None if that is not known."""
    broker_id: int
    """Its broker."""
    partition: str
    """The partition."""
    dir: str
    """The directory, as a text shows it."""
    state: str
    """What it is to the partition."""


def aside_words(copies: Iterable[AsideCopy]) -> Iterator[str]:
    """Yield which directories have what no replica has, unknown counts first, then the highest."""
    rows = sorted(copies, key=lambda copy: (copy.records is not None, -(copy.records or 0), copy.partition))
    for copy in rows[:_NAMED]:
        records = "an unknown number of records" if copy.records is None else counted(copy.records, "record")
        yield (
            f"Broker {copy.broker_id} has {records} of {copy.partition} that no replica here has, in a directory that"
            f" no broker serves: {copy.dir} ({copy.state})"
        )
    if len(rows) > _NAMED:
        yield f"Such directories beside these: {len(rows) - _NAMED}"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def some(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are."""
    rest = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")


def listed(numbers: Sequence[int]) -> str:
    """Return numbers as a list in words."""
    texts = [str(number) for number in numbers]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
