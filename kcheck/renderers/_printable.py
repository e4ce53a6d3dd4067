"""Text that moves no cursor, whatever stood in a name or a file."""


def printable(value: object) -> str:
    """Return text that moves no cursor: whatever is not printable is shown as its escape."""
    text = str(value)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
