"""The broker cannot read a corrupt checkpoint file.

What is wrong: A line of the file is invalid. The version is wrong, the count differs from the number of lines, or bytes
are not text. Or a line is blank, or has too few or too many fields. The broker rejects all lines of the file.

What the broker does in 1.0 and later:

- recovery-point-offset-checkpoint, log-start-offset-checkpoint: The log dir goes offline, although the broker warns
  that it resets the values. In 3.0 and later the broker does not start if a partition of the log dir has an open
  transaction.
- replication-offset-checkpoint: The log dir goes offline as soon as one of its partitions becomes leader or follower.
- cleaner-offset-checkpoint: The log dir goes offline at the first cleaning pass.
- leader-epoch-checkpoint: In 3.2.0 and earlier the broker does not start. In 3.2.1 and later it takes the log dir
  offline.

An offline log dir serves nothing until the broker restarts with a readable file. A broker without a live log dir halts.
Before 1.0, an unreadable recovery point (from 0.9) or log start (0.11) checkpoint counts as empty. An unreadable high
watermark file leaves partitions without a leader or follower. An unreadable cleaner file stops compaction.

What to do: Stop the broker, and copy the file to a place outside every log dir. Then repair it as the finding advises.
The repair differs by file. You can always empty a recovery point or cleaner file (two lines, 0 and 0). Keep each
readable line of the other files, because the broker cannot recompute them.
"""

from collections.abc import Iterable, Sequence

from kcheck.core.start.startup import IO_ERRORS
from kcheck.model.finding import Finding, Severity
from kcheck.model.parsed import Defect
from kcheck.model.release import Release
from kcheck.model.views import FileView
from kcheck.rules._checkpoints import CHECKPOINT_KINDS, refusal_finding
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._entries import repeated_text
from kcheck.rules._words import first_of


def check(view: FileView, release: Release) -> Iterable[Finding]:
    """Find the checkpoint whose reader throws an IOException."""
    if view.refusal is None or view.refusal not in IO_ERRORS:
        return

    def message(refused: Sequence[Defect]) -> str:
        repeats = repeated_text(view) if len(refused) == 1 else ""
        why = repeats or (first_of(refused) if refused else "it cannot be read")
        return f"{view.name} is unreadable: {why}"

    yield refusal_finding(RULE, view, view.refusal, message, release)


RULE = Rule(severity=Severity.FATAL, scope=Scope.FILE, check=check, kinds=CHECKPOINT_KINDS, depends_on_others=True)
