"""Questions about the course of a partition's history, and the search for a violated promise."""

import os
from typing import TYPE_CHECKING

from kcheck.api.answers import Path

if TYPE_CHECKING:
    from kcheck.verbs.simulate import (
        Configuration,
        ReleasesCompared,
        SearchBounds,
        Searched,
        SearchesCompared,
        Simulation,
    )


def simulate(
    history: Path, *, kafka: str | None = None, ibp: str | None = None, mutant: str | None = None
) -> "Simulation | ReleasesCompared":
    """Return the course of a history: `kcheck simulate`. `history` is a file, or the name of a shipped history.

    With `all` for `kafka` the answer has a replay for every line of releases. `mutant` switches off a condition of
    Kafka. UsageError: the history cannot be read, or the mutant is unknown.
    """
    from kcheck.verbs.simulate import simulate as verb

    return verb(os.fspath(history), kafka=kafka, ibp=ibp, mutant=mutant)


def search(
    history: "Path | Configuration",
    bounds: "SearchBounds | None" = None,
    *,
    kafka: str | None = None,
    mutant: str | None = None,
) -> "Searched | SearchesCompared":
    """Return the shortest history that breaks a promise: `kcheck simulate search`; for `all` for `kafka` by release.

    It begins where `history` ends, or with the settings of a configuration. `bounds` are the budget of faults and how
    many events and states are visited. `mutant` switches off a condition of Kafka.
    """
    from kcheck.verbs.simulate import ALL, Configuration, SearchBounds, search_all, text_at
    from kcheck.verbs.simulate import search as verb

    if isinstance(history, Configuration):
        beginning, name = history.beginning(), "the configuration"
    else:
        name = os.fspath(history)
        beginning = text_at(name)
    bounds = bounds or SearchBounds()
    if kafka == ALL:
        return search_all(beginning, name, bounds, mutant=mutant)
    return verb(beginning, name, bounds, kafka=kafka, mutant=mutant)
