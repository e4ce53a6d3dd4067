"""What comes before the verdict of `kcheck elect`."""

from typing import Any

import pytest

from kcheck.renderers._election_rows import warnings


@pytest.mark.parametrize(("assumed", "whose"), [(1, "node 1"), (None, "the cluster's default")])
def test_controllers_that_are_configured_otherwise_are_named(assumed: int | None, whose: str) -> None:
    """An operator then looks which one is active."""
    body: dict[str, Any] = {
        "gaps": (), "controller_id": assumed, "controllers_otherwise": (2, 3), "running_in_metadata": ()
    }  # fmt: skip
    text = f"nodes 2,3 are configured otherwise than {whose}, which kcheck assumes."
    assert [*warnings(body, [])] == [f"Whether unclean elections are on depends on the active controller: {text}"]
    assert [*warnings({**body, "controllers_otherwise": ()}, [])] == []


def test_a_run_says_what_it_cannot_know() -> None:
    """Its tables hold no batches."""
    body: dict[str, Any] = {"run": "r", "gaps": (), "controllers_otherwise": (), "controller_id": None}
    (text,) = warnings({**body, "running_in_metadata": ()}, [])
    assert text.startswith("A run has no batches: it does not say which transactions")
