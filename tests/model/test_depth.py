"""The words that bound what a depth shows."""

from kcheck.model.depth import Depth


def test_the_bound_of_each_depth() -> None:
    """A depth that verifies every batch needs none."""
    assert {
        Depth.CHECKPOINTS: "as far as --depth checkpoints reads (segments are not read)",
        Depth.HEADERS: "as far as --depth headers reads (batches are not verified)",
        Depth.CRC: None,
        Depth.RECORDS: None,
    } == {depth: depth.bound for depth in Depth}
