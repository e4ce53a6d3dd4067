"""The changes of a repair, as data. `model/plan_json.py` reads plan files.

An operation changes one file or directory and has a digest of it before and after. A file that matches neither digest
makes the plan stale. No operation deletes anything, because the backup keeps the replaced files. docs/plan.md describes
every field, with an example.
"""

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import NamedTuple

from kcheck.errors import PlanError
from kcheck.model.report import Row

SCHEMA = "kcheck.plan/1"
ELECTION_SCHEMA = "kcheck.election-plan/1"
RECOVERY_SCHEMA = "kcheck.recovery/1"
"""Of the plan of elect --output-dir, which people carry out."""
CONTENT_SIZE_MAX = 64 << 20
"""The most bytes that a plan carries for one operation."""
_OF_A_LOG = (".log", ".checkpoint")
"""The endings of files with records."""
_TEXT_SIZE = 1 << 20
"""The characters of a plan that are hashed at once."""

DEPTH_MAX = 2
"""The most names below a log dir, which are a partition directory and a file in it."""


class Digest(NamedTuple):
    """The content of a file or a directory; `listed` makes a directory's."""

    sha256: str | None
    """The SHA-256 of its bytes in hexadecimal; None after a truncation or patch planned from a bundle."""
    size: int
    """Its size in bytes."""


class Why(NamedTuple):
    """The reason why an operation is in the plan, for the operator; `apply` ignores it."""

    finding: str | None
    """The id of the rule; None if no rule asked for the operation."""
    reason: str
    """The reason in a sentence."""
    evidence: Row | None = None
    """The place of the proof, as a JSON object (file, position); None if there is nothing to show."""
    loses: Row | None = None
    """The discarded records, as a JSON object (topic, partition, from, to, records, bytes); None without any."""
    broker_now: str | None = None
    """The behavior of the broker without the operation; None if not known."""
    broker_after: str | None = None
    """The behavior of the broker after the operation; None if not known."""


class Write(NamedTuple):
    """Write a file: replace all its bytes, or create it."""

    path: str
    """The file."""
    before: Digest | None
    """The file now; None if it does not exist."""
    after: Digest
    """The file after the operation."""
    why: Why
    """The reason why the operation is in the plan."""
    content: bytes
    """The new bytes."""


class Change(NamedTuple):
    """Bytes of a file to replace by as many others."""

    position: int
    """The position of the first byte."""
    old: bytes
    """The bytes there now."""
    new: bytes
    """The bytes to write."""


class Patch(NamedTuple):
    """Replace some bytes of a file, and truncate it to the size of `after`."""

    path: str
    """The file."""
    before: Digest
    """The file now."""
    after: Digest
    """The file after the operation."""
    why: Why
    """The reason why the operation is in the plan."""
    changes: tuple[Change, ...]
    """The changes, by position."""


class Truncate(NamedTuple):
    """Truncate a file to the size of `after`."""

    path: str
    """The file."""
    before: Digest
    """The file now."""
    after: Digest
    """The file after the operation."""
    why: Why
    """The reason why the operation is in the plan."""


class Rename(NamedTuple):
    """Rename a file, or a directory of a log dir, within its directory."""

    path: str
    """Its path now."""
    before: Digest
    """Its content now."""
    after: Digest
    """Its content after the operation, which is the same."""
    why: Why
    """The reason why the operation is in the plan."""
    to: str
    """Its new name."""
    directory: bool
    """True if it is a directory."""


class SetAside(NamedTuple):
    """Move a file or a directory into the backup."""

    path: str
    """Its path now."""
    before: Digest
    """Its content now."""
    after: None
    """None, as it no longer exists after the operation."""
    why: Why
    """The reason why the operation is in the plan."""
    directory: bool
    """True if it is a directory."""


FileOp = Write | Patch | Truncate | Rename | SetAside

NAMES: dict[str, type[FileOp]] = {
    "write": Write,
    "patch": Patch,
    "truncate": Truncate,
    "rename": Rename,
    "set-aside": SetAside,
}
"""The operations by their names in JSON."""


