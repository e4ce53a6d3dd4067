"""meta.properties: who a log dir belongs to.

BrokerMetadataCheckpoint 0.9 to 2.7, RawMetaProperties 2.8 to 3.6, MetaProperties 3.7 to 4.3.1. Version 0 (absent up to
3.6 in ZooKeeper mode too) names broker.id, version 1 (2.8, KRaft) node.id; cluster.id came with 2.4, directory.id with
3.7.
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
"""What String.trim takes away."""
_UUID = re.compile(r"[A-Za-z0-9_-]{22}(?:==)?")


class MetaProperties(NamedTuple):
    """The properties in file order, of a repeated key the last value, and the comment lines at the top."""

    properties: Mapping[str, str]
    comments: tuple[str, ...] = ()

    def number(self, key: str) -> int | None:
        """Return a property as Java reads an int, None where it is absent or no number."""
        return java_int(self.properties.get(key, ""))

    @property
    def version(self) -> int:
        """The version, trimmed as the broker does; 0 where the file names none or no number."""
        return java_int(self.properties.get("version", "0").strip(_TRIMMED)) or 0

    @property
    def broker_id(self) -> int | None:
        """The broker's id: node.id from version 1 on, broker.id in version 0."""
        return self.number("node.id" if self.version >= 1 else "broker.id")


def properties(data: bytes) -> dict[str, str]:
    """Return what java.util.Properties.load reads; a Unicode escape that it refuses stays as it stands."""
    return {found.key: found.value for found in load(data)}


def parse(data: bytes) -> Parsed[MetaProperties]:
    """Return the properties, and everything that keeps the newest broker from reading them.

    Nothing is said about the order of the keys, comments or spaces: people edit this file, and every broker takes it.
    """
    found = tuple(load(data))
    value = MetaProperties({each.key: each.value for each in found}, comments(data))
    if not found:
        return Parsed(value=value, defects=(_defect(data, "no property at all", None),))
    lines = {each.key: each for each in found}
    unreadable = [_defect(data, "a Unicode escape without four digits", each) for each in found if not each.readable]
    problems = [_defect(data, message, lines.get(key)) for key, message in _problems(value.properties)]
    return Parsed(value=value, defects=(*unreadable, *problems))


def serialize(value: MetaProperties) -> bytes:
    """Return the file as PropertiesUtils.writePropertiesFile leaves it, comments and keys in their order."""
    return store(value.comments, value.properties)


def _defect(data: bytes, message: str, where: Property | None) -> Defect:
    position = 0 if where is None else where.position
    found = re.split(rb"[\r\n]", data[position : position + FOUND_SIZE_MAX], maxsplit=1)[0]
    return Defect(message=message, line=1 if where is None else where.line, column=1, position=position, found=found)


def _problems(found: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield (key, what is wrong with it) as MetaPropertiesVersion and MetaProperties.Builder check, in their order."""
    version = java_int(found.get("version", "0").strip(_TRIMMED))
    if version not in (0, 1):
        yield "version", f'version "{found["version"]}" is not known, only 0 and 1 are'
        return
    own = "node.id" if version == 1 else "broker.id"
    if own in found and java_int(found[own]) is None:
        yield own, f'{own} "{found[own]}" is no number'
    for key in ("node.id", "cluster.id"):
        if version == 1 and key not in found:
            yield key, f"{key} is missing"
    directory_id = found.get("directory.id")
    if directory_id is not None and not _UUID.fullmatch(directory_id):
        yield "directory.id", f'directory.id "{directory_id}" is no base64 of 16 bytes'


def broker_reads(data: bytes, release: Release) -> BrokerReads[MetaProperties]:
    """Return the properties as the broker of this release reads them, or the simple name of its exception.

    Every release: IllegalArgumentException for a malformed Unicode escape. 3.7 and later: RuntimeException of
    MetaProperties.Builder. 2.8 to 3.6: RawMetaProperties takes any properties and fails only when they are used.
    Before, version and broker.id are required, values trimmed, and only version 0 is known: IllegalArgumentException,
    NumberFormatException, IOException of BrokerMetadataCheckpoint. Up to 0.8.2 no broker looks at the file.
    """
    lines = tuple(load(data))
    found = {each.key: each.value for each in lines}
    error = None if all(each.readable for each in lines) else "IllegalArgumentException"
    if release.has_directory_ids:
        error = error or ("RuntimeException" if any(_problems(found)) else None)
    elif not release.reads_meta_properties:
        error, found = None, {}
    elif not release.takes_any_meta_properties:
        found = {key: value.strip(_TRIMMED) for key, value in found.items()}
        error = error or _refused(found, (("version", 0), ("broker.id", INT_MAX)))
    return BrokerReads(value=None, error=error) if error else BrokerReads(value=MetaProperties(found))


def _refused(found: Mapping[str, str], required: Iterable[tuple[str, int]]) -> str | None:
    """Return what VerifiableProperties.getIntInRange throws, or BrokerMetadataCheckpoint for a higher version."""
    for key, most in required:
        number = java_int(found.get(key, ""))
        if key not in found or (number is not None and number < 0):
            return "IllegalArgumentException"
        if number is None:
            return "NumberFormatException"
        if number > most:
            return "IOException"
    return None


def row(value: MetaProperties) -> Mapping[str, object]:
    """Return the fields of JSON; `broker_id` is the broker's id whatever key names it."""
    found = value.properties
    return {
        "version": value.version,
        "broker_id": value.broker_id,
        "node_id": value.number("node.id"),
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
