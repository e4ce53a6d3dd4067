"""P319, P811 to P813 and P821 to P823: the part of logs in remote storage."""

import pytest

from kcheck.core.premises.facts import BrokerFacts, LogDirFacts, LogFacts
from kcheck.core.premises.remote import (
    REMOTE_DELETES,
    REMOTE_KEPT,
    REMOTE_METADATA,
    REMOTE_OBJECTS,
    REMOTE_ON,
    REMOTE_READABLE,
    REMOTE_RETENTION,
    REMOTE_SETTINGS,
)
from kcheck.core.premises.table import judged
from kcheck.core.releases.releases import release
from kcheck.core.start.startup import Mode
from kcheck.core.tiered.reading import remote_log
from kcheck.core.tiered.regular_deletion import RegularDeletion
from kcheck.core.tiered.reports import RemoteReport
from kcheck.model.cluster import ClusterImage, PartitionRegistration, TopicImage
from kcheck.model.entries import EpochEntry, Offset
from kcheck.model.names import TopicPartition
from kcheck.model.premises import PremiseStatus
from kcheck.model.remote_log import (
    REMOTE_LOG_METADATA,
    MetadataConflict,
    MetadataState,
    RemoteLog,
    RemoteSegment,
    Retention,
    SegmentState,
)
from tests.core.premises.test_premises import METADATA_LOG, facts, image, log_dir

EMPTY_DIR = log_dir(directories=(METADATA_LOG,))
SEGMENTS = tuple(
    RemoteSegment(f"{at}", SegmentState.COPY_FINISHED, at, at + 10, 400, (EpochEntry(0, 0),)) for at in (0, 10)
)


READ = remote_log(MetadataState.READ, SEGMENTS, 2)


def judgements(report: RemoteReport, remote: RemoteLog = READ) -> dict[str, tuple[PremiseStatus, str]]:
    """Return status and sentence of the premises about remote storage."""
    log = LogFacts(TopicPartition("pay", 0), "d", end=30, remote=remote, remote_report=report)
    facts = BrokerFacts(1, release("4.3"), Mode.KRAFT, (), logs=(log, LogFacts(TopicPartition("x", 0), "d")))
    names = (REMOTE_KEPT, REMOTE_READABLE, REMOTE_METADATA, REMOTE_OBJECTS)
    return {row.id: (row.status, row.sentence) for row in judged(facts) if row.id in names}


def refuted(report: RemoteReport, remote: RemoteLog = READ) -> list[str]:
    """Return the sentences of refuted premises."""
    rows = judgements(report, remote).values()
    return [sentence for status, sentence in rows if status is PremiseStatus.REFUTED]


def test_what_is_right() -> None:
    rows = judgements(RemoteReport())
    sentence = "2 remote segments: the store was not read; kcheck tiered --store PLACE reads it"
    assert rows.pop(REMOTE_OBJECTS) == (PremiseStatus.NOT_SEEN, sentence)
    assert {status for status, _ in rows.values()} == {PremiseStatus.PROVEN}


@pytest.mark.parametrize(
    ("config", "remote", "status"),
    [
        ({"remote.log.storage.system.enable": " True "}, READ, PremiseStatus.PROVEN),
        ({"remote.log.storage.system.enable": "false"}, READ, PremiseStatus.REFUTED),
        ({}, READ, PremiseStatus.REFUTED),
        ({}, remote_log(MetadataState.MISSING), PremiseStatus.REFUTED),
        ({"remote.log.storage.system.enable": "${env:X}"}, READ, PremiseStatus.NOT_SEEN),
        ({}, remote_log(MetadataState.READ), None),
        (None, READ, None),
    ],
)
def test_remote_storage_that_is_off(
    config: dict[str, str] | None, remote: RemoteLog, status: PremiseStatus | None
) -> None:
    """Brokers of 3.9.2 and 4.3.1 led such logs from their first local segments on."""
    log = LogFacts(TopicPartition("pay", 0), "d", end=30, remote=remote)
    facts = BrokerFacts(1, release("4.3"), Mode.KRAFT, (), config=config, logs=(log,))
    rows = [row for row in judged(facts) if row.id == REMOTE_ON]
    assert [row.status for row in rows] == ([] if status is None else [status])
    if status is PremiseStatus.REFUTED:
        assert rows[0].sentence.startswith(
            "remote.log.storage.system.enable is not true, but pay-0 has remote segments"
        )


def settings(**changes: str | None) -> list[str]:
    """Return what P823 says of a cluster with three partitions of metadata."""
    topic = TopicImage(REMOTE_LOG_METADATA, "M", dict.fromkeys(range(3), PartitionRegistration((1,), (1,))))
    config = {
        "remote.log.storage.system.enable": "true",
        "remote.log.metadata.manager.listener.name": "PLAINTEXT",
        "rlmm.config.remote.log.metadata.topic.num.partitions": "3",
        **{name.replace("_", "."): value for name, value in changes.items() if value is not None},
    }
    for name in (name.replace("_", ".") for name, value in changes.items() if value is None):
        del config[name]
    of = image()._replace(topics={REMOTE_LOG_METADATA: topic})
    given = BrokerFacts(1, release("4.3"), Mode.KRAFT, (), image=of, config=config)
    return [f"{row.status}: {row.sentence}" for row in judged(given) if row.id == REMOTE_SETTINGS]


