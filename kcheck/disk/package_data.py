"""The tables that are part of the package (the catalog of broker messages, and the fields of documents)."""

import pkgutil
from functools import cache
from typing import TYPE_CHECKING

from kcheck.messages.catalogue import Catalogue, catalogue

if TYPE_CHECKING:
    from kcheck.documents.schema import Shape


@cache
def log_catalogue() -> Catalogue:
    """Return the catalog of broker messages."""
    return catalogue(*(_text("kcheck.messages", name) for name in ("rules.tsv", "patterns.tsv", "loggers.tsv")))


@cache
def document_shapes() -> "dict[str, Shape]":
    """Return the kinds of objects in documents, by name."""
    from kcheck.documents.schema import shapes_of  # explain needs the catalog alone

    return shapes_of(_text("kcheck.documents", "fields.tsv"))


def _text(package: str, name: str) -> str:
    data = pkgutil.get_data(package, name)
    assert data is not None
    return data.decode()
