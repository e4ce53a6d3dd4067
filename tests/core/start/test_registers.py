"""Whether a broker keeps its places in ISR and ELR when it registers."""

import pytest

from kcheck.core.start.strays import registers_cleanly


@pytest.mark.parametrize(
    ("clean", "shutdown", "registered", "expected"),
    [
        (True, 5, 5, True), (True, 5, 6, False), (False, 5, 5, False), (True, None, 5, False), (True, 5, None, False),
        (False, None, -1, True), (True, None, -1, True), (True, 5, -1, False), (False, None, None, False),
    ],
)  # fmt: skip
def test_the_epoch_that_a_broker_names(
    clean: bool, shutdown: int | None, registered: int | None, expected: bool
) -> None:
    """Without a marker that is -1, which registrations of rebuilt metadata have (test_lost_metadata.py plays that)."""
    assert expected == registers_cleanly(clean=clean, shutdown_epoch=shutdown, broker_epoch=registered)
