"""The schemas of messages, as the tables beside this module write them.

A message is a line `NAME ID VERSIONS FLEXIBLE`, and a line `NAME TYPE VERSIONS` for each field, one space further in;
the fields of a structure stand below it, one more space in. `null=`, `tag=`, `tagged=` and `default=` follow where they
are needed. Versions are `2`, `1-3`, `2+` or `none`.
"""

from collections.abc import Mapping
from typing import NamedTuple

VERSION_MAX = (1 << 15) - 1


class Versions(NamedTuple):
    """A range of versions, both ends included; none where `least` is above `most`."""

    least: int
    most: int

    def __contains__(self, version: object) -> bool:
        """Whether a version is one of them."""
        assert isinstance(version, int)
        return self.least <= version <= self.most


NO_VERSIONS = Versions(1, 0)


class Field(NamedTuple):
    """One field: in which versions it is there, can be null, is tagged; `default` as text, "" that of its type.

    `type` is one of Kafka's, or `struct`, which has `fields`; `[]` before it makes it an array.
    """

    name: str
    type: str
    versions: Versions
    nullable: Versions
    tag: int | None
    tagged: Versions
    default: str
    fields: tuple["Field", ...]


class Schema(NamedTuple):
    """One message; `id` is that of its record type, None where it has none."""

    name: str
    id: int | None
    versions: Versions
    flexible: Versions
    fields: tuple[Field, ...]

    def __hash__(self) -> int:
        """Return the hash of the name: that of all fields would be reckoned anew for each message."""
        return hash(self.name)


def parse_versions(text: str) -> Versions:
    """Return the versions of `2`, `1-3`, `2+` or `none`."""
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
    found = {}
    for start, end in zip(starts, [*starts, len(lines)][1:], strict=True):
        name, number, versions, flexible = lines[start].split(" ")
        fields = _fields(lines[start + 1 : end], 1)
        which = None if number == "-" else int(number)
        found[name] = Schema(name, which, parse_versions(versions), parse_versions(flexible), fields)
    return found


def _fields(lines: list[str], depth: int) -> tuple[Field, ...]:
    """Return the fields of one structure, given its lines and those of the structures in it."""
    starts = [number for number, line in enumerate(lines) if line[depth] != " "]
    return tuple(
        _field(lines[start].split(), _fields(lines[start + 1 : end], depth + 1))
        for start, end in zip(starts, [*starts, len(lines)][1:], strict=True)
    )


def _field(words: list[str], fields: tuple[Field, ...]) -> Field:
    name, kind, versions = words[:3]
    more = dict(word.split("=") for word in words[3:])
    tag = more.get("tag")
    return Field(
        name=name,
        type=kind,
        versions=parse_versions(versions),
        nullable=parse_versions(more.get("null", "none")),
        tag=None if tag is None else int(tag),
        tagged=parse_versions("none" if tag is None else more.get("tagged", versions)),
        default=more.get("default", ""),
        fields=fields,
    )
