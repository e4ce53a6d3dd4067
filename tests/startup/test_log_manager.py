"""One log dir, and the log dirs of one broker: LogManager.loadLogs, LogManager.loadLog (rules 1.2 to 1.4).

tests/oracle/starts holds the same against the released classes.
"""

from pathlib import Path

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.start.predictions import LogDirPrediction, PartitionPrediction
from kcheck.core.start.startup import Mode, Outcome, Settings
from kcheck.disk.local import LOCAL
from kcheck.model.finding import Finding
from kcheck.model.names import PartitionDirectory, parse_directory
from kcheck.startup.inputs import Context, LoadInputs
from kcheck.startup.log_manager import combined_starts, directory_load_of, start_log_dir
from kcheck.startup.options import StartOptions
from kcheck.survey.recheck import has_left
from kcheck.views.log_dir import open_log_dir
from tests.builders import checkpoint
from tests.startup.folders import context_of

META = "version=1\ncluster.id=c\nnode.id=1\n"


def parsed(name: str) -> PartitionDirectory:
    """Return the name of a directory, parsed."""
    directory = parse_directory(name)
    assert directory is not None
    return directory


def load(name: str, directory: PartitionDirectory, inputs: LoadInputs, _: Context) -> PartitionPrediction:
    """Predict that every directory is loaded; the reason says with what."""
    return PartitionPrediction(name, directory, Outcome.OK, f"clean={inputs.clean} point={inputs.recovery_point}")


def started(
    path: Path,
    *names: str,
    mode: Mode | None = None,
    clean: bool | None = None,
    meta: str | None = META,
    kafka: str = "4.3",
) -> LogDirPrediction:
    """Start a log dir with these partition directories."""
    path.mkdir(exist_ok=True)
    if meta is not None:
        (path / "meta.properties").write_text(meta)
    for name in names:
        (path / name).mkdir()
    log_dir = open_log_dir(LOCAL, str(path), 1, release(kafka))
    options = StartOptions(clean, Settings(mode=mode), release(kafka))
    collected: list[Finding] = []
    directories = [(name, parsed(name)) for name in names if name != "lost+found"]
    return start_log_dir(str(path), log_dir, directories, options, collected, load, has_left)


def test_the_checkpoints_are_inputs_of_a_load(tmp_path: Path) -> None:
    """LogManager.loadLogs: the marker, and the recovery point of each partition, 0 without an entry."""
    (tmp_path / ".kafka_cleanshutdown").touch()
    (tmp_path / "recovery-point-offset-checkpoint").write_bytes(checkpoint(["t 0 70"]))
    start = started(tmp_path, "t-0", "t-1")
    assert ["clean=True point=70", "clean=True point=0"] == [partition.reason for partition in start.partitions]
    assert (start.outcome, start.clean, start.mode) == (Outcome.OK, True, Mode.KRAFT)


def test_a_clean_shutdown_is_told_by_the_user_or_the_marker(tmp_path: Path) -> None:
    assert not started(tmp_path / "a", "t-0").clean
    assert started(tmp_path / "b", "t-0", clean=True).clean


def test_a_directory_without_a_partition_aborts_the_start(tmp_path: Path) -> None:
    """LocalLog.parseTopicPartitionName throws KafkaException (rule 1.4)."""
    start = started(tmp_path, "t-0", "lost+found")
    assert (Outcome.ABORT, ("lost+found is not a valid partition directory name",)) == (start.outcome, start.reasons)


@pytest.mark.parametrize(
    ("name", "mode", "kafka", "outcome"),
    [
        ("__cluster_metadata-0", Mode.KRAFT, "4.3", Outcome.ABORT),
        ("__cluster_metadata-0", Mode.ZOOKEEPER, "3.9", Outcome.OK),
        ("t-7", Mode.KRAFT, "4.3", Outcome.OFFLINE),
        ("t-8", Mode.KRAFT, "4.3", Outcome.OK),
    ],
)
def test_a_file_in_the_place_of_a_directory(
    name: str, mode: Mode, kafka: str, outcome: Outcome, tmp_path: Path
) -> None:
    """Files.createDirectories throws FileAlreadyExistsException: KafkaRaftManager.createDataDir, LogManager."""
    (tmp_path / "recovery-point-offset-checkpoint").write_bytes(checkpoint(["t 7 70"]))
    (tmp_path / name).touch()
    start = started(tmp_path, "t-0", mode=mode, kafka=kafka)
    why = (f"{name} is a file, so the broker cannot create the directory",)
    assert (outcome, () if outcome is Outcome.OK else why) == (start.outcome, start.reasons)


def test_an_unreadable_checkpoint_takes_the_log_dir_offline(tmp_path: Path) -> None:
    """CheckpointFileWithFailureHandler: the wrong count is an IOException (rule 1.3)."""
    (tmp_path / "recovery-point-offset-checkpoint").write_bytes(b"0\n5\n")
    assert started(tmp_path, "t-0").outcome is Outcome.OFFLINE


