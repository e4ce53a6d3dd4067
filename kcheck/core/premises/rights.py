"""The premise that the broker's user may read and write all files, by owners and modes."""

from bisect import insort
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from kcheck.core.premises.facts import BrokerFacts, LogDirFacts
from kcheck.core.premises.judged import not_seen, proven, refuted
from kcheck.core.premises.premise import Premise, PremiseKind
from kcheck.model.names import (
    CLEAN_SHUTDOWN,
    LEADER_EPOCHS,
    META_PROPERTIES,
    OFFSET_CHECKPOINTS,
    PARTITION_METADATA,
    FileKind,
)
from kcheck.model.premises import JudgedPremise, PremiseEvidence
from kcheck.model.rights import BrokerUser, LogDirRights, PlainOwners, PlainRights, Rights
from kcheck.words import shell_line, shell_word

_ROOT = 0
_READ, _READ_WRITE, _ALL = 0o4, 0o6, 0o7
_LOG = ".log"
_WRITTEN = (_LOG, ".index", ".timeindex", ".txnindex", ".lock")
"""The endings of files that a broker opens for writing; all others it replaces by rename."""
_READ_ALONE = (
    ".snapshot", ".checkpoint", CLEAN_SHUTDOWN, LEADER_EPOCHS, META_PROPERTIES, PARTITION_METADATA, "quorum-state",
    *OFFSET_CHECKPOINTS,
)  # fmt: skip
"""The endings of files that a broker only reads before it replaces or deletes them."""
_USED = (*_WRITTEN, *_READ_ALONE)
FILES_OF_LOG_DIR = (
    *OFFSET_CHECKPOINTS, META_PROPERTIES, CLEAN_SHUTDOWN, str(FileKind.BOOTSTRAP), str(FileKind.LOCK),
)  # fmt: skip
"""The files that the broker opens in a log dir itself. It opens no others there, whatever their names."""
_FIRST_COUNT = 3
"""Number of paths that a command names one by one."""


def is_used(name: str) -> bool:
    """Return whether a starting broker opens a file of this name in a partition directory."""
    return name.endswith(_USED)


def broker_users(kept: Sequence[Rights], replaced: Sequence[Rights], top: Iterable[Rights]) -> tuple[BrokerUser, ...]:
    """Return the users that a broker may run as, the likely one first; empty without evidence.

    `kept` are partition directories and meta.properties, which stay. Most of them belong to the user. `replaced` are
    checkpoints, which its last run has written. A checkpoint of root is from an operator. `top` are the log dirs, which
    decide between equal counts.
    """
    owners, tops = Counter(rights.user for rights in kept), {rights.user for rights in top}
    groups = Counter((rights.user, rights.group) for rights in kept)
    likely = sorted(owners, key=lambda user: (-owners[user], user not in tops, user == _ROOT, user))[:1]
    last = sorted({rights.user for rights in replaced} - {_ROOT, *likely})[:1]
    groups.update((rights.user, rights.group) for rights in replaced if rights.user in last)
    users = []
    for user in (*likely, *last):
        group = max((count, -group) for (owner, group), count in groups.items() if owner == user)
        users.append(BrokerUser(user, -group[1]))
    return tuple(users)


def may(user: BrokerUser, rights: Rights, bits: int) -> bool | None:
    """Return whether a user may do what these mode bits mean.

    None if that depends on its other groups, or an ACL.
    """
    if user.user == _ROOT:
        return True
    if rights.user == user.user:
        return rights.mode >> 6 & bits == bits
    by_group, by_others = rights.mode >> 3 & bits == bits, rights.mode & bits == bits
    return by_group if by_group == by_others or rights.group == user.group else None


def _bits(path: str) -> int:
    return _READ_WRITE if path.endswith(_WRITTEN) else _READ


def log_dir_rights(
    user: BrokerUser,
    top: Rights,
    files: Iterable[Rights],
    directories: Iterable[tuple[Rights, Iterable[PlainRights]]],
    noted: Callable[[str], PlainOwners | None] = lambda _: None,
) -> LogDirRights:
    """Return the forbidden files and directories of a user in a log dir; in bounded memory.

    `noted` are the owners of all files of a directory, if known. If the user may use all of them, no file is asked.
    """
    tally = _Tally(user)
    tally.add_directory(top, files, is_partition=False)
    for directory, inside in directories:
        owners = noted(directory.path)
        if owners is None or not tally.add_own(directory, owners):
            tally.add_directory(directory, inside, is_partition=True)
    return tally.rights(top.user)


