"""The sentences about records that no loss of an answer counts, because no disk here shows them."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from kcheck.core.election.at_risk import at_risk, has_directory, without_copy
from kcheck.core.election.plans import BrokerGap, PartitionElection
from kcheck.core.election.recovery_plan import BrokerLogDir
from kcheck.core.premises.age import AGES
from kcheck.core.premises.identity import NODE_ID
from kcheck.core.premises.last_logs import LOST_LOGS
from kcheck.core.premises.presence import lacks_log_dirs
from kcheck.core.premises.remote import REMOTE_METADATA
from kcheck.core.premises.table import BY_ID
from kcheck.documents.next_commands import page_words
from kcheck.documents.premises import names_broker, removes, with_disk_elsewhere, with_old_disk, with_removed_logs
from kcheck.model.premises import JudgedPremise, PremiseStatus
from kcheck.words import agree, broker_names, capital, some_of

NOTHING = "nothing is lost"
"""The words for no loss, if every disk is here and every record is counted."""
NOTHING_HERE = "nothing that is on these disks is lost"
"""The words for no loss, if another disk may have records."""
NO_ELECTION = "no election loses a record"
"""The words for no loss by elections, if something else removes records of these disks, or does not serve them."""


def nothing_words(
    uncounted: Collection[object], unserved: Collection[object], partitions: Iterable[PartitionElection] = ()
) -> str:
    """Return the words for no loss.

    `uncounted` are the reasons why other disks may have records. `unserved` are records on these disks that are removed
    or not served. A partition without metadata, or whose replicas in sync have no log, can have records elsewhere.
    """
    if unserved or any(isinstance(row, JudgedPremise) and removes(row) for row in uncounted):
        return NO_ELECTION
    is_elsewhere = any(row.registration is None or row.lost_in_sync for row in partitions)
    return NOTHING_HERE if uncounted or is_elsewhere else NOTHING


def uncounted_words(
    gaps: Iterable[BrokerGap],
    premises: Iterable[JudgedPremise],
    partitions: Sequence[PartitionElection],
    *,
    without: Iterable[BrokerLogDir] = (),
    without_newest: Collection[int] = (),
    has_steps: bool,
) -> Iterator[str]:
    """Yield the uncounted records, which no disk shows, or no broker serves after its next start.

    `partitions` is every partition of the cluster; `without` has the log dirs that are given up. `without_newest` are
    brokers whose newest disk is lost.
    """
    gaps, without, premises = tuple(gaps), tuple(without), tuple(premises)
    named = {gap.broker_id for gap in gaps} | {row.broker_id for row in without}
    yield from premise_words(
        (row for row in premises if row.id not in LOST_LOGS or row.broker_id not in named), partitions, without_newest
    )
    led_last = {row.broker_id for row in premises if row.id in LOST_LOGS}
    yield from in_sync_words(row for row in partitions if not led_last.issuperset(row.lost_in_sync))
    for gap in gaps:
        if gap.fails:
            yield f"Broker {gap.broker_id} should not start: {gap.why}. Solve that first, and ask again."
        what = "is lost, and not counted" if gap.is_given_up else "is not counted"
        steps = "" if gap.is_given_up or not has_steps else "; the steps go on without that data"
        risk = risk_words(gap.broker_id, partitions, is_gone=gap.is_given_up, waits=gap.fails)
        yield " ".join((f"Data that only broker {gap.broker_id} has {what}{steps}.", *risk))
    for number, path in without:
        gone = without_copy(number, partitions)
        names = [f"Broker {number} had {_names(gone)} there."] if gone else []
        risk = risk_words(number, gone, is_gone=True)
        yield " ".join((f"Data that only {path} has is lost, and not counted.", *names, *risk))


def risked(
    gaps: Iterable[BrokerGap],
    premises: Iterable[JudgedPremise],
    partitions: Sequence[PartitionElection],
    without: Iterable[BrokerLogDir] = (),
) -> frozenset[str]:
    """Return the partitions that can lose records of missing disks, as in `uncounted_words`."""
    risks = [at_risk(gap.broker_id, partitions) for gap in gaps]
    risks += [at_risk(row.broker_id, without_copy(row.broker_id, partitions)) for row in without]
    old = {row.broker_id for row in premises if row.id in AGES and row.broker_id is not None}
    risks += [at_risk(number, partitions) for number in sorted(old)]
    return frozenset(row.name for risk in risks for row in (*risk.only, *risk.led))


def exchanged_words(refuted: Iterable[JudgedPremise]) -> Iterator[str]:
    """Yield the disks in the place of another broker's disk, by the `refuted` premises."""
    rows = [row for row in refuted if row.id == NODE_ID and row.log_dir is not None]
    yield from dict.fromkeys(f"{(row.log_dir or '').removeprefix('./')}: {row.sentence}." for row in rows)
    if rows:
        yield "Mount each of these disks at its own broker. Format none: one may have the only copy of records."


def in_sync_words(partitions: Iterable[PartitionElection]) -> Iterator[str]:
    """Yield the partitions whose replicas in sync have lost their log, although another replica has one."""
    of_brokers: dict[tuple[int, ...], list[PartitionElection]] = {}
    for row in partitions:
        if row.lost_in_sync:
            of_brokers.setdefault(row.lost_in_sync, []).append(row)
    for brokers, rows in of_brokers.items():
        has, was, it = (agree(len(brokers), *pair) for pair in (("has", "have"), ("was", "were"), ("it", "they")))
        yield (
            f"{capital(broker_names(brokers))} alone {was} in sync in {_names(rows)}, and {has} no log there. Records"
            f" that only {it} had are not counted."
        )


