"""The parts of a repair module, and the sites for its plans."""

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from enum import IntEnum, StrEnum
from typing import Any, NamedTuple, Protocol

from kcheck.core.cluster.topic_ids import TopicIdHistory
from kcheck.model.cluster import PartitionRegistration
from kcheck.model.entries import EpochEntries, Offset
from kcheck.model.finding import Finding
from kcheck.model.release import Release
from kcheck.model.remote_log import StoredEpochs
from kcheck.model.segments import EpochRun
from kcheck.model.views import LogDirView, PartitionView


class WriteEdit(NamedTuple):
    """A small file gets these bytes. Paths are relative to the log dir, as in the other edits."""

    path: str
    data: bytes


class CutEdit(NamedTuple):
    """A file ends at `size` bytes."""

    path: str
    size: int


class PatchEdit(NamedTuple):
    """These bytes replace those at a position of a file; its size stays."""

    path: str
    position: int
    data: bytes


class AsideEdit(NamedTuple):
    """A file or a directory moves aside."""

    path: str


class RenameEdit(NamedTuple):
    """A directory of the log dir gets another name, with all that is in it."""

    path: str
    to: str


class EntryEdit(NamedTuple):
    """The line of a partition in an offset checkpoint gets another offset, or goes (None)."""

    path: str
    topic: str
    partition: int
    offset: Offset | None


Edit = WriteEdit | CutEdit | PatchEdit | AsideEdit | RenameEdit | EntryEdit


class Evidence(NamedTuple):
    """The proof of an edit (a file, a position in it, and the fact itself).

    `crc_verified` is true if the CRC of every batch up to the position matches; None if that does not apply.
    """

    file: str
    position: int | None
    crc_verified: bool | None
    what: str


class RepairStep(NamedTuple):
    """Edits that belong together, all or none; `reason` is their result.

    `holder` is a clause about the copy that still has the removed records; None if no copy is known. The paths of
    the edits are in `log_dir`, if set, instead of the shown log dir. `settles` are other findings that they settle.
    `leader` is the broker that must lead first, because the replica starts empty.
    """

    finding: Finding
    edits: tuple[Edit, ...]
    reason: str
    evidence: tuple[Evidence, ...]
    holder: str | None = None
    log_dir: "LogDirSite | None" = None
    settles: tuple[Finding, ...] = ()
    leader: int | None = None


class Refused(NamedTuple):
    """The reason why a repair plans nothing for a finding."""

    finding: Finding
    why: str


class Settled(NamedTuple):
    """Edits for another finding have settled it."""

    finding: Finding


RepairOutcome = RepairStep | Refused | Settled


class RecoveryCut(NamedTuple):
    """The place where a recovery truncates a segment, and the reason; `size` is the size of its `.log`."""

    base_offset: Offset
    position: int
    size: int
    why: str


class Image(NamedTuple):
    """A partition after a broker's recovery of every segment, which uses only the `.log` files.

    `files` are the bytes of the indexes, `leader_epochs` come from the batches. `error` is the reason why this recovery
    fails.
    """

    error: str | None = None
    log_end_offset: Offset = Offset(0)
    cuts: tuple[RecoveryCut, ...] = ()
    files: Mapping[str, bytes] = {}
    leader_epochs: EpochEntries = ()

    @property
    def fault(self) -> str | None:
        """The reason why the log is not valid to its end; None if the recovery succeeds and truncates nothing."""
        return self.cuts[0].why if self.error is None and self.cuts else self.error


class PartitionSite(Protocol):
    """One partition directory, with the edits planned so far.

    `dir` is its name. `view` and `findings` are from before the first edit; `names`, `read` and the methods show it
    after the last.
    """

    @property
    def dir(self) -> str: ...

    @property
    def view(self) -> PartitionView: ...

    @property
    def release(self) -> Release: ...

    @property
    def findings(self) -> tuple[Finding, ...]: ...

    @property
    def names(self) -> AbstractSet[str]: ...

    @property
    def log_dir(self) -> "LogDirSite": ...

    def read(self, name: str) -> bytes | None:
        """Return a small file; None if it is missing or unreadable."""

    def size(self, name: str) -> int:
        """Return the size of a file in bytes."""

    def bytes_at(self, name: str, position: int, size: int) -> bytes:
        """Return some bytes of a file, fewer at its end."""

    def is_patched(self, name: str) -> bool:
        """Return whether a planned edit patches the file."""

    def image(self, passed: AbstractSet[tuple[int, int]] = frozenset()) -> Image:
        """Return the partition after a recovery of every segment.

        It continues after the truncations `passed` (base offset, position), as if they had been made before.
        """

    def image_of_cut(self, base: Offset, position: int) -> Image:
        """Return the partition after this recovery if the log is truncated at a position of a segment."""

    def epoch_runs(self) -> tuple[EpochRun, ...]:
        """Return the epochs of its batches, in log order."""

    def settled(self, finding: Finding) -> bool:
        """Return whether an edit is planned for a finding."""

    def contains(self, other: "PartitionSite") -> bool:
        """Return whether every batch of another copy is here too, by offsets, epochs and CRCs."""

    def agrees_with(self, other: "PartitionSite") -> bool:
        """Return whether the valid batches of another replica equal those here with the same offsets and epochs."""

    def holders(self) -> tuple["PartitionSite", ...]:
        """Return the other replicas that the user named as intact (`--against`)."""

    @property
    def stored_epochs(self) -> tuple[StoredEpochs, ...] | None:
        """The epoch indexes of its last remote segments; None if no store is given."""

    def best_leader(self) -> int | None:
        """Return the broker that should lead by `kcheck recover`; None if that is not decided."""


