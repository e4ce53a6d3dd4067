"""A replica cannot serve remote records, because its leader epochs begin above the log start.

What is wrong: leader-epoch-checkpoint begins above the log start. A broker finds a remote segment by the epoch of the
offset, and below its first epoch it knows none. A follower that was killed while it fetched the epochs from remote
storage leaves this file. A restart hides this, and does not heal it.

What the broker does (3.6 and later), while this replica leads: Consumers below the first epoch get no records. The
records stay in remote storage, and a leader with all epochs serves them again.

What to do: Do not let this replica lead. If another replica has the epochs, stop the broker and move this partition
directory outside every log dir. The broker then fetches the epochs from remote storage.
Otherwise use `kcheck repair PATH --store STORE`.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._epochs import RESTORE, entry_words, loaded_lines
from kcheck.rules._remote import is_tiered, report_of, span_rows, spans_words
from kcheck.rules._words import kafka


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Look for remote offsets below the first epoch."""
    unreadable = report_of(view, release).unreadable
    if unreadable and view.epochs is not None:
        yield RULE.finding(
            view.epochs.where,
            f"leader-epoch-checkpoint begins with {entry_words(loaded_lines(view, release)[0])}, above the log start "
            f"{view.log_start_offset}",
            effect=f"While this replica leads, {kafka(release)} does not serve {spans_words(unreadable)}.",
            advice=f"Do not let this replica lead. {RESTORE}",
            data={"unreadable": span_rows(unreadable)},
        )


RULE = Rule(severity=Severity.ERROR, scope=Scope.PARTITION, check=check, when=is_tiered)
