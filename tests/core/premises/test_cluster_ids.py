"""Which cluster a broker is of, where the metadata that the user names have more than one cluster id (P101)."""

import pytest

from kcheck.core.cluster.copies import LostCopy
from kcheck.core.premises.table import judged
from kcheck.core.releases.releases import release
from kcheck.core.start.startup import Mode
from kcheck.model.premises import PremiseEvidence, PremiseStatus
from tests.core.premises.test_premises import facts


@pytest.mark.parametrize(
    ("named", "status", "sentence"),
    [
        ("XC", PremiseStatus.PROVEN, None),
        ("XXC", PremiseStatus.NOT_SEEN, "the metadata is of two clusters, C and X"),
        ("XXXC", PremiseStatus.REFUTED, "the disk of broker 1 is of cluster C, the cluster is X"),
    ],
)
def test_most_disks_decide(named: str, status: PremiseStatus, sentence: str | None) -> None:
    """The disk of the broker counts with them; a controller of another cluster does not join."""
    given = facts(clusters=tuple(PremiseEvidence(str(number), name) for number, name in enumerate(named)))
    (judgement,) = (row for row in judged(given) if row.id == "P101")
    assert status is judgement.status
    assert sentence in (None, judgement.sentence)


def test_a_folder_without_data_of_zookeeper_shows_nothing() -> None:
    """The reason names the folder that the user gave (P303)."""
    given = facts(
        copies=(), image=None, lost_copies=(LostCopy("z", None),), mode=Mode.ZOOKEEPER, release=release("3.9")
    )
    (judgement,) = (row for row in judged(given) if row.id == "P303")
    expected = "what the cluster expects of broker 1 is not known, because no data of ZooKeeper is in z"
    assert (PremiseStatus.NOT_SEEN, expected) == (judgement.status, judgement.sentence)


@pytest.mark.parametrize(
    ("connect", "chroot", "verdict"),
    [
        ("a:1/kafka", "/kafka", PremiseStatus.PROVEN), ("a:1/", "", PremiseStatus.PROVEN),
        ("a:1/other", "", "zookeeper.connect has the path /other, the topics of the cluster are below /"),
        ("a:1,b:1", "/kafka", "zookeeper.connect has the path /, the topics of the cluster are below /kafka"),
        ("", "/kafka", None), ("a:1/other", None, None), ("${file:/etc/zk:connect}", "/kafka", None),
    ],
)  # fmt: skip
def test_the_path_in_zookeeper_connect(connect: str, chroot: str | None, verdict: object) -> None:
    """The broker would make another cluster there; without settings, or without topics, nothing is compared (P314)."""
    given = facts(
        config={"zookeeper.connect": connect}, chroot=chroot, mode=Mode.ZOOKEEPER, release=release("3.9"), image=None
    )
    found = [row for row in judged(given) if row.id == "P314"]
    said = [row.sentence if row.status is PremiseStatus.REFUTED else row.status for row in found]
    assert said == ([] if verdict is None else [verdict])
