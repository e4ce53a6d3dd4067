"""Real clusters play the shipped histories and plain ones, and end as the simulator says.

Each broker's log end, leader epochs and high watermark checkpoint, the leader, and the ISR. Brokers are stopped and
killed, logs of dead brokers are cut where they were not flushed, sessions end; a proxy between the brokers holds what a
history delays, and lets followers fetch request by request. Epochs are compared by their order: to move a leader,
Kafka's tools need two elections. By default one history is played; `KCHECK_SWEEP=1` plays all of PLAYED.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from kcheck.simulation.replay import Replay, replay
from kcheck.simulation.script import parse
from kcheck.verbs.simulate import histories
from tests.oracle.ask import IS_WHOLE
from tests.oracle.clusters.plain_histories import PLAIN
from tests.oracle.clusters.replayed import Stage, can_share
from tests.oracle.clusters.ticket_histories import TICKETS
from tests.oracle.jars import numbers
from tests.oracle.kafka import Cluster

HISTORIES = {**{history.name: history.text for history in histories()}, **PLAIN, **TICKETS}
SAMPLED = ((("kafka-20554",), "4.3.1"),)
RELEASES = ("0.10.2.2", "1.1.1", "2.0.0", "2.4.1", "2.8.2", "3.5.2", "3.9.2", "4.0.2", "4.3.1")
BESIDE = ("3.7.2",)
"""Releases in which a history ends as in no other."""
PLAYED: Mapping[str, Sequence[str]] = {
    "kafka-10706": ("0.10.2.2", "1.1.1", "2.4.1", "2.8.2", "3.5.2", "4.3.1"),
    "kafka-12670": ("4.3.1",),
    "kafka-12996": ("2.8.2", "4.3.1"),
    "kafka-13207": ("0.10.2.2", "1.1.1", "2.4.1", "2.8.2", "3.5.2", "4.3.1"),
    "kafka-15021": ("4.0.2", "4.3.1"),
    "kafka-15510": ("4.3.1",),
    "kafka-16541": ("3.7.2", "4.3.1"),
    "kafka-20554": ("0.10.2.2", "1.1.1", "2.8.2", "3.5.2", "4.0.2", "4.3.1"),
    "kafka-6857": ("0.10.2.2", "1.1.1", "2.8.2"),
    "kafka-7164": ("0.10.2.2", "2.8.2", "3.5.2"),
    "kafka-7897": ("0.10.2.2", "2.8.2"),
    "kip-101-1": ("0.10.2.2", "1.1.1", "2.8.2", "3.5.2"),
    "kip-101-2": ("0.10.2.2", "1.1.1", "2.8.2", "3.5.2", "4.3.1"),
    "kip-279-fast-failover": ("0.10.2.2", "1.1.1", "2.8.2", "3.5.2", "4.3.1"),
    "kip-279-short": ("2.8.2", "4.3.1"),
    "kip-279-unclean": ("2.8.2",),
    "kip-380": ("2.8.2", "4.0.2", "4.3.1"),
    "kip-841": ("4.0.2", "4.3.1"),
    "kip-903": ("4.3.1",),
    "kip-966": ("4.3.1",),
    "kip-320": ("2.0.0", "2.4.1", "2.8.2"),
    "linkedin-99": ("2.8.2", "4.3.1"),
    "unclean-shortest": ("2.8.2", "3.9.2", "4.3.1"),
    "replication": ("0.10.2.2", "1.1.1", "2.0.0", "2.4.1", "3.9.2", "4.0.2", "4.3.1"),
    "all-crash": ("0.10.2.2", "1.1.1", "2.0.0", "2.4.1", "3.5.2", "3.9.2", "4.0.2", "4.3.1"),
    "follower-loses-power": ("0.10.2.2", "1.1.1", "2.0.0", "2.4.1", "3.5.2", "3.9.2", "4.0.2"),
    "leader-loses-power": ("0.10.2.2", "1.1.1", "2.0.0", "2.4.1", "3.5.2", "3.9.2", "4.0.2", "4.3.1"),
    "follower-restarts": ("0.10.2.2", "1.1.1", "2.0.0", "2.4.1", "3.5.2", "3.9.2", "4.0.2", "4.3.1"),
    "leader-restarts": ("0.10.2.2", "1.1.1", "2.0.0", "2.4.1", "3.9.2", "4.0.2"),
    "leader-moves": ("2.0.0", "3.9.2", "4.0.2"),
    "follower-crashes": ("0.10.2.2", "1.1.1", "2.0.0", "2.4.1", "3.5.2", "3.9.2", "4.0.2"),
    "leader-crashes": ("0.10.2.2", "1.1.1", "2.0.0", "2.4.1", "3.5.2", "3.9.2", "4.0.2", "4.3.1"),
    "leaders-crash-in-turn": ("0.10.2.2", "2.0.0", "3.9.2"),
    "unclean-election": ("0.10.2.2", "1.1.1", "2.0.0", "2.4.1", "3.9.2", "4.0.2", "4.3.1"),
    "unclean-elections": ("3.9.2",),
    "followers-apart": ("0.10.2.2", "1.1.1", "2.0.0", "2.4.1", "3.9.2", "4.0.2"),
    "epochs-without-records": ("0.10.2.2", "1.1.1", "2.0.0", "2.4.1", "3.9.2", "4.0.2"),
    "below-min-isr": ("0.10.2.2", "1.1.1", "2.0.0", "2.4.1", "3.5.2", "3.9.2", "4.0.2", "4.3.1"),
    "slow-follower": ("2.8.2",),
    "out-of-range": ("1.1.1", "2.0.0", "2.4.1", "3.9.2", "4.0.2"),
    "out-of-range-in-a-batch": ("1.1.1", "3.9.2"),
    "session-ends": ("1.1.1", "2.0.0", "2.4.1", "3.5.2", "3.9.2", "4.0.2", "4.3.1"),
    "stops-in-turn": ("0.10.2.2", "1.1.1", "2.4.1", "3.9.2", "4.3.1"),
    "moves-with-acks-1": ("0.10.2.2", "1.1.1", "2.4.1", "3.9.2", "4.3.1"),
    "power-losses": ("0.10.2.2", "1.1.1", "2.4.1", "3.9.2", "4.3.1"),
    "unclean-in-turn": ("0.10.2.2", "1.1.1", "2.4.1", "3.9.2", "4.3.1"),
    "append-while-fenced": ("2.4.1", "3.9.2", "4.3.1"),
    "late-fetch": ("1.1.1", "2.4.1", "3.9.2", "4.3.1"),
    "deposed-leader-writes": ("2.4.1", "3.9.2", "4.3.1"),
    "alone-below-min-isr": ("0.10.2.2", "1.1.1", "2.4.1", "3.9.2", "4.3.1"),
    "trim-before-restart": ("2.4.1", "3.9.2", "4.3.1"),
    "unclean-by-tool": ("2.4.1", "3.9.2", "4.3.1"),
    "epochs-without-fetches": ("2.4.1", "3.9.2", "4.3.1"),
    "elr-unclean-election": ("3.9.2", "4.3.1"),
    "elr-power-loss": ("3.9.2", "4.3.1"),
    "reassign-follower": ("2.8.2", "3.9.2", "4.3.1"),
    "reassign-leader": ("2.8.2", "3.9.2", "4.3.1"),
    "reassign-in-a-crash": ("2.8.2", "3.9.2", "4.3.1"),
}
"""The releases on which a history has been played, and came out."""
NOT_FORCED: Mapping[str, str] = {
    "kafka-14704": "what a fetcher does between an answer and its truncation",
    "kafka-2143": "an unclean election while a replica in sync runs",
    "kafka-7128": "one replica.lag.time.max.ms for all: D leaves the ISR of its new leader before C has joined",
    "kafka-7164": "2.0.0 and earlier: a controller repeats a request after a lost connection",
    "kafka-7897": "1.1: a killed broker is out of the ISR before it is back",
    "session-ends": "0.10.2: a new leader waits for its fetch from the old one, which hangs",
    "kip-380": "2.1 and earlier: a broker that is killed and back before its session ends",
}
"""Why a history cannot be played on a real cluster, or not on every release."""
PLAYED_WITH_KRAFT = (3, 9)
"""Before this release a controller does not take topics when it is formatted, so clusters have ZooKeeper."""
PLAYED_COUNT_MIN = 12
PAGE = Path(__file__).parents[3] / "docs" / "simulate.md"


def _run(name: str, version: str) -> Replay:
    script = parse(HISTORIES[name], name)
    if script.topic.kraft is None and numbers(version) < PLAYED_WITH_KRAFT:
        script = script._replace(topic=script.topic._replace(kraft=False))
    return replay(script, version)


def _groups() -> list[tuple[tuple[str, ...], str]]:
    """Return what one cluster plays: the histories of a release that can share one, each other history alone."""
    groups: list[tuple[tuple[str, ...], str]] = []
    for version in (*RELEASES, *BESIDE):
        names = [name for name, releases in PLAYED.items() if version in releases]
        together = tuple(name for name in names if can_share(_run(name, version)))
        groups += [(together, version), *(((name,), version) for name in names if name not in together)]
    return groups


@pytest.mark.oracle
@pytest.mark.parametrize(("names", "version"), _groups() if IS_WHOLE else SAMPLED)
def test_a_cluster_ends_as_the_simulator_says(
    names: tuple[str, ...], version: str, tmp_path: Path, start: Callable[..., Cluster]
) -> None:
    """What differs is said replica by replica."""
    runs = [_run(name, version) for name in names]
    ends = zip(names, Stage(runs, start, tmp_path / "cluster", version).play(), strict=True)
    assert {} == {name: differences for name, differences in ends if differences}


@pytest.mark.parametrize("version", RELEASES)
def test_every_release_has_played_a_dozen(version: str) -> None:
    """Or more; and every history that is played is one that there is."""
    played = [name for name, releases in PLAYED.items() if version in releases]
    assert len(played) >= PLAYED_COUNT_MIN
    assert set(PLAYED) <= set(HISTORIES)


def test_the_page_says_what_was_played() -> None:
    """Every history has a line: its releases, and the timing that cannot be forced."""
    lines = [
        f"| `{name}` | {', '.join(PLAYED.get(name, ())) or 'none'} | {NOT_FORCED.get(name, '')} |".replace(
            "|  |", "| |"
        )
        for name in HISTORIES
    ]
    text = PAGE.read_text("utf-8")
    assert [] == [line for line in lines if line not in text]
