"""Segments that retention deletes: as their time index is older than their records, or as they are old (P802, P324)."""

import pytest

from kcheck.core.premises.facts import BrokerFacts, LogFacts, MisdatedRecords
from kcheck.core.premises.table import judged
from kcheck.core.releases.releases import release
from kcheck.core.start.startup import Mode
from kcheck.core.tiered.regular_deletion import RegularDeletion
from kcheck.model.cluster import ClusterImage
from kcheck.model.entries import Offset
from kcheck.model.names import TopicPartition
from tests.core.premises.test_premises import KRAFT, LOG, copy, facts, image, not_seen

HEAD = MisdatedRecords(Offset(0), Offset(46), 0, is_head=True)


def told(records: MisdatedRecords, of: ClusterImage | None, **settings: str) -> list[str]:
    """Return the sentences of P802."""
    log = LogFacts(TopicPartition("pay", 0), "d", misdated=(records,))
    given = BrokerFacts(1, release("4.3"), Mode.KRAFT, (), image=of, config=settings, logs=(log,))
    return [row.sentence for row in judged(given) if row.id == "P802"]


@pytest.mark.parametrize(
    ("is_head", "when"), [(True, "at its first check"), (False, "once the segments before them have expired")]
)
def test_what_retention_deletes(*, is_head: bool, when: str) -> None:
    """From the oldest segment on, up to the first that is young enough."""
    (sentence,) = told(HEAD._replace(is_head=is_head), None)
    assert sentence == (
        "pay-0: the time index dates offsets 0-45 by timestamp 0, but the records are newer. Retention deletes them"
        f" {when}; kcheck repair rebuilds the time index"
    )


def test_an_entry_that_is_only_older() -> None:
    """It ends the segment early where the time that its records are kept had passed before the newest of them."""
    week = 7 * 86_400_000
    older = HEAD._replace(timestamp=1000, newest=1000 + week)
    assert told(older, None) == []
    assert len(told(older._replace(newest=1001 + week), None)) == 1
    assert told(older._replace(newest=1001 + week), None, **{"log.retention.hours": "169"}) == []


def test_a_topic_without_retention() -> None:
    """Nothing is deleted by time."""
    assert told(HEAD, ClusterImage({}, configs={("topic", "pay"): {"retention.ms": "-1"}})) == []
    assert told(HEAD, ClusterImage({}), **{"log.retention.hours": "-1"}) == []
    dynamic = ClusterImage({}, configs={("broker", ""): {"log.retention.ms": "-1"}})
    assert told(HEAD, dynamic) == []
    assert (
        len(told(HEAD, dynamic._replace(configs={**dynamic.configs, ("broker", "1"): {"log.retention.ms": "5"}}))) == 1
    )


HOUR = 3_600_000


def kept(oldest: int | None, *ages: int | None, topic: dict[str, str] | None = None, **settings: str) -> str | None:
    """Return what P324 says of logs whose first segments are of these times; nodes 1 and 100 wrote at `ages` last."""
    of = image()._replace(configs={("topic", "orders"): topic or {}})
    copies = tuple(copy(node, of=of, timestamp=at) for node, at in zip((1, 100), ages, strict=False))
    logs = (LOG._replace(oldest=oldest), LOG._replace(log_dir="d2", oldest=oldest))
    given = facts(copies=copies, image=of, logs=logs, config={**KRAFT, **settings})
    return next((f"{row.status}: {row.sentence}" for row in judged(given) if row.id == "P324"), None)


