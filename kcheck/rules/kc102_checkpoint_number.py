"""A checkpoint file has an invalid number, and the broker does not handle the error.

What is wrong: a line has the right shape, but one of its fields is not a valid number: letters, a digit changed by a
bit flip, or a value beyond 32 or 64 bits. Or the count in the second line is negative or enormous.

What the broker does: up to 3.0 this is an unreadable checkpoint like any other (KC101). From 3.1 on no code catches
the exception, and the result depends on the file:

- recovery-point-offset-checkpoint: the file counts as empty and the log dir stays online. After an unclean shutdown
  the broker scans every segment.
- log-start-offset-checkpoint: the file counts as empty and the log dir stays online. Consumers can read records again
  that DeleteRecords removed.
- replication-offset-checkpoint: the broker starts and runs half initialised. In KRaft mode it does not start leaders,
  and each follower fails on its own. With ZooKeeper every LeaderAndIsr request fails.
- cleaner-offset-checkpoint: every cleaner thread dies at its first pass. Compaction stops on the whole broker.
- leader-epoch-checkpoint: the whole broker does not start.

An enormous count ends in an OutOfMemoryError: in a recovery point, log start or leader epoch checkpoint it aborts the
start. Brokers of 0.8.2 and 0.9 do not catch the error of an unreadable number either.

What to do: follow the advice for an unreadable checkpoint. Do not wait because the broker seems to run: a dead
cleaner or a half-initialised broker shows only in the broker's log.
"""

from collections.abc import Iterable, Sequence

from kcheck.core.start.startup import IO_ERRORS
from kcheck.model.finding import Finding, Severity
from kcheck.model.parsed import Defect
from kcheck.model.release import Release
from kcheck.model.views import FileView
from kcheck.rules._checkpoints import CHECKPOINT_KINDS, refusal_finding
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import first_of


def check(view: FileView, release: Release) -> Iterable[Finding]:
    """Find the checkpoint whose reader throws something other than an IOException."""
    if view.refusal is None or view.refusal in IO_ERRORS:
        return

    def message(refused: Sequence[Defect]) -> str:
        why = f": {first_of(refused)}" if refused else ""
        return f"{view.name} contains a number that the broker cannot read{why}"

    yield refusal_finding(RULE, view, view.refusal, message, release)


RULE = Rule(severity=Severity.ERROR, scope=Scope.FILE, check=check, kinds=CHECKPOINT_KINDS)
