"""`kcheck dump --records`: the rows of the records in a batch."""

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from itertools import chain

from kcheck.dumps.filter import DumpDetail, Filter
from kcheck.dumps.open_file import File
from kcheck.model.java import java_text
from kcheck.model.report import Column, Row
from kcheck.model.source import JudgedSource
from kcheck.records import control_record
from kcheck.records.decompressed import Bytes
from kcheck.records.record import BODY_SIZE_MAX, Record, RecordHeader, Unread, read_records
from kcheck.tables import records

DATA_COLUMNS = ("key", "value", "headers", "escaped")
"""The additional columns of --print-data."""
DECODED_COLUMNS = ("decoded_key", "decoded_value")
"""The additional columns of --decode."""
_WRITE: Mapping[str, Callable[[Bytes], str]] = {
    "utf8": lambda data: str(data, "utf-8"),
    "hex": lambda data: data.hex(),
    "base64": lambda data: b64encode(data).decode(),
}
DATA = tuple(_WRITE)
"""The encodings of --print-data."""


def columns(shown: DumpDetail) -> tuple[Column, ...]:
    """Return the columns of the table of records."""
    hidden = (*(() if shown.data else DATA_COLUMNS), *(() if shown.decode else DECODED_COLUMNS))
    return tuple(column for column in records.TABLE.columns if column.name not in hidden)


def first_known(batch: Row) -> object:
    """Return the offset that identifies a batch in messages; a wrapper's header has only its last."""
    return batch["last_offset"] if batch["base_offset"] is None else batch["base_offset"]


def record_rows(file: File, batch: Row, wanted: Filter, shown: DumpDetail) -> Iterator[Row]:
    """Yield a row per selected record of a batch; report unreadable ones."""
    position, size = _place(batch)
    nested = batch["producer_id"] is None and batch["compression"] != "none"
    where = f"of the batch at offset {first_known(batch)}"
    for record in _read(file, position, size):
        if isinstance(record, Unread):
            place = f"byte {record.position} of its records"
            message = f"record {record.number} {where} is unreadable at {place}: {record.message}"
            file.tell(position, size, f"the records {where} are not in the bundle" if _in_bundle(file) else message)
            return
        if nested and not record.valid:
            file.tell(position, size, f"the CRC of the message at offset {record.offset} in a wrapper does not match")
        control = control_record.parse(record.key, record.value) if batch["control"] else None
        if control is not None and control.problem is not None:
            file.tell(position, size, f"the control record at offset {record.offset}: {control.problem}")
        if wanted.wants_record(record):
            row = _row(batch, record, control, shown)
            for name in DECODED_COLUMNS:
                problem = problem_of(row.get(name))
                if problem is not None:
                    file.tell(position, size, f"the record at offset {record.offset} cannot be decoded: {problem}")
            yield row


def problem_of(said: object) -> object:
    """Return the defect of decoded data, or None."""
    return said["problem"] if isinstance(said, dict) and said.get("damaged") else None


def has_damage(file: File, batch: Row) -> bool:
    """Return whether a record of a batch is unreadable, or has a CRC that does not match."""
    return any(
        not _in_bundle(file)
        if isinstance(record, Unread)
        else record.valid is False
        or (batch["control"] and control_record.parse(record.key, record.value).problem is not None)
        for record in _read(file, *_place(batch))
    )


def _in_bundle(file: File) -> bool:
    """Return whether a file is in a bundle, which has only a few records."""
    return isinstance(file.source, JudgedSource)


def _place(batch: Row) -> tuple[int, int]:
    position, size = batch["position"], batch["size"]
    assert isinstance(position, int)
    assert isinstance(size, int)
    return position, size


def _read(file: File, position: int, size: int) -> Iterator[Record | Unread]:
    if size > BODY_SIZE_MAX:
        yield Unread(0, 0, f"a batch of {size} bytes is too large; kcheck reads at most {BODY_SIZE_MAX}")
        return
    try:
        data = file.source.pread(size, position)
    except OSError as error:  # Rows of records are read by the renderer, far from the `with` of the file.
        file.read_error = error
        yield Unread(0, 0, f"the file cannot be read: {error.strerror}")
        return
    if len(data) < size:
        yield Unread(0, 0, "the file was truncated while kcheck read it")
        return
    yield from read_records(data)


