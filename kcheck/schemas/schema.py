"""Parses the tables of message schemas in the other modules of this package.

A message is a line `NAME ID VERSIONS FLEXIBLE`, followed by a line `NAME TYPE VERSIONS` per field, indented by one
space. The fields of a structure follow it, indented by one more space. A field line may end in `null=`, `tag=`,
`tagged=` and `default=`. Versions are `2`, `1-3`, `2+` or `none`.
"""

from collections.abc import Mapping
from typing import NamedTuple

VERSION_MAX = (1 << 15) - 1


class Versions(NamedTuple):
    """A range of versions, both ends included; empty if `least` is above `most`."""

    least: int
    """The lowest version."""
    most: int
    """The highest version."""

    def __contains__(self, version: object) -> bool:
        """Return whether the range includes a version."""
        assert isinstance(version, int)
        return self.least <= version <= self.most


NO_VERSIONS = Versions(1, 0)


class SchemaField(NamedTuple):
    """One field of a message or of a structure."""

    name: str
    """Kafka's name of the field."""
    type: str
    """A type of Kafka's, or `struct`; `[]` before it makes it an array."""
    versions: Versions
    """The versions that have this field."""
    nullable: Versions
    """The versions in which it can be null."""
    tag: int | None
    """Its tag; None if it is never tagged."""
    tagged: Versions
    """The versions in which it is tagged."""
    default: str
    """Its default as text; empty for the default of its type."""
    fields: tuple["SchemaField", ...]
    """The fields of a `struct`."""


class Schema(NamedTuple):
    """One message."""

    name: str
    """Kafka's name of the message."""
    id: int | None
    """The record type; None if the message has none."""
    versions: Versions
    """The versions of the message."""
    flexible: Versions
    """The flexible versions: compact sizes and tagged fields."""
    fields: tuple[SchemaField, ...]
    """The fields, in order."""

    def __hash__(self) -> int:
        """Return the hash of the name; hashing all fields would cost time for every message decoded."""
        return hash(self.name)


def parse_versions(text: str) -> Versions:
    """Parse `2`, `1-3`, `2+` or `none`."""
    if text == "none":
        return NO_VERSIONS
    least, dash, most = text.partition("-")
    if text.endswith("+"):
        return Versions(int(text[:-1]), VERSION_MAX)
    return Versions(int(least), int(most if dash else least))


def parse_table(table: str) -> Mapping[str, Schema]:
    """Return the schemas of a table by their names."""
    lines = table.strip("\n").split("\n")
    starts = [number for number, line in enumerate(lines) if not line.startswith(" ")]
    schemas = {}
    for start, end in zip(starts, [*starts, len(lines)][1:], strict=True):
        name, number, versions, flexible = lines[start].split(" ")
        fields = _fields(lines[start + 1 : end], 1)
        record_type = None if number == "-" else int(number)
        schemas[name] = Schema(name, record_type, parse_versions(versions), parse_versions(flexible), fields)
    return schemas


def _fields(lines: list[str], depth: int) -> tuple[SchemaField, ...]:
    """Return the fields of one structure, given its lines and the lines of its nested structures."""
    starts = [number for number, line in enumerate(lines) if line[depth] != " "]
    return tuple(
        _field(lines[start].split(), _fields(lines[start + 1 : end], depth + 1))
        for start, end in zip(starts, [*starts, len(lines)][1:], strict=True)
    )


def _field(words: list[str], fields: tuple[SchemaField, ...]) -> SchemaField:
    name, kind, versions = words[:3]
    options = dict(word.split("=") for word in words[3:])
    tag = options.get("tag")
    return SchemaField(
        name=name,
        type=kind,
        versions=parse_versions(versions),
        nullable=parse_versions(options.get("null", "none")),
        tag=None if tag is None else int(tag),
        tagged=parse_versions("none" if tag is None else options.get("tagged", versions)),
        default=options.get("default", ""),
        fields=fields,
    )
