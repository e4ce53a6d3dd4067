"""The last records carry a leader epoch that is missing from the leader-epoch-checkpoint.

What is wrong: The broker writes each epoch into the file before the first record of the epoch. So the file must list
the epoch of the last batch, and the epoch must not start above that batch. The file was restored from an older copy,
edited or truncated. One case is only info. The last shutdown was unclean, and the first epoch in the file starts after
the last batch. DeleteRecords moved the log start to the log end, and the broker had not yet written the log start.

What the broker does (0.11 and later):

- After a clean shutdown it does not look. After an unclean shutdown it recovers the epoch only if it is higher than all
  others in the file. The epoch then starts at the first batch that it scans.
- As a follower the replica sends a wrong last epoch to its leader. It truncates good records and must fetch them again.
- As a leader it answers for the wrong epoch, so followers lose correct records or keep wrong ones.

What to do: Do not let this replica lead until the file is right. If another replica is in sync, stop the broker and
move this partition directory outside every log dir. The broker then re-replicates it. Otherwise rebuild the file from
the batch headers of all segments. Never invent epochs.
"""

from collections.abc import Iterable

from kcheck.model.entries import Batch, EpochEntries
from kcheck.model.finding import Claimed, Effect, Finding, Severity
from kcheck.model.names import LOG_START
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._epochs import REFETCH_OR_REBUILD, entry_rows, entry_words, has_negative, lines_of_file, loaded_lines
from kcheck.rules._partition import says, served
from kcheck.rules._words import kafka


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Compare the epoch of the last batch with the file."""
    batch = view.last_batch
    entries = lines_of_file(view.epochs, release)
    if batch is None or batch.epoch is None or batch.epoch < 0 or not entries or not served(view):
        return
    if entries[-1].epoch == batch.epoch and entries[-1].start_offset <= batch.last_offset:
        return
    if has_negative(entries):
        return
    why = _contradiction(batch, entries, view.log_start_offset or 0)
    if why is None:
        return
    assert view.epochs is not None
    effect: str | Effect
    if view.clean_shutdown is False and entries[0].start_offset > batch.last_offset:
        effect = (
            "Probably DeleteRecords moved the log start to the log end, and the broker was killed before it wrote "
            f"{LOG_START}. {kafka(release)} makes the records below readable again."
        )
        advice, severity = "Nothing, if consumers may read them again.", Severity.INFO
    else:
        words = (
            f"{kafka(release)} does not notice after a clean shutdown. As a follower the replica sends its leader a "
            "wrong epoch and truncates intact records. As a leader it answers its followers wrongly."
        )
        latest = loaded_lines(view, release)[-1].epoch
        effect = words if view.clean_shutdown is None else says(words, Claimed.EPOCHS, latest)
        advice, severity = f"Do not let this replica lead. {REFETCH_OR_REBUILD}", Severity.ERROR
    yield RULE.finding(
        view.epochs.where,
        f"the batch at offset {batch.base_offset} carries epoch {batch.epoch}, but {why}",
        effect=effect,
        advice=advice,
        severity=severity,
        data={
            "last_batch_epoch": batch.epoch,
            "last_batch_base_offset": batch.base_offset,
            "entries": entry_rows(entries),
        },
    )


def _contradiction(batch: Batch, entries: EpochEntries, log_start: int) -> str | None:
    if batch.last_offset < log_start:
        return None
    known = [entry for entry in entries if entry.epoch == batch.epoch]
    if not known:
        latest = max(entries, key=lambda entry: entry.epoch)
        assert batch.epoch is not None
        is_above = latest.epoch < batch.epoch
        return f"the file ends with {entry_words(latest)}" if is_above else "the file has no such epoch"
    first = min(known, key=lambda entry: entry.start_offset)
    # A log start in or above the last batch raises the entry above that batch: normal after DeleteRecords.
    if first.start_offset > max(batch.last_offset, log_start):
        return f"the file has {entry_words(first)}"
    return None


RULE = Rule(severity=Severity.ERROR, scope=Scope.PARTITION, check=check)
