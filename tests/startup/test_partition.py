"""One partition directory: its outcome, and the records that the start loses (rules 2.8, 3.6, 7.1 to 7.3).

tests/oracle/starts holds the same against the released LogManager.
"""

from pathlib import Path

import pytest

from kcheck.core.cluster.copies import MetadataCopy
from kcheck.core.start.predictions import LogCut, PartitionPrediction
from kcheck.core.start.startup import Mode, Outcome
from kcheck.core.start.strays import StrayDetector
from kcheck.disk.local import LOCAL
from kcheck.formats.partition_metadata import PartitionMetadata, serialize
from kcheck.model.cluster import BrokerRegistration, ClusterImage, PartitionRegistration, TopicImage
from kcheck.model.entries import Offset
from kcheck.model.loss import LostRecords
from kcheck.model.names import parse_directory
from kcheck.startup.inputs import Context, LoadInputs
from kcheck.startup.partition import cut_loss, start_folder, start_partition
from tests.builders import BytesFiles, Made, batch, index, log, run
from tests.startup.folders import context_of, folder_of, folder_of_logs, name

TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAg"
METADATA = serialize(PartitionMetadata(0, TOPIC_ID))
BROKER = {1: BrokerRegistration(1, 5, fenced=False)}
FUTURE = "t-0.0123456789abcdef0123456789abcdef-future"


def started(
    batches: list[Made],
    context: Context,
    *,
    directory: str = "t-0",
    metadata: bytes | None = METADATA,
    high_watermark: int | None = None,
) -> PartitionPrediction:
    """Start a directory with one segment, after an unclean shutdown."""
    parsed = parse_directory(directory)
    assert parsed is not None
    files = {} if metadata is None else {"partition.metadata": metadata}
    folder = folder_of_logs({0: batches}, files)
    return start_folder(folder, directory, parsed, LoadInputs(clean=False, high_watermark=high_watermark), context)


def context_with(image: ClusterImage, kafka: str = "4.3") -> Context:
    """Return broker 1 with its own copy of these metadata."""
    copy = MetadataCopy("m", 1, epoch=1, end=50, snapshot=50, voters=frozenset({1}), image=image)
    return context_of(kafka)._replace(stray_detector=StrayDetector(copy, 1, own=True, directory_id="here"))


def test_an_intact_log_is_loaded() -> None:
    """Partition.createLog: the high watermark is the checkpoint, clamped to the log."""
    start = started(run(0, 99), context_of("4.0"), high_watermark=500)
    assert (start.outcome, start.high_watermark, start.lost) == (Outcome.REPAIRED, 100, None)


def test_truncated_records_are_lost() -> None:
    """LogSegment.recover truncates behind the last valid batch; the batch behind the damage counts too."""
    damaged = Made(data=bytes(100), base_offset=50, last_offset=59)
    start = started([*run(0, 49), damaged, *run(60, 99)], context_of(), high_watermark=70)
    assert start.outcome is Outcome.LOST
    assert start.lost is not None
    assert (start.lost.start, start.lost.end, start.lost.bytes) == (50, 100, 500)
    assert start.log is not None
    assert start.log.log_end_offset == 50


@pytest.mark.parametrize(
    ("kafka", "outcome"), [("3.6", Outcome.REPAIRED), ("3.7.0", Outcome.ABORT), ("4.3", Outcome.STRAY)]
)
def test_a_log_without_a_topic_id(kafka: str, outcome: Outcome) -> None:
    """LogManager.isStrayKraftReplica (rule 7.2)."""
    assert started(run(0, 99), context_of(kafka), metadata=None).outcome is outcome


@pytest.mark.parametrize(
    ("metadata", "outcome"),
    [(b"version: 0\n", Outcome.ABORT), (b"version: x\ntopic_id: y\n", Outcome.OFFLINE)],
)
def test_a_bad_topic_id(metadata: bytes, outcome: Outcome) -> None:
    """PartitionMetadataFile.read: a missing line aborts, a malformed one takes the log dir offline (rule 7.1)."""
    start = started(run(0, 99), context_of(), metadata=metadata)
    assert (outcome, None) == (start.outcome, start.log)


BLOCKED = ("leader-epoch-checkpoint", "partition.metadata")
"""Small files that a broker writes by a temporary one."""


