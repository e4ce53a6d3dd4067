"""Escapes unprintable characters, so that no file name or content can move the cursor."""


def printable(value: object) -> str:
    """Return the text with each unprintable character escaped."""
    text = str(value)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
