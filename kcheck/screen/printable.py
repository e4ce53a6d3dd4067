"""Escapes unprintable characters, so that no file name or content can move the cursor."""

_KEPT_MAX = 1 << 12


class _Shown(dict[int, str]):
    """The shown form of a character, by its number. A record may have millions, so a dict saves calls."""

    def __missing__(self, number: int) -> str:
        c = chr(number)
        shown = c if c.isprintable() else c.encode("unicode_escape").decode("ascii")
        if number < _KEPT_MAX:
            self[number] = shown
        return shown


_SHOWN = _Shown()


def printable(value: object) -> str:
    """Return the text with each unprintable character escaped."""
    text = str(value)
    return text if text.isprintable() else text.translate(_SHOWN)
