"""A checkpoint file has an invalid number, and the broker does not handle the error.

What is wrong: A line has the right shape, but one of its fields is not a valid number. It holds letters, a digit
changed by a bit flip, or a value beyond 32 or 64 bits. Or the count in the second line is negative or enormous.

What the broker does: In 3.0 and earlier this is an unreadable checkpoint like any other (KC101). In 3.1 and later no
code catches the exception, and the result depends on the file:

- recovery-point-offset-checkpoint: The file counts as empty and the log dir stays online. After an unclean shutdown the
  broker scans every segment.
- log-start-offset-checkpoint: The file counts as empty and the log dir stays online. Consumers can read records again
  that DeleteRecords removed.
- replication-offset-checkpoint: The broker starts and runs half initialized. In KRaft mode it does not start leaders,
  and each follower fails on its own. With ZooKeeper every LeaderAndIsr request fails.
- cleaner-offset-checkpoint: Every cleaner thread ends at its first pass. No log of the broker is compacted any more.
- leader-epoch-checkpoint: The broker does not start.

An enormous count ends in an OutOfMemoryError. In a recovery point, log start or leader epoch checkpoint the broker then
does not start. Brokers of 0.8.2 and 0.9 do not catch the error of an unreadable number either.

What to do: Follow the advice for an unreadable checkpoint. Do not wait because the broker seems to run. Only its log
shows that the cleaner or the partitions failed.
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
