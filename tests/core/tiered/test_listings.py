"""Objects in the listings that the common tools write."""

from typing import Any

import pytest

from kcheck.core.tiered.listings import listed_in_json, listed_object
from kcheck.model.remote_log import StoreObject

NAME = f"store/t-0-x/{5:020d}-{'A' * 22}"
TIME = 1795775180000


@pytest.mark.parametrize(
    ("line", "time"),
    [
        (f"{NAME}.log\t12", None),
        (f"{NAME}.log;12", None),
        (f"{NAME}.log;12;2026-11-27 10:26:20", TIME),
        (f"2026-11-27 10:26:20         12 {NAME}.log", TIME),
        (f"2026-11-27 10:26         12  {NAME}.log", TIME - 20_000),
        (f"        12  2026-11-27T10:26:20Z  {NAME}.log", TIME),
        (f"       12 2026-11-27 10:26:20.123456789 {NAME}.log", TIME),
        (f"       12 {NAME}.log", None),
        (f'"bucket","{NAME}.log","12","2026-11-27T10:26:20.000Z","x"', TIME),
        (f'"bucket","{NAME}.log","12"', None),
        (f"2026-99-27 10:26:20         12 {NAME}.log", None),
    ],
)
def test_lines_of_the_common_tools(line: str, time: int | None) -> None:
    """Of find -printf, rclone lsf, aws s3 ls, s3cmd ls, gsutil ls -l, rclone lsl and ls, and S3 Inventory."""
    assert listed_object(line) == StoreObject(f"{NAME}.log", 12, time)


@pytest.mark.parametrize(
    "line", ["TOTAL: 3 objects, 36 bytes", "                           PRE store/", "gs://b/store/:"]
)
def test_other_lines(line: str) -> None:
    assert listed_object(line) is None


@pytest.mark.parametrize(
    ("document", "time"),
    [
        ({"Contents": [{"Key": f"{NAME}.log", "LastModified": "2026-11-27T10:26:20+00:00", "Size": 12}]}, TIME),
        ([{"Path": f"{NAME}.log", "Name": "x", "Size": 12, "ModTime": "2026-11-27T10:26:20.123456789Z"}], TIME),
        ([{"name": f"{NAME}.log", "size": "12", "updated": 3}], None),
        (
            {
                "status": "success",
                "type": "file",
                "lastModified": "2026-11-27T10:26:20Z",
                "size": 12,
                "key": f"{NAME}.log",
            },
            TIME,
        ),
        (
            [{"name": f"{NAME}.log", "properties": {"contentLength": 12, "lastModified": "2026-11-27T10:26:20+00:00"}}],
            TIME,
        ),
    ],
)
def test_json_of_the_common_tools(document: Any, time: int | None) -> None:
    """Of aws s3api list-objects, rclone lsjson, gcloud storage objects list, mc ls and az storage blob list."""
    assert list(listed_in_json(document)) == [StoreObject(f"{NAME}.log", 12, time)]


@pytest.mark.parametrize(
    "document",
    [
        {},
        3,
        {"Contents": None},
        [3],
        [{"Path": "x", "Size": 0, "IsDir": True}],
        [{"Key": "x", "Size": -1}],
        [{}],
        {"type": "folder", "key": "x/", "size": 0},
    ],
)
def test_json_without_objects(document: Any) -> None:
    assert list(listed_in_json(document)) == []


@pytest.mark.parametrize("name", ["IsTruncated", "NextToken", "NextContinuationToken", "NextMarker"])
def test_one_page_of_several(name: str) -> None:
    """What other pages list is not missing."""
    assert not list(listed_in_json({"Contents": [], name: None}))
    with pytest.raises(ValueError, match="list all of them"):
        list(listed_in_json({"Contents": [], name: True}))


@pytest.mark.parametrize(
    ("document", "why"),
    [([{"nextMarker": "x"}], "list all of them"), ({"status": "error", "error": {}}, "could not list everything")],
)
def test_a_listing_that_a_tool_did_not_finish(document: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        list(listed_in_json(document))
