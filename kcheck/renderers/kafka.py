"""The answer of `kcheck dump` in the lines of kafka-dump-log (DumpLogSegments 4.3.1).

docs/dump.md lists the differences.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any, TextIO

from kcheck.documents.blocks import Made, blocks_of, filled
from kcheck.model.names import FileKind
from kcheck.model.report import Block, Report, Row
from kcheck.renderers._contract import Renderer
from kcheck.renderers._decoded import texts
from kcheck.renderers._json_writer import PrintableJson
from kcheck.screen.options import Options
from kcheck.screen.printable import printable


def render(report: Report, stream: TextIO, options: Options) -> None:
    """Write the lines of each file as they are read."""
    del options
    files: Any = report.body["files"]
    for file in files:
        path = re.sub("/+", "/", printable(file["path"]))
        stream.write(f"Dumping {path}\n")
        _WRITERS[file["kind"]](file, path, stream)


def _segment(file: Row, path: str, stream: TextIO) -> None:
    if file["base_offset"] is not None:
        stream.write(f"Log starting offset: {file['base_offset']}\n")
    _batches(file, path, stream)


def _metadata_snapshot(file: Row, path: str, stream: TextIO) -> None:
    if path.rpartition("/")[2] == FileKind.BOOTSTRAP:
        stream.write("KRaft bootstrap snapshot\n")
    elif file["epoch"] is not None:
        stream.write(f"Snapshot end offset: {file['end_offset']}, epoch: {file['epoch']}\n")
    _batches(file, path, stream)


def _batches(file: Row, path: str, stream: TextIO) -> None:
    batches: Any = file["batches"]
    records = Made(_record_lines)
    for block in blocks_of(batches):
        parts: Any = block.columns.get("records")
        if parts is None:
            stream.writelines(_batch_lines(block))
            continue
        for line, part in zip(_batch_lines(block), parts, strict=True):
            stream.write(line)
            stream.writelines(records.of(part))
    damage: Any = file["damage"]
    for defect in damage:
        if defect["tail"]:
            stream.write(f"Found {defect['size']} invalid bytes at the end of {path.rpartition('/')[2]}\n")


def _batch_lines(block: Block) -> Iterator[str]:
    """Return the lines of batches, which all have magic 0 and 1, or none has."""
    rows = block.columns
    head: dict[str, Iterable[object]] = {"offset": rows["last_offset"]}
    if rows["producer_id"][0] is not None:
        head = {
            "baseOffset": rows["base_offset"],
            "lastOffset": rows["last_offset"],
            "count": rows["count"],
            "baseSequence": rows["base_sequence"],
            "lastSequence": rows["last_sequence"],
            "producerId": rows["producer_id"],
            "producerEpoch": rows["producer_epoch"],
            "partitionLeaderEpoch": rows["leader_epoch"],
            "isTransactional": map(_bool, rows["transactional"]),
            "isControl": map(_bool, rows["control"]),
            "deleteHorizonMs": map(_optional, rows["delete_horizon_ms"]),
        }
    head["position"] = rows["position"]
    tail = {
        "size": rows["size"],
        "magic": rows["magic"],
        "compresscodec": rows["compression"],
        "crc": rows["crc"],
        "isvalid": map(_bool, rows["valid"]),
    }
    template = " ".join([*(f"{name}: %s" for name in head), "%s: %s", *(f"{name}: %s" for name in tail)])
    time = (_or(rows["timestamp_type"], "NoTimestampType"), _or(rows["max_timestamp"], -1))
    return filled(template + "\n", (*head.values(), *time, *tail.values()))


def _record_lines(block: Block) -> Iterator[str]:
    """Return the lines of records of one kind of batch, with key and value if the rows have them."""
    rows: Any = block.columns
    template = "| offset: %s %s: %s keySize: %s valueSize: %s"
    columns = [rows["offset"], _or(rows["timestamp_type"], "NoTimestampType")]
    columns += (_or(rows[name], -1) for name in ("timestamp", "key_size", "value_size"))
    if rows["header_keys"][0] is not None:
        template += " sequence: %s headerKeys: [%s]"
        names = [",".join(map(printable, keys)) if keys else "" for keys in rows["header_keys"]]
        columns += [rows["sequence"], names]
    if rows["crc"][0] is not None:
        template += " isValid: %s crc: %s"
        columns += [map(_bool, rows["valid"]), rows["crc"]]
    if rows["control"][0] is not None:
        template += "%s"
        columns.append(map(_control, rows["control"]))
    elif "decoded_value" in rows:
        said = map(texts, rows["offset"], rows["decoded_key"], rows["decoded_value"], repeat(PrintableJson()))
        template += "%s"
        columns.append(_behind("key", key) + _behind("payload", payload) for key, payload in said)
    elif "key" in rows:
        template += "%s%s"
        columns += [_data("key", rows["key"]), _data("payload", rows["value"])]
    return filled(template + "\n", tuple(columns))


def _data(title: str, column: Sequence[str | None]) -> list[str]:
    return [_behind(title, None if text is None else printable(text)) for text in column]


def _behind(title: str, text: str | None) -> str:
    return "" if text is None else f" {title}: {text}"


def _or(column: Sequence[object], default: object) -> Sequence[object]:
    """Return a column with None replaced."""
    return [default if value is None else value for value in column] if None in column else column


_CONTROLS = {
    "LEADER_CHANGE": "LeaderChange:",
    "SNAPSHOT_HEADER": "SnapshotHeader",
    "SNAPSHOT_FOOTER": "SnapshotFooter",
    "KRAFT_VERSION": "KRaftVersion",
    "KRAFT_VOTERS": "KRaftVoters",
}
_NO_DIRECTORY = "A" * 22


def _control(control: Any) -> str:
    """Return the text of a control record; KRaft's are JSON with the field names of the message schemas."""
    number, name, fields = control["type"], control["name"], dict(control)
    del fields["type"], fields["name"]
    if "coordinator_epoch" in fields:
        return f" endTxnMarker: {name} coordinatorEpoch: {fields['coordinator_epoch']}"
    if name not in _CONTROLS or not fields:
        return f" controlType: {name}({number})"
    if name == "LEADER_CHANGE" and fields["version"] > 0:
        # The tool reads version 0, and writes the version that the record names.
        for voter in (*fields["voters"], *fields["granting_voters"]):
            voter["voter_directory_id"] = _NO_DIRECTORY
    return f" {_CONTROLS[name]} {json.dumps(_camel(fields), ensure_ascii=False, separators=(',', ':'))}"