@pytest.mark.parametrize("target", ["recovery-point-offset-checkpoint", "gone"])
def test_a_checkpoint_that_is_a_link_to_nothing_takes_the_log_dir_offline(target: str, tmp_path: Path) -> None:
    """CheckpointFile creates no file where a link is, and then fails to read it: an IOException."""
    (tmp_path / "recovery-point-offset-checkpoint").symlink_to(target)
    start = started(tmp_path, "t-0")
    reason = "recovery-point-offset-checkpoint cannot be read: IOException"
    assert (Outcome.OFFLINE, (reason,), None) == (start.outcome, start.reasons, start.uncertain)


@pytest.mark.parametrize(
    ("mode", "outcome"), [(None, Outcome.OK), (Mode.KRAFT, Outcome.ABORT), (Mode.ZOOKEEPER, Outcome.OK)]
)
def test_a_missing_meta_properties(mode: Mode | None, outcome: Outcome, tmp_path: Path) -> None:
    """MetaPropertiesEnsemble.verify: a KRaft broker aborts; with ZooKeeper the file is written again."""
    (tmp_path / "recovery-point-offset-checkpoint").write_bytes(checkpoint([]))
    start = started(tmp_path, "t-0", mode=mode, meta=None, kafka="3.9")
    assert (outcome, mode is None) == (start.outcome, start.uncertain is not None)


@pytest.mark.parametrize(
    ("kafka", "meta", "outcome"),
    [
        ("2.4", "\0" * 90, Outcome.ABORT), ("2.7", "", Outcome.ABORT), ("2.8", "\0" * 90, Outcome.OK),
        ("3.6", "a=\\u00", Outcome.ABORT), ("3.9", "", Outcome.OK), ("3.9", "a=\\u00", Outcome.OFFLINE),
    ],
)  # fmt: skip
def test_a_meta_properties_without_entries(kafka: str, meta: str, outcome: Outcome, tmp_path: Path) -> None:
    """BrokerMetadataCheckpoint 0.9 to 2.7 needs a version; Properties.load of any release refuses a cut escape."""
    assert started(tmp_path, "t-0", mode=Mode.ZOOKEEPER, meta=meta, kafka=kafka).outcome is outcome


def test_the_kraft_log_is_loaded_by_the_raft_layer() -> None:
    """KafkaMetadataLog.apply: unclean, without checkpoints and topic settings; LogManager skips it (rule 7.4)."""
    inputs = LoadInputs(clean=True, recovery_point=50)
    metadata = parsed("__cluster_metadata-0")
    directory_load = directory_load_of("__cluster_metadata-0", metadata, inputs, context_of())
    assert directory_load is not None
    assert directory_load.inputs == LoadInputs(clean=False)
    assert directory_load.context.settings.index_size_said
    zookeeper = context_of("3.9", mode=Mode.ZOOKEEPER)
    assert directory_load_of("__cluster_metadata-0", metadata, inputs, zookeeper) is None
    assert directory_load_of("t-0", parsed("t-0"), inputs, context_of()) == (inputs, context_of())


def test_what_the_log_dirs_of_a_broker_mean_for_each_other(tmp_path: Path) -> None:
    """LogManager.loadLog: a partition in two of them ends the broker; log dirs of other brokers do not count."""
    one, two = (started(tmp_path / name, "t-0") for name in ("1", "2"))
    assert [Outcome.OK, Outcome.OK] == [start.outcome for start in combined_starts([one, two], release("4.3"))]
    same = [start._replace(broker=1) for start in (one, two)]
    reason = f"t-0 exists twice: {tmp_path}/1/t-0 and {tmp_path}/2/t-0"
    assert [(reason,), (reason,)] == [start.reasons for start in combined_starts(same, release("4.3"))]


def test_log_dirs_of_other_clusters_are_refused(tmp_path: Path) -> None:
    """MetaPropertiesEnsemble.verify: the log dirs of a broker name one cluster."""
    one = started(tmp_path / "1", "t-0")._replace(broker=1)
    two = started(tmp_path / "2", "u-0", meta=META.replace("=c", "=d"))._replace(broker=1)
    assert {Outcome.ABORT} == {start.outcome for start in combined_starts([one, two], release("4.3"))}


def test_one_aborted_log_dir_aborts_the_broker(tmp_path: Path) -> None:
    """LogManager.loadLogs."""
    one = started(tmp_path / "1", "t-0")._replace(broker=1)
    bad = started(tmp_path / "2", "lost+found")._replace(broker=1)
    first, second = combined_starts([one, bad], release("4.3"))
    assert first.reasons[0].startswith(f"{tmp_path}/2 stops the broker while it starts: lost+found")
    assert second == bad
