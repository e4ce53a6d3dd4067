"""A leader epoch starts above the end of the log.

What is wrong: the leader-epoch-checkpoint knows an epoch whose first record would lie above the last record of the
log. The log once reached that offset. Either the replica truncated its log and was stopped before it wrote the file
(from 3.8 on the file is written in the background, so this is normal after a kill), or the end of the log was lost: a
power failure, a disk that gave up writes, a segment that somebody cut or removed. An epoch that starts exactly at the
log end is normal: a leader was elected and wrote nothing.

What the broker does, in every release: it drops such epochs when it loads the log and writes the file anew. It says
nothing about the records.

What to do: look in the broker's log for "Truncating" with this partition. If there is nothing, records of this
replica are lost. Keep a copy of the partition directory, and do not let this replica lead while another one is in
sync.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._epochs import entry_rows, entry_words, loaded_lines
from kcheck.rules._partition import offset_range, served
from kcheck.rules._words import and_further, counted, kafka


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Find the epochs that the load drops because they start above the log end."""
    end = view.log_end_offset
    if end is None or not served(view):
        return
    above = tuple(entry for entry in loaded_lines(view, release) if entry.start_offset > end)
    if not above:
        return
    killed = view.clean_shutdown is False and release.writes_epochs_in_background
    assert view.epochs is not None
    yield RULE.finding(
        view.epochs.where,
        f"{entry_words(above[0])}, above the log end {end}{and_further(len(above), 'epoch')}",
        effect=f"{kafka(release)} drops {counted(len(above), 'epoch')} when it loads the log. The log once reached "
        f"offset {above[-1].start_offset}. "
        f"No longer here: {offset_range(end, above[-1].start_offset)}, by a truncation or a loss.",
        advice="Look for a truncation of this partition in the broker's log. Without one, records are lost here: keep "
        "a copy of the directory, and do not let this replica lead while another one is in sync.",
        severity=Severity.INFO if killed else Severity.WARNING,
        data={"log_end_offset": end, "entries": entry_rows(above)},
    )


RULE = Rule(
    id="KC202",
    name="epoch-above-log-end",
    severity=Severity.WARNING,
    scope=Scope.PARTITION,
    check=check,
    page=__doc__,
)
