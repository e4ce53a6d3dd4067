"""A row of the release to come: `pytest -p tests.next_release`. Import it before what reads the table of releases."""

from kcheck.core.releases import releases

LAST = releases.TABLE[-1]
_LEVELS = 2
"""How many levels of metadata.version the newest line has at least: a new line begins above them."""
_major, _minor = map(int, LAST.line.split("."))
_line = f"{_major}.{_minor + 1}"
assert LAST.level is not None
NEXT = LAST._replace(
    first=f"{_line}.0", last=f"{_line}.0", ibp=f"{_line}-IV0", level=LAST.level + _LEVELS, last_ibp=None
)

releases.TABLE = (*releases.TABLE, NEXT)
