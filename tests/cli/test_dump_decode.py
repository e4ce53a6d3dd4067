"""`kcheck dump --decode`: the records of internal topics of a real broker, and damaged ones."""

import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from kcheck.schemas.records import decoder
from tests.cli.command import kcheck
from tests.record_bytes import batch_of, record

ROOT = Path(__file__).parents[2]
BROKER = ROOT / "fixtures" / "brokers" / "4.3.1" / "coordinators" / "broker-1"
REMOTE = ROOT / "fixtures/brokers/4.3.1/tiered/broker-1/data1/__remote_log_metadata-0" / f"{0:020d}.log"
OFFSETS = BROKER / "data2" / "__consumer_offsets-0" / "00000000000000000000.log"
TRANSACTIONS = BROKER / "data2" / "__transaction_state-0" / "00000000000000000000.log"
SHARES = BROKER / "data1" / "__share_group_state-0" / "00000000000000000000.log"
SNAPSHOT = BROKER / "data1" / "__cluster_metadata-0" / "00000000000000000086-0000000001.checkpoint"
METADATA = BROKER / "data1" / "__cluster_metadata-0" / "00000000000000000000.log"
KEY = b"\0\2\0\1g"


def records(path: Path, kind: str, *options: str) -> list[dict[str, Any]]:
    """Return the rows of the records."""
    lines = map(json.loads, kcheck("dump", path, "--decode", kind, "--format", "ndjson", *options).out.splitlines())
    return [line for line in lines if line["kind"] == "record"]


def one_record(folder: Path, key: bytes, value: bytes) -> Path:
    """Write a log of one record."""
    path = folder / f"{0:020d}.log"
    path.write_bytes(batch_of(record(0, key, value), 1))
    return path


def test_a_group_can_be_followed() -> None:
    """Commits in their order, and null where the group is gone."""
    found = [row for row in records(OFFSETS, "offsets") if row["control"] is None]
    commits = [row for row in found if row["decoded_key"]["name"] == "OffsetCommitKey"]
    said = [
        (row["decoded_key"]["data"]["group"], row["decoded_value"] and row["decoded_value"]["data"]["offset"])
        for row in commits
    ]
    assert [
        ("classic", 7),
        ("classic", 9),
        ("modern", 11),
        ("modern", None),
        ("deleted", 3),
        ("deleted", None),
    ] == said[:6]
    assert [("in-commit", 5), ("in-open", 5)] == said[6:]


def test_states_of_transactions() -> None:
    """TransactionState: 0 empty, 1 ongoing, 2 and 3 prepared, 4 and 5 complete."""
    states: dict[str, list[int]] = {}
    for row in records(TRANSACTIONS, "transactions"):
        name = row["decoded_key"]["data"]["transactionalId"]
        states.setdefault(name, []).append(row["decoded_value"]["data"]["transactionStatus"])
    assert {name: sorted(set(found)) for name, found in states.items()} == {
        "commit": [0, 1, 2, 4],
        "abort": [0, 1, 3, 5],
        "open": [0, 1],
    }


def test_the_cluster_and_its_snapshot() -> None:
    """Types by their names; control records are not touched; there are no keys."""
    topics = [
        row["decoded_value"]["data"]["name"]
        for row in records(METADATA, "metadata")
        if row["control"] is None and row["decoded_value"]["name"] == "TopicRecord"
    ]
    assert topics[:2] == ["orders", "gone"]
    snapshot = records(SNAPSHOT, "metadata")
    assert [row["control"] and row["control"]["name"] for row in (snapshot[0], snapshot[-1])] == [
        "SNAPSHOT_HEADER",
        "SNAPSHOT_FOOTER",
    ]
    assert "gone" not in [row["decoded_value"]["data"].get("name") for row in snapshot[1:-1]]
    assert all(row["decoded_key"] is None for row in snapshot[1:-1])


def test_share_groups() -> None:
    assert ["ShareSnapshotKey", "ShareSnapshotKey", "ShareUpdateKey"] == [
        row["decoded_key"]["name"] for row in records(SHARES, "share-groups")[:3]
    ]


