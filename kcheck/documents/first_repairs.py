"""Repairs that come before any broker starts, with their changes, as sentences and rows."""

from collections.abc import Mapping, Sequence

from kcheck.core.election.first_repairs import FirstRepair
from kcheck.core.election.recovery_plan import BrokerLogDir
from kcheck.core.election.scenarios import Scenario
from kcheck.documents.election_verdict import amount_lost
from kcheck.model.report import Row
from kcheck.words import agree, counted, listed, shell_word


def repair_row(repair: FirstRepair) -> Row:
    """Return the row of a repair."""
    return repair._asdict()


def why_first(repair: FirstRepair) -> str:
    """Return the next start of the broker without its repair."""
    dropped = "" if repair.discards is None else f"; {discarded_words(repair)}"
    return f"broker {repair.broker_id} is to be repaired first; without that {repair.why}{dropped}"


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
    """Return which brokers to repair, and what that changes, by the ways to go on `without` the repairs and `then`.

    `nothing` are the words for no loss.
    """
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
