"""Writes docs/json.md and docs/schemas from the fields of documents."""

import json
import re
from collections.abc import Callable, Iterator, Mapping

from kcheck.disk.package_data import document_shapes
from kcheck.documents.schema import Field, Shape, columns_of, documents, json_schema

HEAD = """# JSON

`--format json` writes one document for each command. `ndjson` writes the rows of the same lists, one a line.
`kcheck schema check` prints the [JSON Schema](https://json-schema.org/draft/2020-12/schema) of the answer of `check`,
and `kcheck schema` lists all documents. The sources have the same schemas in `docs/schemas`.

{notice} from kcheck/documents/fields.tsv: change that, not this. -->

## What /1 means

The field `schema` names the document and its version, such as `kcheck.check/1`. As long as the number stays:

- No field is removed or renamed, and none changes its type or its meaning.
- A field that a schema requires stays in every document of that name.
- A field that cannot be null now is never null.
- New fields can come at any place. Programs must accept fields that they do not know, and so do the schemas.
- The words of a text such as `outcome` can become more. Programs must expect a word that they do not know.
- Sentences such as `message` and `verdict` are for people. They can change: do not parse them.
- Rows are sorted, and the same input gives the same bytes.

A break of one of these gives the document another number. `null` means not known, or that there is none. A number of
records is an integer or null. `any` is any JSON.

## Documents

"""
_PART = re.compile(r"[A-Z][A-Za-z]+")
FOLDER = "docs/schemas"


def schema_files() -> dict[str, str]:
    """Return the JSON Schemas by path."""
    shapes = document_shapes()
    return {
        f"{FOLDER}/{short}.json": json.dumps(json_schema(shapes, document.name), indent=1) + "\n"
        for short, document in documents(shapes).items()
    }


def json_page(table: Callable[..., str], notice: str) -> str:
    """Return docs/json.md."""
    shapes = document_shapes()
    named = documents(shapes)
    rows = [(f"[{short}](#{_anchor(short)})", _commands(shape), shape.meaning) for short, shape in named.items()]
    parts = [HEAD.format(notice=notice) + table(("Document", "Commands", "Meaning"), rows)]
    for short, shape in named.items():
        parts.append(f"## {short}\n\n{shape.meaning} `{shape.name}`\n")
        parts.append(table(("Field", "Type", "Meaning"), _rows(shape, shapes)))
    parts.append("## Parts\n\nThe objects that documents are made of, by name.\n")
    for name in sorted(set(shapes) - {shape.name for shape in named.values()}):
        parts.append(f"### {name}\n\n{shapes[name].meaning}\n")
        parts.append(table(("Field", "Type", "Meaning"), _rows(shapes[name], shapes)))
    return "\n".join(parts)


def _included(name: str, shapes: Mapping[str, Shape]) -> tuple[Field, ...]:
    return shapes[name].fields if name in shapes else tuple(columns_of(name).values())


def _commands(shape: Shape) -> str:
    return ", ".join(f"`{command}`" for command in shape.commands)


def _anchor(name: str) -> str:
    return name.lower()


def _rows(shape: Shape, shapes: Mapping[str, Shape]) -> Iterator[tuple[str, str, str]]:
    """Yield the fields of an object, without the sentences that another object or a table of docs/tables.md has."""
    elsewhere = {(field.name, field.meaning) for name in shape.includes for field in _included(name, shapes)}
    for name in shape.includes:
        link = f"[{name}](#{_anchor(name)})" if name in shapes else f"[{name}](tables.md#{name})"
        yield "", "", f"The fields of {link}." if name in shapes else f"The columns of {link}."
    for field in shape.fields:
        if (field.name, field.meaning) in elsewhere:
            continue
        optional = "" if not field.is_optional else "; can be absent"
        yield f"`{field.name}`", _words(field.type) + optional, field.meaning


def _words(kind: str) -> str:
    """Return a type in words, with links to the objects."""
    if kind.endswith("?"):
        return f"{_words(kind[:-1])} or null"
    if kind[0] == "[":
        return f"list of {_words(kind[1:-1])}"
    if kind[0] == "{":
        return f"object by name: {_words(kind[1:-1])}"
    if kind[0] == "=":
        return f"`{kind[1:]}`"
    return _PART.sub(lambda match: f"[{match[0]}](#{_anchor(match[0])})", kind)
