"""A replica that is damaged is moved aside as a whole, to be fetched again from a healthy one.

Only with a proof (`--against`): the replica of another broker is whole, every CRC in it verified, it has all that
may have been committed, up to the larger of both high watermarks, and where both have the same offsets and epochs the
batches that are whole here are the same there. The broker makes a new, empty replica at its next start.

Batches that a rule tells are wrong though their CRCs match, and offsets that stand in two segments, are not compared:
there the other replica, which must have none such, is right.

A broker whose replica is empty must not be elected leader: see to it that the other one is in sync and leads.
"""

from collections.abc import Iterator

from kcheck.model.finding import Finding, Severity
from kcheck.repairs._contract import Answer, Aside, PartitionSite, Refused, Repair, Scope, Step
from kcheck.repairs._entries import without_entries
from kcheck.repairs._files import DAMAGE, RECORDS, whole_log

_LOST = ("KC204", "KC216", "KC221", "KC222", "KC223", "KC227", "KC229", "KC230")
_NO_OTHER_WAY = ("KC148", *RECORDS, "KC221", "KC222", "KC229", "KC230")
"""The rules that no repair of the files themselves is about."""


def plan(site: PartitionSite, findings: tuple[Finding, ...]) -> Iterator[Answer]:
    """Yield the directory, where a replica that was named can stand for it."""
    bad = [each for each in findings if each.severity in (Severity.ERROR, Severity.FATAL)]
    holders = site.holders()
    if not holders:
        for each in bad:
            if each.id in _NO_OTHER_WAY:
                yield Refused(each, "nothing in these files can be proven right: only --against a whole replica")
        return
    if not bad:
        return
    finding = max(bad, key=lambda each: each.severity.rank)
    view = site.view
    for other in holders:
        theirs = other.view
        start, end = view.log_start_offset, theirs.log_end_offset
        marks = [mark for mark in (view.high_watermark, theirs.high_watermark) if mark is not None]
        where = f"{theirs.where.log_dir}/{other.dir} of broker {theirs.where.broker_id}"
        if not marks:
            yield Refused(finding, f"no high watermark is known: nobody can tell what was committed ({where})")
        elif end is None or end < max(marks):
            yield Refused(finding, f"{where} ends at offset {end}, and offsets below {max(marks)} are committed")
        elif theirs.log_start_offset is None or start is None or theirs.log_start_offset > start:
            yield Refused(finding, f"{where} starts at offset {theirs.log_start_offset}, this one at {start}")
        elif not other.agrees_with(site):
            yield Refused(finding, f"{where} has other records at the same offsets")
        else:
            held = f"{where} has every record up to offset {end}, above the high watermark {max(marks)}"
            proof = whole_log(other)
            proof = proof._replace(file=f"{theirs.where.log_dir}/{proof.file}")
            reason = f"the replica is fetched again; let broker {theirs.where.broker_id} lead, never this one"
            yield Step(finding, (Aside(site.dir), *without_entries(site)), reason, (proof,), held=held)
            return


REPAIR = Repair(
    name="set-aside-partitions",
    rank=10,
    scope=Scope.PARTITION,
    rules=(*DAMAGE, *RECORDS, *_LOST),
    plan=plan,
    page=__doc__,
)
