"""Every kind of path is recognised by what it is."""

import os
from pathlib import Path
from typing import Any

import pytest

from kcheck.disk.listing import Listing
from kcheck.disk.local import LocalTree
from kcheck.errors import NotALogDirError, UsageError
from kcheck.model.unreadable import UnreadableError
from kcheck.views.targets import Target, TargetKind, replica_targets, targets
from tests.builders import batch, broker, log_dir, meta_properties, offsets, partition_dir, run, write
from tests.reports import inspected, planned

pytestmark = pytest.mark.usefixtures("in_folder")


def kinds(*paths: str) -> list[tuple[TargetKind, str]]:
    """Return what paths are."""
    return [(target.kind, target.path) for target in targets(list(paths))]


@pytest.mark.parametrize("name", ["leader-epoch-checkpoint", "00000000000000000000.log", "x.index", "gone", "a=b"])
def test_what_is_no_directory_is_a_file(name: str) -> None:
    """Its name says which; what is not there is told by the verb."""
    Path("x.index").touch()
    assert [(TargetKind.FILE, name)] == kinds(name)


@pytest.mark.parametrize(
    "name",
    [
        "t-0",
        "a.b-c_d-12",
        "t-0.0123456789abcdef0123456789abcdef-delete",
        "t-0.0123456789abcdef0123456789abcdef-future",
        "t-0.0123456789abcdef0123456789abcdef-stray",
    ],
)
@pytest.mark.parametrize("slash", ["", "/"])
@pytest.mark.parametrize("file", ["00000000000000000000.log", "00000000000000000000.index", "leader-epoch-checkpoint"])
def test_a_partition_directory(name: str, slash: str, file: str) -> None:
    write(Path(name), {file: b""})
    assert [(TargetKind.PARTITION, name + slash)] == kinds(name + slash)


@pytest.mark.parametrize(
    "file",
    [
        "recovery-point-offset-checkpoint",
        "replication-offset-checkpoint",
        "log-start-offset-checkpoint",
        "cleaner-offset-checkpoint",
        "meta.properties",
    ],
)
@pytest.mark.parametrize("name", ["data", "kafka-1", "."])
def test_a_log_dir_with_a_checkpoint(file: str, name: str) -> None:
    """Even where its own name could be that of a partition."""
    write(Path(name), {file: b""})
    assert [(TargetKind.LOG_DIR, name)] == kinds(name)


def test_a_log_dir_with_nothing_but_a_partition() -> None:
    partition_dir(Path("data/t-0"), [run(0, 9)])
    assert [(TargetKind.LOG_DIR, "data")] == kinds("data")


def test_a_directory_that_only_looks_like_a_partition_makes_no_log_dir() -> None:
    """A folder of folders with dashes and numbers in their names."""
    Path("data/backup-2024").mkdir(parents=True)
    with pytest.raises(NotALogDirError, match="data: no log dir in it"):
        kinds("data")


@pytest.mark.parametrize("below", ["", "rack"])
def test_a_folder_of_log_dirs_stands_for_all_of_them(below: str) -> None:
    """One or two levels down, sorted."""
    for name in ("d2", "d1"):
        log_dir(Path("data") / below / name)
    Path("data/lost+found").mkdir()
    top = os.path.join("data", below) if below else "data"
    assert [(TargetKind.LOG_DIR, f"{top}/d1"), (TargetKind.LOG_DIR, f"{top}/d2")] == kinds("data")
    assert {top} == {target.folder for target in targets(["data"])}


def test_a_partition_directory_moved_aside_makes_no_log_dir_of_a_folder() -> None:
    """It lies beside the log dirs, under its own name; a directory of no broker makes no folder of a log dir."""
    broker(Path("d/data1"), run(0, 9))
    partition_dir(Path("d/t-0"), [run(0, 9)])
    assert [(TargetKind.LOG_DIR, "d/data1")] == kinds("d")
    Path("d/data1").rename("data1")
    Path("d/notes").mkdir()
    assert [(TargetKind.LOG_DIR, "d")] == kinds("d")


