"""KC316, KC317: -future directories without their current ones, and beside them."""

import pytest

from kcheck.model.cluster import ReplicaInCluster
from kcheck.model.finding import Finding
from kcheck.model.names import DirectoryState
from kcheck.model.views import PartitionView
from kcheck.rules.kc316_future_without_current import RULE as KC316
from kcheck.rules.kc317_future_beside_current import RULE as KC317
from tests.rules.build import found_by, log_dir, partition

NAME = "t-0.0123456789abcdef0123456789abcdef-future"
CURRENT = partition()


def future(log_dir: str = "/data/d1", **values: object) -> PartitionView:
    """Return a -future directory of t-0 with data."""
    made = partition(name=NAME, state=DirectoryState.FUTURE, log_end=30, log_dir=log_dir)
    return made._replace(**values)


def alone(view: PartitionView, *others: PartitionView, kafka: str = "4.3") -> tuple[Finding, ...]:
    """Return what KC316 finds with a second log dir that holds the others."""
    return found_by(KC316, (log_dir(partitions=(view,)), log_dir(partitions=others, path="/data/d2")), kafka)


def test_only_the_future_copy_is_left() -> None:
    """Its records are lost; with one log dir at hand, another one may have the current directory."""
    (finding,) = alone(future())
    assert (str(finding.severity), finding.where.dir) == ("error", NAME)
    assert finding.effect.endswith("makes an empty t-0, and truncates this copy to it. Its records are lost.")
    (unsure,) = found_by(KC316, (log_dir(partitions=(future(),)),))
    assert str(unsure.severity) == "warning"
    assert unsure.effect.startswith("Unless another log dir has it, ")
    (sure,) = found_by(KC316, (log_dir(partitions=(future(),))._replace(is_with_all=True),))
    assert (str(sure.severity), sure.effect) == ("error", finding.effect)


@pytest.mark.parametrize(("own", "certain", "kafka", "speaks"), [
    ("A", True, "4.3", False), ("B", True, "4.3", True), ("A", False, "4.3", True), ("A", True, "3.6", True),
])  # fmt: skip
def test_a_copy_that_the_metadata_place_there_is_taken_as_it_is(
    own: str, certain: bool, kafka: str, *, speaks: bool
) -> None:
    placed = ReplicaInCluster("m", "T", None, is_certain=certain, directory_id="A", own_directory_id=own)
    assert speaks == bool(alone(future(in_cluster=placed), kafka=kafka))


def test_nothing_is_lost_with_a_current_directory_or_without_records() -> None:
    """No release before 1.1 knows the name."""
    assert not alone(future(), partition(log_dir="/data/d2"))
    assert not alone(future(size=0, segments=()))
    assert not alone(future(), kafka="1.0")


@pytest.mark.parametrize(("kafka", "words"), [
    ("4.3", "does not start:"), ("3.9", "does not start with KRaft, and takes"), ("2.8", "takes the log dir offline"),
])  # fmt: skip
def test_beside_its_current_directory(kafka: str, words: str) -> None:
    (finding,) = found_by(KC317, (log_dir(partitions=(CURRENT, future())),), kafka)
    assert (str(finding.severity), finding.where.dir) == ("fatal", NAME)
    assert words in finding.effect


def test_in_another_log_dir_it_waits_for_its_move() -> None:
    two = (log_dir(partitions=(CURRENT,)), log_dir(partitions=(future("/data/d2"),), path="/data/d2"))
    assert not found_by(KC317, two)
    assert not found_by(KC317, (log_dir(partitions=(CURRENT, future())),), "1.0")
