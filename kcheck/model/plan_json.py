"""Reads plan files: strictly, because nobody knows who wrote them. The opposite is `serialize_plan`."""

import json
from base64 import b64decode
from collections.abc import Mapping
from itertools import pairwise
from typing import NoReturn, TypeVar

from kcheck.errors import PlanError, PlanVersionError
from kcheck.model.java import LONG_MAX
from kcheck.model.names import CLEAN_SHUTDOWN, FileKind
from kcheck.model.plan import (
    CONTENT_SIZE_MAX,
    DEPTH_MAX,
    NAMES,
    SCHEMA,
    Change,
    Digest,
    FileOp,
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
    touched,
)
from kcheck.model.report import Row

_SHA256_LENGTH = 64
_PATCH_SIZE_MAX = 1 << 16
T = TypeVar("T")


def parse_plan(data: bytes) -> Plan:
    """Read a plan file, strictly: PlanError names what is wrong, PlanVersionError a schema of another kcheck."""
    try:
        found = json.loads(data, object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise PlanError(f"the plan is no JSON: {error}") from error
    document = _is(found, dict, "the plan")
    schema = document.get("schema")
    if schema != SCHEMA:
        kind = PlanVersionError if isinstance(schema, str) and schema.startswith("kcheck.plan/") else PlanError
        raise kind(f"the plan has the schema {schema!r}; this kcheck knows {SCHEMA}")
    log_dirs = tuple(_is(each, str, "log_dirs") for each in _is(document.get("log_dirs"), list, "log_dirs"))
    _check_log_dirs(log_dirs)
    rows = _is(document.get("operations"), list, "operations")
    operations = tuple(_operation(row, f"operation {number}", log_dirs) for number, row in enumerate(rows))
    _check_apart(operations)
    return Plan(_is(document.get("kafka"), str, "kafka"), log_dirs, operations)


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice in an object")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _is(value: object, kind: type[T], what: str) -> T:
    if not isinstance(value, kind) or isinstance(value, bool) is not (kind is bool):
        raise PlanError(
            f"{what}: {'missing' if value is None else repr(value)[:80]}, where a {kind.__name__} is needed"
        )
    return value


def _check_log_dirs(log_dirs: tuple[str, ...]) -> None:
    for path in log_dirs:
        if not path.startswith("/") or not all(map(is_name, path[1:].split("/"))):
            raise PlanError(f"log_dirs: {path!r} is no absolute path, or not a plain one")
    for first, second in pairwise(sorted(f"{path}/" for path in log_dirs)):
        if second.startswith(first):
            raise PlanError(f"log_dirs: {first[:-1]} and {second[:-1]} are not apart")
    if not log_dirs:
        raise PlanError("log_dirs: none is named")


def _check_apart(operations: tuple[FileOp, ...]) -> None:
    for first, second in pairwise(sorted(f"{path}/" for each in operations for path in touched(each))):
        if second.startswith(first):
            raise PlanError(f"two operations touch {first[:-1]}")


def _operation(row: object, what: str, log_dirs: tuple[str, ...]) -> FileOp:
    fields = dict(_is(row, dict, what))
    op = _is(fields.pop("op", None), str, f"{what}: op")
    if op not in NAMES:
        raise PlanError(f"{what}: {op!r} is no operation that this kcheck knows: {', '.join(NAMES)}")
    path = _is(fields.pop("path", None), str, f"{what}: path")
    place = place_of(path, log_dirs)
    if place is None:
        raise PlanError(f"{what}: {path!r} is not a file or partition directory inside of a log dir of the plan")
    what = f"{what}, {op} {path}"
    before, after = (_digest(fields.pop(name, None), f"{what}: {name}") for name in ("before", "after"))
    why = _why(fields, what)
    directory = op in ("rename", "set-aside") and _is(fields.pop("directory", None), bool, f"{what}: directory")
    made: FileOp
    if op == "write" and after is not None:
        made = Write(path, before, after, why, _content(fields, what))
    elif op == "patch" and before is not None and after is not None:
        made = Patch(path, before, after, why, _changes(fields.pop("changes", None), what))
    elif op == "truncate" and before is not None and after is not None:
        made = Truncate(path, before, after, why)
    elif op == "rename" and before is not None and after is not None:
        made = Rename(path, before, after, why, _is(fields.pop("to", None), str, f"{what}: to"), directory)
    elif op == "set-aside" and before is not None and after is None:
        made = SetAside(path, before, after, why, directory)
    else:
        raise PlanError(f"{what}: before and after are not those of this operation")
    if fields:
        raise PlanError(f"{what}: {min(fields)!r} means nothing here")
    problem = _problem(made, place[1])
    if problem:
        raise PlanError(f"{what}: {problem}")
    return made


def _problem(operation: FileOp, names: tuple[str, ...]) -> str | None:
    """Return what is wrong with an operation in itself; `names` are those below the log dir."""
    to = operation.to if isinstance(operation, Rename) else names[-1]
    if FileKind.LOCK in (names[-1], to):
        return "the lock is no file to be changed"
    match operation:
        case Write() if names[-1] == CLEAN_SHUTDOWN:
            return "nobody but a broker says that it was shut down cleanly"
        case Write() if digest(operation.content) != operation.after:
            return "the content is not what after says"
        case Patch() if operation.before.size < operation.after.size:
            return "a patch makes no file larger"
        case Patch():
            return _changes_problem(operation)
        case Truncate() if operation.after.size >= operation.before.size:
            return "a cut makes a file smaller"
        case Rename() if not is_name(to) or to == names[-1] or operation.before != operation.after:
            return "a renamed file has another name and the same content"
        case Rename() if to == CLEAN_SHUTDOWN:
            return "nobody but a broker says that it was shut down cleanly"
        case Rename() if operation.directory and len(names) == DEPTH_MAX:
            return "a directory inside of a partition is none of Kafka's: it can only be set aside"
    return None


def _changes_problem(operation: Patch) -> str | None:
    end = 0
    for change in operation.changes:
        if change.position < end or len(change.old) != len(change.new) or not change.old or change.old == change.new:
            return f"the change at {change.position} changes nothing, overlaps, or is out of order"
        end = change.position + len(change.old)
    return None if 0 < end <= operation.after.size else "the changes lie outside of the file, or there are none"


def _digest(value: object, what: str) -> Digest | None:
    if value is None:
        return None
    fields = _is(value, dict, what)
    found = Digest(_is(fields.get("sha256"), str, f"{what}: sha256"), _number(fields.get("size"), f"{what}: size"))
    if len(fields) != len(found) or len(found.sha256) != _SHA256_LENGTH or set(found.sha256) - set("0123456789abcdef"):
        raise PlanError(f"{what}: a SHA-256 and a size are needed")
    return found


def _number(value: object, what: str) -> int:
    found = _is(value, int, what)
    if not 0 <= found <= LONG_MAX:
        raise PlanError(f"{what}: {found} is out of range")
    return found


def _why(fields: dict[str, object], what: str) -> Why:
    def text(name: str) -> str | None:
        value = fields.pop(name, None)
        return None if value is None else _is(value, str, f"{what}: {name}")

    def row(name: str) -> Row | None:
        value = fields.pop(name, None)
        return None if value is None else _is(value, dict, f"{what}: {name}")

    reason = _is(fields.pop("reason", None), str, f"{what}: reason")
    return Why(text("finding"), reason, row("evidence"), row("loses"), text("broker_now"), text("broker_after"))


def _content(fields: dict[str, object], what: str) -> bytes:
    text = _is(fields.pop("content", None), str, f"{what}: content")
    try:
        content = b64decode(text, validate=True)
    except ValueError as error:
        raise PlanError(f"{what}: content: {error}") from error
    if len(content) > CONTENT_SIZE_MAX:
        raise PlanError(f"{what}: content: more than {CONTENT_SIZE_MAX} bytes")
    return content


def _changes(value: object, what: str) -> tuple[Change, ...]:
    changes = []
    for row in _is(value, list, f"{what}: changes"):
        fields: Mapping[str, object] = _is(row, dict, f"{what}: changes")
        if fields.keys() != {"position", "old", "new"}:
            raise PlanError(f"{what}: a change has a position, old and new bytes")
        old, new = (_bytes(fields[name], f"{what}: {name}") for name in ("old", "new"))
        changes.append(Change(_number(fields["position"], f"{what}: position"), old, new))
    return tuple(changes)


def _bytes(value: object, what: str) -> bytes:
    text = _is(value, str, what)
    try:
        found = bytes.fromhex(text)
    except ValueError as error:
        raise PlanError(f"{what}: {error}") from error
    if len(found) > _PATCH_SIZE_MAX:
        raise PlanError(f"{what}: more than {_PATCH_SIZE_MAX} bytes")
    return found
