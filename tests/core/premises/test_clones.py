"""The disks of a broker that are given as two brokers, as of a host that was cloned with its node id."""

import shutil
from pathlib import Path

import pytest

from kcheck.core.premises.facts import BrokerFacts, LogDirFacts
from kcheck.core.premises.table import judged_together
from kcheck.model.premises import JudgedPremise, PremiseStatus
from tests.cli.command import kcheck
from tests.core.premises.test_premises import ORDERS, copy, directory, facts, image, log_dir

BROKERS = Path(__file__).parents[3] / "fixtures" / "brokers" / "4.3.1" / "diverged"
REFUTED, NOT_SEEN = PremiseStatus.REFUTED, PremiseStatus.NOT_SEEN
TWICE = "broker 1 is given twice: d1 and d2 have the same"


def disk(path: str, node: int = 1, **identity: str) -> LogDirFacts:
    """Return a log dir of a node with these entries in its meta.properties."""
    known = {"version": "1", "node.id": str(node), "cluster.id": "C"}
    return log_dir(path, {**known, **identity}, directories=(ORDERS,))


def broker(row: LogDirFacts, number: int = 1) -> BrokerFacts:
    """Return a broker with one log dir, without settings and metadata."""
    return facts(row, broker_id=number, config=None, config_path=None, image=None, copies=())


def said(*brokers: BrokerFacts) -> list[list[tuple[PremiseStatus, str]]]:
    """Return what P378 says of each broker."""
    judged = judged_together(dict(enumerate(brokers)), ())
    return [[(row.status, row.sentence) for row in _of(rows)] for rows in judged.values()]


def _of(rows: tuple[JudgedPremise, ...]) -> list[JudgedPremise]:
    return [row for row in rows if row.id == "P378"]


def test_a_copy_with_the_node_id_is_no_second_broker() -> None:
    """Neither folder is known to be the newer one, so neither of them counts."""
    one, other = said(broker(disk("d1", **{"directory.id": "D"})), broker(disk("d2", **{"directory.id": "D"})))
    assert one == [(REFUTED, f"{TWICE} directory.id D")]
    assert other == [(REFUTED, "broker 1 is given twice: d2 and d1 have the same directory.id D")]


def test_a_copy_without_directory_id_has_the_same_partitions() -> None:
    held = (ORDERS, directory("zoo"))
    one, other = said(*(broker(disk(path)._replace(directories=held)) for path in ("d1", "d2")))
    assert one == [(REFUTED, f"{TWICE} orders-0, zoo-0")]
    assert len(other) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(disk("d1"), disk("d2")._replace(directories=()), id="two disks of one broker"),
        pytest.param(disk("d1"), disk("d1"), id="one path, named in two ways"),
        pytest.param(disk("d1"), disk("d2", **{"cluster.id": "other"}), id="another cluster"),
        pytest.param(
            disk("d1", **{"directory.id": "AAAAAAAAAAAAAAAAAAAAAQ"}),
            disk("d2", **{"directory.id": "AAAAAAAAAAAAAAAAAAAAAQ"})._replace(directories=()),
            id="no directory.id of a disk",
        ),
        pytest.param(disk("d1"), disk("d2")._replace(is_given=False), id="only listed in the settings"),
    ],
)
def test_two_folders_that_are_no_copies(one: LogDirFacts, other: LogDirFacts) -> None:
    assert said(broker(one), broker(other)) == [[], []]


def test_a_copy_with_another_node_id() -> None:
    """The registration shows the owner (P106). Without metadata nothing does."""
    one = broker(disk("d1", **{"directory.id": "D"}))
    other = broker(disk("d2", 2, **{"directory.id": "D"}), 2)
    words = "d1 and d2 have the same directory.id D. Which of them is the disk of its broker is not known"
    assert said(one, other)[0] == [(NOT_SEEN, words)]
    assert said(one, broker(disk("d2", 1, **{"directory.id": "D"}), 2)) == [[], []]
    registered = copy(of=image(1, 2, log_dirs=("D",)))
    assert said(*(row._replace(copies=(registered,)) for row in (one, other))) == [[], []]


@pytest.mark.parametrize("verb", ["check", "elect", "recover"])
def test_no_verb_is_green_beside_a_copy(tmp_path: Path, verb: str) -> None:
    """The copy of a host's folder is red in each verb that gets both."""
    for name in ("a", "b"):
        shutil.copytree(BROKERS / "broker-1", tmp_path / name)
    done = kcheck(verb, tmp_path / "a", tmp_path / "b", columns=400)
    assert done.code == 1, done.out
    assert f"broker 1 is given twice: {tmp_path}/" in done.out, done.out
