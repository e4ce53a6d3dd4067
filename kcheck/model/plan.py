"""A plan: what is to be changed, as data. `model/plan_json.py` reads one that anybody may have written.

An operation changes one file or directory, and says what stands there before and after; a file has either the one or
the other. Nothing in a plan is deleted: what goes is kept in the backup. The fields of each operation and an example
stand in docs/plan.md.
"""

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import NamedTuple

from kcheck.errors import PlanError
from kcheck.model.report import Row

SCHEMA = "kcheck.plan/1"
CONTENT_SIZE_MAX = 64 << 20
"""Bytes that an operation may carry in the plan itself."""

DEPTH_MAX = 2
"""Names below a log dir: a partition directory, and a file in it."""


class Digest(NamedTuple):
    """What a file is: the SHA-256 of its bytes in hexadecimal, and how many there are; of a directory see `listed`."""

    sha256: str
    size: int


class Why(NamedTuple):
    """Why an operation is there, for whoever decides about it; nothing of it is interpreted.

    `finding` is the id of a rule, `reason` a sentence; `evidence` and `loses` are JSON objects: where the proof was
    seen (file, position), and what is discarded (topic, partition, from, to, records, bytes). `broker_now` and
    `broker_after` say what the broker does without and with the operation.
    """

    finding: str | None
    reason: str
    evidence: Row | None = None
    loses: Row | None = None
    broker_now: str | None = None
    broker_after: str | None = None


class Write(NamedTuple):
    """Give a file new bytes, or make one where `before` is None."""

    path: str
    before: Digest | None
    after: Digest
    why: Why
    content: bytes


class Change(NamedTuple):
    """Other bytes at a position of a file: as many as stand there."""

    position: int
    old: bytes
    new: bytes


class Patch(NamedTuple):
    """Change some bytes of a file, and cut it to the size of `after`; `changes` are in the order of their positions."""

    path: str
    before: Digest
    after: Digest
    why: Why
    changes: tuple[Change, ...]


class Truncate(NamedTuple):
    """Cut a file to the size of `after`."""

    path: str
    before: Digest
    after: Digest
    why: Why


class Rename(NamedTuple):
    """Give a file, or a directory of a log dir, the name `to`, where it is; `after` is `before`."""

    path: str
    before: Digest
    after: Digest
    why: Why
    to: str
    directory: bool


class SetAside(NamedTuple):
    """Move a file, or a directory of a log dir, into the backup; `after` is None."""

    path: str
    before: Digest
    after: None
    why: Why
    directory: bool


FileOp = Write | Patch | Truncate | Rename | SetAside

NAMES: dict[str, type[FileOp]] = {
    "write": Write,
    "patch": Patch,
    "truncate": Truncate,
    "rename": Rename,
    "set-aside": SetAside,
}
"""The operations by what JSON calls them."""


class Plan(NamedTuple):
    """What is to be changed, for which release; every path lies inside of one of `log_dirs`.

    `log_dirs` are absolute, without links. No two operations touch the same path, so their order decides nothing.
    """

    kafka: str
    log_dirs: tuple[str, ...]
    operations: tuple[FileOp, ...]


def digest(data: bytes) -> Digest:
    """Return the digest of a file's bytes."""
    return Digest(sha256(data).hexdigest(), len(data))


def listed(entries: Iterable[tuple[str, int | None]]) -> Digest:
    """Return the digest of a directory, from the names in it and their sizes, None for what is no regular file.

    A line `SIZE NAME` each, `-` for None, in the order of the lines' bytes; the size is the sum. Contents count for
    nothing: a directory is moved as a whole, whatever its size.
    """
    found = tuple(entries)
    lines = sorted(
        f"{'-' if size is None else size} {name}\n".encode("utf-8", "surrogateescape") for name, size in found
    )
    return Digest(sha256(b"".join(lines)).hexdigest(), sum(size or 0 for _, size in found))


def name_of(operation: FileOp) -> str:
    """Return what JSON calls an operation."""
    return next(name for name, kind in NAMES.items() if isinstance(operation, kind))


def place_of(path: str, log_dirs: Iterable[str]) -> tuple[str, tuple[str, ...]] | None:
    """Return the log dir that a path lies in, and the one or two names below it; None if it lies in none."""
    for log_dir in log_dirs:
        names = tuple(path.removeprefix(f"{log_dir}/").split("/"))
        if path.startswith(f"{log_dir}/") and len(names) <= DEPTH_MAX and all(map(is_name, names)):
            return log_dir, names
    return None


def is_name(name: str) -> bool:
    """Whether this can be the name of a file, and of nothing else."""
    return name not in ("", ".", "..") and "/" not in name and "\0" not in name


def touched(operation: FileOp) -> tuple[str, ...]:
    """Return the paths that an operation makes, changes or takes away."""
    if isinstance(operation, Rename):
        return operation.path, f"{operation.path.rpartition('/')[0]}/{operation.to}"
    return (operation.path,)


def edited(operation: Write | Patch | Truncate, chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the bytes that a file has after the operation, from those that it has before, both piece by piece.

    PlanError: other bytes stand where a patch expects its own.
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
                raise PlanError(f"{operation.path}: other bytes at {change.position} than the plan says")
            data[here] = change.new[there]
    return bytes(data)


def plan_row(plan: Plan) -> dict[str, object]:
    """Return the JSON object of a plan, but for schema and version."""
    return {"log_dirs": plan.log_dirs, "operations": tuple(map(operation_row, plan.operations))}


def operation_row(operation: FileOp) -> dict[str, object]:
    """Return an operation as JSON shows it."""
    why = operation.why
    row: dict[str, object] = {
        "op": name_of(operation),
        "path": operation.path,
        "before": None if operation.before is None else operation.before._asdict(),
        "after": None if operation.after is None else operation.after._asdict(),
        **why._asdict(),
    }
    if isinstance(operation, Write):
        row["content"] = b64encode(operation.content).decode()
    elif isinstance(operation, Patch):
        row["changes"] = [
            {"position": each.position, "old": each.old.hex(), "new": each.new.hex()} for each in operation.changes
        ]
    elif isinstance(operation, Rename):
        row |= {"to": operation.to, "directory": operation.directory}
    elif isinstance(operation, SetAside):
        row |= {"directory": operation.directory}
    return row


def serialize_plan(plan: Plan, *, kcheck: str) -> bytes:
    """Return the bytes of a plan file; `kcheck` is the version that writes it."""
    return (
        json.dumps({"schema": SCHEMA, "kcheck": kcheck, "kafka": plan.kafka, **plan_row(plan)}, indent=1) + "\n"
    ).encode()