def test_log_dirs_at_both_levels_are_found() -> None:
    log_dir(Path("data/d1"))
    log_dir(Path("data/rack/d2"))
    assert ["data/d1", "data/rack/d2"] == [path for _, path in kinds("data")]


def test_a_broker_that_is_not_formatted_is_found_next_to_others() -> None:
    """Its folder has a server.properties that names empty log dirs; other settings name no new disk."""
    log_dir(Path("b/broker-1/d1"))
    Path("b/broker-2/d1").mkdir(parents=True)
    Path("b/broker-2/server.properties").write_text("log.dirs=b/broker-2/d1\n")
    Path("b/notes").mkdir()
    Path("b/notes/server.properties").write_text("log.dirs=\x00\n")
    Path("b/config").mkdir()
    Path("b/config/server.properties").write_text("log.dirs=/absent\n")
    assert ["b/broker-2/d1", "b/broker-1/d1"] == [path for _, path in kinds("b")]


def test_three_levels_down_is_not_looked_for() -> None:
    """Nobody wants a walk over a whole file system."""
    log_dir(Path("data/a/b/d1"))
    with pytest.raises(NotALogDirError, match=r"^data: no log dir in it or two levels below; name a deeper folder$"):
        kinds("data")


def test_a_link_out_of_the_folder_is_no_log_dir_of_it() -> None:
    log_dir(Path("elsewhere"))
    Path("data").mkdir()
    Path("data/d1").symlink_to("../elsewhere")
    with pytest.raises(NotALogDirError):
        kinds("data")


def test_a_link_inside_of_the_folder_is_no_second_log_dir() -> None:
    """`current -> d1`, as people keep beside their disks."""
    log_dir(Path("data/d1"))
    Path("data/current").symlink_to("d1")
    assert [(TargetKind.LOG_DIR, "data/d1")] == kinds("data")


def test_a_log_dir_that_is_named_twice_is_no_duplicate() -> None:
    """It has two items, and no finding that two log dirs hold the same partition."""
    broker(Path("data"), run(0, 9))
    Path("link").symlink_to("data")
    found = inspected("data", "./data", "link")
    assert ["data", "./data", "link"] == [item["path"] for item in found["items"]]
    assert [] == found["findings"]


def test_a_link_that_the_user_named_is_followed() -> None:
    log_dir(Path("elsewhere"))
    Path("data").symlink_to("elsewhere")
    assert [(TargetKind.LOG_DIR, "data")] == kinds("data")


def test_an_empty_folder_is_a_new_disk() -> None:
    """A broker would start on it; a folder with other files is an error."""
    Path("data").mkdir()
    assert [(TargetKind.LOG_DIR, "data")] == kinds("data")
    Path("data/notes.txt").touch()
    with pytest.raises(NotALogDirError) as caught:
        kinds("data")
    assert caught.value.exit_code == 2


def test_one_wrong_path_of_many_is_named() -> None:
    log_dir(Path("good"))
    Path("bad").mkdir()
    Path("bad/notes.txt").touch()
    with pytest.raises(NotALogDirError, match=r"^bad: "):
        kinds("good", "bad")


def server_properties(text: str) -> str:
    """Write a broker's configuration beside two log dirs."""
    for name in ("d1", "d2", "meta"):
        log_dir(Path(name))
    Path("server.properties").write_text(text)
    return "server.properties"


def test_server_properties_name_the_log_dirs() -> None:
    """`log.dirs`, with spaces as people write them."""
    path = server_properties("# a broker\nbroker.id=3\nlog.dirs=d1, d2\nlog.dir=nowhere\n")
    expected = [Target(kind=TargetKind.LOG_DIR, path=name, broker_id=3, config=path) for name in ("d1", "d2")]
    assert expected == list(targets([path]))


