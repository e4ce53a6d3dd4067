"""Reads the facts of a broker's machine (owners and modes of its files, its mounts, its limits)."""

from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial

from kcheck.core.premises.facts import LogDirFacts, StoreFile
from kcheck.core.premises.listeners import hosts_of
from kcheck.core.premises.rights import FILES_OF_LOG_DIR, broker_users, is_used, log_dir_rights
from kcheck.core.premises.security import KeyStore, fault_of, stores
from kcheck.disk.kept import noted_owners
from kcheck.disk.local import LOCAL
from kcheck.disk.paths import is_absolute, join
from kcheck.disk.rights import in_container, machine_names, rights_in, rights_of, volume_of
from kcheck.disk.tree import real_path, tree_of
from kcheck.model.names import CLEAN_SHUTDOWN, LOG_START, META_PROPERTIES, RECOVERY_POINT, REPLICATION_OFFSET
from kcheck.model.rights import LogDirRights, PlainOwners, Rights
from kcheck.model.unreadable import UnreadableCause, UnreadableError

_STORE_SIZE_MAX = 1 << 24
_NS_A_MS = 1_000_000
_ANY_MACHINE = frozenset(("", "localhost"))
_REPLACED = (RECOVERY_POINT, REPLICATION_OFFSET)
"""The checkpoints that a running broker writes again all the time."""


def stopped_at(path: str) -> int | None:
    """Return the time of .kafka_cleanshutdown in a log dir of a machine, in ms since 1970; None without one.

    The first start writes meta.properties. In a copy without the times of the broker, both files have the same one.
    """
    tree = tree_of(path)
    if not tree.is_remote:
        with suppress(UnreadableError):
            times = {name: int(str(ns)) for name, _, _, ns in tree.states(path)}
            if times.get(CLEAN_SHUTDOWN) != times.get(META_PROPERTIES) and CLEAN_SHUTDOWN in times:
                return times[CLEAN_SHUTDOWN] // _NS_A_MS
    return None


def written_at(path: str) -> int | None:
    """Return the time of the newest checkpoint or marker of a log dir, in ms since 1970; None without one."""
    tree = tree_of(path)
    if not tree.is_remote:
        with suppress(UnreadableError):
            times = [
                int(str(ns)) for name, _, _, ns in tree.states(path) if name in (*_REPLACED, LOG_START, CLEAN_SHUTDOWN)
            ]
            return max(times) // _NS_A_MS if times else None
    return None


def with_rights(log_dirs: Iterable[tuple[LogDirFacts, tuple[str, ...]]]) -> tuple[LogDirFacts, ...]:
    """Return the log dirs of one broker with the missing rights of its user; given the names of their directories."""
    rows = tuple(log_dirs)
    tops = {row.path: rights_of(row.path) for row, _ in rows if _is_local(row)}
    files = {path: _seen(rights_of(path, name) for name in FILES_OF_LOG_DIR) for path in tops}
    directories = {
        row.path: _seen(rights_of(row.path, name) for name in sorted(names)) for row, names in rows if row.path in tops
    }
    users = broker_users(
        kept=(
            *(place for places in directories.values() for place in places),
            *(place for places in files.values() for place in places if place.path == META_PROPERTIES),
        ),
        replaced=tuple(place for places in files.values() for place in places if place.path in _REPLACED),
        top=_seen(tops.values()),
    )
    rights: Mapping[str, LogDirRights] = {}
    for user in users:
        of_user = {
            path: log_dir_rights(
                user,
                top or Rights("", user.user, user.group, 0o700),
                files[path],
                ((place, rights_in(path, place.path, is_used)) for place in directories[path]),
                partial(_noted, path),
            )
            for path, top in tops.items()
        }
        may_use_all = not any(row.refused or row.doubtful for row in of_user.values())
        rights = of_user if may_use_all else rights or of_user
        if may_use_all:
            break
    return tuple(row._replace(rights=rights.get(row.path)) for row, _ in rows)


def _noted(log_dir: str, directory: str) -> PlainOwners | None:
    return noted_owners(join(log_dir, directory))


def _is_local(row: LogDirFacts) -> bool:
    return row.is_there and not tree_of(row.path).is_remote


def _seen(places: Iterable[Rights | None]) -> tuple[Rights, ...]:
    return tuple(place for place in places if place is not None)


def with_volumes(log_dirs: Iterable[LogDirFacts], written: Mapping[str, int]) -> Iterator[LogDirFacts]:
    """Yield log dirs of this machine with their file systems; `written` are the bytes to add, by real path."""
    for row in log_dirs:
        yield (
            row._replace(volume=volume_of(row.path), written=written.get(real_path(row.path), 0))
            if row.is_there
            else row
        )


def stores_of(
    settings: Mapping[str, str], log_dirs: Iterable[str], given: Container[str]
) -> tuple[StoreFile, ...] | None:
    """Return the visible key stores of a broker of this machine; None if another machine has its log dirs.

    Relative paths do not tell which machine. A container may have other files than the broker's.
    """
    places = tuple(log_dirs)
    if not places or in_container() or not all(is_absolute(place) and real_path(place) in given for place in places):
        return None
    return tuple(_seen_stores(store for store in stores(settings) if is_absolute(store.path)))


def is_its_host(settings: Mapping[str, str]) -> bool:
    """Return whether the listeners of the broker name this machine, or its key stores are here."""
    if in_container():
        return False
    named = machine_names() & hosts_of(settings) - _ANY_MACHINE
    return bool(named) or any(is_absolute(store.path) and LOCAL.exists(store.path) for store in stores(settings))


def _seen_stores(every: Iterable[KeyStore]) -> Iterator[StoreFile]:
    """Yield the stores that are missing, or that the user may read."""
    for store in every:
        content = None
        try:
            content = LOCAL.read_whole(store.path, follow=True, size_max=_STORE_SIZE_MAX)
        except UnreadableError as error:
            if error.cause not in (UnreadableCause.MISSING, UnreadableCause.NOWHERE) and not LOCAL.is_directory(
                store.path
            ):
                continue
        yield StoreFile(store.setting, store.path, fault_of(store.kind, content))
