"""Reads plan files, and refuses everything unexpected, because they can be edited. `serialize_plan` writes them."""

import json
from base64 import b64decode
from collections.abc import Mapping
from itertools import pairwise
from typing import NoReturn, TypeVar

from kcheck.errors import PlanError, PlanVersionError, why_not_text
from kcheck.model.java import LONG_MAX
from kcheck.model.names import CLEAN_SHUTDOWN, FileKind
from kcheck.model.plan import (
    CONTENT_SIZE_MAX,
    DEPTH_MAX,
    ELECTION_SCHEMA,
    NAMES,
    SCHEMA,
    Change,
    Digest,
    FileOp,
    LogDirIdentity,
    Patch,
    Plan,
    Rename,
    SetAside,
    Truncate,
    Why,
    Write,
    digest,
    is_name,
    place_of,
    plan_row,
    touched,
)
from kcheck.model.report import Row

_NO_CLEAN_SHUTDOWN = "only a broker may write .kafka_cleanshutdown"
_SHA256_LENGTH = 64
_PATCH_SIZE_MAX = 1 << 16
_DEPTH_MAX = 50
"""Evidence and losses with more levels would be too deep to write again."""
_JSON_TYPES: dict[type[object], str] = {
    dict: "an object", list: "an array", str: "a string", int: "an integer", bool: "true or false",
}  # fmt: skip
T = TypeVar("T")