def test_server_properties_with_log_dir_alone() -> None:
    path = server_properties("node.id=4\nlog.dir=d1\n")
    assert [Target(kind=TargetKind.LOG_DIR, path="d1", broker_id=4, config=path)] == list(targets([path]))


def test_server_properties_with_a_metadata_log_dir() -> None:
    """KRaft's own log dir may stand beside the others, or be one of them."""
    path = server_properties("node.id=4\nlog.dirs=d1\nmetadata.log.dir=meta\n")
    assert ["d1", "meta"] == [target.path for target in targets([path])]
    path = server_properties("node.id=4\nlog.dirs=d1,d2\nmetadata.log.dir=d1\n")
    assert ["d1", "d2"] == [target.path for target in targets([path])]


@pytest.mark.parametrize("said", ["", "broker.id=\n", "broker.id=-1\n", "broker.id=three\n"])
def test_server_properties_without_an_id(said: str) -> None:
    """meta.properties tells it then."""
    assert targets([server_properties(said + "log.dirs=d1\n")])[0].broker_id is None


@pytest.mark.parametrize("text", ["", "broker.id=1\n", "log.dirs=\n"])
def test_server_properties_without_a_log_dir(text: str) -> None:
    with pytest.raises(NotALogDirError, match=r"^server.properties: no log.dirs setting$"):
        targets([server_properties(text)])


def test_server_properties_with_half_a_surrogate_pair_as_log_dir() -> None:
    """No file system has the name."""
    message = r"^server.properties: log.dirs: '/a\\ud800' is not a path; an example is /var/lib/kafka/data$"
    with pytest.raises(UsageError, match=message):
        targets([server_properties("log.dirs=d1,/a\\uD800\n")])


def test_server_properties_with_a_missing_log_dir() -> None:
    """The disk may be gone: that is told of it, and does not hide the others."""
    assert ["d1", "d3"] == [target.path for target in targets([server_properties("log.dirs=d1,d3\n")])]


def test_server_properties_that_contradict_the_argument() -> None:
    """It is a premise."""
    (target,) = replica_targets(["5=" + server_properties("broker.id=3\nlog.dirs=d1\n")])
    assert (5, "server.properties") == (target.broker_id, target.config)


def test_settings_with_another_name() -> None:
    """Their content tells; a name of Kafka's own files, or another text, is no configuration."""
    Path("broker-1.conf").write_text("broker.id=3\nlog.dir=d1\n")
    (target,) = targets(["broker-1.conf"])
    assert (TargetKind.LOG_DIR, "d1", 3, "broker-1.conf") == target[:4]
    Path("leader-epoch-checkpoint").write_text("log.dir=d1\n")
    Path("notes.txt").write_text("log.dirs\n")
    Path("blob").write_bytes(b"log.dir=d1\n" + bytes(2 << 20))
    assert [TargetKind.FILE] * 3 == [kind for kind, _ in kinds("leader-epoch-checkpoint", "notes.txt", "blob")]


def test_server_properties_that_cannot_be_read() -> None:
    Path("server.properties").symlink_to("server.properties")
    with pytest.raises(UsageError, match=r"^server.properties: "):
        targets(["server.properties"])


def test_meta_properties_are_a_file_of_a_log_dir() -> None:
    """Not a configuration."""
    Path("meta.properties").write_bytes(meta_properties(1))
    assert [(TargetKind.FILE, "meta.properties")] == kinds("meta.properties")


@pytest.mark.parametrize(
    ("argument", "broker_id", "path"),
    [
        ("1=a", 1, "a"),
        ("0012=a", 12, "a"),
        ("5=x=y", 5, "x=y"),
        ("./5=x", None, "./5=x"),
        ("a=b", None, "a=b"),
        ("=a", None, "=a"),
        ("5=", None, "5="),
        ("-5=a", None, "-5=a"),
        ("٣=a", None, "٣=a"),
        ("5=a\nb", 5, "a\nb"),
    ],
)
def test_broker_is_the_digits_before_the_first_equals_sign(argument: str, broker_id: int | None, path: str) -> None:
    """Anything else is a path; `./` makes a path of it."""
    (target,) = replica_targets([argument])
    assert (broker_id, path) == (target.broker_id, target.path)


