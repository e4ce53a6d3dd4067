"""What a follower does with answers that releases take in different ways."""

import pytest

from kcheck.core.releases.releases import lines, release
from kcheck.simulation.decisions import Decision
from kcheck.simulation.replay import in_words, replay
from kcheck.simulation.script import parse
from kcheck.simulation.state import FetcherEpoch

IN_A_BATCH = """
brokers A B
topic mode=zookeeper
A leads
append 2
append 2
fetch all
crash B
fence B
append 3
trim A to 6
start B
fetch all
"""


@pytest.mark.parametrize(
    ("kafka", "end"),
    [
        ("0.10.2.2", "nothing lost, nothing diverged"),
        ("0.11.0.3", "B is stuck"),
        ("1.0.2", "nothing lost, nothing diverged"),
        ("1.1.0", "B is stuck"),
        ("1.1.1", "nothing lost, nothing diverged"),
        ("3.9.2", "nothing lost, nothing diverged"),
    ],
)
def test_an_empty_log_begins_with_a_batch_that_begins_below_it(kafka: str, end: str) -> None:
    """The leader's log start lies in a batch. A follower that begins there gets the batch (KAFKA-6975)."""
    script = parse(IN_A_BATCH, "test")
    run = replay(script, kafka)
    assert end == in_words(run.verdict, script.names)


def test_such_a_log_starts_where_that_of_its_leader_starts() -> None:
    """It has the batch, its epoch from the log start on, and says which rule decided."""
    run = replay(parse(IN_A_BATCH, "test"), "3.9.2")
    leader, follower = run.steps[-1].state.nodes
    assert (6, 7, ((1, 6),), 4) == (
        follower.log_start_offset,
        follower.log_end_offset,
        follower.epochs,
        follower.batches[0].base_offset,
    )
    assert leader.epochs == follower.epochs
    assert Decision.BEGINS_WITH_BATCH in run.steps[-1].decided_by


DIVERGED = """
brokers A B
topic unclean=false elr=false acks=1
A leads
append 2
fetch B
append 1
fetch B
crash B
fence B
power-loss A from 2
fence A
start A
start B
fetch B x3
expect B leo 2
"""


@pytest.mark.parametrize(("kafka", "high_watermark"), [("2.8.2", 2), ("3.4.0", 2), ("3.4.1", 0), ("4.3.1", 0)])
def test_a_high_watermark_beside_a_diverging_epoch_is_said_once(kafka: str, high_watermark: int) -> None:
    """The follower ignores it from 3.4.1 on, and nothing in the next answers is new (KIP-227)."""
    run = replay(parse(DIVERGED, "test"), kafka)
    assert () == run.failed
    assert high_watermark == run.steps[-1].state.nodes[1].high_watermark


def test_an_ignored_high_watermark_is_said_again_in_another_session() -> None:
    """A leader that restarts begins a new one, and so does one that has more to say."""
    for more in ("append 1\nfetch B x2", "fence B\ncrash A\nstart A\nstart B\nfetch B x2"):
        run = replay(parse(f"{DIVERGED}\n{more}", "test"), "4.3.1")
        leader, follower = run.steps[-1].state.nodes
        assert leader.high_watermark == follower.high_watermark


@pytest.mark.parametrize("held", ["B->A", "A->B"])
def test_a_lost_message_ends_a_fetch_session(held: str) -> None:
    """Request or answer: the next session says what the leader's high watermark is (KIP-227)."""
    assert 0 == replay(parse(DIVERGED, "test"), "4.3.1").steps[-1].state.nodes[1].high_watermark
    run = replay(parse(f"{DIVERGED}delay {held}\nfetch B\ndrop {held}\nfetch B\n", "test"), "4.3.1")
    leader, follower = run.steps[-1].state.nodes
    assert leader.high_watermark == follower.high_watermark > 0


def test_a_fetch_beyond_the_log_end_goes_on_with_an_epoch() -> None:
    """After OFFSET_OUT_OF_RANGE a follower of 3.6 knows its last epoch (KAFKA-15510)."""
    text = "brokers A B\nA leads\nappend 2\nfetch all\ncrash B\nfence B\nappend 2\ntrim A to 4\nstart B\nfetch B\n"
    run = replay(parse(text, "test"), "3.6")
    assert FetcherEpoch.NAMED is run.steps[-1].state.nodes[1].fetcher_epoch


@pytest.mark.parametrize(("setting", "kept"), [("replica.high.watermark.checkpoint.interval.ms=5000", 2), ("rf=2", 0)])
def test_time_writes_a_checkpoint(setting: str, kept: int) -> None:
    """Every interval, as the thread of a broker does; without one only a line does. Down brokers write none."""
    head = f"brokers A B\ntopic {setting}\nA leads\nappend 2\nfetch B x3\n"
    run = replay(parse(f"{head}wait 4s\ncrash B\nwait 1 s\nappend 1\nwait 4s\n", "test"), "2.8")
    assert [(kept, 0)] == [tuple(node.checkpoint for node in run.steps[-1].state.nodes)]
    assert (2, 2) == tuple(node.high_watermark for node in run.steps[3].state.nodes)


OUTSIDE = """
brokers A B C
topic mode={mode}
isr A B
A leads
append 5
fetch B x2
fetch C
append 1
fetch B x2
expect A hw 6 isr A,B
fetch C x2
expect A isr A,B,C
"""


@pytest.mark.parametrize("kafka", lines())
def test_a_new_leader_does_not_wait_for_a_replica_outside_the_isr(kafka: str) -> None:
    """Its first fetch makes no replica caught up before it fetches the log end (Partition.makeLeader)."""
    script = parse(OUTSIDE.format(mode="kraft" if release(kafka).is_kraft_only else "zookeeper"), "test")
    assert () == replay(script, kafka).failed
