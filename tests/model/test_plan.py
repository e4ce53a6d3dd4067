"""A plan survives JSON unchanged, and everything unexpected in a plan file is refused by name."""

import json
from base64 import b64encode
from collections.abc import Callable
from typing import Any

import pytest

from kcheck.errors import PlanError, PlanVersionError
from kcheck.model.plan import (
    CONTENT_SIZE_MAX,
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
    edited,
    lacks_digest,
    listed,
    name_of,
    place_of,
    placed,
    serialize_plan,
    touched,
)
from kcheck.model.plan_json import parse_plan

WHY = Why("KC212", "too high", {"line": 3}, {"records": 5}, "boots", "boots")
OLD = bytes(range(100))
DIRS = ("/data/one", "/data/two")
OPERATIONS: tuple[FileOp, ...] = (
    Write("/data/one/t-0/leader-epoch-checkpoint", None, digest(b"new"), WHY, b"new"),
    Write("/data/one/recovery-point-offset-checkpoint", digest(OLD), digest(b""), Why(None, "empty"), b""),
    Patch(
        "/data/one/t-0/00000000000000000000.log", digest(OLD), digest(b"x" + OLD[1:]), WHY, (Change(0, b"\0", b"x"),)
    ),
    Truncate("/data/two/u-1/00000000000000000000.log", digest(OLD), digest(OLD[:7]), WHY),
    Rename("/data/two/u-1/5.log", digest(OLD), digest(OLD), WHY, "00000000000000000005.log", directory=False),
    SetAside("/data/two/v-1", listed([("a", 1)]), None, WHY, directory=True),
    SetAside("/data/two/.kafka_cleanshutdown", digest(OLD), None, WHY, directory=False),
)
IDENTITIES = (
    LogDirIdentity("/data/one", digest(b"node.id=1"), broker_id=1, cluster_id="c", directory_id="d"),
    LogDirIdentity("/data/two", None),
)
PLAN = Plan("4.3.1", DIRS, OPERATIONS, IDENTITIES)
Doc = dict[str, Any]


def document() -> Doc:
    """Return the plan as a JSON object."""
    plan = json.loads(serialize_plan(PLAN, kcheck="0"))
    assert isinstance(plan, dict)
    del plan["sha256"]  # as somebody does who edits a plan
    return plan


def test_json() -> None:
    """A written plan is read back equal; the fields that a report adds are ignored."""
    assert parse_plan(serialize_plan(PLAN, kcheck="0")) == PLAN
    assert parse_plan(json.dumps(document() | {"findings": [], "summary": {}}).encode()) == PLAN
    names = ["write", "write", "patch", "truncate", "rename", "set-aside", "set-aside"]
    assert [name_of(operation) for operation in OPERATIONS] == names


def test_digests_that_are_still_to_be_computed() -> None:
    """A plan from a bundle has none after a cut or a patch; every other operation needs both."""
    cut, patch, write = OPERATIONS[3], OPERATIONS[2], OPERATIONS[0]
    unknown = [edit._replace(after=Digest(None, 7)) for edit in (cut, patch)]
    plan = PLAN._replace(operations=tuple(unknown))
    assert parse_plan(serialize_plan(plan, kcheck="0")) == plan
    assert [True, True, False] == [lacks_digest(operation) for operation in (*unknown, write)]
    with pytest.raises(PlanError, match="sha256"):
        parse_plan(serialize_plan(PLAN._replace(operations=(write._replace(after=Digest(None, 3)),)), kcheck="0"))


def test_a_plan_for_log_dirs_that_lie_elsewhere() -> None:
    """Every path of a log dir moves, and those of the others stay; `to` is a name, not a path."""
    moved = placed(PLAN, {"/data/two": "/mnt/x"})
    assert moved.log_dirs == ("/data/one", "/mnt/x")
    assert [path for operation in moved.operations for path in touched(operation)] == [
        path.replace("/data/two", "/mnt/x") for operation in OPERATIONS for path in touched(operation)
    ]
    assert [identity.log_dir for identity in moved.identities] == [*moved.log_dirs]
    assert parse_plan(serialize_plan(moved, kcheck="0")) == moved


