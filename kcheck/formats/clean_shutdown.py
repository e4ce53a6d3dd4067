""".kafka_cleanshutdown: its existence says that the last shutdown was clean (CleanShutdownFileHandler).

Empty up to 3.6; from 3.7 one JSON object with the broker epoch, which only the registration uses.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from kcheck.formats._contract import Format
from kcheck.model.names import CLEAN_SHUTDOWN
from kcheck.model.parsed import FOUND_SIZE_MAX, BrokerReads, Defect, Parsed
from kcheck.model.release import Release


@dataclass(frozen=True, slots=True)
class CleanShutdown:
    """The version and broker epoch; both None in an empty file."""

    version: int | None = None
    broker_epoch: int | None = None


def parse(data: bytes) -> Parsed[CleanShutdown]:
    """Return what the file says; content that is neither empty nor such an object is one defect."""
    if not data:
        return Parsed(value=CleanShutdown())
    value = _read(data)
    if value is None:
        defect = Defect(message="no JSON object with a brokerEpoch", position=0, line=1, column=1,
                        found=data[:FOUND_SIZE_MAX])  # fmt: skip
        return Parsed(value=CleanShutdown(), defects=(defect,))
    return Parsed(value=value)


def serialize(value: CleanShutdown) -> bytes:
    """Return the file as a broker writes it: empty without an epoch."""
    if value.broker_epoch is None:
        return b""
    return f'{{"version":{value.version or 0},"brokerEpoch":{value.broker_epoch}}}'.encode()


def broker_reads(data: bytes, release: Release) -> BrokerReads[CleanShutdown]:
    """Return the broker epoch that the broker takes from the file; None where it takes none. It never fails."""
    value = _read(data) if release.version >= (3, 7) else None
    return BrokerReads(value=value or CleanShutdown())


def _read(data: bytes) -> CleanShutdown | None:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    epoch = found.get("brokerEpoch") if isinstance(found, dict) else None
    if not isinstance(epoch, int) or isinstance(epoch, bool):
        return None
    version = found.get("version")
    return CleanShutdown(version if isinstance(version, int) else None, epoch)


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
