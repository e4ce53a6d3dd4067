""".kafka_cleanshutdown: this file exists after a clean shutdown.

It is empty from 0.8 to 3.6 (LogManager). From 3.7 to 4.3.1 it is a JSON object with the broker epoch, which only the
broker's registration uses (CleanShutdownFileHandler).
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from kcheck.formats._contract import Format
from kcheck.model.java import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, java_long
from kcheck.model.names import CLEAN_SHUTDOWN
from kcheck.model.parsed import FOUND_SIZE_MAX, BrokerReads, Defect, Parsed
from kcheck.model.release import Release
from kcheck.records.json_reader import read_json


class CleanShutdown(NamedTuple):
    """The contents of a clean shutdown marker; both fields are None for an empty file."""

    version: int | None = None
    """The version: 0."""
    broker_epoch: int | None = None
    """The epoch under which the broker was registered; -1 from a ZooKeeper broker."""


def parse(data: bytes) -> Parsed[CleanShutdown]:
    """Return the contents; anything that brokers do not write is one defect."""
    if not data:
        return Parsed(value=CleanShutdown())
    value = _read(data)
    if serialize(value) == data:
        return Parsed(value=value)
    accepted = value.broker_epoch is not None
    message = "brokers never write the file in this form" if accepted else "not a JSON object with a brokerEpoch"
    quote = data[:FOUND_SIZE_MAX]
    defect = Defect(message=message, position=0, line=1, column=1, found=quote, accepted=accepted)
    return Parsed(value=value, defects=(defect,))


def serialize(value: CleanShutdown) -> bytes:
    """Return the bytes that a broker writes; without an epoch the file is empty."""
    if value.broker_epoch is None:
        return b""
    return f'{{"version":{value.version or 0},"brokerEpoch":{value.broker_epoch}}}'.encode()


def broker_reads(data: bytes, release: Release) -> BrokerReads[CleanShutdown]:
    """Return the epoch that CleanShutdownFileHandler.read reads, None if it reads none.

    It never fails: content that Jackson cannot read as an object counts as no epoch. Up to 3.6 brokers do not read the
    content.
    """
    return BrokerReads(value=_read(data) if release.writes_broker_epoch_at_stop else CleanShutdown())


def _read(data: bytes) -> CleanShutdown:
    """Read the file as Jackson does with its defaults, which ignores text after the object and coerces numbers."""
    try:
        content: Any = read_json(data.decode("utf-8", "replace"))
        epoch = _coerced(content["brokerEpoch"], LONG_MIN, LONG_MAX)
        version = _coerced(content.get("version"), INT_MIN, INT_MAX)
    except (ValueError, ArithmeticError, LookupError, TypeError, AttributeError):
        return CleanShutdown()
    return CleanShutdown() if epoch is None else CleanShutdown(version or 0, epoch)


def _coerced(value: object, least: int, most: int) -> int | None:
    """Return a number or a text as the number that Jackson reads; None for null and empty text; else ValueError."""
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
    """Return the JSON fields."""
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
