"""A behavior that changes with the release, and the only place that compares versions."""

from typing import Protocol, Self, overload


class Versioned(Protocol):
    """A release of which a behavior is asked."""

    @property
    def version(self) -> tuple[int, ...]:
        """Its numbers."""


class Behaviour:
    """The behavior of the releases in one range. As an attribute of a `Release` it is True if that release has it."""

    name: str
    """The name of the attribute."""
    says: str
    """The behavior, in one sentence."""
    since: str | None
    """The first release that does it; None if every release before `until` does."""
    until: str | None
    """The first release that no longer does it; None if every later release does."""
    but_not: str | None
    """A release of the range that does not do it."""
    reference: str | None
    """Kafka's issue or proposal (KAFKA-, KIP-), where it is known."""

    def __init__(
        self,
        says: str,
        *,
        since: str | None = None,
        until: str | None = None,
        but_not: str | None = None,
        reference: str | None = None,
    ) -> None:
        """Keep the row."""
        self.says, self.since, self.until, self.but_not, self.reference = says, since, until, but_not, reference

    def __set_name__(self, owner: type, name: str) -> None:
        """Learn the name of the attribute."""
        self.name = name

    @overload
    def __get__(self, release: None, owner: type) -> Self: ...
    @overload
    def __get__(self, release: Versioned, owner: type) -> bool: ...
    def __get__(self, release: Versioned | None, owner: type) -> Self | bool:
        """Return whether a release does it, which is kept in that value; the row itself if a class is asked."""
        if release is None:
            return self
        answer = is_between(release, self.since, self.until) and (
            self.but_not is None or release.version != _numbers(self.but_not)
        )
        vars(release)[self.name] = answer  # Loops ask again and again: from now on it is a plain attribute.
        return answer


def is_between(release: Versioned, since: str | None, until: str | None) -> bool:
    """Return whether a release is one of those from `since` on and before `until`; None for no bound."""
    version = release.version
    return (since is None or version >= _numbers(since)) and (until is None or version < _numbers(until))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
