"""`kcheck tiered`: what is in remote storage, and what is missing there."""

import json
import shutil
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kcheck
from kcheck.disk.store import StoreTree, mounted
from kcheck.disk.tree import tree_of
from kcheck.errors import UsageError
from kcheck.model.remote_log import StoreObject
from kcheck.model.report import PartitionFilter
from kcheck.views.remote_store import store_objects
from tests.cli.command import document
from tests.cli.command import kcheck as command
from tests.stores import upload
from tests.tiered_states import EMPTY, LEFT, LOST, OBJECTS, OLD_LEADER, brokers, state
from tests.views.test_rebuilt_records import manifest, segment_records
from tests.views.test_remote_logs import other_epoch


def test_missing_objects(tmp_path: Path) -> None:
    """A consumer got UNKNOWN_SERVER_ERROR at 5, and from 10 on; folder and listing give one answer."""
    of = state(OBJECTS, "1-stopped", tmp_path)
    listing = tmp_path / "listing"
    files = sorted(path for path in (of / "store").rglob("*") if path.is_file())
    listing.write_text("".join(f"{path}\t{path.stat().st_size}\n" for path in files))
    for place in (of / "store", listing):
        said = kcheck.tiered(of / "broker-1", store=place, price=0.02).to_dict()
        assert [row["message"] for row in said["findings"]] == ["missing-0: 5-9 lacks .log, 10-14 lacks .index"]
        assert said["store"]["bytes"] == 3920
        assert said["store"]["usd_a_month"] == pytest.approx(3920 / 1e9 * 0.02)
    shown = command("tiered", str(of / "broker-1"), "--store", str(of / "store"), "--price", "0.02")
    assert (shown.code, "8 remote segments, 3.8 KiB, 0.00 USD a month" in " ".join(shown.out.split())) == (1, True)


def test_without_the_store(tmp_path: Path) -> None:
    """Nobody looked at it, and the answer says so."""
    of = state(OBJECTS, "1-stopped", tmp_path)
    shown = command("tiered", str(of / "broker-1"))
    assert (shown.code, "The store was not looked at" in shown.out) == (0, True)
    assert kcheck.tiered(of / "broker-1", price=0.02).to_dict()["store"] is None


def test_copies_of_the_metadata_that_differ(tmp_path: Path) -> None:
    """The answer is not known, and no object counts as an orphan."""
    of = state(OLD_LEADER, "1-before", tmp_path)
    for log in of.glob("broker-2/__remote_log_metadata-*/*.log"):
        log.write_bytes(other_epoch(log.read_bytes()))
    shown = command("tiered", *brokers(of), "--store", of / "store")
    assert (shown.code, "Not known: two copies of __remote_log_metadata-" in shown.out) == (1, True)
    assert command("elect", *brokers(of), "--partition", "uncl-0").code == 1
    answer = kcheck.tiered(*brokers(of), store=of / "store")
    assert {row["remote"]["metadata"] for row in answer.to_dict()["replicas"]} == {"contradictory"}
    assert answer.to_dict()["metadata_conflicts"] == list(answer.conflicts)
    with pytest.raises(UsageError, match="--orphans"):
        list(answer.orphan_keys())


def test_objects_that_no_metadata_names(tmp_path: Path) -> None:
    """The metadata was lost: 8 segments stay for ever. Before that, a start would give up 20 records of each topic."""
    of = state(LOST, "2-started", tmp_path)
    said = kcheck.tiered(of / "broker-1", store=of / "store").to_dict()
    (found,) = said["findings"]
    assert (found["id"], found["data"]) == ("KC249", {"segments": 8, "bytes": 4352, "of_no_topic": 0})
    assert found["advice"].startswith("Keep the objects of topics that exist")
    before = kcheck.tiered(tmp_path / "1b-dirs-removed" / "broker-1").to_dict()
    assert [row["without_metadata"] for row in before["replicas"]] == [[{"from": 0, "to_exclusive": 20}]] * 2
    assert command("tiered", str(tmp_path / "1b-dirs-removed" / "broker-1")).code == 1


