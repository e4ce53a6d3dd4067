"""Move a corrupt replica aside, so that the broker re-replicates it from a healthy one.

The repair comes after every repair of the files, but before a truncation. It is planned only if the next start is not
clean after these repairs.

It requires a proof (`--against`). The replica of another broker must be intact, with every CRC verified. It must have
all records that may be committed, up to the larger of both high watermarks. Where both replicas have the same offsets
and epochs, the intact batches here must be identical there. `kcheck recover` must have that replica lead, or lose no
more if it leads. The broker creates a new, empty replica at its next start.

kcheck does not compare batches that a rule reports although their CRCs match, nor offsets that two segments hold. The
other replica must have no such batches, and its copy counts.

Never let a broker with an empty replica become leader. After `kcheck apply`, ask `kcheck recover` for the start order.
"""

from collections.abc import Iterator

from kcheck.model.finding import Finding, Severity
from kcheck.repairs._contract import (
    AsideEdit,
    Impact,
    PartitionSite,
    Refused,
    Repair,
    RepairOutcome,
    RepairScope,
    RepairStep,
)
from kcheck.repairs._entries import without_entries
from kcheck.repairs._files import DAMAGE, RECORDS, whole_log

_LOST = ("KC170", "KC203", "KC204", "KC216", "KC221", "KC222", "KC223", "KC227", "KC229", "KC230")
_NO_OTHER_WAY = ("KC148", *RECORDS, "KC203", "KC221", "KC222", "KC229", "KC230")
"""The rules that no repair of the files themselves handles."""


def plan(partition: PartitionSite, findings: tuple[Finding, ...]) -> Iterator[RepairOutcome]:
    """Yield the directory, if a replica of `--against` holds its records."""
    bad = [candidate for candidate in findings if candidate.severity in (Severity.ERROR, Severity.FATAL)]
    holders = partition.holders()
    if not holders:
        for candidate in bad:
            if candidate.id in _NO_OTHER_WAY:
                yield Refused(
                    candidate, "these files cannot be proven right; compare with an intact replica (--against)"
                )
        return
    if not bad:
        return
    finding = max(bad, key=lambda candidate: candidate.severity.rank)
    view = partition.view
    for other in holders:
        theirs = other.view
        start, end = view.log_start_offset, theirs.log_end_offset
        marks = [mark for mark in (view.high_watermark, theirs.high_watermark) if mark is not None]
        where = f"{theirs.where.log_dir}/{other.dir} of broker {theirs.where.broker_id}"
        best = partition.best_leader()
        if best not in (None, theirs.where.broker_id):
            yield Refused(finding, f"kcheck recover has broker {best} lead, not {where}")
        elif not marks:
            yield Refused(finding, f"without a high watermark the committed offsets are unknown ({where})")
        elif end is None or end < max(marks):
            yield Refused(finding, f"{where} ends at offset {end}, but offsets below {max(marks)} are committed")
        elif theirs.log_start_offset is None or start is None or theirs.log_start_offset > start:
            yield Refused(finding, f"{where} starts at offset {theirs.log_start_offset}, this one at {start}")
        elif not other.agrees_with(partition):
            yield Refused(finding, f"{where} has other records at the same offsets")
        else:
            holder = f"{where} has every record up to offset {end}, above the high watermark {max(marks)}"
            proof = whole_log(other)
            proof = proof._replace(file=f"{theirs.where.log_dir}/{proof.file}")
            reason = (
                f"move this replica aside and let it re-replicate; keep broker {theirs.where.broker_id} as leader "
                "until it is back in sync. kcheck recover has the order of starts"
            )
            yield RepairStep(
                finding, (AsideEdit(partition.dir), *without_entries(partition)), reason, (proof,), holder=holder,
                leader=theirs.where.broker_id,
            )  # fmt: skip
            return


REPAIR = Repair(
    name="set-aside-partitions",
    rank=47,
    scope=RepairScope.PARTITION,
    rules=(*DAMAGE, *RECORDS, *_LOST),
    plan=plan,
    impact=Impact.ASIDE,
    page=__doc__,
)