def _camel(value: object) -> object:
    """Return the value with its field names in camel case, as Kafka writes them."""
    if isinstance(value, Mapping):
        return {re.sub("_(.)", lambda match: match[1].upper(), name): _camel(part) for name, part in value.items()}
    return [_camel(part) for part in value] if isinstance(value, tuple) else value


def _offset_index(file: Row, path: str, stream: TextIO) -> None:
    if not file["count"] and not file["room"]:
        stream.write(f"{path} is empty.\n")
    _index(file, "offset: {offset} position: {position}\n", {"position": 0}, stream)


def _time_index(file: Row, path: str, stream: TextIO) -> None:
    del path
    _index(file, "timestamp: {timestamp} offset: {offset}\n", {"timestamp": 0}, stream)


def _index(file: Row, line: str, zeros: Row, stream: TextIO) -> None:
    """Write the first entry, and later entries up to the first one with the base offset.

    The tool treats that entry as the zeros of a preallocated index.
    """
    base = file["base_offset"] or 0
    if not file["count"] and file["room"]:
        stream.write(line.format_map({"offset": base, **zeros}))
    entries: Any = file["entries"]
    ended = False
    for row in entries:
        ended = ended or (row["entry"] > 0 and row["offset"] == base)
        if not ended:
            stream.write(line.format_map(row))


def _transaction_index(file: Row, path: str, stream: TextIO) -> None:
    """Write the entries; the tool reads only the high byte of the version."""
    del path
    entries: Any = file["entries"]
    stream.writelines(
        f"version: {row['version'] >> 8} producerId: {row['producer_id']} firstOffset: {row['first_offset']}"
        f" lastOffset: {row['last_offset']} lastStableOffset: {row['last_stable_offset']}\n"
        for row in entries
    )


def _producer_snapshot(file: Row, path: str, stream: TextIO) -> None:
    del path
    entries: Any = file["entries"]
    for row in entries:
        if file["valid"]:
            stream.write(_producer(row) + "\n")


def _producer(row: Row) -> str:
    first = row["current_txn_first_offset"]
    last: Any = row["last_offset"]
    begun = first if isinstance(first, int) and first >= 0 else None
    head = (
        f"producerId: {row['producer_id']} producerEpoch: {row['producer_epoch']}"
        f" coordinatorEpoch: {row['coordinator_epoch']} currentTxnFirstOffset: {_optional(begun)}"
        f" lastTimestamp: {row['timestamp']}"
    )
    if last < 0:
        return head
    return (
        f"{head} firstSequence: {row['first_sequence']} lastSequence: {row['last_sequence']} lastOffset: {last}"
        f" offsetDelta: {row['offset_delta']} timestamp: {row['timestamp']}"
    )


def _bool(value: object) -> str:
    return "true" if value else "false"


def _optional(value: object) -> str:
    return "OptionalLong.empty" if value is None else f"OptionalLong[{value}]"


_WRITERS: dict[object, Callable[[Row, str, TextIO], None]] = {
    "segment": _segment,
    "metadata-snapshot": _metadata_snapshot,
    "offset-index": _offset_index,
    "time-index": _time_index,
    "transaction-index": _transaction_index,
    "producer-snapshot": _producer_snapshot,
}


RENDERER = Renderer(name="kafka", render=render, verbs=("dump",))
