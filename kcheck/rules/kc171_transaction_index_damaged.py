"""A transaction index is corrupt.

What is wrong: A `.txnindex` lists the aborted transactions of its segment, 34 bytes each. An entry has an unknown
version or impossible numbers, or the file ends within an entry.

What the broker does: With an unknown version it does not start. It accepts everything else as it is. It appends after
an incomplete entry, so all later entries are wrong too. A read_committed consumer gets aborted records.

What to do: Stop the broker, and keep a copy. If every batch of the `.log` is intact (kcheck check --depth crc), the
broker can rewrite the file. It does so after an unclean shutdown, for the segments from the recovery point on. If
another replica is in sync, re-replicate this one.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import FileView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._segments import KEEP_A_COPY, REFETCH
from kcheck.rules._words import at, defect_rows, first_of, kafka


def check(view: FileView, release: Release) -> Iterable[Finding]:
    """Find a transaction index with a defect."""
    if not view.parsed.defects:
        return
    refused = view.refusal is not None
    effect = "fails when it starts" if refused else "accepts it as it is, and consumers get aborted records"
    yield RULE.finding(
        at(view, view.parsed.defects[0]),
        first_of(view.parsed.defects),
        effect=f"{kafka(release)} {effect}.",
        advice=f"{KEEP_A_COPY} {REFETCH}",
        severity=Severity.FATAL if refused else Severity.ERROR,
        data={"defect_count": len(view.parsed.defects), "defects": defect_rows(view.parsed.defects)},
    )


RULE = Rule(severity=Severity.ERROR, scope=Scope.FILE, check=check, kinds=("transaction-index",))