def test_a_replica_without_a_directory(tmp_path: Path) -> None:
    """Broker 2 lacks empty-0: elected uncleanly, it deleted 0 to 19. Log dirs that are not given may have it."""
    of = state(EMPTY, "1-before", tmp_path)
    for arguments in (brokers(of), brokers(of)[1:]):
        rows = kcheck.tiered(*arguments, partitions=PartitionFilter(topics=("empty",))).to_dict()["replicas"]
        (row,) = (row for row in rows if row["broker_id"] == 2)
        assert (row["log_start_offset"], row["deletes_if_leading"]) == (None, [{"from": 0, "to_exclusive": 20}])
    alone = kcheck.tiered(brokers(of)[0]).to_dict()["replicas"]
    assert {row["broker_id"] for row in alone} == {1}
    shown = command("tiered", *brokers(of), "--topic", "empty")
    assert (shown.code, "1 replica without a directory" in shown.out) == (0, True)


def test_what_each_replica_deletes(tmp_path: Path) -> None:
    of = state(OLD_LEADER, "4-back", tmp_path)
    shown = command("tiered", *brokers(of), "--topic", "uncl", "--store", str(of / "store"))
    assert shown.code == 1
    assert "deletes 0-39" in shown.out
    rows = kcheck.tiered(*brokers(of)).to_dict()["replicas"]
    assert [(row["topic"], row["broker_id"]) for row in rows if row["deletes_if_leading"]] == [("uncl", 1)]
    for number, code in ((1, 1), (2, 0)):
        alone = command("tiered", f"{number}={of}/broker-{number}")
        assert (alone.code, "KC411" in alone.out) == (code, code == 1)


def test_metadata_without_a_leader(tmp_path: Path) -> None:
    """Broker 1 was down, and with it the leader of two partitions of __remote_log_metadata."""
    of = state(EMPTY, "3-broker-2-led", tmp_path)
    shown = command("tiered", *brokers(of), "--metadata", str(of / "controller"))
    assert "have a leader, Kafka copies, deletes and reads nothing in remote storage there" in " ".join(
        shown.out.split()
    )


def test_keys_of_objects_of_a_deleted_topic(tmp_path: Path) -> None:
    """Topic n is deleted, m lives without its metadata. Without all metadata or the store nothing is known."""
    of, keys = state(LOST, "4-topic-n-deleted", tmp_path), tmp_path / "keys"
    asked = ("tiered", str(of / "broker-1"), "--orphans", str(keys))
    assert command(*asked).code == 2
    shown = command(*asked, "--store", str(of / "store"))
    assert (shown.code, "4 of them of topics that the cluster does not have" in " ".join(shown.out.split())) == (
        0,
        True,
    )
    assert sorted({Path(key).parent.name[:2] for key in keys.read_text().splitlines()}) == ["n-"]
    assert len(keys.read_text().splitlines()) == 20
    inside = command(*asked[:3], str(of / "broker-1" / "keys"), "--store", str(of / "store"))
    assert (inside.code, f"--orphans {of}/broker-1/keys is inside" in inside.err) == (2, True)


def test_keys_without_all_metadata(tmp_path: Path) -> None:
    """Another broker has it, so an object without a record may be in use."""
    of = state(OLD_LEADER, "4-back", tmp_path)
    for folder in (of / "broker-1").glob("__remote_log_metadata-*"):
        shutil.rmtree(folder)
    place = str(of / "store")
    alone = command("tiered", f"1={of}/broker-1", "--store", place, "--orphans", str(tmp_path / "keys"))
    assert (alone.code, "not every partition" in alone.err) == (2, True)


def test_layout_of_keys(tmp_path: Path) -> None:
    of = state(OBJECTS, "1-stopped", tmp_path)
    layout = r"(?P<offset>\d{20})-(?P<segment>[\w-]{22})\.(?P<suffix>\w+)$"
    said = kcheck.tiered(of / "broker-1", store=of / "store", layout=layout).to_dict()
    assert [row["message"] for row in said["findings"]] == ["missing-0: 5-9 lacks .log, 10-14 lacks .index"]
    with pytest.raises(UsageError, match="named groups"):
        kcheck.tiered(of / "broker-1", store=of / "store", layout="x")
    # Keys that it does not know, or no suffix twice: nothing would be missing.
    for wrong in (layout.replace("{20}", "{21}"), r"(?P<offset>\d{20})-(?P<segment>[\w-]{22})(?P<suffix>)x"):
        with pytest.raises(UsageError, match="layout finds no segments"):
            kcheck.tiered(of / "broker-1", store=of / "store", layout=wrong)


