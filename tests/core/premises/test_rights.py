"""Whose files a broker may open: by owners and modes alone."""

from collections.abc import Iterable
from typing import Any

import pytest

from kcheck.core.premises.facts import LogDirFacts
from kcheck.core.premises.rights import broker_users, is_used, log_dir_rights, may
from kcheck.core.premises.table import ENDS_START
from kcheck.model.premises import PremiseStatus
from kcheck.model.rights import BrokerUser, Rights
from tests.core.premises.test_premises import facts, refuted, rows

KAFKA = BrokerUser(1001, 1001)
LOG = "00000000000000000000.log"


def place(path: str, user: int = 1001, mode: int = 0o644, group: int | None = None) -> Rights:
    """Return a path with its owner; a group has the number of its user."""
    return Rights(path, user, user if group is None else group, mode)


def of_directory(name: str, *files: Rights, user: int = 1001) -> tuple[Rights, Iterable[Rights]]:
    """Return a partition directory with its files."""
    return place(name, user, 0o755), files


def of_user(name: str, user: int = 1001) -> tuple[Rights, Iterable[Rights]]:
    """Return a partition directory all of whose files belong to one user."""
    files = (f"{name}/{LOG}", f"{name}/00000000000000000000.index", f"{name}/leader-epoch-checkpoint")
    return of_directory(name, *(place(file, user) for file in files), user=user)


def log_dir(
    *directories: tuple[Rights, Iterable[Rights]], top: Rights | None = None, files: tuple[Rights, ...] = (),
    user: BrokerUser = KAFKA, **fields: Any,
) -> LogDirFacts:  # fmt: skip
    """Return a log dir as a user sees it."""
    rights = log_dir_rights(user, top or place("", 1001, 0o755), files, directories)
    return LogDirFacts("d1", identity={"node.id": "1"}, rights=rights, **fields)


@pytest.mark.parametrize(
    ("user", "rights", "expected"),
    [
        (BrokerUser(0, 0), place("f", 1001, 0o000), True),
        (KAFKA, place("f", mode=0o600), True),
        (KAFKA, place("f", mode=0o444), False),
        (KAFKA, place("f", 0, 0o644), False),
        (KAFKA, place("f", 0, 0o666), True),
        (KAFKA, place("f", 0, 0o664, group=1001), True),
        (KAFKA, place("f", 0, 0o646, group=1001), False),
        (KAFKA, place("f", 0, 0o664), None),
    ],
)
def test_the_mode_decides(user: BrokerUser, rights: Rights, expected: bool | None) -> None:
    """Root may do all; the owner's bits hold for the owner; of other groups nobody knows the members."""
    assert may(user, rights, 0o6) is expected


def test_the_broker_runs_as_the_owner_of_most() -> None:
    """Most directories decide, between equals the log dir; checkpoints of another user than root show a second one."""
    kept = [place("a-0"), place("b-0"), place("c-0", 0)]
    assert broker_users(kept, [], []) == (KAFKA,)
    assert broker_users(kept, [place("replication-offset-checkpoint", 0)], []) == (KAFKA,)
    assert broker_users(kept, [place("replication-offset-checkpoint", 7)], []) == (KAFKA, BrokerUser(7, 7))
    assert broker_users(kept[1:], [], [place("", 0)]) == (BrokerUser(0, 0),)
    assert broker_users(kept[1:], [], [place("", 5)]) == (KAFKA,)
    assert broker_users([], [], [place("")]) == ()


def test_groups_are_those_of_most_files() -> None:
    """The group of a user is the one that most of its directories have."""
    kept = [place("a-0", group=5), place("b-0", group=5), place("c-0", group=6)]
    assert broker_users(kept, [], []) == (BrokerUser(1001, 5),)


def test_files_that_a_start_opens() -> None:
    """Segments, indexes and checkpoints count, other files of a user do not."""
    assert [is_used(name) for name in (LOG, "x.timeindex", "leader-epoch-checkpoint", ".lock", "notes.txt")] == [
        True, True, True, True, False,
    ]  # fmt: skip


def test_the_user_may_use_all() -> None:
    """A checkpoint of root does no harm: the broker replaces it by rename."""
    checkpoint = place("t-0/leader-epoch-checkpoint", 0)
    given = facts(log_dir(of_directory("t-0", place(f"t-0/{LOG}"), checkpoint)), log_dir()._replace(rights=None))
    assert rows(given, PremiseStatus.PROVEN)["P401"] == "The broker's user may read and write all its files."
    assert "P401" in ENDS_START


