"""What a start decides from names, numbers and settings."""

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.start.startup import (
    FirstPass,
    Mode,
    Outcome,
    Settings,
    UnreadableOutcome,
    failed_read,
    first_pass,
    mode_of,
    mode_of_metadata,
    of_file,
    offset_of,
    outcome_without_topic_id,
    recovery_point,
    refusal_of,
    replaced_by_swaps,
    segments_from,
    settings,
    stray_snapshots,
    unreadable_checkpoint,
)
from kcheck.errors import UsageError
from kcheck.model.finding import Location
from kcheck.model.java import LONG_MAX
from kcheck.model.names import LOG_START, PARTITION_METADATA, RECOVERY_POINT, REPLICATION_OFFSET
from kcheck.model.unreadable import Unreadable, UnreadableCause
from kcheck.model.views import LogDirView

NEWEST, V39, V28 = release("4.3"), release("3.9"), release("2.8")
BASES = (0, 100, 200)


def name(offset: int, ending: str) -> str:
    """Return the name of a file of a segment."""
    return f"{offset:020d}{ending}"


@pytest.mark.parametrize(
    ("config", "version", "expected"),
    [
        ({}, "4.3", Settings(Mode.KRAFT)),
        ({}, "3.9", Settings(None)),
        ({"process.roles": "broker"}, "3.9", Settings(Mode.KRAFT)),
        ({"zookeeper.connect": "zk:2181"}, "3.9", Settings(Mode.ZOOKEEPER)),
        ({"process.roles": "controller", "zookeeper.connect": "zk:2181"}, "3.9", Settings(Mode.KRAFT)),
        ({"mode": "zk"}, "3.9", Settings(Mode.ZOOKEEPER)),
        ({"mode": "kraft"}, "3.9", Settings(Mode.KRAFT)),
        ({}, "2.8", Settings(Mode.ZOOKEEPER)),
        ({"log.index.size.max.bytes": "96", "ssl.protocol": "x"}, "2.8", Settings(Mode.ZOOKEEPER, 96)),
        ({"index.interval.bytes": " 0 ", "preallocate": "TRUE"}, "3.9", Settings(None, 10 << 20, 0, preallocate=True)),
        ({"remote.log.storage.system.enable": "true"}, "3.9", Settings(None, remote_storage=True)),
        (
            {"remote.log.storage.system.enable": "true", "log.dir": "d"},
            "3.9",
            Settings(None, remote_storage=True, delete_delay_ms=60_000),
        ),
        ({"log.dirs": "d,e"}, "3.9", Settings(None, remote_storage=False, delete_delay_ms=60_000)),
        ({"log.segment.delete.delay.ms": "600000"}, "3.9", Settings(None, delete_delay_ms=600_000)),
        ({"log.segment.delete.delay.ms": "x"}, "3.9", Settings(None)),
    ],
)
def test_settings(config: dict[str, str], version: str, expected: Settings) -> None:
    """Setting names of topics and brokers mean the same; other settings are ignored."""
    assert expected == settings(config, release(version))


@pytest.mark.parametrize("config", [{"mode": "paxos"}, {"segment.bytes": "many"}, {"segment.index.bytes": "-1"}])
def test_settings_that_make_no_sense(config: dict[str, str]) -> None:
    """A usage error names the setting."""
    with pytest.raises(UsageError, match=next(iter(config))):
        settings(config, NEWEST)


def test_sizes_that_no_broker_takes() -> None:
    """ConfigDef.parseType throws ConfigException: a premise says so, and the start has no size by them."""
    said = {"log.segment.bytes": "x", "log.index.size.max.bytes": "-1", "segment.bytes": " 7 ", "log.dirs": "/d"}
    assert {"segment.bytes": " 7 ", "log.dirs": "/d"} == of_file(said)


