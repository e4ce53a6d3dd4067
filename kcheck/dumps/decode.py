"""What the records of internal topics say, as fields of their rows: `kcheck dump --decode`."""

from kcheck.dumps.filter import Decode, DumpDetail
from kcheck.errors import UsageError
from kcheck.formats._messages.records import DECODERS, Message
from kcheck.formats._record import Data
from kcheck.model.report import Row


def with_decoded(shown: DumpDetail, kind: str) -> DumpDetail:
    """Return the same, with these fields in the row of each record; UsageError where no topic is of this kind."""
    if kind not in DECODERS:
        raise UsageError(f"--decode {kind} is not known; known are {', '.join(DECODERS)}")
    return shown._replace(records=True, decode=_decoding(kind))


def _decoding(kind: str) -> Decode:
    decode = DECODERS[kind]

    def rows(key: Data | None, value: Data | None) -> tuple[Row | None, Row | None]:
        key, value = (None if data is None else bytes(data) for data in (key, value))
        message = decode(key, value)
        return _row(message.key, key), _row(message.value, value)

    return rows


def _row(message: Message | None, data: bytes | None) -> Row | None:
    return None if message is None else message.row(data or b"")
