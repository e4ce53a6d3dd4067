"""A transaction index lacks aborted transactions of its segment.

What is wrong: For each ABORT marker that ends a transaction with records, the `.txnindex` has an entry. Entries are
missing, or one begins too late. The file was removed, truncated or not copied.

What the broker does: It does not notice it. A read_committed consumer gets the aborted records too. After an unclean
shutdown it rewrites the file for the segments from the recovery point on.

What to do: If another replica is in sync, stop the broker and move this partition directory aside. The broker then
re-replicates it. Otherwise stop the broker, and check that every batch of the `.log` is intact (kcheck check --depth
crc). Keep a copy. Then move the `.index` of the segment aside. The broker reads the segment again and rebuilds its
indexes.
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
    missing = view.unlisted if view.files else ()
    if not missing:
        return
    txn = missing[0]
    late = any((entry.producer_id, entry.last_offset) == (txn.producer_id, txn.last_offset) for entry in view.stated)
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
