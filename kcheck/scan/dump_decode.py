"""What the records of internal topics say, as fields of their rows: `kcheck dump --decode`."""

from collections.abc import Callable

from kcheck.formats._messages.records import DECODERS, Message
from kcheck.formats._record import Record
from kcheck.model.report import Row

DECODED = ("decoded_key", "decoded_value")
"""The fields: rows of `Message`, None where a record has no key or no value."""

KINDS = tuple(DECODERS)


def decoding(kind: str) -> Callable[[Record], Row]:
    """Return what gives these fields of a record; `kind` is one of `KINDS`."""
    decode = DECODERS[kind]

    def fields(record: Record) -> Row:
        halves = [None if data is None else bytes(data) for data in (record.key, record.value)]
        found = zip(DECODED, decode(*halves), halves, strict=True)
        return {name: _row(message, data) for name, message, data in found}

    return fields


def problems(row: Row) -> list[str]:
    """Return what is damaged in the key and the value of the row of a record."""
    found = (row.get(name) for name in DECODED)
    return [str(each["problem"]) for each in found if isinstance(each, dict) and each.get("damaged")]


def _row(message: Message | None, data: bytes | None) -> Row | None:
    return None if message is None else message.row(data or b"")
