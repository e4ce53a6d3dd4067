"""Gathers what a server.properties and a broker's own log, which the user names, tell about its release."""

import re
import zlib
from collections.abc import Iterator

from kcheck.core.release_evidence import Clue, EvidenceKind, line_named
from kcheck.disk.read import opened
from kcheck.errors import UsageError
from kcheck.model.source import Source
from kcheck.model.unreadable import UnreadableError
from kcheck.views.targets import read_properties

_VERSION = re.compile(rb"Kafka version ?: ([0-9][0-9.]{1,15})")
"""AppInfoParser; up to 2.0 with a space before the colon."""
_VERSION_SIZE_MAX = 40
"""The largest size of a hit at the border of two parts."""
_PART_SIZE = 1 << 20
_LOG_SIZE_MAX = 64 << 20
"""How many bytes are searched: of a plain log the last ones, of a compressed one the first ones."""
_GZIP_MAGIC = b"\x1f\x8b"
_GZIP = 16 + zlib.MAX_WBITS


def of_config(path: str, broker_id: int | None = None) -> Iterator[Clue]:
    """Yield what a server.properties says; UsageError if it cannot be read."""
    settings = read_properties(path)
    roles = settings.get("process.roles", "").strip()
    yield Clue(EvidenceKind.PROCESS_ROLES if roles else EvidenceKind.NO_PROCESS_ROLES, path, broker_id)
    protocol = line_named(settings.get("inter.broker.protocol.version", "").strip())
    if protocol is not None:
        yield Clue(EvidenceKind.PROTOCOL, path, broker_id, first=protocol)


def of_broker_log(path: str) -> Iterator[Clue]:
    """Yield the version of the last start in a broker's log, plain or .gz; UsageError if it cannot be read."""
    version = None
    try:
        with opened(path, follow=True) as source:
            kept = b""
            for part in _parts(source):
                data = kept + part
                version = next((hit[1] for hit in reversed([*_VERSION.finditer(data)])), version)
                kept = data[-_VERSION_SIZE_MAX:]
    except UnreadableError as error:
        raise UsageError(f"{path}: {error}") from error
    line = None if version is None else line_named(version.decode())
    if line is None:
        raise UsageError(f'{path}: no line "Kafka version: ..." of a known release')
    yield Clue(EvidenceKind.BROKER_LOG, path, first=line, last=line)


def _parts(source: Source) -> Iterator[bytes]:
    """Yield a log part by part, decompressed; damage ends it."""
    if source.pread(len(_GZIP_MAGIC), 0) != _GZIP_MAGIC:
        for at in range(max(0, source.size - _LOG_SIZE_MAX), source.size, _PART_SIZE):
            yield source.pread(_PART_SIZE, at)
        return
    inflate, left, at = zlib.decompressobj(_GZIP), _LOG_SIZE_MAX, 0
    rest = b""
    while left > 0:
        if not rest:
            rest = source.pread(_PART_SIZE, at)
            at += len(rest)
        try:
            part = inflate.decompress(rest, _PART_SIZE)
        except zlib.error:
            return
        if not rest and not part:
            return
        left -= len(part)
        rest = inflate.unconsumed_tail or inflate.unused_data
        if inflate.eof:
            inflate = zlib.decompressobj(_GZIP)
        yield part
