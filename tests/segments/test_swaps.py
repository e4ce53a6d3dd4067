"""The `.log.swap` files of a partition."""

from kcheck.model.finding import Finding, Location
from kcheck.model.names import DirectoryState
from kcheck.model.views import PartitionView
from kcheck.segments.swaps import read_swaps
from tests.builders import BytesFiles, log, run

SWAP = "00000000000000000000.log.swap"
VIEW = PartitionView(
    where=Location(dir="t-0"), topic="t", partition=0, state=DirectoryState.CURRENT, files=frozenset({SWAP, "x.swap"})
)


def test_a_swap_is_read_from_its_start() -> None:
    findings: list[Finding] = []
    (view,) = read_swaps(VIEW, BytesFiles({SWAP: log(run(0, 99))}), findings, verify=True)
    assert (10, 100, None, SWAP) == (view.batches, view.end_offset, view.producers, view.where.file)
    assert [] == findings


def test_a_swap_that_cannot_be_read_is_a_finding() -> None:
    """Its name alone does not tell what the next start does."""
    findings: list[Finding] = []
    assert not [*read_swaps(VIEW, BytesFiles({}), findings, verify=False)]
    assert [("KC001", SWAP)] == [(finding.id, finding.where.file) for finding in findings]