def _row(batch: Row, record: Record, control: control_record.ControlRecord | None, shown: DumpDetail) -> Row:
    modern = batch["producer_id"] is not None
    row: dict[str, object] = {
        "batch_position": batch["position"],
        "offset": record.offset,
        "timestamp_type": batch["timestamp_type"],
        "timestamp": record.timestamp,
        "key_size": _size(record.key, record.stated[0], shown),
        "value_size": _size(record.value, record.stated[1], shown),
        "sequence": record.sequence if modern else None,
        "header_keys": header_names(record.headers, shown) if modern else None,
        "crc": record.crc,
        "valid": record.valid,
        "control": None,
    }
    if control is not None:
        row["control"] = {"type": control.type, "name": control.name, **control.fields}
    if shown.data is not None:
        row |= _data(record, shown)
    if shown.decode is not None and control is None:
        row |= zip(DECODED_COLUMNS, shown.decode(record.key, record.value), strict=True)
    return row


def _size(data: Bytes | None, stated: int | None, shown: DumpDetail) -> int | None:
    """Return the size of a key or value; for a null None, or as Java shows it the negative size."""
    null = stated if shown.java else None
    return null if data is None else len(data)


def _data(record: Record, shown: DumpDetail) -> Row:
    """Return key, value and headers as text; `escaped` names the parts with escaped bytes (invalid UTF-8)."""
    key, key_escaped = _nullable(record.key, shown)
    value, value_escaped = _nullable(record.value, shown)
    headers, headers_escaped = header_rows(record.headers, shown)
    flags = (key_escaped, value_escaped, headers_escaped)
    escaped = tuple(part for part, flag in zip(("key", "value", "headers"), flags, strict=True) if flag)
    return {"key": key, "value": value, "headers": headers, "escaped": escaped}


def header_names(headers: tuple[RecordHeader, ...], shown: DumpDetail) -> tuple[str, ...]:
    """Return the names of headers."""
    return tuple(_text(bytes(name), shown)[0] for name, _ in headers)


def header_rows(headers: tuple[RecordHeader, ...], shown: DumpDetail) -> tuple[tuple[Row, ...], bool]:
    """Return headers as rows, and whether a byte is escaped."""
    headers_with_flags = [(_text(bytes(name), shown), _nullable(content, shown)) for name, content in headers]
    rows = tuple({"key": name, "value": content} for (name, _), (content, _) in headers_with_flags)
    return rows, any(flag for _, flag in chain.from_iterable(headers_with_flags))


def texts(column: list[Bytes | None], shown: DumpDetail) -> tuple[list[str | None], set[int]]:
    """Return keys or values as text, and which of them have escaped bytes."""
    assert shown.data is not None
    write = _WRITE[shown.data]
    try:
        return [None if data is None else write(data) for data in column], set()
    except UnicodeDecodeError:
        texts_with_flags = [_nullable(data, shown) for data in column]
        return [text for text, _ in texts_with_flags], {
            number for number, (_, flag) in enumerate(texts_with_flags) if flag
        }


def _nullable(data: Bytes | None, shown: DumpDetail) -> tuple[str | None, bool]:
    if data is None:
        return None, False
    if shown.data == "utf8":
        return _text(bytes(data), shown)
    return _WRITE[str(shown.data)](data), False


def _text(data: bytes, shown: DumpDetail) -> tuple[str, bool]:
    r"""Return text, and whether it has escapes: `\xff` for a byte that is not UTF-8, `\\` for a backslash."""
    if shown.java:
        return java_text(data), False
    try:
        return data.decode(), False
    except UnicodeDecodeError:
        return data.replace(b"\\", rb"\\").decode(errors="backslashreplace"), True