def test_segments_that_retention_would_have_deleted() -> None:
    """Brokers of 4.3.1 with log.retention.ms=1000 deleted all segments seconds after the start."""
    second = {"log.retention.ms": "1000"}
    sentence = (
        "refuted: retention keeps records of orders-0 and 1 more log for 1000 ms, and the stopped broker had older"
        " segments. The first check of retention deletes them"
    )
    assert kept(1, 1002, **second) == sentence
    assert kept(1, 1001, **second) is kept(None, 1002, **second) is kept(1, None, **second) is None
    assert kept(1, 9 * HOUR, **{"log.retention.ms": "-1"}) is None
    # A running broker checks every five minutes, so a topic has segments that are as much older.
    own = {"retention.ms": "1000"}
    assert kept(1, 601_001, topic=own) is None
    way = (
        ". retention.ms of topic orders is in the metadata, and in no file. Start the controllers alone, and run"
        " bin/kafka-configs.sh --bootstrap-controller HOST:PORT --alter --entity-type topics --entity-name orders"
        " --add-config retention.ms=N"
    )
    assert kept(1, 601_002, topic=own) == sentence + way
    assert kept(1, 3002, topic=own, **{"log.retention.check.interval.ms": "1000"}) == sentence + way
    assert kept(1, HOUR + 600_001, **{"log.retention.hours": "1"}) is None
    assert kept(1, HOUR + 600_002, **{"log.retention.hours": "1"}) is not None
    assert kept(1, 9 * HOUR, topic={**own, "remote.storage.enable": "true"}) is None


@pytest.mark.parametrize(
    ("kafka", "mode", "place", "way"),
    [
        ("3.7", Mode.KRAFT, ("broker", ""), "the controllers|--bootstrap-controller|brokers --entity-default"),
        ("3.6", Mode.KRAFT, ("broker", "1"), None),
        ("3.9", Mode.ZOOKEEPER, ("broker", "1"), "ZooKeeper|--zookeeper|brokers --entity-name 1"),
        ("2.8", Mode.ZOOKEEPER, ("topic", "orders"), "ZooKeeper|--zookeeper|topics --entity-name orders"),
        ("3.0", Mode.ZOOKEEPER, ("topic", "orders"), None),
    ],
)
def test_a_retention_that_is_in_no_file(kafka: str, mode: Mode, place: tuple[str, str], way: str | None) -> None:
    """Controllers of 3.7.2 and 3.9.2 took it while no broker ran; ConfigCommand of 3.6.2 knows brokers only.

    ConfigCommand of 2.8.2 changes topics in ZooKeeper, and those of 3.0.2 to 3.9.2 only users and brokers.
    """
    kind, entity = place
    name = "retention.ms" if kind == "topic" else "log.retention.ms"
    whose = f"{kind} {entity}" if entity else "all brokers"
    of = image()._replace(configs={place: {name: "1000"}})
    given = facts(
        mode=mode, copies=(), image=of, logs=(LOG._replace(oldest=1),), config={"log.retention.ms": "-1"},
        release=release(kafka), registered_at=9 * HOUR,
    )  # fmt: skip
    (said,) = (row.sentence for row in judged(given) if row.id == "P324")
    ends = "No tool changes it before a broker runs"
    if way is not None:
        alone, option, whom = way.split("|")
        ends = f"Start {alone} alone, and run bin/kafka-configs.sh {option} HOST:PORT --alter --entity-type {whom}"
        ends += f" --add-config {name}=N"
    assert said.endswith(f" deletes them. {name} of {whose} is in the metadata, and in no file. {ends}")


def test_a_policy_that_deletes_nothing() -> None:
    """The cleaner alone ends such logs (UnifiedLog.deleteOldSegments)."""
    for settings in ({"log.cleanup.policy": "compact"}, {}):
        of = image()._replace(configs={("broker", ""): {} if settings else {"log.cleanup.policy": "compact"}})
        config = {"log.retention.ms": "1000", **settings}
        given = facts(copies=(copy(of=of, timestamp=1002),), image=of, logs=(LOG._replace(oldest=1),), config=config)
        assert "P324" not in {row.id for row in judged(given)}


def test_segments_that_retention_would_have_deleted_with_zookeeper() -> None:
    """Brokers of 2.8.2 deleted all records of ten logs. No copy of the metadata shows when one stopped."""
    of = image()
    given = facts(
        mode=Mode.ZOOKEEPER, copies=(), image=of, logs=(LOG._replace(oldest=1),), config={"log.retention.ms": "1000"}
    )
    stopped = tuple(row._replace(stopped_at=1002) for row in given.log_dirs)
    for ran in (given._replace(registered_at=1002), given._replace(log_dirs=stopped)):
        assert "P324" in {row.id for row in judged(ran)}
    assert "P324" not in {row.id for row in judged(given)}