def test_settings_that_do_not_fit_the_metadata_topic() -> None:
    """Kafka compares the number of partitions at the start (TopicBasedRemoteLogMetadataManager 3.6 to 4.3.1)."""
    (right,) = settings()
    assert right.startswith("proven")
    then = "Remote storage does not start, and the broker may end"
    count = "rlmm.config.remote.log.metadata.topic.num.partitions"
    assert settings(**{count: "5"}) == [f"refuted: {count} is 5, but __remote_log_metadata has 3 partitions. {then}"]
    said = f"refuted: {count} is 50 by default, but __remote_log_metadata has 3 partitions. {then}"
    assert settings(**{count: None}) == [said]
    listener = "remote.log.metadata.manager.listener.name"
    assert settings(**{listener: None}) == [f"refuted: {listener} is missing. {then}"]
    servers = "rlmm.config.remote.log.metadata.common.client.bootstrap.servers"
    assert settings(**{listener: None, servers: "k:9092"}) == [right]
    assert settings(**{count: "${env:X}"}) == [right]
    assert settings(remote_log_storage_system_enable="false") == []
    assert settings(remote_log_metadata_manager_class_name="own.Manager") == []
    without = BrokerFacts(1, release("4.3"), Mode.KRAFT, ())
    assert REMOTE_SETTINGS not in {row.id for row in judged(without)}


def test_segments_that_a_leader_deletes() -> None:
    assert refuted(RemoteReport(deleted=remote_log(MetadataState.READ, SEGMENTS).runs)) == [
        "pay-0 loads; once it leads, Kafka deletes at most 2 remote segments (offsets 0-19)"
    ]


def test_offsets_that_cannot_be_read() -> None:
    assert refuted(RemoteReport(gaps=((3, 4),), unreadable=((5, 9), (12, 14)))) == [
        "pay-0 loads with offset 3 neither local nor remote and offsets 5-8, 12-13 not readable while it leads"
    ]


@pytest.mark.parametrize(
    ("kafka", "size", "tries", "status"),
    [
        ("4.3", 600, 3, PremiseStatus.REFUTED),
        ("4.3", None, 2, PremiseStatus.REFUTED),
        ("4.3", -1, 3, PremiseStatus.PROVEN),
        ("4.3", 600, 1, PremiseStatus.PROVEN),
        ("3.6", 600, 3, None),
    ],
)
def test_deletions_that_the_store_refuses(
    kafka: str, size: int | None, tries: int, status: PremiseStatus | None
) -> None:
    """3.7.2 to 4.3.1 move the log start with each try; 3.6.2 moves it no further than retention asks."""
    refused = SEGMENTS[0]._replace(state=SegmentState.DELETE_STARTED, deletions=tries, was_finished=True)
    remote = remote_log(MetadataState.READ, (refused, SEGMENTS[1]), 2)._replace(retention=Retention(-1, size))
    log = LogFacts(TopicPartition("pay", 0), "d", end=30, remote=remote)
    rows = [
        row for row in judged(BrokerFacts(1, release(kafka), Mode.KRAFT, (), logs=(log,))) if row.id == REMOTE_DELETES
    ]
    assert [row.status for row in rows] == ([] if status is None else [status])
    if status is PremiseStatus.REFUTED:
        assert rows[0].sentence == (
            f"pay-0: the store refused {tries} tries to delete 1 remote segment. Meanwhile retention moves the log"
            " start too far, to at most 20"
        )


def test_lost_metadata() -> None:
    (sentence,) = refuted(RemoteReport(without_metadata=((0, 20),)), remote_log(MetadataState.MISSING))
    assert sentence == "pay-0: this start raises the log start from 0 to 20 and leaves 20 records in the store"


def test_metadata_without_its_end() -> None:
    sentence = "pay-0: __remote_log_metadata-2 ends below its high watermark. Newer segments are lost"
    assert judgements(RemoteReport(), remote_log(MetadataState.SHORT, SEGMENTS, 2))[REMOTE_METADATA] == (
        PremiseStatus.REFUTED, sentence,
    )  # fmt: skip


def test_metadata_that_is_not_given() -> None:
    """Nothing else is known of the remote part then."""
    remote = remote_log(MetadataState.NOT_GIVEN)
    assert judgements(RemoteReport(), remote) == {
        REMOTE_METADATA: (PremiseStatus.NOT_SEEN, "the remote segments of pay-0 are not known")
    }


