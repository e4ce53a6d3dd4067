"""A row of a release to come: `pytest -p tests.next_release`. Import it before what reads the table of releases."""

from kcheck.core.releases import releases

NEXT = releases.TABLE[-1]._replace(first="4.5.0", last="4.5.0", ibp="4.5-IV0", level=33, last_ibp=None)

assert releases.TABLE[-1].line < NEXT.line
releases.TABLE = (*releases.TABLE, NEXT)
