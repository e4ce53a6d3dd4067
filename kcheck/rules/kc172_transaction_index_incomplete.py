"""A transaction index lacks aborted transactions of its segment.

What is wrong: for each ABORT marker that ends a transaction with records, the `.txnindex` of its segment has an
entry. Here entries are missing, or one begins too late: the file was removed, cut or not copied.

What the broker does: it does not notice it. Consumers that read committed records alone get the aborted ones too. A
start after an unclean stop writes the file anew for the segments from the recovery point on.

What to do: if another replica is in sync, stop the broker, move this partition directory out of the log dir, and let
the broker fetch it anew. Otherwise, with the broker stopped, every batch of the `.log` whole (kcheck check --depth
crc) and a copy kept, move the `.index` of the segment aside: the segment is then read through and its indexes are
written.
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
    lacking = []
    for txn in view.transactions.aborted:
        if txn.first_offset is not None:
            first = stated.get((txn.producer_id, txn.last_offset))
            if first is None or first > txn.first_offset:
                lacking.append(txn)
    if not lacking:
        return
    one = lacking[0]
    late = (one.producer_id, one.last_offset) in stated
    unnoticed = "consumers that read committed records alone get the aborted ones too"
    yield RULE.finding(
        view.where._replace(file=(view.where.file or "").removesuffix(".log") + ".txnindex"),
        f"the transaction of producer {one.producer_id} from offset {one.first_offset}, aborted at offset "
        f"{one.last_offset}, {'begins later there' if late else 'is missing'}{and_further(len(lacking), 'one')}",
        effect=rebuilt_or_unnoticed(view, release, unnoticed),
        advice=f"{KEEP_A_COPY} {REFETCH}",
        severity=Severity.WARNING if rebuilt(view, release) else Severity.ERROR,
        data={"count": len(lacking), "transactions": tuple(txn._asdict() for txn in lacking[:DATA_MAX])},
    )


RULE = Rule(severity=Severity.ERROR, scope=Scope.SEGMENT, check=check)