def parse_plan(data: bytes) -> Plan:
    """Parse a plan file; PlanError names the problem, PlanVersionError that another kcheck wrote it."""
    try:
        value = json.loads(data, object_pairs_hook=_unique_names, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise PlanError(f"the plan is not valid JSON: {why_not_text(error)}") from error
    document = _typed(value, dict, "the plan")
    schema = document.get("schema")
    if schema == ELECTION_SCHEMA:
        raise PlanError("this is a plan of kcheck elect, which apply does not carry out; use kcheck verify")
    if schema is None:
        raise PlanError("this is not a plan of kcheck repair, because it has no schema")
    if schema != SCHEMA:
        kind = PlanVersionError if isinstance(schema, str) and schema.startswith("kcheck.plan/") else PlanError
        raise kind(f"the plan has schema {schema!r}; this kcheck reads {SCHEMA}")
    log_dirs = tuple(_typed(path, str, "log_dirs") for path in _typed(document.get("log_dirs"), list, "log_dirs"))
    _check_log_dirs(log_dirs)
    rows = _typed(document.get("operations"), list, "operations")
    operations = tuple(_operation(row, f"operation {number}", log_dirs) for number, row in enumerate(rows))
    _check_apart(operations)
    plan = Plan(_typed(document.get("kafka"), str, "kafka"), log_dirs, operations, _identities(document, log_dirs))
    if document.get("sha256") not in (None, plan_row(plan)["sha256"]):
        raise PlanError("the plan has changed since kcheck wrote it; remove its field sha256 if that was you")
    return plan


def _identities(document: Row, log_dirs: tuple[str, ...]) -> tuple[LogDirIdentity, ...]:
    """Return the identities of the log dirs; none if the plan is of a kcheck that did not write them."""
    rows = _typed(document.get("identities", []), list, "identities")
    identities = tuple(_identity(row, f"identity {number}") for number, row in enumerate(rows))
    if identities and tuple(identity.log_dir for identity in identities) != log_dirs:
        raise PlanError("identities: must have the log_dirs, in their order")
    return identities


def _identity(row: object, what: str) -> LogDirIdentity:
    fields: dict[str, object] = _typed(row, dict, what)
    if fields.keys() != set(LogDirIdentity._fields):
        raise PlanError(f"{what}: must have {', '.join(LogDirIdentity._fields)}, and nothing else")
    broker_id, cluster_id, directory_id = (fields[name] for name in ("broker_id", "cluster_id", "directory_id"))
    return LogDirIdentity(
        log_dir=_typed(fields["log_dir"], str, f"{what}: log_dir"),
        meta_properties=_digest(fields["meta_properties"], f"{what}: meta_properties"),
        broker_id=None if broker_id is None else _typed(broker_id, int, f"{what}: broker_id"),
        cluster_id=None if cluster_id is None else _typed(cluster_id, str, f"{what}: cluster_id"),
        directory_id=None if directory_id is None else _typed(directory_id, str, f"{what}: directory_id"),
    )


def _unique_names(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("an object has the same name twice")
    return fields


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _typed(value: object, kind: type[T], what: str) -> T:
    """Return a value of the given type; PlanError otherwise."""
    if not isinstance(value, kind) or isinstance(value, bool) is not (kind is bool):
        raise PlanError(f"{what}: {'missing' if value is None else repr(value)[:80]}; must be {_JSON_TYPES[kind]}")
    return value


def _check_log_dirs(log_dirs: tuple[str, ...]) -> None:
    for path in log_dirs:
        if not path.startswith("/") or not all(map(is_name, path[1:].split("/"))):
            raise PlanError(f"log_dirs: {path!r} must be an absolute path without '.', '..' or '//'")
    for first, second in pairwise(sorted(f"{path}/" for path in log_dirs)):
        if second.startswith(first):
            raise PlanError(f"log_dirs: {second[:-1]} overlaps {first[:-1]}")
    if not log_dirs:
        raise PlanError("log_dirs is empty")


def _check_apart(operations: tuple[FileOp, ...]) -> None:
    paths = sorted(f"{path}/" for operation in operations for path in touched(operation))
    for first, second in pairwise(paths):
        if second.startswith(first):
            raise PlanError(f"two operations touch {first[:-1]}")


def _operation(row: object, what: str, log_dirs: tuple[str, ...]) -> FileOp:
    fields = dict(_typed(row, dict, what))
    op = _typed(fields.pop("op", None), str, f"{what}: op")
    if op not in NAMES:
        raise PlanError(f"{what}: unknown operation {op!r}; this kcheck knows {', '.join(NAMES)}")
    path = _typed(fields.pop("path", None), str, f"{what}: path")
    place = place_of(path, log_dirs)
    if place is None:
        raise PlanError(f"{what}: {path!r} is not a file or partition directory in a log dir of the plan")
    what = f"{what}, {op} {path}"
    before = _digest(fields.pop("before", None), f"{what}: before")
    after = _digest(fields.pop("after", None), f"{what}: after", computed=op in ("patch", "truncate"))
    why = _why(fields, what)
    directory = op in ("rename", "set-aside") and _typed(fields.pop("directory", None), bool, f"{what}: directory")
    operation: FileOp
    if op == "write" and after is not None:
        operation = Write(path, before, after, why, _content(fields, what))
    elif op == "patch" and before is not None and after is not None:
        operation = Patch(path, before, after, why, _changes(fields.pop("changes", None), what))
    elif op == "truncate" and before is not None and after is not None:
        operation = Truncate(path, before, after, why)
    elif op == "rename" and before is not None and after is not None:
        operation = Rename(path, before, after, why, _typed(fields.pop("to", None), str, f"{what}: to"), directory)
    elif op == "set-aside" and before is not None and after is None:
        operation = SetAside(path, before, after, why, directory)
    else:
        raise PlanError(f"{what}: before and after do not fit this operation")
    if fields:
        raise PlanError(f"{what}: unknown field {min(fields)!r}")
    problem = _problem(operation, place[1])
    if problem:
        raise PlanError(f"{what}: {problem}")
    return operation


def _problem(operation: FileOp, names: tuple[str, ...]) -> str | None:
    """Return the problem of an operation by itself; `names` are the names below the log dir."""
    to = operation.to if isinstance(operation, Rename) else names[-1]
    if FileKind.LOCK in (names[-1], to):
        return "a plan must not touch .lock"
    match operation:
        case Write() if names[-1] == CLEAN_SHUTDOWN:
            return _NO_CLEAN_SHUTDOWN
        case Write() if digest(operation.content) != operation.after:
            return "the content does not match after"
        case Patch() if operation.before.size < operation.after.size:
            return "a patch cannot make a file larger"
        case Patch():
            return _changes_problem(operation)
        case Truncate() if operation.after.size >= operation.before.size:
            return "a truncation must make the file smaller"
        case Rename() if not is_name(to) or to == names[-1] or operation.before != operation.after:
            return "a rename needs another name and the same content"
        case Rename() if to == CLEAN_SHUTDOWN:
            return _NO_CLEAN_SHUTDOWN
        case Rename() if operation.directory and len(names) == DEPTH_MAX:
            return "Kafka has no directories inside a partition directory, so it can only be moved aside"
    return None


def _changes_problem(operation: Patch) -> str | None:
    end = 0
    for change in operation.changes:
        if change.position < end or len(change.old) != len(change.new) or not change.old or change.old == change.new:
            return f"the change at position {change.position} changes nothing, overlaps, or is out of order"
        end = change.position + len(change.old)
    return None if 0 < end <= operation.after.size else "the changes are outside of the file, or missing"


def _digest(value: object, what: str, *, computed: bool = False) -> Digest | None:
    """Return a digest; with `computed` its SHA-256 can be null, because `apply` computes it."""
    if value is None:
        return None
    fields = _typed(value, dict, what)
    size = _number(fields.get("size"), f"{what}: size")
    if computed and fields == {"sha256": None, "size": size}:
        return Digest(None, size)
    sha256 = _typed(fields.get("sha256"), str, f"{what}: sha256")
    if len(fields) != len(Digest._fields) or len(sha256) != _SHA256_LENGTH or set(sha256) - set("0123456789abcdef"):
        raise PlanError(f"{what}: must have a SHA-256 and a size, and nothing else")
    return Digest(sha256, size)


def _number(value: object, what: str) -> int:
    number = _typed(value, int, what)
    if not 0 <= number <= LONG_MAX:
        raise PlanError(f"{what}: {number} is out of range")
    return number


def _why(fields: dict[str, object], what: str) -> Why:
    def text(name: str) -> str | None:
        value = fields.pop(name, None)
        return None if value is None else _typed(value, str, f"{what}: {name}")

    def row(name: str) -> Row | None:
        value = fields.pop(name, None)
        if _depth(value) > _DEPTH_MAX:
            raise PlanError(f"{what}: {name}: more than {_DEPTH_MAX} levels")
        return None if value is None else _typed(value, dict, f"{what}: {name}")

    return Why(
        reason=_typed(fields.pop("reason", None), str, f"{what}: reason"),
        finding=text("finding"),
        evidence=row("evidence"),
        loses=row("loses"),
        broker_now=text("broker_now"),
        broker_after=text("broker_after"),
    )


def _depth(value: object) -> int:
    """Return how many objects and arrays are within each other."""
    level, depth = [value], 0
    while level := [item for item in level if isinstance(item, (dict, list))]:
        level = [inner for item in level for inner in (item.values() if isinstance(item, dict) else item)]
        depth += 1
    return depth


def _content(fields: dict[str, object], what: str) -> bytes:
    text = _typed(fields.pop("content", None), str, f"{what}: content")
    try:
        content = b64decode(text, validate=True)
    except ValueError as error:
        raise PlanError(f"{what}: content: {error}") from error
    if len(content) > CONTENT_SIZE_MAX:
        raise PlanError(f"{what}: content: more than {CONTENT_SIZE_MAX} bytes")
    return content


def _changes(value: object, what: str) -> tuple[Change, ...]:
    changes = []
    for row in _typed(value, list, f"{what}: changes"):
        fields: Mapping[str, object] = _typed(row, dict, f"{what}: changes")
        if fields.keys() != {"position", "old", "new"}:
            raise PlanError(f"{what}: a change must have position, old and new, and nothing else")
        old, new = (_bytes(fields[name], f"{what}: {name}") for name in ("old", "new"))
        changes.append(Change(_number(fields["position"], f"{what}: position"), old, new))
    return tuple(changes)


def _bytes(value: object, what: str) -> bytes:
    text = _typed(value, str, what)
    try:
        data = bytes.fromhex(text)
    except ValueError as error:
        raise PlanError(f"{what}: {error}") from error
    if len(data) > _PATCH_SIZE_MAX:
        raise PlanError(f"{what}: more than {_PATCH_SIZE_MAX} bytes")
    return data
