"""Advice about directories with the name of another partition, and about disks in the place of another one's.

A rule sees one directory. Its advice is wrong for the records of another partition, or on the disk of another broker.
"""

from collections.abc import Iterable

from kcheck.core.premises.identity import TOPIC_IDS
from kcheck.core.premises.names import OWN_NAME
from kcheck.core.premises.table import BY_ID, OF_OTHERS
from kcheck.documents.next_start import LOGS_DIFFER
from kcheck.model.finding import Finding, Severity

_OF_PREMISES = "KC315"
"""The rule of refuted premises."""
_WRONG_NAMES = frozenset((OWN_NAME, TOPIC_IDS))
"""The premises without which the name of a directory is, or may be, wrong."""
_OF_IDENTITY = ("KC305", "KC306", "KC501")
"""The rules whose advice is to find the broker of the disk."""
_NAME_FIRST = (
    "Change nothing before each directory has the right name. kcheck recover with the log dirs of all brokers has the"
    " commands for proven names."
)


def of_right_places(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings; those about a wrong disk or name advise, and repair, nothing else before."""
    rows = [*findings]
    refuted = [(row, str(row.data.get("premise"))) for row in rows if row.id == _OF_PREMISES]
    names = {(row.where.broker_id, row.where.dir) for row, premise in refuted if premise in _WRONG_NAMES}
    brokers = {row.where.broker_id: BY_ID[premise].remedy for row, premise in refuted if premise in OF_OTHERS}
    return [_first(row, names, brokers) for row in rows] if names or brokers else rows


def _first(finding: Finding, names: set[tuple[int | None, str | None]], brokers: dict[int | None, str]) -> Finding:
    premise = finding.data.get("premise") if finding.id == _OF_PREMISES else None
    if finding.severity is Severity.INFO or finding.id in _OF_IDENTITY or premise in _WRONG_NAMES | OF_OTHERS:
        return finding
    if finding.where.broker_id in brokers:
        return finding._replace(advice=f"First: {brokers[finding.where.broker_id]}", repair=None)
    is_of_replicas = finding.id in LOGS_DIFFER and finding.where.dir in {name for _, name in names}
    if is_of_replicas or (finding.where.broker_id, finding.where.dir) in names:
        return finding._replace(advice=_NAME_FIRST, repair=None)
    return finding