def test_objects_of_a_topic_that_left_remote_storage(tmp_path: Path) -> None:
    """The broker was killed while its deletes failed, and never tried again: 7 segments stay for ever."""
    of = state(LEFT, "1-stopped", tmp_path)
    asked = {"store": of / "store", "metadata": [str(of / "controller")]}
    said = kcheck.tiered(f"1={of}/broker-1", **asked).to_dict()
    assert sorted(row["topic"] for row in said["replicas"]) == ["big", "t", "whole"]
    assert [row["message"] for row in said["findings"]] == [
        "offk-0: 1247 bytes of 7 remote segments that no topic uses are in the store"
    ]
    others = PartitionFilter(topics=("t",))
    assert kcheck.tiered(f"1={of}/broker-1", partitions=others, **asked).to_dict()["findings"] == []


def test_a_store_of_iceberg_tables(tmp_path: Path) -> None:
    """The Aiven plugin can write records into tables: of a segment only its manifest is known by name."""
    of = state(OBJECTS, "1-stopped", tmp_path)
    tables = tmp_path / "warehouse"
    for log in (of / "store").glob("*/*/*.index"):
        path = tables / log.parent.name.partition("-")[0] / "metadata" / f"{log.stem[21:]}.puffin"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"PFA1")
    said = kcheck.tiered(of / "broker-1", store=tables).to_dict()
    assert said["store"]["iceberg"] is True
    assert [row["message"] for row in said["findings"]] == ["missing-0: 10-14 lacks .puffin"]
    shown = command("tiered", str(of / "broker-1"), "--store", str(tables))
    assert "kcheck compares their manifests, and no data file." in " ".join(shown.out.split())
    (of / "broker-1/missing-0/leader-epoch-checkpoint").write_text("0\n1\n1 20\n")
    refused = command("repair", str(of / "broker-1"), "--store", str(tables))
    assert (refused.code, "does not read the leader epochs" in " ".join(refused.err.split())) == (2, True)


def test_a_short_object(tmp_path: Path) -> None:
    """The `.log` of a segment in the store is the segment byte for byte."""
    of = state(OBJECTS, "1-stopped", tmp_path)
    log = next((of / "store").rglob("basic-0-*/*.log"))
    log.write_bytes(log.read_bytes()[:-1])
    said = kcheck.tiered(of / "broker-1", store=of / "store").to_dict()
    (basic, _) = said["findings"]
    assert "instead of" in basic["message"]
    assert [(row["topic"], row["segments"], row["stored"]) for row in said["topics"]] == [
        ("basic", 4, 2175),
        ("missing", 4, 1744),
    ]


def test_what_waits_to_be_copied(tmp_path: Path) -> None:
    """Nothing: every closed segment is in the store, and local.retention.bytes=1 leaves none on disk."""
    of = state(OLD_LEADER, "1-before", tmp_path)
    rows = kcheck.tiered(*brokers(of), partitions=PartitionFilter(topics=("uncl",))).to_dict()["topics"]
    assert [(row["topic"], row["to_copy"], row["duplicated"], row["stored"]) for row in rows] == [("uncl", 0, 0, None)]


def test_nothing_in_remote_storage(tmp_path: Path) -> None:
    of = state(EMPTY, "1-before", tmp_path)
    shown = command("tiered", f"1={of}/broker-1", "--topic", "__remote_log_metadata")
    assert "No partition is in remote storage." in shown.out


NOISE: tuple[Callable[[Path], bool], ...] = (
    lambda path: path.name == "meta.properties",
    lambda path: path.name.endswith("checkpoint") is False and path.parent.name != "__cluster_metadata-0",
    lambda path: path.name == "meta.properties" or path.parent.name == "__cluster_metadata-0",
    lambda path: not path.parent.name.startswith(("m-", "n-")),
)
"""The files that are left as they are: the broker's name, the logs without checkpoints, the metadata, all but logs."""