class _Tally:
    """Counts what a user may not do, and keeps the first paths."""

    def __init__(self, user: BrokerUser) -> None:
        self._user = user
        self._first: list[Rights] = []
        self._whole = set[str]()
        self._allowed = set[tuple[int, int, int]]()
        """The users, groups and modes of files that the user may read and write. Nearly all files have the same."""
        self._items = self._count = self._segments = 0
        self._is_foreign = True
        self._doubtful: Rights | None = None

    def add_own(self, directory: Rights, owners: PlainOwners) -> bool:
        """Count a directory of the user; return False, and count nothing, unless the user may use all files there."""
        if directory.user != self._user.user or not may(self._user, directory, _ALL):
            return False
        kinds, segments = owners
        for kind in kinds - self._allowed:
            if not may(self._user, Rights("", *kind), _READ_WRITE):
                return False
            self._allowed.add(kind)
        self._segments += segments
        self._is_foreign = False
        return True

    def add_directory(self, directory: Rights, files: Iterable[PlainRights], *, is_partition: bool) -> None:
        """Look at a directory and its files."""
        first = list[Rights]()
        count, segments, is_whole = 0, 0, directory.user != self._user.user
        for path, user, group, mode in files:
            is_whole = is_whole and user != self._user.user
            segments += path.endswith(_LOG)
            if (user, group, mode) in self._allowed:
                continue
            rights = Rights(path, user, group, mode)
            if may(self._user, rights, _READ_WRITE):
                self._allowed.add((user, group, mode))
            elif self._refuses(rights, _bits(path)):
                count += 1
                insort(first, rights)
                del first[_FIRST_COUNT + 1 :]
        self._segments += segments if is_partition else 0
        refuses = self._refuses(directory, _ALL)
        self._is_foreign = self._is_foreign and is_whole
        self._count += count + refuses
        if refuses and is_whole and is_partition:
            self._items += 1
            self._keep([directory])
            self._whole.add(directory.path)
        else:
            self._items += count + refuses
            self._keep([*([directory] if refuses else ()), *first])

    def _refuses(self, rights: Rights, bits: int) -> bool:
        answer = may(self._user, rights, bits)
        if answer is None and self._doubtful is None:
            self._doubtful = rights
        return answer is False

    def _keep(self, refused: Sequence[Rights]) -> None:
        self._first.extend(refused[: _FIRST_COUNT + 1 - len(self._first)])

    def rights(self, owner: int) -> LogDirRights:
        """Return the observed rights."""
        whole = frozenset(rights.path for rights in self._first if rights.path in self._whole)
        return LogDirRights(
            user=self._user, owner=owner, refused=tuple(self._first[:_FIRST_COUNT]), refused_count=self._count,
            item_count=self._items, whole=whole, is_foreign=self._is_foreign, doubtful=self._doubtful,
            segment_count=self._segments,
        )  # fmt: skip


def may_use_all(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Compare owner and mode of the files that the broker opens with the user of most of them."""
    seen = [(log_dir, log_dir.rights) for log_dir in facts.log_dirs if log_dir.rights is not None]
    for log_dir, rights in seen:
        if rights.refused:
            evidence = tuple(
                PremiseEvidence(_path(log_dir, place), f"user {place.user}, mode {place.mode:o}")
                for place in rights.refused
            )
            yield refuted(premise, facts, _refused_words(log_dir, rights), *evidence, log_dir=log_dir.path)
        elif rights.doubtful is not None:
            place, user = rights.doubtful, rights.user.user
            sentence = (
                f"{_path(log_dir, place)} belongs to user {place.user} and group {place.group}, most files to user"
                f" {user}. Whether {user} is in that group is not known"
            )
            evidence = (PremiseEvidence(_path(log_dir, place), f"group {place.group}, mode {place.mode:o}"),)
            yield not_seen(premise, facts, sentence, f"--allow {premise.id} if it is", *evidence)
    if seen and not any(rights.refused or rights.doubtful for _, rights in seen):
        yield proven(
            premise, facts, *(PremiseEvidence(log_dir.path, f"of user {rights.user.user}") for log_dir, rights in seen)
        )


def _refused_words(log_dir: LogDirFacts, rights: LogDirRights) -> str:
    """Return the sentence that names the first path, how many more there are, and one command."""
    first, user = rights.refused[0], rights.user.user
    name = first.path or log_dir.path
    more = rights.refused_count - 1
    others = f"; the same holds for {more} more path{'s' * (more > 1)}" if more else ""
    cannot = "open it" if first.path.endswith(_USED) else "write there"
    if first.user == user:
        why = f"{name} has mode {first.mode:03o}"
    else:
        other = "the log dir" if rights.owner == user else "most partition directories"
        why = f"{name} belongs to user {first.user}, {other} to {user}"
    return f"{why}: a broker that runs as {user} cannot {cannot}{others}; {_command(log_dir, rights)}"


def _command(log_dir: LogDirFacts, rights: LogDirRights) -> str:
    """Return the one command that gives the user what it may not use, and changes nothing of its own."""
    user = rights.user
    owner, top = f"{user.user}:{user.group}", shell_word(log_dir.path)
    if all(place.user == user.user for place in rights.refused):
        return f"chmod -R u+rwX {top}"
    if rights.is_foreign:
        return f"chown -R {owner} {top}"
    paths = shell_line(_path(log_dir, place) for place in rights.refused)
    whole = {place.path in rights.whole for place in rights.refused}
    if rights.item_count > len(rights.refused) or len(whole) > 1:
        return f"find {top} ! -user {user.user} -exec chown {owner} {{}} +"
    return f"chown {'-R ' * whole.pop()}{owner} {paths}"


def _path(log_dir: LogDirFacts, place: Rights) -> str:
    return f"{log_dir.path}/{place.path}" if place.path else log_dir.path


TABLE = (
    Premise(
        "P401", PremiseKind.RIGHTS, "The broker's user may read and write all its files.",
        "The owner of most partition directories may use every file and directory that the broker opens when it "
        "starts.",
        "A file that the owner of most files may not use. A file of another group is not seen.",
        "AccessDeniedException. The log dir goes offline, and the process ends.",
        "Run the chown or chmod command of the reason. If the group is right: --allow P401.",
        "FileRecords.open, AbstractIndex, CheckpointFile.write 3.9.2", may_use_all,
    ),
)  # fmt: skip
