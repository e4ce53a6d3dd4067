"""The sentences of elections and what they lose (a leader, a course, a plan, repairs that come first, its gaps).

Every screen, page and document takes them from here. `election_verdict` joins them into a recommendation.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from kcheck.core.election.course import Later
from kcheck.core.election.election import controllers_otherwise
from kcheck.core.election.first_repairs import FirstRepair
from kcheck.core.election.first_rescue import FirstRescue
from kcheck.core.election.plans import SERVED, BrokerGap, PartitionElection
from kcheck.core.election.recovery_plan import BrokerLogDir
from kcheck.core.election.scenarios import Scenario, lost_by_all
from kcheck.core.replication.leader_costs import Amounts
from kcheck.documents.uncounted import NOTHING_HERE
from kcheck.model.cluster import ClusterImage, Seat
from kcheck.model.names import TopicPartition
from kcheck.model.premises import SAME_HISTORY, JudgedPremise
from kcheck.model.release import Release
from kcheck.words import (
    LISTED_MAX,
    agree,
    broker_names,
    counted,
    listed,
    record_count,
    repair_title,
    shell_word,
    some_names,
    some_of,
)

SEATS: Mapping[Seat | None, str] = {
    Seat.ISR: "ISR",
    Seat.ELR: "ELR",
    Seat.LAST_KNOWN: "last leader",
    Seat.NONE: "unclean",
    None: "?",
}
"""The words, by the place of the replica; `?` without metadata."""
SEAT_LEGEND = (
    "*: no other leader loses less. election: why a broker leads that starts first. ISR: it is in sync. ELR: it is an"
    " eligible leader replica. last leader: it led last, and no replica is in ISR or ELR. The controller elects these"
    " by itself. unclean: only an unclean election makes it lead."
)
"""The legend of the column `election`."""


_WHYS = {
    Seat.ISR: "in the ISR", Seat.ELR: "in the ELR after registration", Seat.LAST_KNOWN: "the last known leader",
    Seat.NONE: "elected uncleanly",
}  # fmt: skip
_LATER = {Later.PREFERRED: "the preferred replica, once in sync", Later.REASSIGNED: "the first that is left"}


UNTIL_RESCUE = "The loss under each leader depends on the metadata that the rescue brings back."


def nothing_at_stake(partitions: Iterable[PartitionElection]) -> str:
    """Return the sentence for partitions that lose nothing under any leader."""
    if any(row.seats is None for row in partitions):
        return "No partition loses records of these disks, whichever of them leads. Other disks are not known."
    return "No partition loses records, whichever replica leads."


def rescue_words(rescue: FirstRescue, refuted: Iterable[JudgedPremise]) -> tuple[str, ...]:
    """Return the decision where a rescue of the metadata comes before any start, as sentences."""
    apart = (row for row in refuted if row.id == SAME_HISTORY)
    return (
        rescue.sentence,
        *dict.fromkeys(f"Broker {row.broker_id} should not start: {row.sentence}." for row in apart),
        "Then ask again: which steps follow, and what they lose, depends on the metadata.",
    )


def amount_lost(lost: Amounts, nothing: str) -> str:
    """Return the cost of an election, as `26 records are lost, 17 of them committed`; `nothing` for no loss."""
    if lost.records == 0:
        return nothing
    upper, committed = lost.upper_records, lost.upper_committed
    words = f"{record_count(lost.records, at_most=lost.at_most)} {agree(upper or 0, 'is', 'are')} lost"
    if committed is None:
        return words
    if upper == committed and (lost.records is None) == (lost.committed is None):
        return f"{words}, {agree(committed, 'which was', 'all of them')} committed"
    return f"{words}, {'at most ' * (lost.committed is None)}{committed or 'none'} of them committed"


def brokers_of(numbers: Sequence[int] | None) -> str:
    """Return ids with commas; `-` without any."""
    return "?" if numbers is None else ",".join(map(str, numbers)) or "-"


def gap_words(gap: BrokerGap) -> str:
    """Return in words what is not part of the picture, and why."""
    if not gap.replicas:
        return f"broker {gap.broker_id} does not start: {gap.why}"
    replicas = f"broker {gap.broker_id} holds {counted(gap.replicas, 'replica')}"
    if gap.why is None:
        return f"{replicas} and is not here; their loss is not known"
    if gap.is_given_up:
        return f"{replicas} and is given up; records that only it has are lost"
    return f"{replicas} and does not start: {gap.why}"


def unregistered_words(partitions: Iterable[PartitionElection], *, kraft: bool) -> Iterator[str]:
    """Yield the unknown facts of partitions without metadata, and the option for metadata."""
    if any(partition.registration is None for partition in partitions):
        text = "Some partitions have no cluster metadata. Their ISR, and replicas on other brokers, are unknown."
        where = "a controller's log dir" if kraft else "ZooKeeper's data, or kafka-topics --describe,"
        yield f"{text} Name {where} with --metadata."


def run_words(unread: int, remote: Collection[TopicPartition]) -> Iterator[str]:
    """Yield the unknown facts of an election from the tables of a run."""
    text = "A run has no batches, so transactions that a leader truncates or leaves open are missing."
    yield f"{text} Groups that have read beyond its log are missing too. kcheck elect on the log dirs lists both."
    if unread:
        text = f"The log ends of {counted(unread, 'replica')} are unknown:"
        yield f"{text} a broker reads these logs when it starts. Scan with --depth crc."
    if remote:
        names = some_names(sorted(remote))
        yield f"A leader of {names} may delete remote segments. kcheck elect on the log dirs counts their records."


def fenced_words(fenced: Sequence[int], release: Release) -> Iterator[str]:
    """Yield the assumed order of fencing several brokers."""
    if len(fenced) > 1:
        whom = "them" if release.fences_in_hash_order else "the others once a first broker registers"
        yield (
            f"The metadata lists {broker_names(sorted(fenced))} as running. The controller fences {whom}."
            f" kcheck assumes the order {brokers_of(fenced)}. That order decides who stays in the ISR."
        )


def controller_words(image: ClusterImage, *, kraft: bool) -> Iterator[str]:
    """Yield the controllers that decide differently from the assumed one."""
    otherwise = controllers_otherwise(image, kraft=kraft)
    if otherwise:
        whose = "the cluster's default" if image.controller is None else f"node {image.controller}"
        text = f"The setting of the active controller counts for unclean elections. Nodes {brokers_of(otherwise)} are"
        yield f"{text} configured otherwise than {whose}, which kcheck assumes."


def group_words(partitions: Sequence[PartitionElection]) -> Iterator[str]:
    """Yield where consumer groups have read further than the log of the best leader goes."""
    ahead = [part for part in partitions if part.recommended is not None and part.recommended.groups_beyond]
    if ahead:
        text = "Consumer groups have committed offsets beyond the log end of the best leader of"
        yield (
            f"{text} {some_of([part.name for part in ahead])}: they skip or repeat records. The plan of --output-dir"
            " has the command that resets them."
        )


def course_words(partition: PartitionElection) -> str:
    """Return the leader if all start without further steps, and the reason."""
    now, seat = partition.now, partition.seat_now
    if now is None or seat is None:
        return "If all start, Kafka elects no leader."
    words = f"If all start, broker {now.broker_id} leads ({_WHYS[seat]})"
    if now.later is not None:
        words += f", then broker {now.later.broker_id} ({_LATER[now.later.why]})"
    lost = lost_by_all(partition)
    others = sorted(number for number in partition.race - {now.broker_id} if number is not None)
    if others and lost != now.lost_in_the_end:
        words += f", or broker {' or '.join(map(str, others))} if it registers first"
    return f"{words}: {amount_lost(lost, NOTHING_HERE)}."


def names_of(partitions: Sequence[PartitionElection]) -> str:
    """Return the names of the first partitions, and how many more there are."""
    return some_of([row.name for row in partitions])


def empty_words(partitions: Sequence[PartitionElection]) -> Iterator[str]:
    """Yield the partitions of which no broker here serves a log."""
    empty = [row for row in partitions if row.starts_empty]
    unserved = [row for row in empty if any(copy.state not in SERVED for copy in row.candidates)]
    nowhere = [row for row in empty if row not in unserved]
    for rows, why in ((nowhere, "no disk here has"), (unserved, "no broker here serves")):
        if rows:
            verb, its = agree(len(rows), "starts", "start"), agree(len(rows), "its", "their")
            yield f"{names_of(rows)} {verb} empty: {why} {its} log."


class Sentence(NamedTuple):
    """A sentence of a decision."""

    text: str
    is_loss: bool = False
    """True if its course loses records, or leaves partitions without a leader."""


def decision_words(
    start_all: Scenario,
    plan: Scenario,
    best: Scenario,
    partitions: Sequence[PartitionElection],
    *,
    uncounted: Iterable[str],
    nothing: str,
    is_counted: bool = True,
    is_planned: bool = True,
    unmarked: str | None = None,
) -> Iterator[Sentence]:
    """Yield the loss of starting everything now, the loss of the plan, the `uncounted` losses, and the proof.

    Without metadata it is the loss of the best leaders. If a run does not show the losses, `is_counted` is false.
    `is_planned` is false if there is no plan yet. `unmarked` is the sentence about failed starts.
    """
    unled, is_known = sum(row.best is None for row in partitions), start_all.offline_partitions is not None
    if not is_counted:
        yield Sentence("The run does not show how many records starting everything now loses.")
        if start_all.offline_partitions:
            count = counted(start_all.offline_partitions, "partition")
            yield Sentence(f"Starting everything now leaves {count} without a leader.", is_loss=True)
    elif is_known:
        now = [row for row in partitions if None in row.race]
        then = [row for row in partitions if row.planned is None]
        yield Sentence(f"Starting everything now: {_outcome(start_all, nothing, now)}.", _loses(start_all))
        yield from (Sentence(text) for text in (unmarked,) if text is not None)
        if is_planned:
            yield Sentence(f"This plan: {_outcome(plan, nothing, then)}.", _loses(plan))
    else:
        yield Sentence("Without metadata it is not known which leader Kafka elects.")
        if unled < len(partitions):
            yield Sentence(f"Under the best leaders {amount_lost(best.lost, nothing)}.", _loses(best))
    yield from map(Sentence, (*(empty_words(partitions) if is_known else ()), *uncounted))
    if unled and is_counted:
        yield Sentence(f"kcheck recommends no leader for {counted(unled, 'partition')}.")
    if (
        is_known
        and is_planned
        and None not in (plan.lost.upper_records, best.lost.upper_records)
        and plan.lost != best.lost
    ):
        yield Sentence(f"No plan can do better than this: {_outcome(best, nothing)}.")


def unmarked_words(brokers: Sequence[int], *, leaves_isr: bool) -> str | None:
    """Return the sentence about failed starts that remove .kafka_cleanshutdown; None without any.

    `leaves_isr` is true if the controllers then take these brokers out of ISR and ELR.
    """
    if not brokers:
        return None
    starts, their = agree(len(brokers), "start", "starts"), agree(len(brokers), "its", "their")
    removes = agree(len(brokers), "removes", "remove")
    places = f", and {their} places in ISR and ELR are lost" if leaves_isr else ""
    names = broker_names(brokers, LISTED_MAX)
    return f"The failed {starts} of {names} {removes} .kafka_cleanshutdown. Then log recovery runs{places}."


def _loses(scenario: Scenario) -> bool:
    return bool(scenario.lost.records != 0 or scenario.offline_partitions)


def _outcome(scenario: Scenario, nothing: str, unled: Sequence[PartitionElection] = ()) -> str:
    """Return the cost of a course, as a clause. `unled` are the partitions without a leader, if known."""
    lost = amount_lost(scenario.lost, nothing)
    if not scenario.offline_partitions:
        return lost
    count = scenario.offline_partitions
    led = "" if scenario.lost.records == 0 else f"; {'' if scenario.may_be_led else 'of the others '}{lost}"
    gets = "may get" if scenario.may_be_led else agree(count, "gets", "get")
    names = f" ({names_of(unled)})" if len(unled) == count else ""
    return f"{counted(count, 'partition')} {gets} no leader{names}{led}"


def why_first(repair: FirstRepair) -> str:
    """Return the next start of the broker without its repair."""
    discards = "" if repair.discards is None else f"; {discarded_words(repair)}"
    return f"{repair_title(repair.broker_id, repair.why)}{discards}"


def discards(repair: FirstRepair) -> bool:
    """Return whether a repair discards records."""
    return repair.discards is not None


def discarded_words(repair: FirstRepair) -> str:
    """Return the discarded records of a repair, as a clause."""
    return f"the repair of broker {repair.broker_id} discards {repair.discards}, which the broker would discard too"


def added_words(log_dirs: Sequence[BrokerLogDir]) -> str:
    """Return which log dirs log.dirs has to name first, as sentences."""
    return " ".join(f"First add {shell_word(row.path)} to log.dirs of broker {row.broker_id}." for row in log_dirs)


def repair_words(
    repairs: Sequence[FirstRepair], *, without: Mapping[str, Scenario], then: Mapping[str, Scenario], nothing: str
) -> str:
    """Return which brokers to repair, and what that changes, by the ways to go on `without` the repairs and `then`."""
    brokers = f"{agree(len(repairs), 'broker', 'brokers')} {_brokers(repairs)}"
    is_led = without["best"].offline_partitions and then["best"].offline_partitions == 0
    every = "every partition has a leader, and " if is_led else ""
    words = f"First repair {brokers}: then, under the best leaders, {every}{_figures(then['best'], nothing)}."
    changes = [_figures(without["best"], nothing)] if without["best"] != then["best"] else []
    offline = without["start-all"].offline_partitions or 0
    if offline > max(then["start-all"].offline_partitions or 0, without["best"].offline_partitions or 0):
        verb = agree(offline, "gets", "get")
        changes.append(f"{counted(offline, 'partition')} {verb} no leader without an unclean election")
    return f"{words} Without that, {'; '.join(changes)}." if changes else words


def _brokers(repairs: Sequence[FirstRepair]) -> str:
    """Return the brokers with the sizes of their plans, said once where they are equal."""
    sizes = [_size(repair) for repair in repairs]
    names = [str(repair.broker_id) for repair in repairs]
    if len({*sizes}) == 1:
        suffix = " each" if len(repairs) > 1 else ""
        return f"{listed(names, most=len(names))} ({sizes[0]}{suffix})"
    return listed([f"{name} ({size})" for name, size in zip(names, sizes, strict=True)], most=len(names))


def _size(repair: FirstRepair) -> str:
    steps = counted(repair.operations, "step")
    return f"{steps}, {counted(repair.bytes, 'byte')}" if repair.bytes else steps


def _figures(scenario: Scenario, nothing: str) -> str:
    lost, offline = amount_lost(scenario.lost, nothing), scenario.offline_partitions
    if not offline:
        return lost
    led = f"{counted(offline, 'partition')} {agree(offline, 'has', 'have')} no replica that can lead"
    return led if scenario.lost.records == 0 else f"{led}, and {lost}"
