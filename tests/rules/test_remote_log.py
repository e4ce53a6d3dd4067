"""The rules about the part of a log in remote storage."""

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.tiered.reading import remote_log
from kcheck.model.entries import EpochEntries, EpochEntry, Offset
from kcheck.model.finding import Severity
from kcheck.model.remote_log import (
    MetadataState,
    MetadataTopic,
    RemoteSegment,
    Retention,
    SegmentObjects,
    SegmentState,
    StoredLog,
)
from kcheck.model.views import PartitionView, ReplicasView
from kcheck.rules.kc240_remote_epochs_missing import RULE as KC240
from kcheck.rules.kc241_remote_gap import RULE as KC241
from kcheck.rules.kc242_remote_unreadable import RULE as KC242
from kcheck.rules.kc243_remote_copy_stuck import RULE as KC243
from kcheck.rules.kc244_remote_delete_fails import RULE as KC244
from kcheck.rules.kc245_remote_metadata_missing import RULE as KC245
from kcheck.rules.kc246_remote_metadata_short import RULE as KC246
from kcheck.rules.kc247_remote_object_missing import check as check_objects
from kcheck.rules.kc405_log_starts_differ import RULE as KC405
from kcheck.rules.kc411_replica_lacks_remote_history import RULE as KC411
from tests.rules.build import epochs, found_by, partition
from tests.rules.test_cluster import with_registration

FINISHED = SegmentState.COPY_FINISHED
OF_SEGMENT: EpochEntries = (EpochEntry(0, 0),)
SEGMENTS = tuple(
    RemoteSegment(f"{at}", FINISHED, at, at + 10, 400, OF_SEGMENT, 1, was_finished=True) for at in (0, 10, 20)
)
WHOLE = b"0\n2\n0 0\n2 30\n"


def tiered(
    data: bytes | None = WHOLE,
    *segments: RemoteSegment,
    state: MetadataState = MetadataState.READ,
    log_start: int = 0,
    number: int | None = 2,
    leader: int | None = 1,
) -> PartitionView:
    """Return a log whose first local segment is at offset 30, with remote segments below."""
    file = None if data is None else epochs(data)
    view = partition(
        epoch_file=file, first_segment=30, log_start=log_start, log_end=40, clean=False, segment_sizes=(700, 100)
    )
    remote = remote_log(state, segments or SEGMENTS, number, leader, 10_000_000)
    return view._replace(log_start_offset=view.log_start_checkpoint, remote=remote)


def test_what_is_right() -> None:
    """The remote segments reach from the log start to the first local segment, in the epochs of the file."""
    for rule in (KC240, KC241, KC242, KC243, KC244, KC245, KC246):
        assert not found_by(rule, tiered())
        assert not found_by(rule, tiered(state=MetadataState.NOT_GIVEN))
        assert not found_by(rule, tiered()._replace(remote=None))


def test_a_file_that_no_broker_reads_has_other_findings() -> None:
    for rule in (KC240, KC241, KC242, KC245):
        assert not found_by(rule, tiered(b"x"))


def test_exactly_the_segments_of_lower_epochs_are_deleted() -> None:
    """Also without a clean stop; the others are not readable."""
    second = RemoteSegment("x", FINISHED, 10, 30, 400, (EpochEntry(0, 0), EpochEntry(2, 25)), 1)
    view = tiered(b"0\n1\n2 30\n", SEGMENTS[0], second)
    (found,) = found_by(KC240, view)
    assert "at most offsets 0-9." in found.effect
    (found,) = found_by(KC242, view)
    assert (found.message, found.data["unreadable"]) == (
        "leader-epoch-checkpoint begins with epoch 2 from offset 30, above the log start 0",
        ({"from": 0, "to_exclusive": 30},),
    )
    assert not found_by(KC241, view)


def test_an_emptied_file_deletes_all() -> None:
    (found,) = found_by(KC240, tiered(b"0\n0\n"))
    assert found.effect.endswith("at most offsets 0-29. A restart hides this and does not heal it.")
    assert found_by(KC240, tiered(None))
    assert not found_by(KC240, tiered(b"0\n1\n2 0\n"))


def test_no_entry_for_the_log_start() -> None:
    """3.6 and 3.7 write none for a log start below the first local segment."""
    view = tiered(b"0\n1\n2 24\n")._replace(log_start_checkpoint=None)
    (found,) = found_by(KC240, view)
    assert (found.data["log_start_offset"], "at most offsets 0-29." in found.effect) == (0, True)


