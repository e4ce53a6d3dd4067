"""A transaction index lacks aborted transactions of its segment.

What is wrong: for each ABORT marker that ends a transaction with records, the `.txnindex` of its segment has an
entry. Here entries are missing, or one begins too late: somebody removed, truncated or did not copy the file.

What the broker does: it does not notice it. A read_committed consumer gets the aborted records too. A start after an
unclean shutdown rewrites the file for the segments from the recovery point on.

What to do: if another replica is in sync, stop the broker, move this partition directory out of the log dir, and let
the broker re-replicate it. Otherwise stop the broker, check that every batch of the `.log` is intact (kcheck check
--depth crc), keep a copy, and move the `.index` of the segment aside: the broker then reads the whole segment and
rebuilds its indexes.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._segments import KEEP_A_COPY, REFETCH, rebuilt, rebuilt_or_unnoticed
from kcheck.rules._words import DATA_MAX, and_further


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Compare the markers with the entries, in a partition directory.

    A transaction whose records were not seen needs no entry.
    """
    if not view.files or view.transactions is None:
        return
    stated = {(entry.producer_id, entry.last_offset): entry.first_offset for entry in view.stated}
    missing = []
    for aborted in view.transactions.aborted:
        if aborted.first_offset is not None:
            first_offset = stated.get((aborted.producer_id, aborted.last_offset))
            if first_offset is None or first_offset > aborted.first_offset:
                missing.append(aborted)
    if not missing:
        return
    txn = missing[0]
    late = (txn.producer_id, txn.last_offset) in stated
    unnoticed = "read_committed consumers get the aborted records too"
    yield RULE.finding(
        view.where._replace(file=(view.where.file or "").removesuffix(".log") + ".txnindex"),
        f"the transaction of producer {txn.producer_id} from offset {txn.first_offset}, aborted at offset "
        f"{txn.last_offset}, {'begins too late there' if late else 'is missing'}{and_further(len(missing), 'one')}",
        effect=rebuilt_or_unnoticed(view, release, unnoticed),
        advice=f"{KEEP_A_COPY} {REFETCH}",
        severity=Severity.WARNING if rebuilt(view, release) else Severity.ERROR,
        data={"count": len(missing), "transactions": tuple(aborted._asdict() for aborted in missing[:DATA_MAX])},
    )


RULE = Rule(severity=Severity.ERROR, scope=Scope.SEGMENT, check=check)