def test_an_operation_that_is_missing() -> None:
    """A plan from which an operation was deleted is refused; one without the digest is somebody's own."""
    plan = json.loads(serialize_plan(PLAN, kcheck="0"))
    assert parse_plan(json.dumps(plan, indent=4, sort_keys=True).encode()) == PLAN
    del plan["operations"][2]
    with pytest.raises(PlanError, match="remove its field sha256 if that was you"):
        parse_plan(json.dumps(plan).encode())
    del plan["sha256"]
    assert len(parse_plan(json.dumps(plan).encode()).operations) == len(OPERATIONS) - 1


def test_a_plan_without_identities() -> None:
    """An older kcheck wrote none: the backup of such a plan can still be undone."""
    plan = document()
    del plan["identities"]
    assert parse_plan(json.dumps(plan).encode()) == PLAN._replace(identities=())


def test_names_that_are_no_utf_8() -> None:
    """A name that is not UTF-8 survives as Python's surrogates."""
    odd = Plan("4.3.1", DIRS, (SetAside("/data/one/\udcff-0", digest(OLD), None, WHY, directory=True),))
    assert parse_plan(serialize_plan(odd, kcheck="0")) == odd
    assert listed([("\udcff", None), ("a", 2)]).size == 2


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"", "not valid JSON"),
        (b"\xff", "not valid JSON"),
        (b"[" * 100_000, "not valid JSON"),
        (b'{"schema": NaN}', "NaN is not a JSON number"),
        (b'{"schema": 1, "schema": 1}', "same name twice"),
        (b'{"schema": ' + b"9" * 5000 + b"}", "not valid JSON"),
        (b"[]", "must be an object"),
        (b"{}", "has no schema"),
        (b'{"schema": "kcheck.check/1"}', "check/1"),
        (b'{"schema": "kcheck.election-plan/1"}', "use kcheck verify"),
        (b'{"schema": "kcheck.plan/1"}', "log_dirs: missing"),
    ],
)
def test_no_plan(data: bytes, word: str) -> None:
    """Bytes that are not a plan are refused."""
    with pytest.raises(PlanError, match=word):
        parse_plan(data)


def test_another_version() -> None:
    """A plan of a later schema is not called damaged."""
    with pytest.raises(PlanVersionError, match="plan/2"):
        parse_plan(b'{"schema": "kcheck.plan/2"}')


def op(number: int, **fields: object) -> Callable[[Doc], None]:
    """Return a change to the fields of an operation; None removes a field, except before and after."""

    def change(plan: Doc) -> None:
        row = plan["operations"][number]
        row.update(fields)
        for name in [name for name, value in fields.items() if value is None and name not in ("before", "after")]:
            del row[name]

    return change


def top(**fields: object) -> Callable[[Doc], None]:
    """Return a change to the fields of the plan."""
    return lambda plan: plan.update(fields)


def identity(**fields: object) -> Callable[[Doc], None]:
    """Return a change to the fields of the first identity."""
    return lambda plan: plan["identities"][0].update(fields)


def deep(count: int) -> object:
    """Return objects within each other."""
    value: object = 1
    for _ in range(count):
        value = {"a": value}
    return value


