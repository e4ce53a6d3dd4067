"""`kcheck schema`: the JSON Schema of an answer, or of a file that kcheck writes."""

import json
from typing import Annotated

import typer

from kcheck.errors import UsageError

SchemaName = Annotated[
    list[str] | None, typer.Argument(metavar="DOCUMENT", help="A document, such as plan, or a command, such as repair.")
]


def schema(words: SchemaName = None) -> None:
    """Show the JSON Schema of an answer or a file; without DOCUMENT, list all of them."""
    from kcheck.disk.package_data import document_shapes
    from kcheck.documents.schema import documents, json_schema
    from kcheck.words import near, some_of

    known, name = documents(document_shapes()), " ".join(words or ())
    if not name:
        print("Documents of kcheck schema:\n")
        for short, document in known.items():
            print(f"  {short:18}{document.meaning}")
        print("\nkcheck schema DOCUMENT shows one of them.")
        return
    by_command = {command: document for document in reversed(known.values()) for command in document.commands}
    wanted = known.get(name) or by_command.get(name)
    if wanted is None:
        similar = near(name, [*known, *by_command])
        instead = f"did you mean {some_of(similar)}?" if similar else "kcheck schema lists the documents"
        raise UsageError(f"schema {name}: no such document or command; {instead}")
    print(json.dumps(json_schema(document_shapes(), wanted.name), indent=1))