def test_remote_segments_of_other_brokers(tmp_path: Path) -> None:
    """Their metadata is on brokers whose log dirs are not given."""
    of = state(OLD_LEADER, "4-back", tmp_path)
    for folder in (of / "broker-2").glob("__remote_log_metadata-*"):
        shutil.rmtree(folder)
    shown = command("tiered", f"2={of}/broker-2")
    assert (
        shown.code,
        "name the log dirs of all brokers with __remote_log_metadata" in " ".join(shown.out.split()),
    ) == (
        1,
        True,
    )


def test_files_without_metadata_prove_nothing(tmp_path: Path) -> None:
    """A broker of noise, or without a copy of the cluster's metadata; 3.5 has no remote storage."""
    shutil.copytree(state(EMPTY, "1-before", tmp_path) / "broker-1", tmp_path / "b")
    for file in (path for path in (tmp_path / "b").rglob("*") if path.is_file()):
        file.write_bytes(b"noise")
    shown = command("tiered", str(tmp_path / "b"))
    assert (shown.code, "not known for" in shown.out, "no partition" in shown.out) == (1, True, False)
    one = state(LOST, "1-before", tmp_path / "lost") / "broker-1"
    for number, spared in enumerate(NOISE):
        of = tmp_path / f"noise-{number}"
        shutil.copytree(one, of)
        for file in (path for path in of.rglob("*") if path.is_file() and not spared(path)):
            file.write_bytes(b"noise" * 99)
        shown = command("tiered", str(of))
        words = " ".join(shown.out.split())
        assert (shown.code, "not known for 2 replicas" in words, "no partition" in words) == (1, True, False)
    older = command("tiered", str(tmp_path / "b"), "--kafka", "3.5")
    assert (older.code, "No partition is in remote storage." in older.out) == (0, True)


def test_a_store_that_is_none(tmp_path: Path) -> None:
    of = state(OBJECTS, "1-stopped", tmp_path)
    other = tmp_path / "notes"
    other.write_text("nothing that a tool lists\n")
    for place, why in ((tmp_path / "absent", "no such file"), (other, "no line is of")):
        shown = command("tiered", str(of / "broker-1"), "--store", str(place))
        assert (shown.code, why in shown.err) == (2, True)


LISTINGS: dict[str, Callable[[list[StoreObject]], str]] = {
    "find": lambda rows: "".join(f"{row.key}\t{row.size}\n" for row in rows),
    "aws s3 ls": lambda rows: "".join(f"2026-11-27 10:26:20 {row.size:>10} {row.key}\n" for row in rows),
    "aws s3api": lambda rows: json.dumps({"Contents": [{"Key": row.key, "Size": row.size} for row in rows]}),
    "gsutil": lambda rows: (
        "".join(f"{row.size:>10}  2026-11-27T10:26:20Z  gs://bucket/{row.key}\n" for row in rows) + "TOTAL: 1 objects\n"
    ),
    "rclone lsl": lambda rows: "".join(f"{row.size:>9} 2026-11-27 10:26:20.000000000 {row.key}\n" for row in rows),
    "rclone lsf": lambda rows: "".join(f"{row.key};{row.size}\n" for row in rows),
    "mc ls": lambda rows: "".join(
        f"{json.dumps({'key': row.key, 'size': row.size, 'type': 'file'})}\n" for row in rows
    ),
    "az storage blob list": lambda rows: json.dumps(
        [{"name": row.key, "properties": {"contentLength": row.size}} for row in rows]
    ),
    "rclone lsjson": lambda rows: json.dumps([{"Path": row.key, "Size": row.size, "IsDir": False} for row in rows]),
}


def found_in(broker: Path, place: str) -> tuple[list[str], int]:
    """Return the messages about a store, and its bytes."""
    said = kcheck.tiered(broker, store=place).to_dict()
    return [row["message"] for row in said["findings"]], said["store"]["bytes"]


EXPECTED = ["missing-0: 5-9 lacks .log, 10-14 lacks .index"], 3920


