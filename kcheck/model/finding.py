"""A finding, with the problem, its place, the reaction of the broker, and the advice."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import NamedTuple

from kcheck.errors import UsageError
from kcheck.model.names import LOST_FOUND


class Severity(StrEnum):
    """The reaction of the broker to a problem."""

    INFO = "info"
    """It does not notice."""
    WARNING = "warning"
    """It repairs the problem when it starts."""
    ERROR = "error"
    """It serves wrong records, replicates them, or loses some."""
    FATAL = "fatal"
    """It does not start, or it takes the log dir offline."""

    @property
    def rank(self) -> int:
        """A number to compare severities by; the worst is the largest."""
        return list(Severity).index(self)


Chosen = Callable[[str, Severity], bool]
"""Returns whether the user wants to see a finding, by the id of its rule and by its severity."""


class Location(NamedTuple):
    """The place of a fact, which is a log dir, a directory in it, a file, or a position. Paths are as typed.

    A named tuple, because every partition has several.
    """

    broker_id: int | None = None
    """The broker; None if it is not known."""
    log_dir: str | None = None
    """The path of the log dir; None for a fact about several, or for a file outside of one."""
    dir: str | None = None
    """The name of the partition directory; None for a fact about the log dir."""
    file: str | None = None
    """The name of the file; None for a fact about a directory."""
    line: int | None = None
    """The line in a text file, from 1; None for a fact about the file, or in a binary file."""
    position: int | None = None
    """The position in the file, in bytes; None for a fact about the file."""
    topic: str | None = None
    """The topic; None for a fact about no topic."""
    partition: int | None = None
    """The partition number; None for a fact about no partition."""

    def of_file(self, name: str) -> "Location":
        """Return the location of a file in this directory."""
        return Location(self.broker_id, self.log_dir, self.dir, name, None, None, self.topic, self.partition)


class Claimed(StrEnum):
    """The claims that an effect can make about the next start of a partition."""

    ABORTS = "aborts"
    """The broker does not start."""
    OFFLINE = "offline"
    """The broker takes the log dir offline."""
    FAILS = "fails"
    """One of these two."""
    STRAY = "stray"
    """The broker sets the directory aside."""
    CUTS = "cuts"
    """The next start truncates the log at an offset."""
    WIPES = "wipes"
    """The next start deletes every segment; the log begins again at an offset."""
    KEEPS = "keeps"
    """The next start leaves the segment with a base offset as it is."""
    REBUILDS = "rebuilds"
    """The next start recovers the segment with a base offset, and rebuilds its indexes."""
    ENDS = "ends"
    """The next start loads the log, which then ends at an offset."""
    LOADS = "loads"
    """The next start loads the log."""
    EPOCHS = "epochs"
    """After the broker has started, this is the latest leader epoch of the replica; -1 if it has none."""


class Claim(NamedTuple):
    """One thing that an effect says of the next start."""

    claimed: Claimed
    """The claimed action."""
    value: int | None = None
    """The offset or epoch of it; None if it has none."""


class Effect(NamedTuple):
    """An effect about the next start. The words are true only while the prediction has every claim."""

    words: str
    """The effect."""
    claims: tuple[Claim, ...]
    """The claims in the words about the next start."""


class Finding(NamedTuple):
    """One problem, with the reaction of the broker and the advice."""

    id: str
    """The id of the rule, for example KC201."""
    name: str
    """The name of the rule, for example epoch-order."""
    severity: Severity
    """Its severity."""
    where: Location
    """Its place."""
    message: str
    """The problem."""
    effect: str
    """The reaction of the broker."""
    advice: str
    """The advice."""
    data: Mapping[str, object] = {}
    """The facts of the message for scripts, JSON types only."""
    repair: Mapping[str, object] | None = None
    """The repairs that can plan something about it; None without any."""
    claims: tuple[Claim, ...] = ()
    """The claims of the effect about the next start; `core.start.claims` compares them with the prediction."""
    kafka_differs: str | None = None
    """In a scan, the end of a range of releases without this finding, or with a milder one."""

    def sort_key(self) -> tuple[object, ...]:
        """Return the key that orders findings for output by location, then by rule."""
        where = self.where
        replica = (where.log_dir or "", where.topic or "", -1 if where.partition is None else where.partition)
        in_replica = (where.dir or "", where.file or "", where.line or 0, where.position or 0)
        return (*replica, *in_replica, self.id, self.message)


_BY_OPTION = frozenset({"adopt-directories", "cut-log", "restore-remote-epochs", "set-aside-partitions"})
"""The repairs that need --adopt, --accept-loss, --against or --store."""


def is_repairable(finding: Finding) -> bool:
    """Return whether `kcheck repair` has a step for a finding that no next start mends.

    A step that needs an option of the user does not count, and no repair moves lost+found.
    """
    if finding.repair is None or finding.severity.rank < Severity.ERROR.rank or finding.where.dir == LOST_FOUND:
        return False
    names = finding.repair.get("names", ())
    assert isinstance(names, tuple)
    return finding.id == "KC143" or not _BY_OPTION.issuperset(names)  # zeros after the last batch hold no records


def parse_severity(text: str, option: str = "severity") -> Severity:
    """Return the severity of that name; UsageError lists the valid names."""
    try:
        return Severity(text.lower())
    except ValueError:
        raise UsageError(f"{option} {text}: not one of {', '.join(Severity)}") from None