def test_mode_by_what_is_in_the_log_dir() -> None:
    """The setting decides, then the version of meta.properties, then the default of the release."""
    assert mode_of(Mode.ZOOKEEPER, 1, V39) is Mode.ZOOKEEPER
    assert mode_of(None, 1, V39) is Mode.KRAFT
    assert mode_of(None, 0, V39) is Mode.ZOOKEEPER
    assert mode_of(None, None, V39) is Mode.KRAFT
    assert mode_of(None, None, release("3.0")) is Mode.ZOOKEEPER
    assert mode_of(None, None, V39, Mode.ZOOKEEPER) is Mode.ZOOKEEPER
    assert mode_of(None, 1, V39, Mode.ZOOKEEPER) is Mode.KRAFT


def test_the_given_metadata_show_their_place() -> None:
    """Of a migration both kinds can be given."""
    assert mode_of_metadata(kraft=True, zookeeper=False) is Mode.KRAFT
    assert mode_of_metadata(kraft=False, zookeeper=True) is Mode.ZOOKEEPER
    assert mode_of_metadata(kraft=True, zookeeper=True) is None
    assert mode_of_metadata(kraft=False, zookeeper=False) is None


def test_logs_without_a_topic_id() -> None:
    """From 3.7.1 KRaft renames them to -stray; 3.7.0 does not start (LogManager.isStrayKraftReplica)."""
    assert outcome_without_topic_id(mode=Mode.ZOOKEEPER, release=V39) is Outcome.OK
    assert outcome_without_topic_id(mode=Mode.KRAFT, release=release("3.6")) is Outcome.OK
    assert outcome_without_topic_id(mode=Mode.KRAFT, release=release("3.7.0")) is Outcome.ABORT
    assert outcome_without_topic_id(mode=Mode.KRAFT, release=NEWEST) is Outcome.STRAY


def test_offset_of() -> None:
    """The number before the first dot, as Long.parseLong reads it."""
    assert [5, 5, -1, None, None] == [offset_of(file) for file in ("5.log", "+5.a.log", "-1.log", "x.log", "5")]


def test_temporary_files() -> None:
    """A swap not below the lowest cleaned file is part of a split that did not end."""
    names = [name(0, ".log.swap"), name(10, ".log.swap"), name(5, ".log.cleaned"), name(7, ".log.deleted"), "a.txt"]
    removed = (names[3], names[2], names[1])
    assert FirstPass(removed, (names[0],)) == first_pass(names, NEWEST)
    assert FirstPass(removed[:2], (names[0], names[1])) == first_pass(names, release("1.1"))
    assert FirstPass((), (names[1],)) == first_pass([names[1]], NEWEST)


def test_temporary_files_without_a_number() -> None:
    """The broker fails on the number. It keeps a KRaft snapshot that is to be deleted."""
    kept = "00000000000000000000-0000000000.checkpoint.deleted"
    assert FirstPass(("x.deleted",), (), "x.swap") == first_pass(["x.swap", "x.deleted", kept], NEWEST)


def test_replaced_by_swaps() -> None:
    """Every file with a number goes, except the swaps themselves."""
    names = [name(5, ".log"), name(5, ".snapshot"), name(9, ".log"), name(5, ".log.swap"), "leader-epoch-checkpoint"]
    assert (names[0], names[1]) == replaced_by_swaps(names, 0, 9)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (150, LONG_MAX, [100, 200]), (-1, LONG_MAX, [0, 100, 200]), (100, 200, [100]), (500, LONG_MAX, [200]),
        (150, 150, []), (LONG_MAX, LONG_MAX, []),
    ],
)  # fmt: skip
def test_segments_from(low: int, high: int, expected: list[int]) -> None:
    """LogSegments.values: the segment that may hold the offset, and those after it."""
    assert expected == list(segments_from(BASES, low, high, release=NEWEST))


def test_segments_from_old() -> None:
    """Up to 2.4 an empty range has the segment around it; a range that ends before that segment is an error."""
    assert [100] == list(segments_from(BASES, 150, 150, release=release("2.4.1")))
    with pytest.raises(ValueError, match="inconsistent range"):
        segments_from(BASES, 150, 99, release=NEWEST)


