"""Rebuild leader-epoch-checkpoint from the headers of all batches.

An epoch starts at its first batch, or at the offset in the file if no batch contradicts it. An epoch without a batch
stays if the file lists it and no batch contradicts it. The repair removes an epoch that is neither in a batch nor in a
readable line. A log whose remote segments have epochs that the file lacks is refused. The repair would lose these
epochs for good.
"""

from collections.abc import Iterator

from kcheck.core.replication.epoch_rebuild import RebuiltEpochs, rebuild
from kcheck.model.finding import Finding
from kcheck.model.names import LEADER_EPOCHS
from kcheck.repairs._contract import Impact, PartitionSite, Refused, Repair, RepairOutcome, RepairScope, RepairStep
from kcheck.repairs._epochs import entries_of, write_epochs
from kcheck.repairs._files import DAMAGE, bases, unsettled, whole_log
from kcheck.words import epoch_words, some_of

_RULES = (
    "KC101", "KC102", "KC103", "KC104", "KC201", "KC202", "KC204", "KC205", "KC206", "KC216", "KC223",
    "KC240",
)  # fmt: skip


def plan(partition: PartitionSite, findings: tuple[Finding, ...]) -> Iterator[RepairOutcome]:
    """Yield the new file."""
    finding = max(findings, key=lambda candidate: candidate.severity.rank)
    damaged = unsettled(partition, DAMAGE)
    image = partition.image()
    if any(candidate.id == "KC240" for candidate in findings):
        yield Refused(finding, "batches on disk lack the epochs of remote segments")
    elif damaged is not None:
        yield Refused(finding, f"a corrupt batch makes the epochs of the log unreliable: {damaged.message}")
    elif image.fault is not None or not bases(partition):
        why = image.fault or "it has no segment"
        yield Refused(finding, f"the log is not valid to its end: {why}")
    else:
        stated = entries_of(partition)
        rebuilt = rebuild(partition.epoch_runs(), stated, log_end=image.log_end_offset)
        if rebuilt is None:
            yield Refused(finding, "the epochs of the batches decrease, so one of them is wrong")
        elif write_epochs(partition, rebuilt.entries).data == partition.read(LEADER_EPOCHS):
            if finding.id != "KC202" or any(entry.start_offset > image.log_end_offset for entry in stated):
                yield Refused(finding, "the batches agree with the file")
        else:
            yield RepairStep(
                finding, (write_epochs(partition, rebuilt.entries),), _reason(rebuilt), (whole_log(partition),)
            )


def _reason(rebuilt: RebuiltEpochs) -> str:
    words = [f"leader epochs from the batches: {epoch_words(rebuilt.entries) or 'none'}"]
    if rebuilt.unseen:
        words.append(f"kept from the file, without a batch: {epoch_words(rebuilt.unseen)}")
    if rebuilt.dropped:
        words.append(f"removed, because the batches contradict them: {epoch_words(rebuilt.dropped)}")
    if rebuilt.late:
        words.append(f"start offsets from the first batch of the epochs {some_of(rebuilt.late, 100)}")
    return "; ".join(words)


REPAIR = Repair(
    name="rewrite-leader-epochs",
    rank=80,
    scope=RepairScope.PARTITION,
    rules=_RULES,
    plan=plan,
    impact=Impact.CHECKPOINT,
    page=__doc__,
)
