"""A filter that matches nothing is refused, with the nearest names."""

from pathlib import Path

import pytest

import kcheck
from kcheck.errors import UsageError
from kcheck.model.report import PartitionFilter
from kcheck.survey.selection import require_match
from kcheck.views.targets import replica_targets
from tests.builders import checkpoint, log_dir, partition_dir, run
from tests.oracle.scenes import unpacked


@pytest.fixture
def path(tmp_path: Path) -> Path:
    log_dir(tmp_path)
    for name in ("orders-0", "orders-1", "payments-0"):
        partition_dir(tmp_path / name, [run(0, 9)])
    return tmp_path


def required(path: Path, *, topic: str | None = None, partition: str | None = None) -> None:
    """Ask for a match of these options."""
    wanted = PartitionFilter((topic,) if topic else (), (partition,) if partition else ())
    require_match(replica_targets([str(path)]), wanted)


@pytest.mark.parametrize(
    ("topic", "partition", "message"),
    [
        ("order", None, "--topic order: no partition matches; did you mean orders?"),
        ("Ord*", None, "--topic Ord*: no partition matches"),
        (None, "payment-0", "--partition payment-0: no partition matches; did you mean payments-0?"),
        ("payments", "1", "--topic payments --partition 1: no partition matches; did you mean payments?"),
    ],
)
def test_a_filter_without_a_match_names_the_nearest(
    path: Path, topic: str | None, partition: str | None, message: str
) -> None:
    with pytest.raises(UsageError) as refused:
        required(path, topic=topic, partition=partition)
    assert message == str(refused.value)


def test_a_checkpoint_alone_is_a_match(path: Path) -> None:
    """Its findings are what the user asks for."""
    (path / "recovery-point-offset-checkpoint").write_bytes(checkpoint(["gone 3 7"]))
    required(path, topic="gone", partition="3")


def test_a_partition_directory_matches_by_its_name(path: Path) -> None:
    required(path / "orders-1", topic="orders")
    with pytest.raises(UsageError, match="--topic payments: no partition matches"):
        required(path / "orders-1", topic="payments")


def test_what_cannot_be_listed_may_match(path: Path) -> None:
    path.chmod(0)
    try:
        (target,) = replica_targets([str(path)])
        require_match([target._replace(path=str(path / "none"))], PartitionFilter(("orders",)))
    finally:
        path.chmod(0o755)


def test_a_file_has_no_filter(path: Path) -> None:
    required(path / "recovery-point-offset-checkpoint", topic="none")


def test_a_partition_of_the_metadata_alone_is_a_match_for_a_plan(tmp_path: Path) -> None:
    """No disk has it, which is what the plan is about: brokers of 4.3.1, one with a new disk."""
    folder = unpacked("asked/empty-disk-repaired", tmp_path)
    named = [f"{number}={folder}/broker-{number}" for number in (1, 2, 3)]
    wanted = PartitionFilter(partitions=("solo-1",))
    (row,) = kcheck.elect(*named, metadata=[folder / "controller"], partitions=wanted).partitions
    assert (row.name, row.kafka_now) == ("solo-1", 2)
    assert kcheck.recover(*named, metadata=[folder / "controller"], partitions=wanted).election.of_cluster
    for ask in (kcheck.elect, kcheck.recover):
        with pytest.raises(UsageError, match="did you mean solo-1"):
            ask(*named, metadata=[folder / "controller"], partitions=PartitionFilter(partitions=("solo-7",)))