def test_a_gap() -> None:
    (found,) = found_by(KC241, tiered(WHOLE, SEGMENTS[0], SEGMENTS[2]))
    assert found.message == "offsets 10-19 are neither local nor remote"
    (found,) = found_by(KC241, tiered(b"0\n2\n0 0\n2 29\n"))
    assert found.message == "offset 29 are neither local nor remote".replace("are", "is")


def test_a_copy_that_never_ends() -> None:
    tries = [RemoteSegment(f"t{at}", SegmentState.COPY_STARTED, 30, 40, 400, first_ms=at) for at in range(5)]
    (found,) = found_by(KC243, tiered(WHOLE, *SEGMENTS, *tries))
    assert found.message == (
        "the segment at offset 30 is not copied to remote storage: 5 tries since 1970-01-01T00:00:00Z"
    )
    assert "700 bytes of closed segments" in found.effect


def test_deletions_that_fail() -> None:
    failing = SEGMENTS[0]._replace(state=SegmentState.DELETE_STARTED, deletions=3)
    (found,) = found_by(KC244, tiered(WHOLE, failing, *SEGMENTS[1:], log_start=10))
    assert found.message == "1 remote segment is not deleted after 3 tries"


def test_deletions_that_fail_with_a_size_limit() -> None:
    """Each try loses one more segment that retention should keep."""
    failing = SEGMENTS[0]._replace(state=SegmentState.DELETE_STARTED, deletions=2)
    view = tiered(WHOLE, failing, *SEGMENTS[1:], log_start=10)
    assert view.remote is not None
    limits = {None: Severity.WARNING, -1: Severity.WARNING, 0: Severity.ERROR, 800: Severity.ERROR}
    for size, severity in limits.items():
        (found,) = found_by(KC244, view._replace(remote=view.remote._replace(retention=Retention(None, size))))
        assert (found.severity, "retention.bytes=800 each" in found.effect) == (severity, size == 800)
    (found,) = found_by(KC244, view._replace(remote=view.remote._replace(retention=Retention(None, 800))), kafka="3.6")
    assert (found.severity, found.effect) == (Severity.WARNING, "Kafka 3.6 tries again.")


def test_lost_metadata() -> None:
    (found,) = found_by(KC245, tiered(state=MetadataState.MISSING))
    assert found.message.startswith("__remote_log_metadata-2 is missing or empty")
    assert found.effect == "This start raises the log start from 0 to 30. Kafka 4.3 leaves 30 records in the store."
    deleted = SEGMENTS[0]._replace(state=SegmentState.DELETE_FINISHED)
    (found,) = found_by(KC245, tiered(WHOLE, deleted, state=MetadataState.SHORT, number=None))
    assert found.message.startswith("__remote_log_metadata ends below its high watermark")


def test_metadata_without_its_end() -> None:
    """A broker of 4.3.1 kept the log start, served 0-14, and had lost 15-34."""
    (found,) = found_by(KC245, tiered(WHOLE, *SEGMENTS[:1], state=MetadataState.SHORT))
    assert found.message == (
        "__remote_log_metadata-2 ends below its high watermark, without the newest remote segments of t-0"
    )
    assert found.effect == "Kafka 4.3 keeps the log start, and does not find offsets 10-29."
    assert not found_by(KC245, tiered(WHOLE, *SEGMENTS, state=MetadataState.SHORT))


def test_metadata_without_the_first_record() -> None:
    (found,) = found_by(KC246, tiered(WHOLE, *SEGMENTS, RemoteSegment("x", FINISHED)))
    assert found.message == "__remote_log_metadata-2 lacks the first record of 1 remote segment"


@pytest.mark.parametrize(
    ("topic", "own", "setting"),
    [
        (MetadataTopic(Retention(-1, -1)), Retention(-1, -1), None),
        (MetadataTopic(Retention(99, -1)), Retention(99, 800), None),
        (MetadataTopic(Retention(99, -1)), Retention(None, None), None),
        (MetadataTopic(Retention(99, -1)), Retention(100), "retention.ms=99"),
        (MetadataTopic(Retention(99, -1)), Retention(-1), "retention.ms=99"),
        (MetadataTopic(Retention(-1, 800)), Retention(5, 5), "retention.bytes=800"),
        (MetadataTopic(is_compacted=True), Retention(), "cleanup.policy=compact"),
    ],
)
def test_settings_of_the_metadata_topic(topic: MetadataTopic, own: Retention, setting: str | None) -> None:
    """Metadata must live as long as the segments."""
    view = tiered(WHOLE, *SEGMENTS)
    assert view.remote is not None
    found = found_by(KC246, view._replace(remote=view.remote._replace(retention=own, metadata_topic=topic)))
    assert [row.data["setting"] for row in found] == ([] if setting is None else [setting])