@pytest.mark.parametrize("mode", [0o755, 0o500, 0o070])
@pytest.mark.parametrize("user", [0, 1001, 7])
@pytest.mark.parametrize(
    "kind", [(1001, 1001, 0o644), (1001, 1001, 0o400), (0, 0, 0o666), (0, 0, 0o644), (0, 7, 0o664)]
)
def test_noted_owners_decide_as_the_files_do(kind: tuple[int, int, int], user: int, mode: int) -> None:
    """The owners of all files of a directory give the same answer as the files."""
    files = [(f"a-0/{LOG}", *kind), ("a-0/leader-epoch-checkpoint", 1001, 1001, 0o644)]
    directories = [(Rights("a-0", user, 1001, mode), files), of_user("b-0")]
    owners = {"a-0": (frozenset(row[1:] for row in files), 1), "b-0": (frozenset({(1001, 1001, 0o644)}), 1)}
    plain = log_dir_rights(KAFKA, place("", 1001, 0o755), (), directories)
    assert plain == log_dir_rights(KAFKA, place("", 1001, 0o755), (), directories, owners.get)
    whole = {**owners, "b-0": None}
    assert plain == log_dir_rights(KAFKA, place("", 1001, 0o755), (), directories, whole.get)


def test_one_segment_of_root() -> None:
    """The segment is named, with the command for it alone."""
    given = facts(log_dir(of_user("a-0"), of_directory("b-0", place(f"b-0/{LOG}", 0))))
    assert refuted(given)["P401"] == (
        f"b-0/{LOG} belongs to user 0, the log dir to 1001: a broker that runs as 1001 cannot open it; chown 1001:1001"
        f" d1/b-0/{LOG}"
    )


OF_ROOT = "belongs to user 0, the log dir to 1001"
TOP_OF_ROOT = "d1 belongs to user 0, most partition directories to 1001"
FIND = "find d1 ! -user 1001 -exec chown 1001:1001 {} +"


@pytest.mark.parametrize(
    ("given", "what", "command"),
    [
        (
            log_dir(of_user("a-0"), of_user("b-0", 0)),
            f"b-0 {OF_ROOT}",
            "write there; the same holds for 2 more paths; chown -R 1001:1001 d1/b-0",
        ),
        (
            log_dir(of_user("a-0"), of_directory("b-0", place("b-0/x.log", 0), place("b-0/x.index", 0))),
            f"b-0/x.index {OF_ROOT}",
            "open it; the same holds for 1 more path; chown 1001:1001 d1/b-0/x.index d1/b-0/x.log",
        ),
        (
            log_dir(*(of_user(f"{name}-0", 0) for name in "abcde"), of_user("f-0")),
            f"a-0 {OF_ROOT}",
            f"write there; the same holds for 14 more paths; {FIND}",
        ),
        (
            log_dir(of_user("a-0", 0), of_directory("b-0", place(f"b-0/{LOG}", 0))),
            f"a-0 {OF_ROOT}",
            f"write there; the same holds for 3 more paths; {FIND}",
        ),
        (
            log_dir(of_user("a-0"), top=place("", 0, 0o755), files=(place(".lock"),)),
            TOP_OF_ROOT,
            "write there; chown 1001:1001 d1",
        ),
        (
            log_dir(of_user("a-0", 0), top=place("", 0, 0o755), files=(place("meta.properties", 0),)),
            TOP_OF_ROOT,
            "write there; the same holds for 3 more paths; chown -R 1001:1001 d1",
        ),
        (
            log_dir(of_directory("a-0", place("a-0/x.log", mode=0o444))),
            "a-0/x.log has mode 444",
            "open it; chmod -R u+rwX d1",
        ),
    ],
)
def test_one_command_mends_all(given: LogDirFacts, what: str, command: str) -> None:
    """Few paths are named, whole directories get -R, many are found by their owner."""
    assert refuted(facts(given))["P401"] == f"{what}: a broker that runs as 1001 cannot {command}"


def test_paths_are_kept_in_bounds() -> None:
    """Of many files in any order the first by name are kept, and all are counted."""
    files = [place(f"a-0/{number:020}.log", 0) for number in reversed(range(500))]
    rights = log_dir(of_directory("a-0", *files)).rights
    assert rights is not None
    assert [place.path for place in rights.refused] == [f"a-0/{number:020}.log" for number in range(3)]
    assert (rights.refused_count, rights.item_count, rights.segment_count) == (500, 500, 500)


def test_a_group_that_is_not_known() -> None:
    """Only members of the group may write: whether the broker's user is one is not known."""
    segments = [place(f"a-0/{name}.log", 0, 0o664, group=77) for name in (LOG, "x")]
    given = facts(log_dir(of_directory("a-0", *segments)))
    assert rows(given, PremiseStatus.NOT_SEEN)["P401"] == (
        f"d1/a-0/{LOG}.log belongs to user 0 and group 77, most files to user 1001. Whether 1001 is in that group is"
        " not known"
    )
    assert "P401" not in rows(facts(log_dir()._replace(rights=None)), PremiseStatus.PROVEN)
