"""A leader epoch starts above the end of the log.

What is wrong: The leader-epoch-checkpoint lists an epoch that starts above the log end offset. If a broker wrote the
line, the log once reached that offset. The replica truncated its log and stopped before it wrote the file, or the tail
of the log was lost. A power failure, a disk that lost writes, or a removed segment can cause that. If the file was
edited, nothing is missing. In 3.8 and later the broker writes the file in the background, so this is normal after a
kill. An epoch that starts exactly at the log end is normal. A leader was elected and wrote nothing.

What the broker does: It removes these epochs when it loads the log, and rewrites the file. It logs nothing about the
records.

What to do: Search the broker's log for "Truncating" with this partition. If there is no such line, and the file was not
edited, this replica has lost records. Keep a copy of the partition directory, and do not let this replica lead while
another one is in sync.
"""

from collections.abc import Iterable

from kcheck.model.finding import Claimed, Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._epochs import entry_rows, entry_words, loaded_lines
from kcheck.rules._partition import says, served
from kcheck.rules._words import and_further, kafka
from kcheck.words import agree, counted, offset_span


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Find the epochs that the load removes because they start above the log end."""
    end = view.log_end_offset
    if end is None or not served(view):
        return
    above = tuple([entry for entry in loaded_lines(view, release) if entry.start_offset > end])
    if not above:
        return
    killed = view.clean_shutdown is False and release.writes_epochs_in_background
    assert view.epochs is not None
    yield RULE.finding(
        view.epochs.where,
        f"{entry_words(above[0])}, above the log end {end}{and_further(len(above), 'epoch')}",
        effect=says(
            f"{kafka(release)} drops {counted(len(above), 'epoch')} when it loads the log. If a broker wrote "
            f"{agree(len(above), 'this line', 'these lines')}, records are missing here, truncated or lost: "
            f"{offset_span(end, above[-1].start_offset)}.",
            Claimed.ENDS,
            end,
        ),
        advice="Search the broker's log for a truncation of this partition. If there is none, and the file was not "
        "edited, records are lost here. Then keep a copy of the directory, and do not let this replica lead while "
        "another one is in sync.",
        severity=Severity.INFO if killed else Severity.WARNING,
        data={"log_end_offset": end, "entries": entry_rows(above)},
    )


RULE = Rule(severity=Severity.WARNING, scope=Scope.PARTITION, check=check, depends_on_others=True)
