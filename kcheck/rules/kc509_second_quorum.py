"""A controller elects a leader by a voter set of its own, without the newest metadata.

What is wrong: The voters are in the metadata log (kraft.version 1, 3.9 and later). Each node counts votes by the set in
its own copy. This copy has another set than the newest one, and the given log dirs have a majority of that set. Often
a controller was formatted again with `kafka-storage.sh format --standalone` or `--initial-controllers`. Or old copies
of the controllers' disks were put back.

What the broker does: The controllers elect a second leader. The leader with the higher epoch wins the other nodes.
Nodes that follow the second leader truncate their metadata. Brokers then rename every partition to -stray, and no topic
is left.

What to do: Do not start this controller. Copy its log dir aside. Then format the log dir with `kafka-storage.sh format
--no-initial-controllers`. Wait until a majority of the others runs. Remove a former voter of this id, and add the
controller (`kafka-metadata-quorum.sh`).

See: operations/lost-quorum.md
"""

from collections.abc import Iterable

from kcheck.core.cluster.quorum import Quorum
from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.rules._cluster import place_of
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import kafka
from kcheck.words import listed


def check(view: Quorum, release: Release) -> Iterable[Finding]:
    """Look for a copy that a majority of its own voter set elects."""
    rival = view.rival
    if rival is not None:
        yield RULE.finding(
            place_of(rival),
            f"controller {rival.node_id} wins by a voter set of its own ({listed(sorted(rival.voters))}). Its metadata"
            f" ends at offset {rival.end}, the newest copy at {view.newest.end}",
            effect=f"{kafka(release)} elects a second leader. Nodes that follow that one truncate their metadata, and"
            " brokers rename every partition to -stray.",
            advice="Do not start this controller. Copy its log dir aside. Then format the log dir with kafka-storage.sh"
            " format --no-initial-controllers, and add the controller once the others run.",
            data={"node_id": rival.node_id, "voters": tuple(sorted(rival.voters)), "end": rival.end},
        )


RULE = Rule(severity=Severity.ERROR, scope=Scope.CLUSTER, check=check)