@pytest.mark.parametrize(
    ("offsets", "expected"),
    [
        ([0, 100, 200], ()),
        ([50, 150, 250], (50, 150)),
        ([50, 150], (50, 150)),
        ([], ()),
    ],
)
def test_stray_snapshots(offsets: list[int], expected: tuple[int, ...]) -> None:
    """The highest one without a segment stays unless it lies below the last segment (removeStraySnapshots)."""
    assert expected == stray_snapshots(offsets, set(BASES))
    assert tuple(offsets[:-1]) == stray_snapshots(offsets, set())


def test_recovery_point() -> None:
    """It is the log end after a clean shutdown, up to 2.7 always; never above the log end or below the log start."""
    assert recovery_point(at_end=True, checkpoint=5, end=90, start=0, release=NEWEST) == 90
    assert recovery_point(at_end=False, checkpoint=50, end=90, start=0, release=NEWEST) == 50
    assert recovery_point(at_end=False, checkpoint=500, end=90, start=0, release=NEWEST) == 90
    assert recovery_point(at_end=False, checkpoint=0, end=90, start=10, release=NEWEST) == 10
    assert recovery_point(at_end=False, checkpoint=50, end=90, start=0, release=release("2.7")) == 90
    assert recovery_point(at_end=False, checkpoint=50, end=90, start=99, release=release("2.3")) == 90
    assert recovery_point(at_end=False, checkpoint=50, end=90, start=0, release=release("0.11.0")) == 50


@pytest.mark.parametrize(
    ("file", "error", "version", "expected"),
    [
        (RECOVERY_POINT, "IOException", "4.3", (Outcome.OFFLINE, True)),
        (LOG_START, "MalformedInputException", "2.8", (Outcome.OFFLINE, True)),
        (REPLICATION_OFFSET, "IOException", "4.3", (Outcome.OFFLINE, False)),
        (RECOVERY_POINT, "NumberFormatException", "4.3", None),
        (RECOVERY_POINT, "OutOfMemoryError", "4.3", (Outcome.ABORT, False)),
        (RECOVERY_POINT, "IOException", "0.11.0", None),
        (RECOVERY_POINT, "NumberFormatException", "0.8.2", (Outcome.ABORT, False)),
        ("other", "IOException", "4.3", None),
    ],
)
def test_unreadable_checkpoints(file: str, error: str, version: str, expected: tuple[Outcome, bool] | None) -> None:
    """From 1.0 an IOException takes the log dir offline, and the start continues with the others."""
    outcome = unreadable_checkpoint(file, error, release(version))
    assert expected == (None if outcome is None else (outcome.outcome, outcome.fails_later))


@pytest.mark.parametrize(
    ("cause", "refusal"), [(UnreadableCause.NOWHERE, "IOException"), (UnreadableCause.REFUSED, None)]
)
def test_a_checkpoint_that_kcheck_cannot_read(cause: UnreadableCause, refusal: str | None) -> None:
    """The broker fails on a link that leads nowhere; what else kcheck cannot read, the broker may read."""
    log_dir = LogDirView(Location(), unread={RECOVERY_POINT: Unreadable(cause, "")})
    assert refusal == refusal_of(RECOVERY_POINT, log_dir)
    assert refusal_of(LOG_START, log_dir) is None


def test_unreadable_files_of_a_partition() -> None:
    """Up to 3.2.0 one such file aborts the start (KAFKA-13773)."""
    reason = f"{PARTITION_METADATA} cannot be read: IOException"
    assert UnreadableOutcome(Outcome.OFFLINE, reason, fails_later=True) == failed_read(
        PARTITION_METADATA, "IOException", NEWEST
    )
    assert UnreadableOutcome(Outcome.ABORT, reason, fails_later=True) == failed_read(
        PARTITION_METADATA, "IOException", V28
    )
    assert failed_read(PARTITION_METADATA, "NullPointerException", NEWEST).outcome is Outcome.ABORT
