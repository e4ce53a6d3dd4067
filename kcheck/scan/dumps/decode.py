"""What the records of internal topics say, as fields of their rows: `kcheck dump --decode`."""

from collections.abc import Callable

from kcheck.errors import UsageError
from kcheck.formats._messages.records import DECODERS, Message
from kcheck.formats._record import Record
from kcheck.model.report import Row
from kcheck.scan.dumps.filter import Shown

_DECODED = ("decoded_key", "decoded_value")
"""The fields: rows of `Message`, None where a record has no key or no value."""


def with_decoded(shown: Shown, kind: str) -> Shown:
    """Return the same, with these fields in the row of each record; UsageError where no topic is of this kind."""
    if kind not in DECODERS:
        raise UsageError(f"--decode {kind} is not known; known are {', '.join(DECODERS)}")
    return shown._replace(records=True, decode=_decoding(kind), decoded=_DECODED)


def _decoding(kind: str) -> Callable[[Record], Row]:
    decode = DECODERS[kind]

    def fields(record: Record) -> Row:
        halves = [None if data is None else bytes(data) for data in (record.key, record.value)]
        found = zip(_DECODED, decode(*halves), halves, strict=True)
        return {name: _row(message, data) for name, message, data in found}

    return fields


def _row(message: Message | None, data: bytes | None) -> Row | None:
    return None if message is None else message.row(data or b"")
