"""The tables that are part of the package: the catalog of broker messages, and the fields of documents."""

import pkgutil
from functools import cache

from kcheck.documents.schema import Shape, shapes_of
from kcheck.messages.catalogue import Catalogue, catalogue


@cache
def log_catalogue() -> Catalogue:
    """Return the catalog of broker messages."""
    return catalogue(*(_text("kcheck.messages", name) for name in ("rules.tsv", "patterns.tsv", "loggers.tsv")))


@cache
def document_shapes() -> dict[str, Shape]:
    """Return the kinds of objects in documents, by name."""
    return shapes_of(_text("kcheck.documents", "fields.tsv"))


def _text(package: str, name: str) -> str:
    data = pkgutil.get_data(package, name)
    assert data is not None
    return data.decode()