def test_an_odd_name_is_read() -> None:
    write(Path("5=x"), {"replication-offset-checkpoint": offsets({"t-0": 1})})
    (item,) = inspected("./5=x")["items"]
    assert item["path"] == "./5=x"


def test_inspect_takes_a_mix() -> None:
    """In the order of the arguments."""
    broker(Path("data"), run(0, 9))
    paths = ["data/meta.properties", "data", "data/t-0/leader-epoch-checkpoint", "data/t-0"]
    found = inspected(*paths)["items"]
    assert [*zip(["meta-properties", "log-dir", "leader-epoch-checkpoint", "partition"], paths, strict=True)] == [
        (item["kind"], item["path"]) for item in found
    ]


def test_two_log_dirs_of_one_broker_are_its_disks() -> None:
    """`1=d1 1=d2`, or without `1=` where meta.properties says so."""
    broker(Path("d1"), run(0, 9), partition="t-0")
    broker(Path("d2"), run(0, 9), partition="t-1")
    broker(Path("d3"), run(0, 9), partition="t-0", broker_id=2)
    partitions = planned("1=d1", "1=d2", "d3", leader="1")["partitions"]
    assert [(0, 1), (1, 1)] == [(row["partition"], row["leader"]) for row in partitions]
    assert [[2], []] == [[follower["broker_id"] for follower in row["followers"]] for row in partitions]


def test_a_brokers_folder_with_its_server_log_is_no_partition_directory() -> None:
    """`broker-1` reads as a partition and `server.log` ends as a segment does; the log dir below it is meant."""
    log_dir(Path("broker-1/data1"))
    Path("broker-1/server.log").touch()
    assert [(TargetKind.LOG_DIR, "broker-1/data1")] == kinds("broker-1")