@pytest.mark.parametrize(
    ("name", "kafka", "mode", "fails"),
    [
        (BLOCKED[0], "4.3", Mode.KRAFT, True),
        (BLOCKED[0], "0.10.2", Mode.ZOOKEEPER, False),
        (BLOCKED[1], "4.3", Mode.KRAFT, False),
        (BLOCKED[1], "3.9", Mode.ZOOKEEPER, True),
        (BLOCKED[1], "2.7", Mode.ZOOKEEPER, False),
    ],
)
def test_a_directory_where_the_broker_writes_later(name: str, kafka: str, mode: Mode, fails: bool) -> None:
    """CheckpointFile.write, PartitionMetadataFile: the log is loaded, and the log dir fails at the first leader."""
    metadata = {"partition.metadata": METADATA} if mode is Mode.KRAFT else {}
    folder = folder_of_logs({0: run(0, 99)}, {"leader-epoch-checkpoint": b"0\n1\n0 0\n", **metadata})
    folder.directories[f"{name}.tmp"] = True
    parsed = parse_directory("t-0")
    assert parsed is not None
    start = start_folder(folder, "t-0", parsed, LoadInputs(clean=False), context_of(kafka, mode))
    assert fails is (start.outcome is Outcome.OFFLINE)
    assert fails is (start.reason == f"{name}.tmp is a directory, so the broker cannot write {name}")
    assert start.log is not None


def test_a_directory_where_nobody_writes() -> None:
    """A -stray directory is neither led nor followed."""
    directory = FUTURE.replace("-future", "-stray")
    folder = folder_of_logs({0: run(0, 99)}, {"leader-epoch-checkpoint": b"0\n1\n0 0\n"})
    folder.directories["leader-epoch-checkpoint.tmp"] = True
    parsed = parse_directory(directory)
    assert parsed is not None
    start = start_folder(folder, directory, parsed, LoadInputs(clean=True), context_of())
    assert start.outcome is Outcome.STRAY


@pytest.mark.parametrize(("kafka", "outcome"), [("3.6", Outcome.DELETED), ("4.3", Outcome.STRAY)])
def test_a_replica_that_the_cluster_does_not_know(kafka: str, outcome: Outcome) -> None:
    """LogManager.isStrayReplica: deleted up to 3.6, renamed to -stray from 3.7 on (rule 7.2)."""
    nothing = ClusterImage({}, brokers=BROKER)
    start = started(run(0, 99), context_with(nothing, kafka))
    assert start.outcome is outcome
    assert "no topic" in (start.reason or "")


def test_a_future_log_that_the_cluster_places_here_is_promoted() -> None:
    """LogManager.recoverAbandonedFutureLogs, from 3.7.1 on."""
    topics = {TOPIC_ID: TopicImage("t", TOPIC_ID, {0: PartitionRegistration((1,), (1,), directories=("here",))})}
    here = ClusterImage(topics, topics, brokers=BROKER)
    assert started(run(0, 99), context_with(here), directory=FUTURE).promoted
    assert not started(run(0, 99), context_with(here, "3.7.0"), directory=FUTURE).promoted
    assert not started(run(0, 99), context_with(here)).promoted
    assert not started(run(0, 99), context_of(), directory=FUTURE).promoted


def test_directories_that_the_broker_does_not_serve() -> None:
    """LogManager.loadLog: -delete is deleted; -stray stays aside from 3.6.1 on."""
    unserved = {"-delete": Outcome.DELETED, "-stray": Outcome.STRAY}
    for suffix, outcome in unserved.items():
        directory = FUTURE.replace("-future", suffix)
        assert started(run(0, 99), context_of(), directory=directory).outcome is outcome


def test_kcheck_must_be_able_to_read(tmp_path: Path) -> None:
    """A missing directory says nothing of the broker."""
    parsed = parse_directory("t-0")
    assert parsed is not None
    start = start_partition(
        LOCAL.directory(str(tmp_path / "none")), "t-0", parsed, LoadInputs(clean=True), context_of()
    )
    assert start.outcome is Outcome.UNKNOWN
    assert start.unread is not None


def test_a_low_log_end_hides_records() -> None:
    """LogSegment.readNextOffset: an index beyond the log makes the log end the base offset (S8)."""
    parsed = parse_directory("t-0")
    assert parsed is not None
    files = {
        name(0): log(run(0, 99)),
        name(0, ".index"): index((256, 256)),
        name(0, ".timeindex"): b"",
        "partition.metadata": METADATA,
    }
    folder = folder_of(files)
    start = start_folder(folder, "t-0", parsed, LoadInputs(clean=True), context_of(mode=Mode.KRAFT))
    assert (start.outcome, start.reason) == (Outcome.LOST, "the log ends at offset 0, but batches follow")
    assert start.lost == LostRecords(
        start=Offset(0), end=Offset(100), records=100, bytes=1000, below_high_watermark=None
    )


