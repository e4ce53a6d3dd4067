"""Reads the objects in listings of common tools (lines, CSV and JSON)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from kcheck.model.remote_log import StoreObject

_TIME = r"(?P<time>\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)"
_LINES = tuple(
    map(
        re.compile,
        (
            rf"(?P<key>.+);(?P<size>\d+)(?:;{_TIME})?",  # rclone lsf --format ps or pst
            r"(?P<key>.+)\t(?P<size>\d+)",  # find -printf '%p\\t%s\\n'
            rf'"[^"]*","(?P<key>[^"]+)","(?P<size>\d+)"(?:,"{_TIME}")?.*',  # S3 Inventory, CSV
            rf"{_TIME} +(?P<size>\d+) +(?P<key>.+)",  # aws s3 ls --recursive, s3cmd ls
            rf" *(?P<size>\d+) +{_TIME} +(?P<key>.+)",  # gsutil ls -l, gcloud storage ls -l, rclone lsl
            r" *(?P<size>\d+) (?P<key>.+)",  # rclone ls
        ),
    )
)
_KEYS, _SIZES = ("Key", "Path", "name", "key"), ("Size", "size", "contentLength")
_MORE = ("IsTruncated", "NextToken", "NextContinuationToken", "NextMarker", "nextMarker")
_TIMES = ("LastModified", "ModTime", "updated", "lastModified")


def listed_object(line: str) -> StoreObject | None:
    """Return the object in a line of a listing by find, aws, gsutil, gcloud, s3cmd, rclone; None for other lines."""
    for form in _LINES:
        match = form.fullmatch(line)
        if match is not None:
            return StoreObject(match["key"], int(match["size"]), time_ms(match.groupdict().get("time")))
    return None


def listed_in_json(document: Any) -> Iterator[StoreObject]:
    """Yield the objects of aws s3api, rclone lsjson, gcloud, az storage blob list, or a line of mc ls --json.

    ValueError if it is one page of several, or an error of mc.
    """
    rows = document.get("Contents", [document]) if isinstance(document, Mapping) else document
    rows = [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []
    pages = (document, *rows) if isinstance(document, Mapping) else rows
    if any(row.get(name) for row in pages for name in _MORE):
        raise ValueError("one page of several: list all of them")
    if any(row.get("status") == "error" for row in pages):
        raise ValueError("the tool could not list everything")
    for row in rows:
        details = row.get("properties")
        key, values = _first(row, _KEYS), details if isinstance(details, Mapping) else row
        size = _first(values, _SIZES)
        if isinstance(key, str) and str(size).isdecimal() and not row.get("IsDir") and row.get("type") != "folder":
            yield StoreObject(key, int(str(size)), time_ms(_first(values, _TIMES)))


def _first(row: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((row[name] for name in names if name in row), None)


def time_ms(text: object) -> int | None:
    """Return a time in ms since 1970, UTC without a zone; None if it is not one."""
    if not isinstance(text, str):
        return None
    try:
        time = datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", text))
    except ValueError:
        return None
    return int((time if time.tzinfo is not None else time.replace(tzinfo=UTC)).timestamp()) * 1000
