"""A number in a checkpoint file cannot be read, and the error escapes the broker's own handling.

What is wrong: a line has the right shape, but a field of it is not a number that fits (letters, a digit lost to a bit
flip, a value beyond 32 or 64 bits), or the count in the second line is negative or enormous.

What the broker does: up to 3.0 this is an unreadable checkpoint like any other (KC101). From 3.1 on the error is of a
kind that nobody catches, and the result depends on the file:

- recovery-point-offset-checkpoint: counts as empty, the log dir stays online. After an unclean stop everything is
  scanned.
- log-start-offset-checkpoint: counts as empty, the log dir stays online. Records that DeleteRecords removed can be
  read again.
- replication-offset-checkpoint: the broker starts and runs on half initialised. In KRaft mode leaders are not started
  and each follower fails alone; with ZooKeeper every LeaderAndIsr request fails.
- cleaner-offset-checkpoint: every cleaner thread dies at its first pass. Compaction stops on the whole broker.
- leader-epoch-checkpoint: the whole broker does not start.

An enormous count ends in an OutOfMemoryError: recovery point, log start and leader epochs then abort the start. A
broker of 0.8.2 or 0.9 lets a number that cannot be read escape too.

What to do: as for an unreadable checkpoint. Do not wait because the broker seems to run: a dead cleaner or a half
initialised broker says so in its log only.
"""

from collections.abc import Iterable

from kcheck.core.startup import IO_ERRORS
from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import FileView
from kcheck.rules._checkpoints import CHECKPOINT_KINDS, advice, outcome
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import at, defect_rows, first_of


def check(view: FileView, release: Release) -> Iterable[Finding]:
    """Find the checkpoint whose reader raises something that is no IOException."""
    if view.refusal is None or view.refusal in IO_ERRORS:
        return
    refused = [defect for defect in view.parsed.defects if not defect.accepted]
    first = refused[0] if refused else None
    what = outcome(view.name, view.refusal, release)
    why = f": {first_of(refused)}" if refused else ""
    yield RULE.finding(
        at(view, first),
        f"{view.name} holds a number that the broker cannot read{why}",
        effect=what.words,
        advice=advice(view.name),
        severity=what.severity,
        data={"error": view.refusal, "defect_count": len(refused), "defects": defect_rows(refused)},
    )


RULE = Rule(severity=Severity.ERROR, scope=Scope.FILE, check=check, kinds=CHECKPOINT_KINDS)
