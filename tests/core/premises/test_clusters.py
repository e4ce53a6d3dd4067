"""Of which cluster log dirs and metadata are, where they do not agree."""

from kcheck.core.premises.clusters import NodeCluster, contested_cluster
from kcheck.core.premises.table import judged
from kcheck.model.premises import PremiseEvidence, PremiseStatus
from tests.core.premises.test_premises import copy, facts, image

NODES = (NodeCluster("a", "A", "DA"), NodeCluster("b", "B", "DB"), NodeCluster("c", "B", "DC"))


def test_most_log_dirs_name_the_cluster() -> None:
    """Only where the user says that they are of one, or the metadata of one id lists a log dir of another."""
    assert () == contested_cluster(NODES[1:], {}, one_cluster=True)
    assert () == contested_cluster(NODES, {}, one_cluster=False)
    assert {"B"} == {row.says for row in contested_cluster(NODES, {}, one_cluster=True)}
    listing = copy(of=image(log_dirs=("DA",)))
    assert ("b", "c") == tuple(row.path for row in contested_cluster(NODES, {"B": (listing,)}, one_cluster=False))


def test_the_newest_copy_decides_between_two() -> None:
    copies = {"A": (copy(1, end=9),), "B": (copy(2, end=8),)}
    assert {"A"} == {row.says for row in contested_cluster(NODES[:2], copies, one_cluster=True)}


def test_the_clusters_of_most_named_metadata_is_that_of_the_broker() -> None:
    """Another controller with the disk of another cluster does not join; the broker does."""
    given = facts(clusters=(PremiseEvidence("m", "X"), PremiseEvidence("n", "C")))
    assert "P101" in {row.id for row in judged(given) if row.status is PremiseStatus.PROVEN}
