"""`kcheck dump --decode`: decodes the records of internal topics into fields of their rows."""

from kcheck.dumps.filter import Decode, DumpDetail
from kcheck.errors import UsageError
from kcheck.model.report import Row
from kcheck.records.record import Data
from kcheck.schemas.records import DECODERS, Message


def with_decoded(shown: DumpDetail, kind: str) -> DumpDetail:
    """Return the detail with decoded records; UsageError for an unknown kind of topic."""
    if kind not in DECODERS:
        raise UsageError(f"--decode {kind}: not one of {', '.join(DECODERS)}")
    return shown._replace(records=True, decode=_decoding(kind))


def _decoding(kind: str) -> Decode:
    decode = DECODERS[kind]

    def rows(key: Data | None, value: Data | None) -> tuple[Row | None, Row | None]:
        key, value = None if key is None else bytes(key), None if value is None else bytes(value)
        message = decode(key, value)
        return _row(message.key, key), _row(message.value, value)

    return rows


def _row(message: Message | None, data: bytes | None) -> Row | None:
    return None if message is None else message.row(data or b"")
