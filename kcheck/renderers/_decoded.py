"""Decoded records as kafka-dump-log writes them (DumpLogSegments 4.3.1: CoordinatorRecordMessageParser and others)."""

import re
from typing import Any

from kcheck.renderers._json_writer import PrintableJson, jackson, printable_json
from kcheck.renderers._remote_metadata import remote_metadata


def texts(offset: object, key: Any, value: Any, json: PrintableJson) -> tuple[str | None, str | None]:
    """Return the texts after `key: ` and `payload: `; None for an unwritten one.

    `key` and `value` are rows of `Message`, None if the record has none. Metadata records never have a key; coordinator
    records always have one, even if it is corrupt.
    """
    if key is None:
        remote = str(value.get("name")).startswith("Remote")
        return None, remote_metadata(offset, value) if remote else _metadata(offset, value)
    problem = next((row for row in (key, value) if row is not None and "problem" in row), None)
    if problem is not None:
        return _problem(offset, key, problem), None
    said = f'{{"type":"{key["type"]}","data":{json.of(key["data"])}}}'
    if value is None:
        return said, "<DELETE>"
    return said, f'{{"version":"{value["version"]}","data":{printable_json(jackson(value["data"]))}}}'


def _problem(offset: object, key: Any, row: Any) -> str:
    if row["damaged"]:
        return f"Error at offset {offset}, skipping. {row['problem']}"
    if row is key:
        return f"Unknown record type {row['type']} at offset {offset}, skipping."
    unknown = f"Found an unknown record version {row['version']} for {key['type']} type"
    return f"Error at offset {offset}, skipping. {unknown}"


def _metadata(offset: object, row: Any) -> str:
    if "problem" in row:
        return f"Error at {offset}, skipping. {row['problem']}"
    kind = re.sub("(?<=.)(?=[A-Z])", "_", row["name"]).upper()
    return printable_json(jackson({"type": kind, "version": row["version"], "data": row["data"]}))