SHA = "0" * 64
D = digest(OLD)._asdict()
OTHER = Digest(SHA, 100)._asdict()


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (top(kafka=4), "kafka: 4"),
        (top(log_dirs=[]), "log_dirs is empty"),
        (top(log_dirs="/data"), "must be an array"),
        (top(log_dirs=["data"]), "must be an absolute path"),
        (top(log_dirs=["/data/../one"]), "must be an absolute path"),
        (top(log_dirs=["/data//one"]), "must be an absolute path"),
        (top(log_dirs=["/"]), "must be an absolute path"),
        (top(log_dirs=["/data/one", "/data/one"]), "overlaps"),
        (top(log_dirs=["/data/one", "/data/one/t-0"]), "overlaps"),
        (top(operations=[1]), "operation 0: 1"),
        (op(0, op="delete"), "unknown operation 'delete'"),
        (op(0, op=None), "op: missing"),
        (op(0, path="/data/one"), "not a file"),
        (op(0, path="/data/one/../two/x"), "not a file"),
        (op(0, path="/data/one/t-0/x/y"), "not a file"),
        (op(0, path="/data/one/t-0/"), "not a file"),
        (op(0, path="/data/one/x\0y"), "not a file"),
        (op(0, path="/data/onex/y"), "not a file"),
        (op(0, path="/etc/passwd"), "not a file"),
        (op(0, path=True), "path: True"),
        (op(0, path="/data/one/.lock"), "must not touch .lock"),
        (op(0, path="/data/one/.kafka_cleanshutdown"), "only a broker"),
        (op(4, to=".kafka_cleanshutdown"), "only a broker"),
        (op(4, to=".lock"), "must not touch .lock"),
        (op(4, to="../x"), "another name"),
        (op(4, to="5.log"), "another name"),
        (op(4, after=OTHER), "same content"),
        (op(4, to=None), "to: missing"),
        (op(4, directory=True), "Kafka has no directories"),
        (op(4, directory=None), "must be true or false"),
        (op(0, directory=True), "unknown field 'directory'"),
        (op(0, speed=9), "unknown field 'speed'"),
        (op(0, after=None), "do not fit this operation"),
        (op(2, before=None), "do not fit this operation"),
        (op(3, before=None), "do not fit this operation"),
        (op(4, before=None), "do not fit this operation"),
        (op(5, after=D), "do not fit this operation"),
        (op(0, after={"sha256": SHA}), "size: missing"),
        (op(0, after={"sha256": SHA, "size": -1}), "out of range"),
        (op(0, after={"sha256": SHA, "size": 1 << 63}), "out of range"),
        (op(0, after={"sha256": SHA, "size": True}), "must be an integer"),
        (op(0, after={"sha256": "0", "size": 1}), "SHA-256"),
        (op(0, after={"sha256": "G" * 64, "size": 1}), "SHA-256"),
        (op(0, after={**D, "more": 1}), "SHA-256"),
        (op(0, reason=None), "reason: missing"),
        (op(0, finding=1), "finding: 1"),
        (op(0, evidence="x"), "evidence"),
        (op(0, content="*"), "content: "),
        (op(0, content=None), "content: missing"),
        (op(0, content="AAAA"), "does not match after"),
        (op(3, after=D), "must make the file smaller"),
        (op(2, after={**D, "size": 101}), "cannot make a file larger"),
        (op(2, after={**D, "size": 0}), "outside of the file"),
        (op(2, changes=[]), "outside of the file"),
        (op(2, changes=[1]), "changes: 1"),
        (op(2, changes=[{"position": 0}]), "must have position"),
        (op(2, changes=[{"position": 0, "old": "0", "new": "01"}]), "old: "),
        (op(2, changes=[{"position": 0, "old": "00" * 65537, "new": "01"}]), "more than 65536"),
        (op(2, changes=[{"position": 0, "old": "00", "new": "0102"}]), "changes nothing"),
        (op(2, changes=[{"position": 0, "old": "", "new": ""}]), "changes nothing"),
        (op(2, changes=[{"position": 0, "old": "00", "new": "00"}]), "changes nothing"),
        (op(2, changes=[{"position": 100, "old": "00", "new": "01"}]), "outside of the file"),
        (
            op(2, changes=[{"position": 5, "old": "00", "new": "01"}, {"position": 5, "old": "00", "new": "01"}]),
            "overlaps",
        ),
        (op(0, path="/data/one/\ud800"), "not a file"),
        (op(0, path="/data/one/\udcc3\udca9"), "not a file"),
        (op(4, to="\ud800"), "another name"),
        (top(log_dirs=["/data/\ud800"]), "must be an absolute path"),
        (op(0, evidence={"a": deep(60)}), "evidence: more than 50 levels"),
        (op(0, loses={"a": [deep(60)]}), "loses: more than 50 levels"),
        (top(sha256="0" * 64), "has changed since kcheck wrote it"),
        (top(identities=None), "identities: missing"),
        (top(identities=[1, 2]), "identity 0: 1"),
        (top(identities=[IDENTITIES[1]._asdict()]), "must have the log_dirs"),
        (top(identities=[{"log_dir": "/data/one"}]), "and nothing else"),
        (identity(log_dir="/data/three"), "must have the log_dirs"),
        (identity(meta_properties=1), "meta_properties: 1"),
        (identity(broker_id="1"), "broker_id: '1'"),
        (identity(cluster_id=1), "cluster_id: 1"),
        (identity(directory_id=1), "directory_id: 1"),
        (op(6, path="/data/two/v-1"), "two operations touch /data/two/v-1"),
        (op(6, path="/data/two/v-1/x"), "two operations touch /data/two/v-1"),
        (op(6, path="/data/two/u-1/00000000000000000005.log"), "two operations touch"),
    ],
)
def test_refused(change: Callable[[Doc], None], word: str) -> None:
    """The error names each thing that a plan must not contain."""
    plan = document()
    change(plan)
    with pytest.raises(PlanError, match=word):
        parse_plan(json.dumps(plan).encode())