class Owner(NamedTuple):
    """The broker that log dirs without meta.properties belong to, by the metadata in ZooKeeper."""

    broker_id: int
    cluster_id: str | None
    replicas: int
    path: str


class LogDirSite(Protocol):
    """One log dir, with the edits planned so far; `siblings` are the other log dirs of the same broker.

    `topic_ids` has, by topic, the ids in any partition.metadata, each with the path of a file, and the ids in cluster
    metadata. `is_with_all_siblings` is true if the broker has no other log dir. `owner` is the broker that ZooKeeper
    assigns exactly the replicas in the log dir and its siblings. With `adopts` the user wants directories of a topic's
    former id back. `topic_id_histories` has the facts in ZooKeeper's files about topics with another id on disk.
    """

    @property
    def view(self) -> LogDirView: ...

    @property
    def release(self) -> Release: ...

    @property
    def findings(self) -> tuple[Finding, ...]: ...

    @property
    def partitions(self) -> tuple[PartitionSite, ...]: ...

    @property
    def siblings(self) -> tuple["LogDirSite", ...]: ...

    @property
    def topic_ids(self) -> Mapping[str, Mapping[str, str]]: ...

    @property
    def is_with_all_siblings(self) -> bool: ...

    @property
    def owner(self) -> Owner | None: ...

    @property
    def adopts(self) -> bool: ...

    @property
    def topic_id_histories(self) -> Mapping[str, TopicIdHistory]: ...

    def registration(self, topic: str, partition: int) -> PartitionRegistration | None:
        """Return a partition as the given metadata has it now, by the name of its topic."""

    def read(self, name: str) -> bytes | None:
        """Return a small file of the log dir itself; None if it is missing or unreadable."""

    def entry(self, name: str, topic: str, partition: int) -> Offset | None:
        """Return the offset that the broker reads in an offset checkpoint; None without a line, or if it is corrupt."""

    def end_of(self, topic: str, partition: int) -> tuple[Offset | None, "PartitionSite | None"]:
        """Return the log end of a partition of this log dir, and the partition; None if unknown or unseen."""

    def holds(self, topic: str, partition: int) -> bool:
        """Return whether the log dir has a directory of this partition, read or not."""


class Impact(IntEnum):
    """The size of a repair's change. A plan takes the least that makes the next start clean.

    Smaller than all of them is no repair, if the broker heals the log itself.
    """

    CHECKPOINT = 1
    """It rewrites a checkpoint or another small file, or renames a directory."""
    INDEX = 2
    """It rebuilds an index or a snapshot, or moves files aside that no broker needs."""
    FIELD = 3
    """It patches a field of a batch header."""
    ASIDE = 4
    """It moves a copy aside while a better one exists."""
    CUT = 5
    """It truncates the log."""


class RepairScope(StrEnum):
    """The site of a repair, which is one partition, or one log dir."""

    PARTITION = "partition"
    LOG_DIR = "log dir"


PlanFunction = Callable[[Any, tuple[Finding, ...]], Iterator[RepairOutcome]]
EvidenceCheck = Callable[[Finding, AbstractSet[str]], bool]


def always(finding: Finding, topic_ids: AbstractSet[str]) -> bool:
    """Return True, as a repair needs only the files with the finding."""
    del finding, topic_ids
    return True


class Repair(NamedTuple):
    """The repair for findings of some `rules`; repairs with a smaller `rank` are asked first.

    `plan` gets a site and its findings of these rules. Its edits are made while it continues, so that it sees their
    effects.
    """

    name: str
    rank: int
    scope: RepairScope
    rules: tuple[str, ...]
    plan: PlanFunction
    impact: Impact
    page: str | None
    has_evidence: EvidenceCheck = always
    """Returns whether files show the content of a step, by the finding and the known ids of its topic."""
