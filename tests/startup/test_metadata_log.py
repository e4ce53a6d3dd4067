"""What a start does to the KRaft log after its load: KafkaMetadataLog, KafkaRaftLog 4.3 (rule 7.4).

tests/oracle/starts/test_predict_metadata.py holds the same against the released classes.
"""

import pytest

from kcheck.core.start.predictions import LoadedLog
from kcheck.model.names import METADATA_TOPIC_ID
from kcheck.startup.log_loader import LogLoader
from kcheck.startup.metadata_log import finish
from kcheck.startup.virtual_files import StartError
from tests.builders import run
from tests.startup.folders import folder_of_logs, loader_of, name


def snapshot(offset: int, epoch: int = 0, suffix: str = "") -> str:
    """Return the name of a snapshot."""
    return f"{offset:020d}-{epoch:010d}.checkpoint{suffix}"


def finished(
    *snapshots: str, base: int = 0, kafka: str = "3.7", topic_id: str | None = None, **files: bytes
) -> tuple[LogLoader, LoadedLog]:
    """Load a log of the offsets `base` to 99 with empty snapshots, and finish it."""
    names = {file.replace("_", "-"): data for file, data in files.items()}
    folder = folder_of_logs({base: run(base, 99)}, {**dict.fromkeys(snapshots, b""), **names})
    loader = loader_of(folder, kafka)
    return loader, finish(loader, loader.load(), topic_id)


def test_the_small_files_are_made() -> None:
    """KafkaMetadataLog.apply: partition.metadata and quorum-state exist after every start."""
    loader, log = finished(topic_id=METADATA_TOPIC_ID)
    assert {"partition.metadata", "quorum-state"} <= set(loader.folder.files)
    assert (0, 100) == log[:2]


def test_another_topic_id_aborts_the_start() -> None:
    """UnifiedLog.assignTopicId throws InconsistentTopicIdException."""
    with pytest.raises(StartError, match="InconsistentTopicIdException"):
        finished(topic_id="AAAAAAAAAAAAAAAAAAAAAg")


def test_unneeded_snapshots_are_removed() -> None:
    """KafkaMetadataLog.recoverSnapshots: partial and deleted ones, and those below the log start."""
    unneeded = (snapshot(20), snapshot(60, suffix=".part"), snapshot(70, suffix=".deleted"))
    loader, _ = finished(*unneeded, snapshot(50), base=50)
    assert [snapshot(50)] == [file for file in loader.folder.files if "checkpoint" in file and "-0000000000" in file]


def test_a_snapshot_without_offset_and_epoch_aborts_the_start() -> None:
    """Snapshots.parse throws NumberFormatException."""
    with pytest.raises(StartError, match="NumberFormatException"):
        finished("x.checkpoint")


@pytest.mark.parametrize(
    ("name_of_directory", "is_empty", "error"),
    [
        ("x.checkpoint", True, "NumberFormatException"),
        (snapshot(60, suffix=".part"), False, "is a directory"),
        (snapshot(60, suffix=".part"), True, None),
    ],
)
def test_directories_with_the_names_of_snapshots(name_of_directory: str, is_empty: bool, error: str | None) -> None:
    """KafkaMetadataLog.recoverSnapshots takes directories for files, and deletes those that are not needed."""
    folder = folder_of_logs({0: run(0, 99)})
    folder.directories[name_of_directory] = is_empty
    loader = loader_of(folder, "3.7")
    log = loader.load()
    if error is None:
        finish(loader, log, None)
        assert name_of_directory not in folder.directories
    else:
        with pytest.raises(StartError, match=error):
            finish(loader, log, None)


def test_a_log_start_needs_a_snapshot() -> None:
    """KafkaMetadataLog.recoverSnapshots: the offsets below the log start must be in a snapshot, from 3.3 on."""
    with pytest.raises(StartError, match="IllegalStateException"):
        finished(base=50)
    assert finished(base=50, kafka="3.2")[1].log_start_offset == 50


def test_a_snapshot_beyond_the_log_end_replaces_the_log() -> None:
    """KafkaMetadataLog.truncateToLatestSnapshot: truncateFullyAndStartAt, and older snapshots go."""
    loader, log = finished(snapshot(50), snapshot(200, 3))
    assert (200, 200, (200,)) == (log.log_start_offset, log.log_end_offset, log.bases)
    assert name(0, ".log.deleted") in loader.folder
    assert snapshot(50, suffix=".deleted") in loader.folder
    assert not log.cuts


def test_a_snapshot_of_a_later_epoch_replaces_the_log() -> None:
    """KafkaMetadataLog.truncateToLatestSnapshot: the epoch counts before the offset."""
    assert finished(snapshot(50, 3))[1].log_start_offset == 50
    assert finished(snapshot(50))[1].log_start_offset == 0


def test_quorum_state_must_be_readable() -> None:
    """FileQuorumStateStore.readElectionState: the broker aborts; up to 3.7 it removes the file."""
    zeros = bytes(120)
    with pytest.raises(StartError, match="quorum-state cannot be read"):
        finished(kafka="4.3", quorum_state=zeros)
    assert "forgets the last election" in finished(quorum_state=zeros)[1].reasons[-1]
