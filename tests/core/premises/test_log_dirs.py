"""The log dirs in log.dirs, and those on the disk."""

from kcheck.model.premises import PremiseStatus
from tests.core.premises.test_premises import KRAFT, facts, not_seen, refuted, rows


def test_settings_that_list_log_dirs_which_are_not_here() -> None:
    """Nobody knows whether the broker uses the given ones. The others are not missing."""
    given = facts(elsewhere=("/data",), config={**KRAFT, "log.dirs": "/data"})
    sentence = "server.properties lists /data, and not d1: whether broker 1 uses them is not known"
    assert {"P317": sentence} == not_seen(given)
    assert {} == refuted(given)
    assert "P311" not in rows(given, PremiseStatus.PROVEN)
