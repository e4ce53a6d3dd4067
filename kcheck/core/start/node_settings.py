"""The ids in the settings of a node."""

from collections.abc import Mapping

from kcheck.model.java import java_int


def ids_of_voters(setting: str) -> frozenset[int]:
    """Return the ids in a controller.quorum.voters, which has `ID@HOST:PORT` entries."""
    numbers = (java_int(entry.partition("@")[0].strip()) for entry in setting.split(","))
    return frozenset(number for number in numbers if number is not None)


def stated_id(settings: Mapping[str, str]) -> int | None:
    """Return the node.id or broker.id in the settings of a broker; None for a missing or generated id."""
    number = java_int((settings.get("node.id", "").strip() or settings.get("broker.id", "")).strip())
    return None if number is None or number < 0 else number