class LogDirIdentity(NamedTuple):
    """The log dir of a plan. Another log dir can have the same path later, or on another machine."""

    log_dir: str
    """Its path."""
    meta_properties: Digest | None
    """Its meta.properties; None if it has none."""
    broker_id: int | None = None
    """The id of its broker, if the file has one."""
    cluster_id: str | None = None
    """The id of its cluster, if the file has one."""
    directory_id: str | None = None
    """Its own id, if the file has one."""


class Plan(NamedTuple):
    """The changes that `apply` makes."""

    kafka: str
    """The release of Kafka that they are for."""
    log_dirs: tuple[str, ...]
    """The log dirs, as absolute paths without symbolic links."""
    operations: tuple[FileOp, ...]
    """The operations. Each path is in one of `log_dirs`. No two touch the same path, so order does not matter."""
    identities: tuple[LogDirIdentity, ...] = ()
    """The identities of `log_dirs`, in their order; none in a plan of an older kcheck, which `apply` refuses."""


def digest(data: bytes) -> Digest:
    """Return the digest of a file's bytes."""
    return Digest(sha256(data).hexdigest(), len(data))


def listed(entries: Iterable[tuple[str, int | None]]) -> Digest:
    """Return the digest of a directory from its names and their sizes.

    The size of other entries than files is None. The SHA-256 covers one line `SIZE NAME` for each name, with `-` for
    None, sorted as bytes. The size is the sum. File contents do not count, because an operation moves a directory at
    once, whatever its size.
    """
    sizes = tuple(entries)
    lines = sorted(
        f"{'-' if size is None else size} {name}\n".encode("utf-8", "surrogateescape") for name, size in sizes
    )
    return Digest(sha256(b"".join(lines)).hexdigest(), sum(size or 0 for _, size in sizes))


def lacks_digest(operation: FileOp) -> bool:
    """Return whether the digest after an operation is still to be computed."""
    return operation.after is not None and operation.after.sha256 is None


def name_of(operation: FileOp) -> str:
    """Return the name of an operation in JSON."""
    return next(name for name, kind in NAMES.items() if isinstance(operation, kind))


def place_of(path: str, log_dirs: Iterable[str]) -> tuple[str, tuple[str, ...]] | None:
    """Return the log dir of a path, and the one or two names below it; None outside of every log dir."""
    for log_dir in log_dirs:
        names = tuple(path.removeprefix(f"{log_dir}/").split("/"))
        if path.startswith(f"{log_dir}/") and len(names) <= DEPTH_MAX and all(map(is_name, names)):
            return log_dir, names
    return None


def placed(plan: Plan, at: Mapping[str, str]) -> Plan:
    """Return a plan for log dirs in other places; `at` has their new paths by the old ones."""

    def moved(operation: FileOp) -> FileOp:
        place = place_of(operation.path, plan.log_dirs)
        assert place is not None
        log_dir, names = place
        return operation._replace(path="/".join((at.get(log_dir, log_dir), *names)))

    identities = (identity._replace(log_dir=at.get(identity.log_dir, identity.log_dir)) for identity in plan.identities)
    return plan._replace(
        log_dirs=tuple(at.get(log_dir, log_dir) for log_dir in plan.log_dirs),
        operations=tuple(map(moved, plan.operations)),
        identities=tuple(identities),
    )


def is_name(name: str) -> bool:
    """Return whether this can be a file's name, in the one spelling of its bytes, and not a path, `.` or `..`."""
    return name not in ("", ".", "..") and "/" not in name and "\0" not in name and is_path(name)


def is_path(path: str) -> bool:
    """Return whether a text with Python's surrogates encodes bytes, and is the only text that does."""
    try:
        return path.isascii() or path.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape") == path
    except UnicodeEncodeError:
        return False


def touched(operation: FileOp) -> tuple[str, ...]:
    """Return the paths that an operation creates, changes or removes."""
    if isinstance(operation, Rename):
        return operation.path, f"{operation.path.rpartition('/')[0]}/{operation.to}"
    return (operation.path,)


