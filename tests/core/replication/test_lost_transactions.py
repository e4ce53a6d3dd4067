"""What a truncation does to transactions."""

import pytest

from kcheck.core.replication import lost_transactions
from kcheck.core.replication.lost_transactions import (
    KEPT_COUNT,
    CountedTransactions,
    LostTransactions,
    OpenTransaction,
    TransactionReplay,
)
from kcheck.model.entries import Offset

NONE = CountedTransactions(0, ())


def opened(producer_id: int, first_offset: int) -> OpenTransaction:
    """Return a transaction."""
    return OpenTransaction(producer_id, 0, Offset(first_offset))


def replay(
    start: int, *steps: tuple[int, int, bool | None], already: tuple[OpenTransaction, ...] = ()
) -> LostTransactions:
    """Return the loss of a truncation to `start`; a step is (producer, offset, commits), None for a record."""
    log = TransactionReplay(Offset(start), already)
    for producer_id, offset, commits in steps:
        if commits is None:
            log.data(opened(producer_id, offset), Offset(offset))
        else:
            log.marker(producer_id, Offset(offset), commits=commits)
    lost = log.lost()
    assert lost is not None
    return lost


def one(transaction: OpenTransaction) -> CountedTransactions:
    """Return a single transaction."""
    return CountedTransactions(1, (transaction,))


@pytest.mark.parametrize(
    ("start", "committed", "markers", "still_open"),
    [
        (0, one(opened(1, 0)), NONE, NONE),
        (1, one(opened(1, 0)), NONE, one(opened(1, 0))),
        (2, NONE, one(opened(1, 0)), one(opened(1, 0))),
        (3, NONE, NONE, NONE),
        (9, NONE, NONE, NONE),
    ],
)
def test_where_a_transaction_is_cut(
    start: int, committed: CountedTransactions, markers: CountedTransactions, still_open: CountedTransactions
) -> None:
    """Records at 0 and 1, the marker at 2: before it, in it, at its marker, after it."""
    steps = ((1, 0, None), (1, 1, None), (1, 2, True))
    assert LostTransactions(committed, markers, still_open) == replay(start, *steps)


def test_an_aborted_transaction_loses_its_marker_but_no_committed_record() -> None:
    """Only its marker matters, where records stay."""
    steps = ((1, 0, None), (1, 1, None), (1, 2, False))
    assert LostTransactions(NONE, NONE, one(opened(1, 0))) == replay(1, *steps)
    assert LostTransactions(NONE, one(opened(1, 0)), one(opened(1, 0))) == replay(2, *steps)


def test_transactions_of_a_producer_follow_each_other() -> None:
    """A second one that is not cut before its marker does not count as cut because the first one was."""
    steps = ((1, 0, None), (1, 1, True), (1, 2, None), (1, 3, True), (2, 4, None), (1, 5, True))
    expected = LostTransactions(CountedTransactions(2, (opened(1, 0), opened(1, 2))), NONE, NONE)
    assert expected == replay(0, *steps)


def test_what_was_open_before() -> None:
    """A snapshot names it; its records lie below."""
    assert LostTransactions(NONE, one(opened(7, 3)), one(opened(7, 3))) == replay(
        10, (7, 10, True), already=(opened(7, 3),)
    )
    assert LostTransactions(NONE, NONE, one(opened(7, 3))) == replay(10, already=(opened(7, 3),))


def test_of_many_transactions_the_first_are_named() -> None:
    """All are counted."""
    count = 3 * KEPT_COUNT
    steps = [step for n in range(count) for step in ((n, 2 * n, None), (n, 2 * n + 1, True))]
    assert CountedTransactions(count, tuple(opened(n, 2 * n) for n in range(KEPT_COUNT))) == replay(0, *steps).committed
    still_open = replay(count, *((n, n, None) for n in range(count))).open
    assert CountedTransactions(count, tuple(opened(n, n) for n in range(KEPT_COUNT))) == still_open


def test_more_open_transactions_than_are_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then nothing is known, also if most of them end later."""
    monkeypatch.setattr(lost_transactions, "OPEN_COUNT_MAX", 1)
    assert TransactionReplay(Offset(5), (opened(1, 0),)).open_at_start() == (opened(1, 0),)
    assert replay(5, (1, 0, None)).open == one(opened(1, 0))
    log = TransactionReplay(Offset(5), ())
    for number in range(2):
        log.data(opened(number, number), Offset(number))
    log.marker(0, Offset(2), commits=True)
    assert log.lost() is None
    assert log.open_at_start() is None
    assert TransactionReplay(Offset(5), (opened(1, 0), opened(2, 1))).open_at_start() is None
