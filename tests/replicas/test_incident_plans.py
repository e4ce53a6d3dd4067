"""`kcheck recover` on whole incidents: the screen at 80 columns."""

from pathlib import Path

import pytest

from tests.replicas.incident_plans import PACKED, PLACE, shown


@pytest.mark.parametrize("name", PACKED)
def test_the_plan_of_an_incident(name: str, tmp_path: Path) -> None:
    """Line by line; where a message names the folder, which wraps it, word by word."""
    now, kept = shown(name, tmp_path), (PLACE / f"{name}.txt").read_text("utf-8")
    if "FOLDER" in kept:
        assert now.split() == kept.split()
    else:
        assert now == kept


def test_every_screen_is_of_an_incident() -> None:
    """None is left over."""
    assert {path.stem for path in PLACE.glob("*.txt")} == {*PACKED}
