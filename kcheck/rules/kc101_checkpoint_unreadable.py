"""A checkpoint file is damaged so that the broker cannot read it.

What is wrong: a line of the file is not what the broker expects (a wrong version, a count that does not agree with
the lines, a line with too few or too many fields, a blank line, bytes that are no text). The broker's reader gives up
on the whole file, not only on the line.

What the broker does, from 1.0 on:

- recovery-point-offset-checkpoint, log-start-offset-checkpoint: it logs a warning that the values are reset, and then
  takes the whole log dir offline all the same. From 3.0 on the start is aborted instead if a partition of the log dir
  has an open transaction.
- replication-offset-checkpoint: the log dir goes offline as soon as a partition of it becomes leader or follower.
- cleaner-offset-checkpoint: the log dir goes offline at the first cleaning pass.
- leader-epoch-checkpoint: one such file aborts the start of the whole broker up to 3.2.0; from 3.2.1 on it takes the
  log dir offline.

A log dir that is offline serves nothing until the broker is restarted with a file that it can read; a broker without
any live log dir halts. Before 1.0 a broken recovery point (from 0.9) or log start (0.11) counts as empty, a broken
high watermark file keeps partitions without a leader or follower, and a broken cleaner file ends compaction.

What to do: stop the broker, keep a copy of the file outside of every log dir, and put it right as the advice of the
finding says; it differs by file. A recovery point or cleaner file may always be emptied (the two lines 0 and 0). The
others hold something that the broker cannot find out again: keep each line that can be read.
"""

from collections.abc import Iterable

from kcheck.core.startup import IO_ERRORS
from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import FileView
from kcheck.rules._checkpoints import CHECKPOINT_KINDS, advice, outcome
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._entries import repeated_in_words
from kcheck.rules._words import at, defect_rows, first_of


def check(view: FileView, release: Release) -> Iterable[Finding]:
    """Find the checkpoint whose reader raises an IOException."""
    if view.refusal not in IO_ERRORS:
        return
    refused = [defect for defect in view.parsed.defects if not defect.accepted]
    first = refused[0] if refused else None
    repeats = repeated_in_words(view) if len(refused) == 1 else ""
    why = repeats or (first_of(refused) if refused else "it cannot be read")
    what = outcome(view.name, view.refusal, release)
    yield RULE.finding(
        at(view, first),
        f"{view.name} is unreadable: {why}",
        effect=what.words,
        advice=advice(view.name),
        severity=what.severity,
        data={"error": view.refusal, "defect_count": len(refused), "defects": defect_rows(refused)},
    )


RULE = Rule(severity=Severity.FATAL, scope=Scope.FILE, check=check, kinds=CHECKPOINT_KINDS)