def new_directories(plan: Plan) -> frozenset[str]:
    """Return the partition directories that `apply` creates if they are missing, because a plan writes a complete log
    there.

    Every operation in one of them writes a file that does not exist, and one of these has records.
    """
    by_directory: dict[str, list[FileOp]] = {}
    for operation in plan.operations:
        place = place_of(operation.path, plan.log_dirs)
        if place is not None and len(place[1]) == DEPTH_MAX:
            by_directory.setdefault(operation.path.rpartition("/")[0], []).append(operation)
    return frozenset(
        path
        for path, operations in by_directory.items()
        if all(isinstance(operation, Write) and operation.before is None for operation in operations)
        and any(operation.path.endswith(_OF_A_LOG) for operation in operations)
    )


def edited(operation: Write | Patch | Truncate, chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the bytes of a file after the operation, in pieces; `chunks` are its bytes before.

    PlanError if a patch expects other bytes than the file has.
    """
    if isinstance(operation, Write):
        yield operation.content
        return
    position = 0
    for chunk in chunks:
        kept = chunk[: max(0, operation.after.size - position)]
        yield kept if isinstance(operation, Truncate) else _patched(operation, kept, position)
        position += len(chunk)


def _patched(operation: Patch, chunk: bytes, position: int) -> bytes:
    data = bytearray(chunk)
    for change in operation.changes:
        first = max(change.position, position)
        last = min(change.position + len(change.old), position + len(chunk))
        if first < last:
            here, there = (
                slice(first - position, last - position),
                slice(first - change.position, last - change.position),
            )
            if data[here] != change.old[there]:
                raise PlanError(f"{operation.path}: other bytes at position {change.position} than in the plan")
            data[here] = change.new[there]
    return bytes(data)


def plan_row(plan: Plan) -> dict[str, object]:
    """Return the JSON object of a plan, without schema and versions."""
    identities = tuple(
        {**identity._asdict(), "meta_properties": _digest_row(identity.meta_properties)} for identity in plan.identities
    )
    operations = tuple(map(operation_row, plan.operations))
    row = {"log_dirs": plan.log_dirs, "identities": identities, "operations": operations}
    text = json.dumps({"kafka": plan.kafka, **row}, sort_keys=True, separators=(",", ":"))
    digest_of_all = sha256()
    for position in range(0, len(text), _TEXT_SIZE):  # The text of many operations is not copied as a whole.
        digest_of_all.update(text[position : position + _TEXT_SIZE].encode())
    return {"sha256": digest_of_all.hexdigest(), **row}


def _digest_row(value: Digest | None) -> dict[str, object] | None:
    return None if value is None else value._asdict()


def operation_row(operation: FileOp) -> dict[str, object]:
    """Return the JSON object of an operation."""
    why = operation.why
    row: dict[str, object] = {
        "op": name_of(operation),
        "path": operation.path,
        "before": _digest_row(operation.before),
        "after": _digest_row(operation.after),
        **why._asdict(),
    }
    if isinstance(operation, Write):
        row["content"] = b64encode(operation.content).decode()
    elif isinstance(operation, Patch):
        row["changes"] = [
            {"position": change.position, "old": change.old.hex(), "new": change.new.hex()}
            for change in operation.changes
        ]
    elif isinstance(operation, Rename):
        row |= {"to": operation.to, "directory": operation.directory}
    elif isinstance(operation, SetAside):
        row |= {"directory": operation.directory}
    return row


def serialize_plan(plan: Plan, *, kcheck: str) -> bytes:
    """Return the bytes of a plan file; `kcheck` is the version of kcheck."""
    row = {"schema": SCHEMA, "kcheck": kcheck, "kafka": plan.kafka, **plan_row(plan)}
    data = bytearray()
    for part in json.JSONEncoder(indent=1).iterencode(row):  # `dumps` holds all parts at once: many times the text.
        data += part.encode()
    data += b"\n"
    return bytes(data)
