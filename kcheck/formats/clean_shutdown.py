""".kafka_cleanshutdown: its existence says that the last shutdown was clean.

Empty from 0.8 to 3.6 (LogManager); one JSON object with the broker epoch from 3.7 to 4.3.1 (CleanShutdownFileHandler),
which only the broker's registration uses.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from kcheck.formats._contract import Format
from kcheck.formats._jackson import tree
from kcheck.model.java import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, java_long
from kcheck.model.names import CLEAN_SHUTDOWN
from kcheck.model.parsed import FOUND_SIZE_MAX, BrokerReads, Defect, Parsed
from kcheck.model.release import Release


class CleanShutdown(NamedTuple):
    """The version and the broker epoch (-1 from a ZooKeeper broker); both None in an empty file."""

    version: int | None = None
    broker_epoch: int | None = None


def parse(data: bytes) -> Parsed[CleanShutdown]:
    """Return what the file says; content that is neither empty nor such an object is one defect."""
    if not data:
        return Parsed(value=CleanShutdown())
    value = _read(data)
    if serialize(value) == data:
        return Parsed(value=value)
    accepted = value.broker_epoch is not None
    message = "no broker writes the file like this" if accepted else "no JSON object with a brokerEpoch"
    found = data[:FOUND_SIZE_MAX]
    defect = Defect(message=message, position=0, line=1, column=1, found=found, accepted=accepted)
    return Parsed(value=value, defects=(defect,))


def serialize(value: CleanShutdown) -> bytes:
    """Return the file as a broker writes it: empty without an epoch."""
    if value.broker_epoch is None:
        return b""
    return f'{{"version":{value.version or 0},"brokerEpoch":{value.broker_epoch}}}'.encode()


def broker_reads(data: bytes, release: Release) -> BrokerReads[CleanShutdown]:
    """Return the epoch that CleanShutdownFileHandler.read takes from the file, None where it takes none.

    It never fails: content that Jackson cannot make an object of counts as none. Up to 3.6 nobody reads the content.
    """
    return BrokerReads(value=_read(data) if release.writes_broker_epoch_at_stop else CleanShutdown())


def _read(data: bytes) -> CleanShutdown:
    """Read as Jackson does with its defaults: what follows the object is not looked at, numbers are coerced."""
    try:
        found: Any = tree(data.decode("utf-8", "replace"))
        epoch = _coerced(found["brokerEpoch"], LONG_MIN, LONG_MAX)
        version = _coerced(found.get("version"), INT_MIN, INT_MAX)
    except (ValueError, ArithmeticError, LookupError, TypeError, AttributeError):
        return CleanShutdown()
    return CleanShutdown() if epoch is None else CleanShutdown(version or 0, epoch)


def _coerced(value: object, least: int, most: int) -> int | None:
    """Return a number as Jackson makes it of numbers and text; None for null and empty text; else ValueError."""
    match value:
        case None:
            return None
        case bool():
            number = None
        case int() | float():
            number = int(value)
        case str():
            if value.strip() in ("", "null"):
                return None
            number = java_long(value.strip())
        case _:
            number = None
    if number is None or not least <= number <= most:
        raise ValueError(str(value)[:FOUND_SIZE_MAX])
    return number


def row(value: CleanShutdown) -> Mapping[str, object]:
    """Return the fields of JSON."""
    return {"version": value.version, "broker_epoch": value.broker_epoch}


FORMAT = Format(
    kind="clean-shutdown",
    title="Clean shutdown marker",
    matches=CLEAN_SHUTDOWN.__eq__,
    parse=parse,
    serialize=serialize,
    row=row,
    broker_reads=broker_reads,
    reads_row=row,
)