def test_a_share_group_that_archives() -> None:
    """State 3 of a batch, and a tag that 4.2 added; which is left out where it is not written."""
    key = b"\0\1" + b"\0\1g" + bytes(16) + bytes(4)
    batch = (5).to_bytes(8) + (9).to_bytes(8) + b"\3" + (1).to_bytes(2) + b"\0"
    value = b"\0\0" + (1).to_bytes(4) + (2).to_bytes(4) + (5).to_bytes(8) + b"\2" + batch
    for tags, count in ((b"\1\0\4" + (7).to_bytes(4), 7), (b"\0", None)):
        message: Any = decoder("share-groups")(key, value + tags).value
        assert (count, 3) == (
            message.data.get("deliveryCompleteCount"),
            message.data["stateBatches"][0]["deliveryState"],
        )


def test_remote_segments() -> None:
    """The lines are those of kafka-dump-log (oracle); the fields are those of the messages."""
    rows = records(REMOTE, "remote-log")
    names = {row["decoded_value"]["name"] for row in rows}
    assert {"RemoteLogSegmentMetadataRecord", "RemoteLogSegmentMetadataUpdateRecord"} == names
    assert {None, True} == {row["decoded_value"]["data"].get("txnIndexEmpty") for row in rows}
    lines = kcheck("dump", REMOTE, "--decode", "remote-log", "--format", "kafka").out
    assert "endOffset=9, brokerId=1, " in lines
    assert ", segmentLeaderEpochs={0=0}, segmentSizeInBytes=221, customMetadata=Optional.empty," in lines


@pytest.mark.parametrize("style", ["text", "csv", "kafka", "json"])
def test_every_output_shows_what_a_record_says(style: str) -> None:
    """The offset of a commit, in the names of Kafka's fields."""
    done = kcheck("dump", OFFSETS, "--decode", "offsets", "--format", style, "--offset", "3")
    assert done.code == 0
    assert "commitTimestamp" in done.out
    assert '"offset":7' in done.out.replace('""', '"').replace(" ", "")


def test_a_tombstone_in_text() -> None:
    done = kcheck("dump", OFFSETS, "--decode", "offsets", "--offset", "27")
    assert "= null" in done.out


def test_keys_and_values_can_be_shown_beside() -> None:
    """As bytes, for who wants to see where the fields come from."""
    (row,) = records(OFFSETS, "offsets", "--print-data", "hex", "--offset", "27")
    assert row["key"].startswith("0001")
    assert row["decoded_key"]["type"] == 1


@pytest.mark.parametrize(
    ("key", "value", "problem", "code"),
    [
        (b"\0\x63", b"", "record type 99 is not known", 0),
        (KEY, b"\0\x63", "version 99 of GroupMetadataValue is not known", 0),
        (KEY, b"\0\0\0\4abc", "byte 4, protocolType: needs 4 bytes, 3 are left", 1),
        (b"\0", b"", "byte 0, the record type: needs 2 bytes, 1 are left", 1),
    ],
)
@pytest.mark.parametrize("style", ["text", "json", "csv"])
def test_what_cannot_be_decoded(key: bytes, value: bytes, problem: str, code: int, style: str, tmp_path: Path) -> None:
    """It is shown with its bytes; damage is what contradicts its own version, not what is newer than kcheck."""
    done = kcheck("dump", one_record(tmp_path, key, value), "--decode", "offsets", "--format", style)
    assert done.code == code
    out, err = (" ".join(text.split()) for text in (done.out, done.err))
    assert problem in out
    told = f"position 0: the record at offset 0 cannot be decoded: {problem}"
    assert (told in out + err) == (code == 1 and style != "json")
    if style == "json":
        (file,) = json.loads(done.out)["files"]
        assert bool(file["damage"]) == (code == 1)
        row = file["batches"][0]["records"][0]
        assert b64decode((row["decoded_value"] or row["decoded_key"])["bytes"]) == value


def test_a_kind_that_is_not_there() -> None:
    done = kcheck("dump", OFFSETS, "--decode", "groups")
    assert done.code == 2
    assert "not one of offsets, transactions, metadata, share-groups, remote-log" in done.err


def test_an_index_has_no_records() -> None:
    assert kcheck("dump", OFFSETS.with_suffix(".index"), "--decode", "offsets").code == 2
