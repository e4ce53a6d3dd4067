"""Unclean elections by the transactions of a ZooKeeper server: ids of transactions are those of `CHANGES`."""

from pathlib import Path

import pytest

from kcheck.model.cluster import UncleanElection
from kcheck.views.zookeeper_copy import read_zookeeper
from tests.views.test_zookeeper_history import DELETE, SET, STATE, records, server, state, znodes
from tests.zookeeper_bytes import log, record, set_data, snapshot, text

ELECTED = {("t", 0): UncleanElection(2, 2, 10, (1,))}
FOLLOWED = {("t", 0): UncleanElection(2, 2, 10)}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([], ELECTED),
        ([(SET, set_data(STATE, state(2, 2, (2, 1)), 4))], FOLLOWED),
        ([(SET, set_data(STATE, b"x", 4))], ELECTED),
        ([(SET, set_data(STATE, state(-1, 3, (2,)), 4)), (SET, set_data(STATE, state(2, 4, (2,)), 5))], ELECTED),
        ([(DELETE, text(STATE))], {}),
    ],
    ids=["unclean", "followed", "damaged", "the last leader again", "deleted"],
)
def test_a_leader_that_was_not_in_the_isr(
    changes: list[tuple[int, bytes]], expected: dict[tuple[str, int], UncleanElection], tmp_path: Path
) -> None:
    """Broker 2 leads after broker 1, which alone was in sync."""
    more = [record(*change, zxid=11 + at) for at, change in enumerate(changes)]
    path = server(tmp_path, log_1=log(*records(1, 10), *more))
    assert read_zookeeper(path).image.unclean == expected


def test_what_a_snapshot_holds(tmp_path: Path) -> None:
    """A server begins with its newest snapshot: an election before it is not known."""
    early = server(tmp_path / "early", snapshot_9=snapshot(znodes(state(-1, 1), 8, 2)), log_1=log(*records(1, 10)))
    assert read_zookeeper(early).image.unclean == ELECTED
    late = server(tmp_path / "late", snapshot_a=snapshot(znodes(state(2, 2, (2,)), 10, 3)), log_1=log(*records(1, 10)))
    assert read_zookeeper(late).image.unclean == {}