def test_too_large_content() -> None:
    """The content in a plan is limited."""
    plan = document()
    plan["operations"][0]["content"] = b64encode(bytes(CONTENT_SIZE_MAX + 1)).decode()
    with pytest.raises(PlanError, match="more than"):
        parse_plan(json.dumps(plan).encode())


@pytest.mark.parametrize("size", [1, 3, 100])
def test_edited(size: int) -> None:
    """The result of an operation does not depend on how the file is split into chunks."""
    chunks = [OLD[at : at + size] for at in range(0, len(OLD), size)]
    changes = (Change(2, OLD[2:5], b"abc"), Change(98, OLD[98:], b"yz"))
    patch = Patch("/data/one/x", digest(OLD), digest(OLD), WHY, changes)
    assert b"".join(edited(patch, chunks)) == OLD[:2] + b"abc" + OLD[5:98] + b"yz"
    shorter = patch._replace(after=digest(OLD[:50]), changes=patch.changes[:1])
    assert b"".join(edited(shorter, chunks)) == OLD[:2] + b"abc" + OLD[5:50]
    cut = Truncate("/data/one/x", digest(OLD), digest(OLD[:50]), WHY)
    assert b"".join(edited(cut, chunks)) == OLD[:50]
    written = OPERATIONS[0]
    assert isinstance(written, Write)
    assert b"".join(edited(written, chunks)) == b"new"


def test_a_patch_of_other_bytes() -> None:
    """A patch only applies to the bytes that it names."""
    patch = Patch("/data/one/x", digest(OLD), digest(OLD), WHY, (Change(2, b"no", b"yo"),))
    with pytest.raises(PlanError, match="other bytes at position 2"):
        b"".join(edited(patch, [OLD]))


def test_places() -> None:
    """A path belongs to the log dir around it; a rename touches both names."""
    assert place_of("/data/one/t-0/x", DIRS) == ("/data/one", ("t-0", "x"))
    assert place_of("/data/one/x", DIRS) == ("/data/one", ("x",))
    assert place_of("/data/one/./x", DIRS) is None
    assert touched(OPERATIONS[4]) == ("/data/two/u-1/5.log", "/data/two/u-1/00000000000000000005.log")
    assert touched(OPERATIONS[3]) == ("/data/two/u-1/00000000000000000000.log",)
