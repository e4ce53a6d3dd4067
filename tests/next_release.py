"""A row of a release to come, after the last one: `pytest -p tests.next_release`.

Import it before what reads the table of releases.
"""

from kcheck.core.releases import releases

LAST = releases.TABLE[-1]
_MAJOR, _MINOR = map(int, LAST.line.split("."))
_LINE = f"{_MAJOR}.{_MINOR + 1}"
assert LAST.level is not None
NEXT = LAST._replace(first=f"{_LINE}.0", last=f"{_LINE}.0", ibp=f"{_LINE}-IV0", level=LAST.level + 2, last_ibp=None)

releases.TABLE = (*releases.TABLE, NEXT)
