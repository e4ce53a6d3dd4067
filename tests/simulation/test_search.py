"""A search finds what each condition of Kafka is for once it is switched off, and nothing while it holds."""

import re
from pathlib import Path

import pytest

from kcheck.errors import UsageError
from kcheck.simulation import canonical
from kcheck.simulation.mutants import MUTANTS, Conditions, rows
from kcheck.simulation.replay import replay
from kcheck.simulation.script import parse
from kcheck.simulation.search import Budget
from kcheck.verbs.simulate import Configuration, SearchBounds, search

ROOT = Path(__file__).parents[2]
TWO = "brokers A B\ntopic min.isr=2\nA leads\n"
ONE_IN_SYNC = "brokers A B\nA leads\n"
KAFKA_2_6_1 = "brokers A B\nkafka 2.6.1\nA leads\n"
KAFKA_2_6 = "brokers A B\nkafka 2.6\ntopic min.isr=2\nA leads\n"
KAFKA_2_8_1 = "brokers A B\nkafka 2.8.1\nA leads\n"
ONE_OF_THREE = "brokers A B C\nA leads\n"
A_JOIN_IS_NOT_HEARD_OF = f"{ONE_IN_SYNC}fence B\nstart B\ndelay controller->A\nfetch B\nwait 31s\n"
KAFKA_2_1 = "brokers A B\nkafka 2.1\nA leads\n"
KAFKA_2_5 = "brokers A B\nkafka 2.5\nA leads\n"
THREE = "brokers A B C\ntopic min.isr=2\nA leads\n"
B_MISSES_A_RECORD = f"{THREE}fence B\nappend 1\nfetch C x2\nstart B\n"
A_LATE_JOIN = f"{B_MISSES_A_RECORD}fetch B\ndelay A->controller\nfetch B\n"
C_LEADS_WITHOUT_ITS_HIGH_WATERMARK = (
    f"{THREE}fence B\nappend 1\nfetch C\ndelay A->C\nfetch C\ndrop A->C\nstart B\nfence A\n"
)
A_LEADS_AGAIN = (
    f"{THREE}append 1\nfetch B x2\nfetch C x2\nfence C\nappend 1\nfetch C x2\nelect B\nfetch C\nappend 1\nfetch A x4\n"
    "start C\nelect A\n"
)
A_REQUEST_FOR_THE_ISR_IS_HELD = (
    "brokers A B C\nA leads\nfence B\nstart B\nappend 1\nfetch C x2\ndelay A->controller\nfetch B\nfence C\n"
    "wait 31s\nappend 1\nstart C\n"
)
A_STATE_IS_HELD = f"{TWO}append 1\nfetch B x2\ndelay controller->B\nfence A\n"
FOUND = [
    ("M1", A_STATE_IS_HELD, Budget(0, 0, 1, 0, delays=1), "lost"),
    ("M2", KAFKA_2_5, Budget(0, 0, 0, 0, moves=3, delays=1, overtakes=1), "stuck"),
    ("M4", A_LEADS_AGAIN, Budget(0, 0, 0, 2), "lost"),
    ("M5", B_MISSES_A_RECORD, Budget(0, 0, 0, 1, delays=1), "lost"),
    ("M6", C_LEADS_WITHOUT_ITS_HIGH_WATERMARK, Budget(0, 0, 0, 1, delays=1), "lost"),
    ("M7", f"{TWO}append 1\n", Budget(0, 0, 0, 0, delays=1), "stuck"),
    ("M9", A_LATE_JOIN, Budget(0, 0, 1, 1), "lost"),
    ("M10", A_REQUEST_FOR_THE_ISR_IS_HELD, Budget(0, 0, 0, 1), "lost"),
    ("M12", f"{THREE}append 1\nfence B\n", Budget(0, 0, 1, 1), "withdrawn"),
    ("M14", TWO, Budget(1, 0, 0, 1), "stuck"),
    ("M15", f"{THREE}append 1\nfetch B x2\nfetch C x2\nfence B\nfence C\n", Budget(0, 0, 1, 0), "lost"),
    ("acks-at-min-isr", THREE, Budget(1, 0, 0, 1, moves=1), "lost"),
    ("acks-early", ONE_IN_SYNC, Budget(1, 0, 0, 1), "lost"),
    ("bounce-unnoticed", TWO, Budget(1, 0, 1, 0), "lost"),
    ("divergence-unchecked", ONE_IN_SYNC, Budget(2, 0, 0, 0, moves=2, delays=1), "diverged"),
    ("elects-outside-isr", ONE_IN_SYNC, Budget(1, 0, 0, 2), "lost"),
    ("epoch-kept", ONE_IN_SYNC, Budget(0, 0, 0, 1), "stuck"),
    ("epochs-kept", ONE_IN_SYNC, Budget(1, 0, 0, 0, moves=2, delays=1), "stuck"),
    ("high-watermark-alone", ONE_IN_SYNC, Budget(1, 0, 0, 1), "lost"),
    ("high-watermark-at-end", KAFKA_2_1, Budget(1, 1, 0, 1), "withdrawn"),
    ("isr-unconfirmed", ONE_IN_SYNC, Budget(1, 0, 0, 1, shrinks=1, delays=2), "lost"),
    ("leader-truncates", ONE_IN_SYNC, Budget(1, 0, 0, 1, delays=1), "lost"),
    ("min-isr-ignored", TWO, Budget(1, 0, 1, 0, shrinks=1), "lost"),
    ("no-fencing", ONE_IN_SYNC, Budget(1, 0, 0, 1, moves=2, delays=1), "lost"),
    ("old-epoch", KAFKA_2_5, Budget(1, 0, 0, 1, moves=1, delays=1, overtakes=1), "withdrawn"),
    ("to-high-watermark", ONE_OF_THREE, Budget(1, 0, 0, 0, moves=2, delays=1), "lost"),
    ("joins_isr_in_own_epoch", C_LEADS_WITHOUT_ITS_HIGH_WATERMARK, Budget(0, 0, 0, 1, delays=1), "lost"),
    ("notices_bounced_brokers", KAFKA_2_6, Budget(1, 0, 1, 0), "lost"),
    ("isr_needs_broker_epoch", A_LATE_JOIN, Budget(0, 0, 1, 1), "lost"),
    (
        "reply_carries_epoch",
        KAFKA_2_6.replace("min.isr=2", "min.isr=1"),
        Budget(2, 0, 0, 0, moves=2, delays=1),
        "diverged",
    ),
    ("truncates_removed_partitions", KAFKA_2_8_1, Budget(1, 0, 0, 0, moves=3, delays=1), "withdrawn"),
    ("pending_isr_bounds_high_watermark", A_JOIN_IS_NOT_HEARD_OF, Budget(1, 0, 0, 1), "lost"),
    ("fences_by_current_leader_epoch", ONE_IN_SYNC, Budget(1, 0, 0, 1, moves=2, delays=1), "lost"),
    ("noop_truncation_cleans_cache", KAFKA_2_6_1, Budget(2, 0, 0, 0, moves=3), "diverged"),
]


