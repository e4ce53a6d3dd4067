"""The fields of all documents as JSON Schema, from `fields.tsv`.

An object begins with a line `# NAME, COMMANDS, MEANING`, and each field is a line `NAME, TYPE, MEANING`. A type is
`string`, `integer`, `number`, `boolean`, `any` or the name of an object. `[T]` is a list. `{T}` is an object whose
names come from the files. `T?` can be null, `=word` is one text, and `T or U` is either. A `?` after the name of a
field means that it can be absent. A field `*` means all fields of another object, or the columns of a table. A later
line about the same field replaces its type. It also replaces its meaning, unless that is empty.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from kcheck.registry import discover
from kcheck.tables import Table

DRAFT = "https://json-schema.org/draft/2020-12/schema"
_SPLIT = " or "
_WORDS = re.compile(r"[A-Z][A-Za-z]+")
_COLUMN_TYPES = {"int64": "integer?", "time": "integer?", "bool": "boolean?", "string": "string?", "json": "any"}
_PRIMITIVES = ("string", "integer", "number", "boolean")
_VERSION = re.compile(r"kcheck\.(.+)/\d+")


class Field(NamedTuple):
    """A field of an object."""

    name: str
    """Its name."""
    type: str
    """Its type, as `fields.tsv` writes it."""
    is_optional: bool
    """True if an object can lack it."""
    meaning: str
    """Its meaning, in a sentence."""


class Shape(NamedTuple):
    """A kind of object, which is a complete document, or a part of one."""

    name: str
    """Its name; the name of a document is the value of its field `schema`."""
    commands: tuple[str, ...]
    """The commands whose answer it is."""
    meaning: str
    """Its meaning, in a sentence."""
    includes: tuple[str, ...]
    """The objects and tables whose fields it has too."""
    fields: tuple[Field, ...]
    """All its fields, in their order."""

    @property
    def short_name(self) -> str | None:
        """The name of a document without its version; None for a part."""
        match = _VERSION.fullmatch(self.name)
        return None if match is None else match[1]


def shapes_of(text: str) -> dict[str, Shape]:
    """Return all objects by name, in the order of `fields.tsv`."""
    blocks = (block.splitlines() for block in text.strip().split("\n\n"))
    heads = {}
    for head, *lines in blocks:
        name, commands, meaning = head.removeprefix("# ").split("\t")
        includes = tuple(line.split("\t")[1] for line in lines if line[0] == "*")
        heads[name] = Shape(name, tuple(filter(None, commands.split(", "))), meaning, includes, ()), lines
    return {
        name: shape._replace(fields=tuple(_fields(lines, heads).values())) for name, (shape, lines) in heads.items()
    }


def columns_of(name: str) -> dict[str, Field]:
    """Return the columns of a table as fields; the path of a file belongs to the surrounding object."""
    table = next(one for one in discover("kcheck.tables", "TABLE") if isinstance(one, Table) and one.name == name)
    return {
        column.name: Field(column.name, _COLUMN_TYPES[column.type], False, column.meaning)
        for column in table.columns
        if column.name != "path"
    }


def _fields(lines: list[str], heads: Mapping[str, tuple[Shape, list[str]]]) -> dict[str, Field]:
    fields: dict[str, Field] = {}
    for line in lines:
        written, kind, meaning = f"{line}\t".split("\t")[:3]
        name = written.removesuffix("?")
        if name == "*":
            fields |= _fields(heads[kind][1], heads) if kind in heads else columns_of(kind)
        else:
            fields[name] = Field(name, kind, written != name, meaning or fields[name].meaning)
    return fields


def documents(shapes: Mapping[str, Shape]) -> dict[str, Shape]:
    """Return the documents by their short names, in the order of `fields.tsv`."""
    return {shape.short_name: shape for shape in shapes.values() if shape.short_name is not None}


def json_schema(shapes: Mapping[str, Shape], name: str) -> dict[str, Any]:
    """Return the JSON Schema of a document (draft 2020-12), with the objects that it is made of."""
    document = shapes[name]
    head = {"$schema": DRAFT, "$id": name, "title": name, "description": document.meaning}
    parts = {part: _object(shapes[part]) for part in sorted(_parts(shapes, document, set()))}
    return {**head, **_object(document, name), "$defs": parts}


def _parts(shapes: Mapping[str, Shape], shape: Shape, seen: set[str]) -> set[str]:
    for field in shape.fields:
        for part in _WORDS.findall(field.type):
            if part not in seen:
                seen.add(part)
                _parts(shapes, shapes[part], seen)
    return seen


def _object(shape: Shape, schema: str | None = None) -> dict[str, Any]:
    properties = {field.name: {**_type(field.type), "description": field.meaning} for field in shape.fields}
    for key in ("schema", "format") if schema is not None else ():
        if key in properties and properties[key].get("type") == "string" and shape.fields[0].name == key:
            properties[key] = {"const": schema, "description": properties[key]["description"]}
    required = [field.name for field in shape.fields if not field.is_optional]
    meaning = {} if schema is not None else {"description": shape.meaning}
    return {"type": "object", **meaning, "properties": properties, "required": required}


def _type(written: str) -> dict[str, Any]:
    """Return the schema of a type."""
    if written.endswith("?"):
        return _nullable(written[:-1])
    alternatives = [*_alternatives(written)]
    if len(alternatives) > 1:
        return {"anyOf": [_type(one) for one in alternatives]}
    if written in _PRIMITIVES:
        return {"type": written}
    if written == "any":
        return {}
    if written[0] == "=":
        return {"const": written[1:]}
    if written[0] == "[":
        return {"type": "array", "items": _type(written[1:-1])}
    if written[0] == "{":
        return {"type": "object", "additionalProperties": _type(written[1:-1])}
    return {"$ref": f"#/$defs/{written}"}


def _nullable(written: str) -> dict[str, Any]:
    if written in _PRIMITIVES:
        return {"type": [written, "null"]}
    return {"anyOf": [*(_type(one) for one in _alternatives(written)), {"type": "null"}]}


def _alternatives(written: str) -> Iterator[str]:
    """Yield the types that are joined by `or`, but not those within a list."""
    depth, start = 0, 0
    for at, character in enumerate(written):
        depth += (character in "[{") - (character in "]}")
        if not depth and written.startswith(_SPLIT, at):
            yield written[start:at]
            start = at + len(_SPLIT)
    yield written[start:]
