"""In which order a new controller fences brokers: as the classes of 3.9.2, 4.1.2 and 4.3.1 told."""

import pytest

from kcheck.core.election.fencing import fencing_order
from kcheck.core.releases.releases import release
from kcheck.model.cluster import BrokerRegistration

SHARED_BIN = {1: 338, 2: 339, 3: 337}
APART = {2: 14, 1: 16, 3: 18}
MANY = {number: 10 + number for number in range(1, 14)}
CROWDED = {16 * number: 16 * (40 - number) for number in range(1, 14)}
"""Enough brokers for a table to grow; those of MANY share a bin."""


@pytest.mark.parametrize(
    ("epochs", "version", "order"),
    [
        (SHARED_BIN, "3.9", (2, 1, 3)),
        (SHARED_BIN, "4.1", (2, 1, 3)),
        (SHARED_BIN, "4.3", (2, 1, 3)),
        (APART, "4.1", (1, 3, 2)),
        (APART, "4.3", (2, 1, 3)),
        (MANY, "3.9", (13, 5, 10, 2, 7, 12, 4, 9, 1, 6, 11, 3, 8)),
        (MANY, "4.1", (2, 10, 6, 7, 11, 3, 12, 4, 8, 5, 13, 9, 1)),
        (MANY, "4.3", (12, 4, 8, 5, 13, 9, 1, 2, 10, 6, 7, 11, 3)),
        (CROWDED, "3.9", (128, 112, 96, 80, 208, 64, 192, 48, 176, 32, 160, 16, 144)),
        (CROWDED, "4.1", (96, 32, 160, 80, 208, 16, 144, 64, 192, 128, 112, 48, 176)),
        (CROWDED, "4.3", (64, 192, 128, 112, 48, 176, 96, 32, 160, 80, 208, 16, 144)),
    ],
)
def test_the_order_of_fencing(epochs: dict[int, int], version: str, order: tuple[int, ...]) -> None:
    """Up to 3.9 that of the registrations; from 4.0 a map of ids and epochs, which 4.2 hashes otherwise."""
    brokers = {number: BrokerRegistration(number, epoch, fenced=False) for number, epoch in epochs.items()}
    assert fencing_order(brokers, release(version)) == order


def test_a_fenced_broker_is_not_fenced_again() -> None:
    """It is registered all the same, and makes the table of the registrations larger. An unknown epoch counts as 0."""
    brokers = {number: BrokerRegistration(number, None, fenced=number == 9) for number in (1, 2, 3, 9)}
    assert fencing_order(brokers, release("3.9")) == (2, 1, 3)
    assert fencing_order(brokers, release("4.3")) == (3, 2, 1)