def test_segments_that_became_too_old_while_the_broker_was_down() -> None:
    """That is no fault of a disk that is put back, but good to know."""
    said = kept(1, 1000, 9 * HOUR, **{"log.retention.hours": "1"})
    assert said == (
        f"not-seen: retention keeps records of orders-0 and 1 more log for {HOUR} ms. Segments are older by now,"
        " and the first check of retention deletes them"
    )
    assert kept(1, None, 9 * HOUR, **{"log.retention.hours": "1"}) is None


def test_segments_beyond_the_size_that_retention_keeps() -> None:
    """Brokers of 4.3.1 with log.retention.bytes=1 deleted all segments but the last one."""

    def told(size: str, *sizes: int, ms: str = "-1") -> str | None:
        of = image()
        log = LOG._replace(oldest=1, sizes=sizes)
        settings = {**KRAFT, "log.retention.bytes": size, "log.retention.ms": ms}
        given = facts(copies=(copy(of=of),), image=of, logs=(log, log), config=settings)
        return next((f"{row.status}: {row.sentence}" for row in judged(given) if row.id == "P324"), None)

    assert told("1", 10, 10, 10) == (
        "refuted: retention keeps 1 bytes of orders-0 and 1 more log, and most segments are beyond that. The first"
        " check of retention deletes them"
    )
    assert told("20", 10, 10, 10) is told("15", 10, 10) is told("-1", 10, 10, 10) is told("1") is None
    assert told("10", 10, 10, 10) is not None


def remote(oldest: int | None, least: int, *, ms: int = -1, size: int = -1) -> str | None:
    """Return what P324 says of a log in remote storage with offsets 0-99, stopped at 100 hours."""
    of = image()._replace(configs={("topic", "orders"): {"remote.storage.enable": "true"}})
    first = None if oldest is None or ms < 0 else oldest + ms
    regular = RegularDeletion(Offset(0), Offset(least), Offset(least), first, first)
    log = LOG._replace(end=Offset(100), regular=regular)
    settings = {**KRAFT, "log.retention.ms": str(ms), "log.retention.bytes": str(size)}
    given = facts(copies=(copy(1, of=of, timestamp=100 * HOUR),), image=of, logs=(log,), config=settings)
    return next((f"{row.status}: {row.sentence}" for row in judged(given) if row.id == "P324"), None)


def test_remote_segments_that_retention_would_have_deleted() -> None:
    """Only settings below the ones of the stopped broker leave them; brokers of 4.3.1 delete them at once."""
    assert remote(HOUR, 0, ms=1000) == (
        "refuted: retention keeps records of orders-0 for 1000 ms, and the stopped broker had older segments. The first"
        " check of retention deletes them"
    )
    assert remote(HOUR, 51, size=300) == (
        "refuted: retention keeps 300 bytes of orders-0, and most segments are beyond that. The first check of"
        " retention deletes them"
    )
    assert remote(HOUR, 50, size=300) is remote(HOUR, 0, ms=100 * HOUR) is remote(None, 0, ms=1000) is None


def test_committed_offsets_that_expire() -> None:
    """A group of 3.9.2 had none after a start with one minute."""
    offsets = LOG._replace(partition=TopicPartition("__consumer_offsets", 0))
    minute = {**KRAFT, "offsets.retention.minutes": "1"}
    sentence = "offsets.retention.minutes=1: a group without members loses its committed offsets if all are older"
    assert sentence == not_seen(facts(logs=(offsets,), config=minute))["P324"]
    assert "P324" not in not_seen(facts(logs=(LOG,), config=minute))
    assert "P324" not in not_seen(facts(logs=(offsets,), config={**minute, "offsets.retention.minutes": "60"}))
