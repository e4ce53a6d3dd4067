"""What a log says, held against the files."""

import pytest

from kcheck.messages import comparison
from kcheck.messages.comparison import LogOnDisk, Statements, epochs_of
from kcheck.model.entries import Epoch, EpochEntry, Offset
from tests.messages.catalogue import log_line, read

NOW = LogOnDisk(0, 20, 18, {3: 10}, "t-0")
NO_ENTRY = "no entry of this epoch in leader-epoch-checkpoint"
LESS = "log end 20, 5 less: truncated or lost since"
GONE = ("renamed to t-0.x-stray", "it is missing now", False)
TRUNCATED = "[Log partition=t-0, dir=/d] Truncating to offset 25"
STRAY = "Log in /d/t-0 marked stray and renamed to /d/t-0.x-stray"
LOADED = (
    "Completed load of Log(dir=/d/t-0, topic=t, partition=0, logEndOffset={}) with 1 segments in 1ms (1/1 loaded in /d)"
)
LEADER = (
    "[Broker id=1] Leader t-0 with topic id Some(x) starts at leader epoch {} from offset {} with partition epoch 5, "
    "high watermark 20, ISR [1,2], adding replicas [] and removing replicas []."
)


def statements(*messages: str) -> Statements:
    """Return what a log with these messages says of partitions."""
    made = Statements()
    for event in read(*(log_line(message, logger="state.change.logger") for message in messages)):
        made.add(event)
    return made


@pytest.mark.parametrize(
    ("message", "log", "answer"),
    [
        (LOADED.format(20), NOW, ("loaded with log end 20", "log end 20", True)),
        (LOADED.format(25), NOW, ("loaded with log end 25", LESS, False)),
        (LOADED.format(25), NOW._replace(log_end_offset=None), None),
        ("[Log partition=t-0, dir=/d] Truncating to offset 15", NOW, ("truncated to 15", "log end 20", True)),
        (TRUNCATED, NOW, ("truncated to 25", "log end 20: below it", False)),
        (LEADER.format(3, 10), NOW, ("epoch 3 starts at 10", "epoch 3 starts at 10", True)),
        (LEADER.format(3, 11), NOW, ("epoch 3 starts at 11", "epoch 3 starts at 10", False)),
        (LEADER.format(4, 11), NOW, ("epoch 4 starts at 11", NO_ENTRY, None)),
        ("[Partition t-0 broker=1] Log loaded for partition t-0 with initial high watermark 18", NOW,
         ("initial high watermark 18", "replication-offset-checkpoint has 18", True)),
        ("[Partition t-0 broker=1] Log loaded for partition t-0 with initial high watermark 19", NOW,
         ("initial high watermark 19", "replication-offset-checkpoint has 18", False)),
        (STRAY, NOW._replace(directory="t-0.x-stray"),
         ("renamed to t-0.x-stray", "it is there", True)),
        (STRAY, NOW, GONE),
    ],
)  # fmt: skip
def test_statements(message: str, log: LogOnDisk, answer: tuple[object, ...] | None) -> None:
    compared = [(one.says, one.now, one.agrees) for one in statements(message).compared({("t", 0): (log,)})]
    assert ([] if answer is None else [answer]) == compared


def test_only_the_last_start_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A truncation before it does not; a truncation without an offset changes nothing."""
    truncated = "[Log partition=t-0, dir=/d] Truncating to offset 15"
    no_offset = (
        "[ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Truncating partition t-0 to local high watermark 3"
    )
    other = "[Log partition=u-0, dir=/d] Truncating to offset 15"
    unrelated = ("Loading logs.", "[Log partition=t-0, dir=/d] Incremented log start offset to 5 due to x", no_offset)
    made = statements(truncated, LOADED.format(20), other, *unrelated)
    assert ["loaded with log end 20"] == [one.says for one in made.compared({("t", 0): (NOW,)})]
    monkeypatch.setattr(comparison, "_PARTITIONS_MAX", 1)
    assert [] == [*statements(truncated, other).compared({("u", 0): (NOW,)})]


def test_epochs() -> None:
    assert {3: 10} == epochs_of([EpochEntry(Epoch(3), Offset(10))])