@pytest.mark.sample(12)
@pytest.mark.parametrize(("mutant", "beginning", "budget", "promise"), FOUND, ids=[row[0] for row in FOUND])
def test_a_mutant_is_found(mutant: str, beginning: str, budget: Budget, promise: str) -> None:
    """Only with the condition switched off; and the history that was found shows it when it is replayed."""
    bounds = SearchBounds(budget)
    broken = search(beginning, "f", bounds, mutant=mutant)
    assert broken.scenario is not None
    assert broken.found.violation is not None
    assert promise == broken.found.violation.promise
    run = replay(parse(broken.scenario, "f"), broken.kafka, mutant=mutant)
    assert promise == "withdrawn" or getattr(run.verdict, promise)
    sound = search(beginning, "f", bounds)
    assert (None, True) == (sound.scenario, sound.found.complete)


def test_every_mutant_is_tried() -> None:
    """Each has its row above; of the releases' rows a few stand for all."""
    assert [*MUTANTS] == [row[0] for row in FOUND if row[0] not in rows()]
    with pytest.raises(
        UsageError,
        match=r"--mutant M3: not one of M1, M2.*, such as applies_diverging_fetches",
    ):
        search(TWO, "f", SearchBounds(), mutant="M3")


def test_a_mutant_switches_off_one_condition() -> None:
    """No module asks for its name, and docs/simulate.md says what is wrong then."""
    assert [*Conditions._fields] == [*MUTANTS.values()]
    modules = [path for path in (ROOT / "kcheck" / "simulation").glob("*.py") if path.stem != "mutants"]
    asked = re.compile(r"mutant (?:==|!=|(?:not )?in) ")
    assert [] == [path.name for path in modules if asked.search(path.read_text("utf-8"))]
    page = (
        (ROOT / "docs" / "simulate.md").read_text("utf-8").partition("Conditions switched off")[2].partition("\n## ")[0]
    )
    assert [*MUTANTS] == re.findall(r"^\| `([\w-]+)` \|", page, re.MULTILINE)


VERDICTS = [
    ("0.10.2", "lost"),
    ("0.11.0.2", None),
    ("4.3", None),
]
"""The published verdicts on truncation: to the high watermark loses records, by leader epochs does not."""


@pytest.mark.parametrize(("kafka", "promise"), VERDICTS)
def test_a_restart_loses_records_without_leader_epochs(kafka: str, promise: str | None) -> None:
    """KIP-101: two killed processes, no record lost from any disk."""
    beginning = Configuration(min_isr=1, kraft=False if promise or kafka[0] == "0" else None).beginning()
    searched = search(beginning, "f", SearchBounds(Budget(records=1, crashes=2, lossy=0, fences=0)), kafka=kafka)
    assert promise == (searched.found.violation and searched.found.violation.promise)


def test_a_search_ends_where_it_is_told() -> None:
    """After so many events or states; then it is not complete."""
    shallow = search(TWO, "f", SearchBounds(depth_max=3))
    assert (3, False) == (shallow.found.depth, shallow.found.complete)
    few = search(TWO, "f", SearchBounds(states_max=50))
    assert (50, False) == (few.found.states, few.found.complete)
    assert len({search(TWO, "f", SearchBounds(depth_max=5)).found.states for _ in range(2)}) == 1


def test_a_configuration_is_a_history() -> None:
    beginning = Configuration(brokers=3, rf=2, min_isr=2, unclean=True, elr=True, kraft=True).beginning()
    assert "brokers A B C\ntopic rf=2 min.isr=2 acks=all unclean=true elr=true mode=kraft\nA leads\n" == beginning
    assert "mode=zookeeper" in Configuration(kraft=False).beginning()


def test_no_two_states_have_one_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search keeps the hashes of states alone: two states with one hash would hide what follows the second."""
    seen: dict[int, object] = {}
    clashes: list[object] = []

    def watched(key: object) -> int:
        number = hash(key)
        if seen.setdefault(number, key) != key:
            clashes.append(key)
        return number

    monkeypatch.setattr(canonical, "hash", watched, raising=False)
    search(TWO, "f", SearchBounds(Budget(records=1, crashes=1, lossy=1, fences=1)))
    assert len(seen) > 500
    assert not clashes
