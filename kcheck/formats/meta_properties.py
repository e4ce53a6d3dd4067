"""meta.properties, with the broker and the cluster of a log dir.

Kafka classes: BrokerMetadataCheckpoint 0.9 to 2.7, RawMetaProperties 2.8 to 3.6, MetaProperties 3.7 to 4.3.1. Version 0
has broker.id. In 3.6 and earlier the version line may be absent in ZooKeeper mode too. Version 1 (KRaft, 2.8 and later)
has node.id. cluster.id exists in 2.4 and later, directory.id in 3.7 and later.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from kcheck.formats._contract import Format
from kcheck.formats._properties import Property, comments, load, store
from kcheck.model.java import INT_MAX, java_int
from kcheck.model.names import META_PROPERTIES
from kcheck.model.parsed import FOUND_SIZE_MAX, BrokerReads, Defect, Parsed
from kcheck.model.release import Release

_TRIMMED = "".join(map(chr, range(0x21)))
"""The characters that Java's String.trim removes."""
_UUID = re.compile(r"[A-Za-z0-9_-]{22}(?:==)?")


class MetaProperties(NamedTuple):
    """The contents of a meta.properties."""

    properties: Mapping[str, str]
    """The value of each key, in file order; the last value of a repeated key."""
    comments: tuple[str, ...] = ()
    """The comment lines at the top."""

    def number(self, key: str) -> int | None:
        """Return a property as an int, parsed as Java does; None if it is absent or not a number."""
        return java_int(self.properties.get(key, ""))

    @property
    def version(self) -> int:
        """The version, trimmed as the broker does; 0 if it is absent or not a number."""
        return java_int(self.properties.get("version", "0").strip(_TRIMMED)) or 0

    @property
    def broker_id(self) -> int | None:
        """The broker's id: node.id from version 1 on, broker.id in version 0."""
        return self.number("node.id" if self.version >= 1 else "broker.id")


def properties(data: bytes) -> dict[str, str]:
    """Return the properties that java.util.Properties.load reads; a Unicode escape that it refuses is kept as text."""
    return {line.key: line.value for line in load(data)}


def refused_line(data: bytes) -> int | None:
    """Return the number of the first line that java.util.Properties.load refuses; None without one."""
    return next((line.line for line in load(data) if not line.readable), None)


def parse(data: bytes) -> Parsed[MetaProperties]:
    """Return the properties, and everything that the newest broker refuses.

    Key order, comments and spaces are never a defect, because people edit this file, and every broker accepts them.
    """
    lines = tuple(load(data))
    value = MetaProperties({line.key: line.value for line in lines}, comments(data))
    if not lines:
        return Parsed(value=value, defects=(_defect(data, "the file has no properties", None),))
    by_key = {line.key: line for line in lines}
    bad_escape = "a Unicode escape without four hexadecimal digits"
    unreadable = [_defect(data, bad_escape, line) for line in lines if not line.readable]
    problems = [_defect(data, message, by_key.get(key)) for key, message in _problems(value.properties)]
    return Parsed(value=value, defects=(*unreadable, *problems))


def serialize(value: MetaProperties) -> bytes:
    """Return the bytes that PropertiesUtils.writePropertiesFile writes, with comments and keys in their order."""
    return store(value.comments, value.properties)


def _defect(data: bytes, message: str, line: Property | None) -> Defect:
    position = 0 if line is None else line.position
    quote = re.split(rb"[\r\n]", data[position : position + FOUND_SIZE_MAX], maxsplit=1)[0]
    return Defect(message=message, line=1 if line is None else line.line, column=1, position=position, found=quote)


def _problems(values: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield (key, fault), checked in the order of MetaPropertiesVersion and MetaProperties.Builder."""
    version = java_int(values.get("version", "0").strip(_TRIMMED))
    if version not in (0, 1):
        yield "version", f'unknown version "{values["version"]}", expected 0 or 1'
        return
    id_key = "node.id" if version == 1 else "broker.id"
    if id_key in values and java_int(values[id_key]) is None:
        yield id_key, f'{id_key} "{values[id_key]}" is not a number'
    for key in ("node.id", "cluster.id"):
        if version == 1 and key not in values:
            yield key, f"{key} is missing"
    directory_id = values.get("directory.id")
    if directory_id is not None and not _UUID.fullmatch(directory_id):
        yield "directory.id", f'directory.id "{directory_id}" is not 16 bytes in base64'


def faulty_keys(properties: Mapping[str, str]) -> tuple[str, ...]:
    """Return the keys of the entries that keep the newest broker from reading the file."""
    return tuple(key for key, _ in _problems(properties))


def broker_reads(data: bytes, release: Release) -> BrokerReads[MetaProperties]:
    """Return the properties as the broker of this release reads them, or the simple name of its exception.

    Every release throws IllegalArgumentException for a malformed Unicode escape. From 3.7 MetaProperties.Builder throws
    RuntimeException. From 2.8 to 3.6 RawMetaProperties accepts any properties and fails only when they are used. Up to
    2.7 BrokerMetadataCheckpoint trims values and requires broker.id and version 0; it throws IllegalArgumentException,
    NumberFormatException or IOException. Up to 0.8.2 brokers do not read the file.
    """
    lines = tuple(load(data))
    values = {line.key: line.value for line in lines}
    error = None if all(line.readable for line in lines) else "IllegalArgumentException"
    if release.has_directory_ids:
        error = error or ("RuntimeException" if any(_problems(values)) else None)
    elif not release.reads_meta_properties:
        error, values = None, {}
    elif not release.takes_any_meta_properties:
        values = {key: value.strip(_TRIMMED) for key, value in values.items()}
        error = error or _exception_up_to_2_7(values, (("version", 0), ("broker.id", INT_MAX)))
    return BrokerReads(value=None, error=error) if error else BrokerReads(value=MetaProperties(values))


def _exception_up_to_2_7(values: Mapping[str, str], required: Iterable[tuple[str, int]]) -> str | None:
    """Return the exception of VerifiableProperties.getIntInRange, or of BrokerMetadataCheckpoint if it is too high."""
    for key, most in required:
        number = java_int(values.get(key, ""))
        if key not in values or (number is not None and number < 0):
            return "IllegalArgumentException"
        if number is None:
            return "NumberFormatException"
        if number > most:
            return "IOException"
    return None


def row(value: MetaProperties) -> Mapping[str, object]:
    """Return the JSON fields; `broker_id` comes from node.id or broker.id, depending on the version."""
    values = value.properties
    return {
        "version": value.version,
        "broker_id": value.broker_id,
        "node_id": value.number("node.id"),
        "cluster_id": values.get("cluster.id"),
        "directory_id": values.get("directory.id"),
        "properties": dict(values),
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