def test_what_may_not_be_listed_is_told_by_whoever_opens_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name tells the kind; the other paths are looked at all the same."""
    for name in ("data", "t-0"):
        Path(name).mkdir()

    def refuses(*_: object) -> None:
        raise UnreadableError("Permission denied")

    monkeypatch.setattr(LocalTree, "listing", refuses)
    assert [(TargetKind.LOG_DIR, "data"), (TargetKind.PARTITION, "t-0")] == kinds("data", "t-0")


def test_a_disk_in_a_folder_that_may_not_be_listed_is_told_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """It could be a log dir; what a file system puts at its root is none, and nobody asks for it."""
    for name in ("d1", "d2", "lost+found"):
        log_dir(Path("folder") / name)
    original = LocalTree.listing

    def refuses(tree: LocalTree, path: str, *how: Any) -> Listing:
        assert not path.endswith("lost+found")
        if path.endswith("d2"):
            raise UnreadableError("Input/output error")
        return original(tree, path, *how)

    monkeypatch.setattr(LocalTree, "listing", refuses)
    assert [(TargetKind.LOG_DIR, "folder/d1"), (TargetKind.LOG_DIR, "folder/d2")] == kinds("folder")


def test_a_path_that_is_empty_or_of_no_bundle() -> None:
    """A variable of a shell that is not set; a bundle that a portal has packed again. A directory may have the name."""
    Path("ticket.kcheck").write_bytes(b"PK\3\4 but no manifest")
    with pytest.raises(UsageError, match=r"^a path is empty; a variable may not be set$"):
        targets([""])
    with pytest.raises(UsageError, match=r"^ticket.kcheck: not a bundle .*; a bundle begins with a manifest$"):
        targets(["ticket.kcheck"])
    log_dir(Path("data.kcheck"))
    assert [(TargetKind.LOG_DIR, "data.kcheck")] == kinds("data.kcheck")
    assert [(TargetKind.FILE, "gone.kcheck")] == kinds("gone.kcheck")


def test_a_broker_id_is_an_int() -> None:
    """No broker takes another one: node.id is an INT32 in the protocol."""
    log_dir(Path("data"), broker_id=None)
    with pytest.raises(UsageError, match=r"^2147483648=data: a broker id is at most 2147483647$"):
        replica_targets(["2147483648=data"])
    assert (2147483647,) == tuple(target.broker_id for target in replica_targets(["2147483647=data"]))
    Path("server.properties").write_text("log.dirs=data\nnode.id=2147483648\n")
    assert (None,) == tuple(target.broker_id for target in targets(["server.properties"]))


def test_a_folder_with_a_new_disk() -> None:
    """An empty directory is a log dir of the broker whose server.properties names it and a log dir here."""
    for name in ("b/d1", "b/backup"):
        log_dir(Path(name))
    Path("b/d2").mkdir()
    config = Path("b/server.properties")
    config.write_text("broker.id=3\nlog.dirs=b/d1,b/d2,b/gone\n")
    assert [(row.path, row.broker_id, row.config) for row in replica_targets(["b"])] == [
        ("b/d1", 3, str(config)), ("b/d2", 3, str(config)), ("b/gone", 3, str(config)), ("b/backup", None, None),
    ]  # fmt: skip
    for text in ("log.dirs=x,b/d2\n", "log.dirs=b/d1,b/gone\n", "", "log.dirs=b/d1,\\ud800\n"):
        config.write_text(text)
        assert [(row.path, row.config) for row in replica_targets(["b"])] == [("b/backup", None), ("b/d1", None)]


def test_a_copy_that_was_left_behind_is_no_log_dir_of_the_broker() -> None:
    """Its settings name the new place alone. A log dir that has more, or that is of another broker, still counts."""
    for name, count in (("new", 3), ("old", 3), ("older", 1), ("longer", 4)):
        broker(Path("b", name), [batch(0, payload=b"x")] * count)
    for name, number in (("other", 2), ("unnamed", None)):
        log_dir(Path("b", name), broker_id=number)
    (Path("b/older") / "x-0").mkdir()
    log_dir(Path("b/more"))
    (Path("b/more/t-7")).mkdir()
    (Path("b/more/t-7/00000000000000000000.log")).touch()
    settings = Path("b/server.properties")
    every = ["longer", "more", "new", "old", "older", "other", "unnamed"]
    for named, left in (
        ("log.dirs=b/new\n", {*every} - {"old", "older"}), ("log.dirs=b/new,b/gone\n", {*every}),
        ("log.dirs=/x\n", {*every}), ("", {*every}), ("log.dirs=b/new,b/\\ud800\n", {*every}),
    ):  # fmt: skip
        settings.write_text(named)
        assert [row.path for row in replica_targets(["b"])] == [f"b/{name}" for name in every if name in left], named


def test_a_new_file_system_is_an_empty_disk() -> None:
    """Its lost+found is not the broker's; any other name is somebody's."""
    Path("data/lost+found").mkdir(parents=True)
    assert [(TargetKind.LOG_DIR, "data")] == kinds("data")
    Path("data/docs").mkdir()
    with pytest.raises(NotALogDirError, match="no log dir in it"):
        kinds("data")


def test_settings_one_folder_down_whose_log_dirs_are_no_directories() -> None:
    """A file, a broken link, nothing next to the settings; settings of another machine name other places."""
    log_dir(Path("broker-1"))
    for number in (2, 3, 4):
        folder = Path(f"broker-{number}")
        folder.mkdir()
        (folder / "server.properties").write_text(f"node.id={number}\nlog.dirs=broker-{number}/data\n")
    Path("broker-2/data").touch()
    Path("broker-3/data").symlink_to("gone")
    Path("broker-5").mkdir()
    Path("broker-5/server.properties").write_text("node.id=5\nlog.dirs=/elsewhere/data\n")
    found = {target.path: target.broker_id for target in targets(["."])}
    assert {"broker-2/data": 2, "broker-3/data": 3, "broker-4/data": 4, "./broker-1": None} == found