@pytest.mark.parametrize("tool", LISTINGS)
def test_listings_of_the_common_tools(tmp_path: Path, tool: str) -> None:
    """Each gives the answer of the folder."""
    of = state(OBJECTS, "1-stopped", tmp_path)
    rows = list(store_objects(str(of / "store")))
    (tmp_path / "listing").write_text(LISTINGS[tool](rows))
    assert found_in(of / "broker-1", str(tmp_path / "listing")) == EXPECTED


def test_a_store_of_s3(tmp_path: Path, s3: dict[str, Any]) -> None:
    """The same layout in a bucket gives the answer of the folder."""
    of = state(OBJECTS, "1-stopped", tmp_path)
    url = upload(of / "store", "tiered", s3)
    with mounted([url], s3):
        assert found_in(of / "broker-1", url) == EXPECTED
        written = [row.modified_ms for row in store_objects(url)]
    assert len(written) == 38
    assert all(time is not None and time > 1_700_000_000_000 for time in written)


@pytest.mark.parametrize("text", ["{", "nothing\n", "\xff\n"])
def test_files_that_are_no_listing(tmp_path: Path, text: str) -> None:
    (tmp_path / "listing").write_text(text)
    with pytest.raises(UsageError):
        list(store_objects(str(tmp_path / "listing")))


def test_a_listing_of_several_parts(tmp_path: Path) -> None:
    """Lines are read in parts of 1 MiB."""
    lines = [f"{at:0900}\t{at}\n" for at in range(3000)]
    (tmp_path / "listing").write_text("".join(lines))
    assert [row.size for row in store_objects(str(tmp_path / "listing"))] == list(range(3000))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda text: text[: len(text) // 2], "ends within a line, so the listing is incomplete"),
        (lambda _: json.dumps({"Contents": [], "IsTruncated": True}), "one page of several; list all of them"),
        (lambda _: '{"status":"error"}\n{"key":"x","size":1}\n', "could not list everything"),
        (lambda _: "[" * 100_000, "nested too deeply"),
        (lambda _: '{"a":' * 100_000, "nested too deeply"),
        (lambda _: json.dumps({"Contents": [], "NextToken": "x"}), "one page of several; list all of them"),
    ],
)
def test_a_listing_that_is_not_complete(tmp_path: Path, change: Callable[[str], str], why: str) -> None:
    """It says nothing about missing objects."""
    of = state(OBJECTS, "1-stopped", tmp_path)
    (tmp_path / "listing").write_text(change(LISTINGS["aws s3 ls"](list(store_objects(str(of / "store"))))))
    shown = command("tiered", str(of / "broker-1"), "--store", str(tmp_path / "listing"))
    assert (shown.code, why in shown.err, "lacks" in shown.out) == (2, True, False)