def test_zeros_after_the_batches_are_not_lost() -> None:
    """A preallocated file ends in zeros; an unreadable file has an unknown loss."""
    disk = BytesFiles({name(0): log([batch(0, 5), batch(5, 5)]) + bytes(500)})
    cut = LogCut(name(0), Offset(0), Offset(5), 61, 622, "why")
    lost = LostRecords(start=Offset(5), end=Offset(10), records=5, bytes=61, below_high_watermark=2)
    assert cut_loss(disk, cut, 7) == lost
    unknown = LostRecords(start=None, end=None, records=None, bytes=561, below_high_watermark=None)
    assert cut_loss(BytesFiles({}), cut, 7) == unknown


@pytest.mark.parametrize("count", [0, 6, 255, -1])
def test_a_corrupt_header_does_not_say_how_many_records_are_lost(count: int) -> None:
    """The count is zeroed after a power loss, or more than the offsets hold. The offsets are the bound then."""
    whole = batch(5, 5, payload=b"x" * 20).data
    data = log([batch(0, 5)]) + whole[:57] + count.to_bytes(4, "big", signed=True) + whole[61:]
    cut = LogCut(name(0), Offset(0), Offset(5), 61, len(data), "why")
    lost = cut_loss(BytesFiles({name(0): data}), cut, 7)
    assert lost == LostRecords(Offset(5), Offset(10), None, len(whole), None)
    assert (lost.at_least, lost.at_most, lost.is_known) == (0, 5, True)


def test_a_batch_that_compaction_emptied_loses_nothing() -> None:
    """It is a header alone."""
    whole = batch(5, 5).data
    data = log([batch(0, 5)]) + whole[:57] + bytes(4)
    cut = LogCut(name(0), Offset(0), Offset(5), 61, len(data), "why")
    assert cut_loss(BytesFiles({name(0): data}), cut, 7).records == 0


TORN = batch(10, 5, payload=b"x" * 99).data[:100]


@pytest.mark.parametrize(
    ("tail", "next_base", "mark", "lost"),
    [
        (TORN, None, 12, LostRecords(Offset(10), Offset(15), 5, 100, 2)),
        (TORN, 15, None, LostRecords(Offset(10), Offset(15), 5, 100, None)),
        (TORN, 12, None, LostRecords(Offset(10), Offset(12), None, 100, None)),
        (TORN, 10, 40, LostRecords(None, None, 0, 100, 0)),
        (TORN[:30], None, 10, LostRecords(Offset(10), None, None, 30, 0)),
        (TORN[:30], None, 12, LostRecords(Offset(10), Offset(12), None, 30, 2)),
        (TORN[:30], None, None, LostRecords(Offset(10), None, None, 30, None)),
        (bytes(30), None, 12, LostRecords(Offset(10), Offset(12), None, 0, 2)),
        (bytes(30), 15, 10, LostRecords(Offset(10), Offset(15), None, 0, 0)),
        (bytes(30), None, 10, LostRecords(None, None, 0, 0, 0)),
    ],
)
def test_the_records_of_an_incomplete_batch(
    tail: bytes, next_base: int | None, mark: int | None, lost: LostRecords
) -> None:
    """Its header names them; otherwise the next segment or the high watermark shows that there were some."""
    kept = log([batch(0, 10)])
    disk = BytesFiles({name(0): kept + tail})
    after = None if next_base is None else Offset(next_base)
    cut = LogCut(name(0), Offset(0), Offset(10), len(kept), len(kept + tail), "why", after)
    assert cut_loss(disk, cut, mark) == lost


def test_complete_batches_before_an_incomplete_one_count_too() -> None:
    """What is counted is a lower bound, if the rest is unknown."""
    kept = log([batch(0, 10)])
    for tail, records, at_least in ((TORN, 15, 15), (TORN[:30], None, 10)):
        cut = LogCut(name(0), Offset(0), Offset(0), 0, len(kept + tail), "why")
        lost = cut_loss(BytesFiles({name(0): kept + tail}), cut, None)
        assert (lost.start, lost.records, lost.at_least) == (0, records, at_least)


def test_the_start_loses_an_incomplete_tail() -> None:
    """The torn batch has 3 records; the later segment goes with a closed one."""
    torn = Made(data=batch(50, 3, payload=b"x" * 99).data[:90], base_offset=50, last_offset=52)
    start = started([*run(0, 49), torn], context_of(), high_watermark=50)
    assert (start.outcome, start.lost) == (Outcome.LOST, LostRecords(Offset(50), Offset(53), 3, 90, 0))
    parsed = parse_directory("t-0")
    assert parsed is not None
    folder = folder_of_logs({0: [*run(0, 49), torn], 53: run(53, 62)}, {"partition.metadata": METADATA})
    start = start_folder(folder, "t-0", parsed, LoadInputs(clean=False), context_of())
    assert (start.lost and start.lost[:3]) == (50, 63, 13)
