"""What KC149 says of the epochs of batches."""

from collections import Counter

from kcheck.core.releases.releases import release
from kcheck.model.entries import Offset
from kcheck.model.segments import BatchFault, FaultyBatch
from kcheck.rules import kc149_batch_epoch_order
from tests.rules.test_segments import VIEW


def test_an_epoch_below_minus_one_is_refused_by_followers() -> None:
    """The message names the epoch, and the effect what followers do."""
    batch = FaultyBatch(BatchFault.EPOCH, 0, 99, Offset(0), Offset(9), -2, 10, 2, 3)
    view = VIEW._replace(faults=(batch,), counts=Counter({BatchFault.EPOCH: 1}))
    (finding,) = kc149_batch_epoch_order.check(view, release("4.3"))
    assert "negative epoch" in finding.effect
    assert "-2" in finding.message
