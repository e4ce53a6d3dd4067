r"""meta.properties: who a log dir belongs to (BrokerMetadataCheckpoint 0.9 to 3.6, MetaProperties 3.7 to 4.3.1).

The file is a java.util.Properties text: comments, `key=value`, `\` escapes, ISO-8859-1.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from kcheck.formats._contract import Format
from kcheck.model.java import INT_MAX, java_int, java_lines
from kcheck.model.names import META_PROPERTIES
from kcheck.model.parsed import FOUND_SIZE_MAX, BrokerReads, Defect, Parsed
from kcheck.model.release import Release

_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_TRIMMED = "".join(map(chr, range(0x21)))
"""What String.trim takes away."""
_WELL_ESCAPED = re.compile(r"(?:[^\\]|\\[^u]|\\u[0-9a-fA-F]{4})*+", re.DOTALL)
_UUID = re.compile(r"[A-Za-z0-9_-]{22}(?:==)?")
_KEY_VALUE = re.compile(r"((?:[^\\=: \t\f]|\\.)*)(?:[ \t\f]*[=:]?[ \t\f]*)((?:.|\n)*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class MetaProperties:
    """The properties in file order (of a repeated key the last), with the comment lines as they stand before them."""

    properties: Mapping[str, str]
    comments: tuple[str, ...] = field(default=())

    def number(self, key: str) -> int | None:
        """Return a property as Java reads an int, None where it is absent or no number."""
        return java_int(self.properties.get(key, ""))

    @property
    def version(self) -> int:
        """The version: 0 where the file names none (trimmed, as the broker does)."""
        return java_int(self.properties.get("version", "0").strip(_TRIMMED)) or 0

    @property
    def broker_id(self) -> int | None:
        """node.id of version 1, broker.id of version 0."""
        return self.number("node.id" if self.version >= 1 else "broker.id")


def properties(data: bytes) -> dict[str, str]:
    """Return what java.util.Properties.load reads; a bad Unicode escape stays as it stands."""
    found: dict[str, str] = {}
    for _, line in _logical_lines(data.decode("iso-8859-1")):
        match = _KEY_VALUE.fullmatch(line)
        assert match is not None
        found[_unescaped(match[1])] = _unescaped(match[2])
    return found


def _logical_lines(text: str) -> list[tuple[int, str]]:
    """Return (number of the first line, text) of lines that are no comments, with continued lines joined."""
    lines: list[tuple[int, str]] = []
    pending: list[str] = []
    start = 0
    for number, raw in enumerate(java_lines(text), 1):
        line = raw.lstrip(" \t\f")
        if not "".join(pending) and (not line or line[0] in "#!"):
            pending = []  # a line that continues nothing is a new one
            continue
        start = start if pending else number
        slashes = len(line) - len(line.rstrip("\\"))
        if slashes % 2:
            pending.append(line[:-1])
            continue
        lines.append((start, "".join([*pending, line])))
        pending = []
    if pending:
        lines.append((start, "".join(pending)))
    return lines


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text

    def one(match: re.Match[str]) -> str:
        if match[1]:
            return chr(int(match[1], 16))
        return _ESCAPES.get(match[2], match[2])

    units = re.sub(r"\\(?:u([0-9a-fA-F]{4})|(.))", one, text, flags=re.DOTALL)
    return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def parse(data: bytes) -> Parsed[MetaProperties]:
    """Return the properties, and what keeps the newest broker from reading them."""
    text = data.decode("iso-8859-1")
    comments = tuple(line for line in java_lines(text) if line[:1] == "#")
    value = MetaProperties(properties(data), comments)
    problem = _problem(value.properties, strict_directory=True)
    defects: list[Defect] = []
    if not value.properties:
        words = "no property at all" + (": only zero bytes" if data and not data.strip(b"\0") else "")
        defects.append(Defect(message=words, line=1, column=1, position=0, found=data[:FOUND_SIZE_MAX]))
    elif problem:
        key, words = problem
        number = next((n for n, line in _logical_lines(text) if line.startswith(key)), 1)
        at = sum(len(line) + 1 for line in text.split("\n")[: number - 1])
        found = data[at : at + FOUND_SIZE_MAX].split(b"\n")[0]
        defects.append(Defect(message=words, line=number, column=1, position=at, found=found))
    return Parsed(value=value, defects=tuple(defects))


def serialize(value: MetaProperties) -> bytes:
    """Return the file as java.util.Properties.store writes it: comments, then the properties in their order."""
    lines = [*value.comments, *(f"{key}={_escaped(text)}" for key, text in value.properties.items()), ""]
    return "\n".join(lines).encode("iso-8859-1")


def _escaped(text: str) -> str:
    return re.sub(r"([\\=:#!])", r"\\\1", text)


def _problem(found: Mapping[str, str], *, strict_directory: bool) -> tuple[str, str] | None:
    """Return (key, what is wrong with it) as MetaPropertiesVersion and MetaProperties.Builder read them."""
    version = java_int(found.get("version", "0").strip(_TRIMMED))
    if version not in (0, 1):
        return "version", f'version "{found["version"]}" is not known, only 0 and 1 are'
    own = "node.id" if version == 1 else "broker.id"
    if (version == 1 or own in found) and java_int(found.get(own, "")) is None:
        return own, f"{own} is missing" if own not in found else f'{own} "{found[own]}" is no number'
    if version == 1 and "cluster.id" not in found:
        return "cluster.id", "cluster.id is missing"
    directory = found.get("directory.id")
    if strict_directory and directory is not None and not _UUID.fullmatch(directory):
        return "directory.id", f'directory.id "{directory}" is no base64 of 16 bytes'
    return None


def broker_reads(data: bytes, release: Release) -> BrokerReads[MetaProperties]:
    """Return the properties as the broker of this release reads them, or the exception its reader throws.

    3.7 and later: MetaProperties; 2.8 to 3.6: RawMetaProperties reads any properties and fails only when they are
    used; before 2.8 the version is required and must be 0 (BrokerMetadataCheckpoint).
    """
    found = properties(data)
    if not all(_WELL_ESCAPED.fullmatch(line) for _, line in _logical_lines(data.decode("iso-8859-1"))):
        return BrokerReads(value=None, error="IllegalArgumentException")
    error = None
    if release.version >= (3, 7):
        error = "RuntimeException" if _problem(found, strict_directory=True) else None
    elif release.version < (2, 8):
        found = {key: text.strip(_TRIMMED) for key, text in found.items()}
        error = _required(found, "version", most=0) or _required(found, "broker.id", most=INT_MAX)
    return BrokerReads(value=None, error=error) if error else BrokerReads(value=MetaProperties(found))


def _required(found: Mapping[str, str], key: str, *, most: int) -> str | None:
    """Return what VerifiableProperties.getIntInRange throws, or BrokerMetadataCheckpoint for a higher version."""
    if key not in found:
        return "IllegalArgumentException"
    number = java_int(found[key])
    if number is None:
        return "NumberFormatException"
    if number < 0:
        return "IllegalArgumentException"
    return "IOException" if number > most else None


def row(value: MetaProperties) -> Mapping[str, object]:
    """Return the fields of JSON."""
    found = value.properties
    return {
        "version": value.version,
        "broker_id": value.broker_id,
        "cluster_id": found.get("cluster.id"),
        "directory_id": found.get("directory.id"),
        "properties": dict(found),
    }


FORMAT = Format(
    kind="meta-properties",
    title="Identity of a log dir",
    matches=META_PROPERTIES.__eq__,
    parse=parse,
    serialize=serialize,
    row=row,
    broker_reads=broker_reads,
    reads_row=lambda value: {"properties": dict(value.properties)},
)
