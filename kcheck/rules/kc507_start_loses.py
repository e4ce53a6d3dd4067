"""Starting every broker of a cluster now loses committed records, or leaves partitions without a leader.

What is wrong: Only `kcheck fleet scan` looks. The scan decides as `kcheck recover --from RUN` does, by the replicas of
each partition and the metadata of the cluster. Without metadata the loss is under the best leaders. A cluster
with a first step before the next restart, and without another error, is reported too.

What the broker does: Kafka elects leaders that lack these records, and the other replicas delete theirs. Records of an
only replica are lost. A partition without a leader serves nothing.

What to do: Start no broker of this cluster yet. Type the command in the advice. That reads the disks and writes a plan.

See: operations/fleet.md
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Location, Severity
from kcheck.model.lost import AtStake, RunView
from kcheck.model.release import Release
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import kafka
from kcheck.words import agree, counted


def check(view: RunView, release: Release) -> Iterable[Finding]:
    """Report the loss if all brokers start."""
    if isinstance(view, AtStake):
        lost, offline = view.committed, view.offline
        losses = (
            f"at most {counted(lost, 'committed record')} {agree(lost, 'is', 'are')} lost" if lost else "",
            f"{counted(offline, 'partition')} {agree(offline, 'gets', 'get')} no leader" if offline else "",
        )
        course = "even under the best leaders" if view.is_least else "if all brokers start now,"
        effect = f"{kafka(release)} elects {'leaders without these records' if lost else 'no leader there'}."
        is_counted = bool(lost or offline)
        yield RULE.finding(
            Location(),
            f"{course} {' and '.join(filter(None, losses))}" if is_counted else f"a person has to act: {view.words}",
            effect=effect if is_counted else "A broker that restarts can lose records, or serve less.",
            advice=f"Start no broker of this cluster yet. Type {view.command}",
            data={"committed": view.committed, "offline": view.offline},
        )


RULE = Rule(severity=Severity.ERROR, scope=Scope.RUN, check=check)
