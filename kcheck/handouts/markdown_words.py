"""Names from disk in the prose of Markdown files that say what to type."""

from kcheck.words import partition_name

_SPECIAL = frozenset("`*_[]<>#|\\")
_OF_TOPICS = frozenset("._-")


def markdown_name(name: str) -> str:
    """Return a name as Markdown text: nothing in it ends a line, begins a block, or moves a cursor.

    A name that Kafka allows stays as it is.
    """
    if all(character.isascii() and (character.isalnum() or character in _OF_TOPICS) for character in name):
        return name
    return "".join(map(_escaped, name))


def markdown_partition(topic: str, partition: int) -> str:
    """Return a partition as Markdown text."""
    return markdown_name(partition_name(topic, partition))


def _escaped(character: str) -> str:
    if not character.isprintable():
        return character.encode("unicode_escape").decode("ascii").replace("\\", "\\\\")
    return f"\\{character}" if character in _SPECIAL else character