FAILURES = {
    "403": (PermissionError(13, "Forbidden"), 2, "Forbidden"),
    "404": (FileNotFoundError(2, "The specified key does not exist"), 2, "No such file or directory"),
    "timeout": (TimeoutError("timed out"), 3, "the store fails: timed out"),
    "503": (OSError(16, "Please reduce your request rate"), 3, "the store fails: Please reduce your request rate"),
    "a page that is cut": (ValueError("no element found: line 1, column 0"), 3, "no element found"),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_a_store_that_fails_while_it_is_listed(
    tmp_path: Path, s3: dict[str, Any], monkeypatch: pytest.MonkeyPatch, failure: str
) -> None:
    """The first folders are listed, then the store fails: no object is called missing."""
    of = state(OBJECTS, "1-stopped", tmp_path)
    url, (error, code, why) = upload(of / "store", f"failing{[*FAILURES].index(failure)}", s3), FAILURES[failure]
    with mounted([url], s3):
        tree = tree_of(url)
        assert isinstance(tree, StoreTree)
        listed, system = [], tree._system
        ls = system.ls

        def failing(path: str, **options: Any) -> Any:
            listed.append(path)
            if path.count("/") > 1 + url.removeprefix("s3://").count("/"):
                raise error
            return ls(path, **options)

        monkeypatch.setattr(system, "ls", failing)
        shown = command("tiered", str(of / "broker-1"), "--store", url)
    assert (shown.code, why in shown.err, "lacks" in shown.out) == (code, True, False)
    assert len(listed) > 2


def test_a_folder_that_is_not_listed_whole(tmp_path: Path) -> None:
    """A link is not followed, and deep folders are not read: their objects are not missing."""
    of = state(OBJECTS, "1-stopped", tmp_path)
    deep = of / "store" / "/".join("abcdefghij")
    deep.mkdir(parents=True)
    asked = ("tiered", str(of / "broker-1"), "--store", str(of / "store"))
    shown = command(*asked)
    assert (shown.code, "more than 8 folders deep" in shown.err) == (2, True)
    shutil.rmtree(of / "store/a")
    (of / "store/link").symlink_to(tmp_path)
    shown = command(*asked)
    assert (shown.code, "a link, which kcheck does not follow" in shown.err) == (2, True)


def test_an_object_of_the_store_is_read_by_its_url(tmp_path: Path, s3: dict[str, Any]) -> None:
    """As a file: the offset in its name is the base offset."""
    of = state(OBJECTS, "1-stopped", tmp_path)
    (log,) = (of / "store").glob("*/missing-0-*/00000000000000000010-*.log")
    url = upload(of / "store", "dumped", s3)
    address = f"{url}/{log.relative_to(of / 'store')}"
    with mounted([address], s3):
        shown = command("dump", address)
    assert (shown.code, shown.out.replace(address, str(log))) == (0, command("dump", str(log)).out)
    assert "base offset 10 " in shown.out
    epochs = command("inspect", str(log.with_suffix(".leader_epoch_checkpoint")))
    assert (epochs.code, "reads 1 entry" in epochs.out) == (0, True)


def test_lost_records_from_manifests(tmp_path: Path) -> None:
    """The metadata is lost; the manifests of the Aiven plugin give back the bytes that the broker had written."""
    of, folder = state(LOST, "1b-dirs-removed", tmp_path), tmp_path / "rebuilt"
    wanted = []
    for own in sorted((tmp_path / "1-before/broker-1").glob("__remote_log_metadata-*")):
        for value, data in segment_records(own / f"{0:020d}.log"):
            wanted.append((own.name, value))
            name = f"{data['startOffset']:020d}-{data['remoteLogSegmentId']['id']}.rsm-manifest"
            (of / "store" / name).write_text(json.dumps(manifest(data)))
    asked = ("tiered", str(of / "broker-1"), "--rebuild", str(folder))
    assert command(*asked).code == 2
    assert command(*asked, "--store", str(of / "store")).code == 1
    logs = sorted(folder.glob("*/*.log"))
    assert [(log.parent.name, value) for log in logs for value, _ in segment_records(log)] == wanted
    before = tmp_path / "1-before/broker-1"
    for log in logs:
        assert log.name == f"{0:020d}.log"
        id_file = Path(log.parent.name, "partition.metadata")
        assert (folder / id_file).read_bytes() == (before / id_file).read_bytes()
        shutil.copytree(log.parent, of / "broker-1" / log.parent.name)
    rebuilt = document("tiered", of / "broker-1", "--store", of / "store")
    known = document("tiered", before, "--store", of / "store")
    assert [row["remote"] for row in rebuilt["replicas"]] == [row["remote"] for row in known["replicas"]]
    assert {"KC245", "KC249"}.isdisjoint(row["id"] for row in rebuilt["findings"])
    nothing = command(*asked, "--store", str(of / "store"))
    assert (nothing.code, "no manifest of a segment without metadata" in nothing.err) == (2, True)
    (of / "store" / f"{0:020d}-{'A' * 22}.rsm-manifest").write_text("{")
    refused = command(*asked, "--store", str(of / "store"))
    assert (refused.code, "is not a manifest of version 1" in refused.err) == (2, True)


def test_manifests_of_one_segment_that_differ(tmp_path: Path) -> None:
    """A copy of the bucket may be older: equal manifests are one, others are refused."""
    of, folder = state(LOST, "1b-dirs-removed", tmp_path), tmp_path / "rebuilt"
    (log,) = (tmp_path / "1-before/broker-1/__remote_log_metadata-2").glob("*.log")
    _, data = next(segment_records(log))
    name = f"{data['startOffset']:020d}-{data['remoteLogSegmentId']['id']}.rsm-manifest"
    (of / "store/copy").mkdir()
    for place in (of / "store", of / "store/copy"):
        (place / name).write_text(json.dumps(manifest(data)))
    asked = ("tiered", str(of / "broker-1"), "--store", str(of / "store"), "--rebuild")
    assert command(*asked, str(folder)).code == 1
    (written,) = folder.glob("*/*.log")
    assert len(list(segment_records(written))) == 1
    (of / "store/copy" / name).write_text(json.dumps(manifest({**data, "endOffset": data["endOffset"] + 1})))
    refused = command(*asked, str(tmp_path / "again"))
    assert (refused.code, "are manifests of one segment, and differ" in " ".join(refused.err.split())) == (2, True)


def test_nothing_is_rebuilt_beside_metadata_that_is_not_known(tmp_path: Path) -> None:
    """A record for a segment that has one could bring back a deleted segment."""
    of = state(OLD_LEADER, "1-before", tmp_path)
    asked = ("--store", str(of / "store"), "--rebuild", str(tmp_path / "rebuilt"))
    for folder in (of / "broker-1").glob("__remote_log_metadata-*"):
        shutil.rmtree(folder)
    refused = command("tiered", f"1={of}/broker-1", *asked)
    assert (refused.code, "not every partition of" in " ".join(refused.err.split())) == (2, True)
    shutil.copytree(of / "broker-2", of / "broker-1", dirs_exist_ok=True, ignore=lambda *_: ["meta.properties"])
    for log in of.glob("broker-2/__remote_log_metadata-*/*.log"):
        log.write_bytes(other_epoch(log.read_bytes()))
    refused = command("tiered", *brokers(of), *asked)
    assert (refused.code, "two copies of __remote_log_metadata" in " ".join(refused.err.split())) == (2, True)
    assert not (tmp_path / "rebuilt").exists()


def test_lost_records_below_a_high_watermark(tmp_path: Path) -> None:
    """The log that is made again ends at it: a broker that had more records loses none of the others."""
    of, folder = state(LOST, "1b-dirs-removed", tmp_path), tmp_path / "rebuilt"
    (log,) = (tmp_path / "1-before/broker-1/__remote_log_metadata-2").glob("*.log")
    _, data = next(segment_records(log))
    name = f"{data['startOffset']:020d}-{data['remoteLogSegmentId']['id']}.rsm-manifest"
    (of / "store" / name).write_text(json.dumps(manifest(data)))
    marks = "0\n1\n__remote_log_metadata 2 8\n"
    (of / "broker-1/replication-offset-checkpoint").write_text(marks)
    command("tiered", str(of / "broker-1"), "--rebuild", str(folder), "--store", str(of / "store"))
    assert [path.name for path in folder.glob("*/*.log")] == [f"{8 - 2:020d}.log"]
    shutil.copytree(folder / "__remote_log_metadata-2", of / "broker-1/__remote_log_metadata-2")
    (row,) = document("inspect", of / "broker-1", "--topic", "__remote_log_metadata")["items"][0]["partitions"]
    assert (row["log_start_offset"], row["log_end_offset"]) == (6, 8)


def test_lost_records_of_a_partition_that_has_others(tmp_path: Path) -> None:
    """They are for a producer: the partition of the topic, and the value in base64."""
    of, folder = state(LOST, "1-before", tmp_path), tmp_path / "rebuilt"
    (log,) = (of / "broker-1/__remote_log_metadata-2").glob("*.log")
    value, data = next(segment_records(log))
    own = data["remoteLogSegmentId"]["id"]
    data["remoteLogSegmentId"] = {**data["remoteLogSegmentId"], "id": f"{own[:-2]}AA"}
    name = f"{data['startOffset']:020d}-{own[:-2]}AA.rsm-manifest"
    (of / "store" / name).write_text(json.dumps(manifest(data)))
    command("tiered", str(of / "broker-1"), "--rebuild", str(folder), "--store", str(of / "store"))
    assert [path.name for path in folder.iterdir()] == ["lost-records.jsonl"]
    rows = [json.loads(line) for line in (folder / "lost-records.jsonl").read_text().splitlines()]
    assert [(row["topic"], row["partition"]) for row in rows] == [("__remote_log_metadata", 2)] * 2
    assert len(b64decode(rows[0]["value"])) == len(value)