def replicas(*views: PartitionView) -> ReplicasView:
    """Return the replicas of brokers 1, 2 and so on."""
    numbered = ((view, view.where._replace(broker_id=at)) for at, view in enumerate(views, 1))
    return ReplicasView(tuple(view._replace(where=where) for view, where in numbered))


def test_a_replica_without_the_older_epochs() -> None:
    """It says more than that the log starts differ."""
    late = tiered(b"0\n1\n2 24\n", log_start=24)
    (found,) = found_by(KC411, replicas(late, tiered()))
    assert "deletes offsets 0-29 for readers, and at most the remote segments of offsets 0-29" in found.effect
    assert not found_by(KC405, replicas(late, tiered()))
    waiting = late._replace(remote=tiered(leader=-1).remote)
    (found,) = found_by(KC411, replicas(waiting, tiered()))
    assert found.effect.endswith("It waits until __remote_log_metadata-2 has a leader.")


def test_the_other_replicas_are_not_given() -> None:
    """What they serve is not known; without other replicas the deletion is one by retention."""
    late = tiered(b"0\n1\n2 24\n", log_start=24)
    (found,) = found_by(KC411, replicas(late))
    assert found.effect.endswith(
        "at most the remote segments of offsets 0-29 with older epochs. Another replica may serve them."
    )
    assert not found_by(KC411, replicas(tiered()))
    assert not found_by(KC411, replicas(tiered(b"0\n1\n2 30\n")))
    assert not found_by(KC411, replicas(late._replace(segments=())))
    only = late._replace(in_cluster=with_registration(replicas=(1,)))
    assert not found_by(KC411, replicas(only))


def test_replicas_that_differ_and_delete_nothing() -> None:
    """Retention raised a log start; KC240 has the epochs that begin above it; nothing is known of the other."""
    assert not found_by(KC411, replicas(tiered(b"0\n2\n0 24\n2 30\n", log_start=24), tiered()))
    assert found_by(KC405, replicas(tiered(b"0\n2\n0 24\n2 30\n", log_start=24), tiered()))
    assert not found_by(KC411, replicas(tiered(b"0\n1\n2 30\n"), tiered()))
    assert not found_by(KC411, replicas(tiered(b"0\n1\n2 24\n", log_start=24), tiered()._replace(remote=None)))
    assert not found_by(KC411, replicas(tiered(b"0\n1\n2 24\n", log_start=24), tiered()._replace(segments=())))


def test_an_object_of_another_size() -> None:
    """LocalTieredStorage keeps the segment byte for byte."""
    segment = RemoteSegment("A" * 22, SegmentState.COPY_FINISHED, Offset(5), Offset(10), 400, was_finished=True)
    sizes = {"log": 399, "index": 0, "timeindex": 0, "leader_epoch_checkpoint": 0, "snapshot": 0}
    objects = {segment.segment_id: SegmentObjects(Offset(5), sizes)}
    stored = StoredLog("t", 0, remote_log(MetadataState.READ, (segment,)), objects, 0)
    (finding,) = check_objects(stored, release("4.3"))
    assert finding.message == "t-0: 5-9 has 399 instead of 400 bytes"


def test_a_missing_transaction_index_hides_that_transactions_were_aborted() -> None:
    """The broker reads the segment (RemoteIndexCache 3.6 to 4.3.1), and takes it for one without them."""
    sizes = {"log": 400, "index": 0, "timeindex": 0, "leader_epoch_checkpoint": 0, "snapshot": 0}
    one, two = (
        RemoteSegment(letter * 22, SegmentState.COPY_FINISHED, Offset(at), Offset(at + 5), 400, has_aborted=True)
        for letter, at in (("A", 5), ("B", 10))
    )
    objects = {one.segment_id: SegmentObjects(Offset(5), sizes)}
    stored = StoredLog("t", 0, remote_log(MetadataState.READ, (one,)), objects, 0)
    (finding,) = check_objects(stored, release("4.3"))
    assert finding.message == "t-0: 5-9 lacks .txnindex"
    assert finding.effect == ("Kafka 4.3 returns aborted records of 1 remote segment to consumers with read_committed.")
    both = stored._replace(remote=remote_log(MetadataState.READ, (one, two)))
    (finding,) = check_objects(both, release("4.3"))
    assert finding.effect == (
        "Kafka 4.3 answers UNKNOWN_SERVER_ERROR to consumers that need 1 remote segment and returns aborted records "
        "of 1 remote segment to consumers with read_committed."
    )