def test_copies_of_the_metadata_that_differ() -> None:
    """Neither of them is taken, and nothing is proven by them."""
    conflict = MetadataConflict((1, None), Offset(7))
    remote = remote_log(MetadataState.CONTRADICTORY, (), 2)._replace(conflict=conflict)
    sentence = "two copies of __remote_log_metadata-2 differ at offset 7 (brokers 1 and ?)"
    assert judgements(RemoteReport(), remote) == {
        REMOTE_METADATA: (PremiseStatus.NOT_SEEN, f"{sentence}, so its remote segments are not known")
    }


def test_nothing_is_lost_where_nothing_is_remote() -> None:
    """The metadata partition is empty, and the log begins on disk: a start loses nothing."""
    assert judgements(RemoteReport(), remote_log(MetadataState.MISSING)) == {
        REMOTE_METADATA: (PremiseStatus.PROVEN, "The metadata of remote segments is there.")
    }


def test_a_broker_without_remote_storage() -> None:
    facts = BrokerFacts(1, release("4.3"), Mode.KRAFT, (), logs=(LogFacts(TopicPartition("x", 0), "d"),))
    assert not [row for row in judged(facts) if row.id.startswith("P81")]


def of_retention(*regular: RegularDeletion | None, broker_id: int | None = 1) -> list[tuple[PremiseStatus, str]]:
    """Return the judgements about logs from which retention deletes something."""
    logs = [
        LogFacts(TopicPartition("pay", number), "d", end=30, remote=READ, regular=row)
        for number, row in enumerate(regular)
    ]
    logs.append(LogFacts(TopicPartition("x", 0), "d"))
    rows = judged(BrokerFacts(broker_id, release("4.3"), Mode.KRAFT, (), logs=tuple(logs)))
    return [(row.status, row.sentence) for row in rows if row.id == REMOTE_RETENTION]


def test_regular_deletions() -> None:
    """They are notes, because no record is lost by accident."""
    none, some = RegularDeletion(0, 0, 0), RegularDeletion(0, 5, 5)
    assert of_retention(None) == []
    assert of_retention(none) == [(PremiseStatus.PROVEN, "Retention deletes no remote segment.")]
    assert of_retention(some, none, RegularDeletion(0, 5, 10)) == [
        (
            PremiseStatus.NOT_SEEN,
            "once broker 1 leads, retention.bytes deletes pay-0 0-4, pay-2 0-4, at most 0-9. That is regular",
        )
    ]
    ((_, sentence),) = of_retention(some, broker_id=None)
    assert sentence == "once the broker leads, retention.bytes deletes pay-0 0-4. That is regular"
    dated = RegularDeletion(0, 0, 0, first_ms=1_700_000_000_000, last_ms=1_700_000_009_000)
    assert of_retention(dated._replace(first_ms=1_800_000_000_000), dated) == [
        (
            PremiseStatus.NOT_SEEN,
            "from 2023-11-14T22:13:20Z on retention.ms deletes remote segments of 2 partitions. That is regular",
        )
    ]
    on_disk = RegularDeletion(0, 0, 0, local_first_ms=1_700_000_000_000)
    ((_, sentence),) = of_retention(on_disk, none)
    assert sentence == (
        "from 2023-11-14T22:13:20Z on local.retention.ms deletes segments of 1 partition on disk. Remote storage keeps"
        " these"
    )
    unknown = RegularDeletion(0, 0, None)
    assert of_retention(none, unknown, RegularDeletion(0, 0, 0, is_dated=False)) == [
        (PremiseStatus.NOT_SEEN, "what retention deletes of pay-1, pay-2 is not known without server.properties")
    ]


@pytest.mark.parametrize(
    ("known", "log_dir_facts", "remote", "is_red"),
    [
        (image(1), EMPTY_DIR, READ, True),
        (image(1, 2, isr=(1,), leader=1), EMPTY_DIR, READ, True),
        (image(1, 2, isr=(2,), leader=2), EMPTY_DIR, READ, False),
        (image(1), EMPTY_DIR, remote_log(MetadataState.READ), False),
        (image(1), EMPTY_DIR._replace(is_readable=False), READ, False),
    ],
)
def test_a_replica_without_a_directory(
    known: ClusterImage, log_dir_facts: LogDirFacts, remote: RemoteLog, *, is_red: bool
) -> None:
    """Brokers of 3.6.2 to 4.3.1 deleted all remote segments as soon as the empty log led."""
    there = LogFacts(TopicPartition("other", 0), "d1", end=30, remote=READ)
    absent = {TopicPartition("orders", 0): remote}
    rows = [
        row
        for row in judged(facts(log_dir_facts, image=known, logs=(there,), absent_remote=absent))
        if row.id == REMOTE_KEPT
    ]
    words = (
        "orders-0 starts empty. Then Kafka deletes at most 2 remote segments (offsets 0-19), and no reader"
        " gets these records"
    )
    assert [row.sentence for row in rows] == [words if is_red else "Leading deletes no remote segment."]