def premise_words(
    premises: Iterable[JudgedPremise],
    partitions: Sequence[PartitionElection],
    without_newest: Collection[int] = (),
) -> Iterator[str]:
    """Yield the first step for each premise whose cost is not counted, and the partitions at risk."""
    yield from dict.fromkeys(" ".join(_first(premise, partitions, without_newest)) for premise in premises)


def missing_words(
    premises: Iterable[JudgedPremise], dead: Iterable[int], partitions: Sequence[PartitionElection]
) -> Iterator[str]:
    """Yield the sentences about premises, then the partitions that need the disks of brokers that are given up."""
    yield from premise_words(premises, partitions)
    for number in dead:
        yield from risk_words(number, partitions, is_gone=True, disk=f"the disks of broker {number}")


def served_from_copies(premises: Iterable[JudgedPremise], partitions: Sequence[PartitionElection]) -> dict[int, str]:
    """Return the final loss of only replicas on a disk that is an old copy, or may be one."""
    premises = tuple(premises)
    refuted = {row.broker_id for row in premises if row.id in AGES and row.status is PremiseStatus.REFUTED}
    only = {number: at_risk(number, partitions).only for number in sorted(with_old_disk(premises))}
    return {
        number: f"{_names(rows)} {_goes(len(rows), is_old=number in refuted)}, without newer records"
        for number, rows in only.items()
        if rows
    }


def _goes(count: int, *, is_old: bool) -> str:
    return f"{agree(count, 'goes', 'go')} on from the old copy" if is_old else "may go on from an old copy"


def sought_words(
    gaps: Iterable[BrokerGap],
    premises: Iterable[JudgedPremise],
    partitions: Sequence[PartitionElection],
    *,
    incomplete_ok: bool,
    without_newest: Collection[int] = (),
    without: Collection[int] = (),
) -> dict[int, str]:
    """Return the first step for each broker with a disk that may have records which no disk here has.

    With `incomplete_ok` brokers that are not named do not count. The brokers `without` gave up a log dir.
    """
    elsewhere = with_disk_elsewhere(premises, without) - {*without_newest}
    removed = with_removed_logs(premises)
    words = {
        number: f"Put back the directories that were removed on broker {number}"
        if number in removed
        else f"Find the newest disk of broker {number}"
        for number in sorted(elsewhere)
    }
    for gap in gaps:
        number = gap.broker_id
        if gap.is_given_up or not any(at_risk(number, partitions)) or (gap.why is None and incomplete_ok):
            continue
        words[number] = f"Find the disks of broker {number}, and name {number}=PATH"
        if gap.fails:
            words[number] = f"Make broker {number} able to start: {(gap.why or '').partition('; ')[0]}"
    return words


def _first(
    premise: JudgedPremise, partitions: Sequence[PartitionElection], without_newest: Collection[int]
) -> Iterator[str]:
    """Yield the sentences about one premise."""
    number = premise.broker_id
    if premise.id in AGES and number is not None:
        is_lost = number in without_newest
        first = "Without" if is_lost else "First find"
        yield f"{first} the newest disk of broker {number}: {premise.sentence}."
        yield f"Records that only that disk has are {'lost, and ' if is_lost else ''}not counted."
        yield from risk_words(number, partitions, is_gone=premise.status is PremiseStatus.REFUTED, disk="that disk")
        yield page_words(premise.id).strip()
        return
    whose = "" if number is None or names_broker(premise) else f"broker {number}: "
    if premise.id == REMOTE_METADATA and premise.status is PremiseStatus.REFUTED:
        yield f"First restore __remote_log_metadata: {whose}{premise.sentence}."
        return
    if lacks_log_dirs(premise):
        yield f"First {premise.wanted}: {premise.sentence}."
        return
    is_lost = premise.id in LOST_LOGS and number in without_newest
    yield f"{'Lost' if is_lost else 'Not counted'}: {whose}{premise.sentence}."
    if premise.status is PremiseStatus.REFUTED and not is_lost:
        yield f"First: {BY_ID[premise.id].remedy}"


def risk_words(
    number: int,
    partitions: Sequence[PartitionElection],
    *,
    is_gone: bool,
    disk: str = "its disks",
    waits: bool = False,
) -> Iterator[str]:
    """Yield the partitions that need the disk of a broker, first the only replicas, then the last leaders.

    If the broker is here and `waits`, its own directories are only offline.
    """
    risk = at_risk(number, partitions)
    held = [row for row in risk.only if waits and has_directory(number, row)]
    if held:
        yield f"{_names(held)} {agree(len(held), 'is', 'are')} offline until broker {number} starts."
    only = [row for row in risk.only if row not in held]
    if only:
        names = _names(only)
        lost = f"the records of {names} there are lost for good" if is_gone else f"{names} can lose records"
        yield f"Without {disk} {lost}, because no other replica exists."
    if risk.led:
        them = agree(len(risk.led), "it", "them")
        yield f"{_names(risk.led)} can lose records, because broker {number} led {them} last."


def _names(partitions: Sequence[PartitionElection]) -> str:
    return some_of([row.name for row in partitions])
