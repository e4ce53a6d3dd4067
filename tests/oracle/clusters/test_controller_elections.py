"""Whom controllers elect, and what becomes of seats: kcheck.core.election.election and the classes of Kafka agree."""

from collections.abc import Iterator
from random import Random

import pytest

from kcheck.core.election.election import BrokerStart, ElectionRules, Seats, changed_seats, elect, registered
from kcheck.core.election.fencing import fencing_order
from kcheck.core.releases.releases import release
from kcheck.model.cluster import NO_LEADER, BrokerRegistration
from tests.oracle.ask import SEED, Ask, assert_equal, generated, sampled

pytestmark = pytest.mark.oracle

BROKERS = (1, 2, 3, 4)
Pair = tuple[str, str]
"""A case and kcheck's answer."""


def _words(*values: tuple[int, ...] | int | None) -> str:
    texts = (",".join(map(str, value)) if isinstance(value, tuple) else str(value) for value in values)
    return " ".join("-" if text in ("", "None") else text for text in texts)


def _some(random: Random, numbers: tuple[int, ...], least: int = 0) -> tuple[int, ...]:
    return tuple(random.sample(numbers, random.randint(least, len(numbers))))


def _without(numbers: tuple[int, ...], gone: int) -> tuple[int, ...]:
    return tuple(number for number in numbers if number != gone)


def _random_seats(random: Random, *, elr: bool) -> Seats:
    """Return seats as a controller keeps them: a leader is in sync, and the last is known if nobody is in sync."""
    replicas = _some(random, BROKERS, 1)
    isr = _some(random, replicas, 0 if elr else 1)
    eligible = _some(random, tuple(number for number in replicas if number not in isr)) if elr else ()
    leader = random.choice((*isr, NO_LEADER))
    last_known = (random.choice(replicas),) if elr and not isr and random.random() < 0.7 else ()
    return Seats(replicas, isr, eligible, last_known, leader)


def _pair(
    before: Seats, after: Seats, acceptable: tuple[int, ...], gone: int, rules: ElectionRules, left: int | None = None
) -> Pair:
    """Return a line for Elections.java, and kcheck's answer; the order of an ELR decides nothing."""
    places = (before.replicas, before.isr, before.elr, before.last_known, before.leader)
    switches = (rules.min_isr, int(rules.eligible_leader_replicas), int(rules.unclean))
    case = _words(*places, acceptable, _without(before.isr, gone), left, *switches)
    return case, _words(after.isr, tuple(sorted(after.elr)), after.last_known, after.leader)


def _fencings(random: Random, seats: Seats, rules: ElectionRules) -> Iterator[Pair]:
    """Yield the changes while brokers are fenced one by one."""
    order = _some(random, BROKERS, 1)
    for at, gone in enumerate(order):
        if gone in seats.isr:
            after = changed_seats(seats, _without(seats.isr, gone), order[at + 1 :], rules)
            yield _pair(seats, after, order[at + 1 :], gone, rules)
            seats = after


def _registrations(random: Random, seats: Seats, rules: ElectionRules) -> Iterator[Pair]:
    """Yield the change when a broker registers that has a seat to lose; no other is there."""
    seats = seats._replace(leader=NO_LEADER)
    number, clean = random.choice(BROKERS), random.random() < 0.5
    loses_elr = rules.eligible_leader_replicas and not clean
    if number in seats.isr or (number in seats.elr and loses_elr):
        after = registered(seats, BrokerStart(number, clean), rules)
        yield _pair(seats, after, (), number, rules, number if loses_elr else None)


@pytest.mark.parametrize("version", sampled(("3.9.2", "4.0.2", "4.1.2", "4.3.1")))
def test_seats_change_as_with_kraft(version: str, ask: Ask) -> None:
    """Brokers are fenced, or register after a clean or an unclean shutdown (PartitionChangeBuilder)."""
    random = Random(SEED)
    pairs: list[Pair] = []
    for _ in range(generated(10_000)):
        # 4.0.2 elects the last known leader although it is not there; an ELR is off there unless somebody turns it on.
        elr = release(version).has_eligible_leader_replicas and version != "4.0.2" and random.random() < 0.7
        seats = _random_seats(random, elr=elr)
        min_isr = random.randint(1, min(3, len(seats.replicas)))
        rules = ElectionRules(kraft=True, eligible_leader_replicas=elr, min_isr=min_isr, unclean=random.random() < 0.3)
        pairs += random.choice((_fencings, _registrations))(random, seats, rules)
    cases, ours = zip(*pairs, strict=True)
    assert_equal(cases, ours, ask(version, "Elections.java", cases))


@pytest.mark.parametrize("version", ["3.9.2", "4.1.2", "4.3.1"])
def test_brokers_are_fenced_in_the_order_of_kafkas_maps(version: str, ask: Ask) -> None:
    """Few and many brokers, with ids close together and far apart, and epochs as offsets of the metadata log."""
    random = Random(SEED)
    cases, ours = [], []
    for _ in range(generated(3_000)):
        many = random.choice((3, 3, 5, 12, 13, 40))
        ids = random.sample(range(random.choice((many + 1, 1100))), random.randint(1, many))
        epochs = random.choice((100, 1 << 20, 1 << 40))
        at_once = random.random() < 0.3 and many < 40  # their hash codes share a bin
        values = {number: 7 + number if at_once else random.randrange(epochs) for number in ids}
        brokers = {number: BrokerRegistration(number, epoch, fenced=False) for number, epoch in values.items()}
        cases.append(" ".join(f"{number}:{row.epoch}" for number, row in brokers.items()))
        ours.append(" ".join(map(str, fencing_order(brokers, release(version)))))
    assert_equal(cases, ours, ask(version, "FencingOrder.java", cases))


@pytest.mark.parametrize("version", sampled(("2.4.1", "2.8.2", "3.9.2")))
def test_a_leader_is_elected_as_with_zookeeper(version: str, ask: Ask) -> None:
    """The first replica of the assignment that runs and is in sync; else, if that is allowed, the first that runs."""
    random = Random(SEED)
    cases, ours = [], []
    for _ in range(generated(3_000)):
        seats, live, unclean = _random_seats(random, elr=False), _some(random, BROKERS), random.random() < 0.5
        cases.append(_words(seats.replicas, seats.isr, live, int(unclean)))
        leader = elect(seats, live, ElectionRules(kraft=False, unclean=unclean))
        ours.append(_words(None if leader is None else leader.broker_id))
    assert_equal(cases, ours, ask(version, "OfflineElections.java", cases))
