"""The lines that kafka-dump-log writes to its standard output, for the answer of `kcheck dump` (DumpLogSegments 4.3.1).

docs/dump.md tells where they differ.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, TextIO

from kcheck.model.report import Report, Row
from kcheck.renderers._contract import Options, Renderer
from kcheck.renderers._decoded import texts
from kcheck.renderers._printable import printable


def render(report: Report, stream: TextIO, options: Options) -> None:
    """Write the lines of each file, one by one as they are read."""
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
    if path.rpartition("/")[2] == _BOOTSTRAP:
        stream.write("KRaft bootstrap snapshot\n")
    elif file["epoch"] is not None:
        stream.write(f"Snapshot end offset: {file['end_offset']}, epoch: {file['epoch']}\n")
    _batches(file, path, stream)


def _batches(file: Row, path: str, stream: TextIO) -> None:
    batches: Any = file["batches"]
    for batch in batches:
        stream.write(_batch(batch))
        stream.writelines(_record(record, batch) for record in batch.get("records", ()))
    damage: Any = file["damage"]
    for found in damage:
        if found["tail"]:
            stream.write(f"Found {found['size']} invalid bytes at the end of {path.rpartition('/')[2]}\n")


def _batch(row: Row) -> str:
    if row["producer_id"] is None:
        head = f"offset: {row['last_offset']}"
    else:
        head = (
            f"baseOffset: {row['base_offset']} lastOffset: {row['last_offset']} count: {row['count']}"
            f" baseSequence: {row['base_sequence']} lastSequence: {row['last_sequence']}"
            f" producerId: {row['producer_id']} producerEpoch: {row['producer_epoch']}"
            f" partitionLeaderEpoch: {row['leader_epoch']} isTransactional: {_bool(row['transactional'])}"
            f" isControl: {_bool(row['control'])} deleteHorizonMs: {_optional(row['delete_horizon_ms'])}"
        )
    timestamp = -1 if row["max_timestamp"] is None else row["max_timestamp"]
    return (
        f"{head} position: {row['position']} {row['timestamp_type'] or 'NoTimestampType'}: {timestamp}"
        f" size: {row['size']} magic: {row['magic']} compresscodec: {row['compression']} crc: {row['crc']}"
        f" isvalid: {_bool(row['valid'])}\n"
    )


def _record(row: Row, batch: Row) -> str:
    """Return the line of a record, with its key and value where the row has them."""
    timestamp = -1 if row["timestamp"] is None else row["timestamp"]
    sizes = (-1 if row[name] is None else row[name] for name in ("key_size", "value_size"))
    line = "| offset: {} {}: {} keySize: {} valueSize: {}".format(
        row["offset"], row["timestamp_type"] or "NoTimestampType", timestamp, *sizes
    )
    names: Any = row["header_keys"]
    if names is not None:
        line += f" sequence: {row['sequence']} headerKeys: [{','.join(map(printable, names))}]"
    if row["crc"] is not None:
        line += f" isValid: {_bool(row['valid'])} crc: {row['crc']}"
    if row["control"] is not None:
        line += _control(row["control"])
    elif "decoded_value" in row:
        said = texts(row["offset"], row["decoded_key"], row["decoded_value"])
        line += "".join(
            f" {title}: {text}" for title, text in zip(("key", "payload"), said, strict=True) if text is not None
        )
    elif batch["control"] is not True:
        for name, title in (("key", "key"), ("value", "payload")):
            if row.get(name) is not None:
                line += f" {title}: {printable(row[name])}"
    return line + "\n"


_CONTROLS = {
    "LEADER_CHANGE": "LeaderChange:",
    "SNAPSHOT_HEADER": "SnapshotHeader",
    "SNAPSHOT_FOOTER": "SnapshotFooter",
    "KRAFT_VERSION": "KRaftVersion",
    "KRAFT_VOTERS": "KRaftVoters",
}
_NO_DIRECTORY = "A" * 22


def _control(control: Any) -> str:
    """Return what a control record says; the values of KRaft's are JSON with the names of the message schemas."""
    number, name, fields = control["type"], control["name"], dict(control)
    del fields["type"], fields["name"]
    if "coordinator_epoch" in fields:
        return f" endTxnMarker: {name} coordinatorEpoch: {fields['coordinator_epoch']}"
    if name not in _CONTROLS or not fields:
        return f" controlType: {name}({number})"
    if name == "LEADER_CHANGE" and fields["version"] > 0:
        # Version 0 is read, and the version that the record names is written.
        for voter in (*fields["voters"], *fields["granting_voters"]):
            voter["voter_directory_id"] = _NO_DIRECTORY
    return f" {_CONTROLS[name]} {json.dumps(_camel(fields), ensure_ascii=False, separators=(',', ':'))}"


def _camel(value: Any) -> Any:
    """Return the same with the names of its fields as Kafka writes them."""
    if isinstance(value, Mapping):
        return {re.sub("_(.)", lambda found: found[1].upper(), name): _camel(part) for name, part in value.items()}
    return [_camel(part) for part in value] if isinstance(value, tuple) else value


def _offset_index(file: Row, path: str, stream: TextIO) -> None:
    if not file["count"] and not file["room"]:
        stream.write(f"{path} is empty.\n")
    _index(file, "offset: {offset} position: {position}\n", {"position": 0}, stream)


def _time_index(file: Row, path: str, stream: TextIO) -> None:
    del path
    _index(file, "timestamp: {timestamp} offset: {offset}\n", {"timestamp": 0}, stream)


def _index(file: Row, line: str, zeros: Row, stream: TextIO) -> None:
    """Write the entries up to the first that stands for the base offset: zeros that a broker keeps, to the tool.

    The first entry is written whatever it is.
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
    """Write the entries; of the version the tool reads the high byte alone."""
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


_BOOTSTRAP = "bootstrap.checkpoint"

RENDERER = Renderer(name="kafka", render=render, verbs=("dump",))
