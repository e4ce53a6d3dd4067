"""Which cluster a broker is of, where the metadata that the user names have more than one cluster id (P101)."""

import pytest

from kcheck.core.premises.table import judged
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
