"""The clean shutdown marker is present, but it has no broker epoch.

What is wrong: In 3.7 and later `.kafka_cleanshutdown` holds the epoch that the broker had in the cluster. The file is
empty or holds something else. An empty file is normal after an upgrade from 3.6 and earlier.

What the broker does: It still treats the shutdown as clean, because the file exists. In 3.7 and later it registers
without its old epoch. In 4.0 and later the controller may then treat the restart as unclean. It then removes the broker
from the eligible leader replicas of its partitions, if that feature is on.

What to do: Nothing. If you do not trust the shutdown, delete the file while the broker is stopped. When the broker
starts, it then scans segments. Never create the file.

See: operations/power-loss.md
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import FileView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import at, defect_rows, first_of, kafka

KIND = "clean-shutdown"


def check(view: FileView, release: Release) -> Iterable[Finding]:
    """Find the marker without a broker epoch, for releases that write one."""
    if not release.writes_broker_epoch_at_stop or view.parsed.value.broker_epoch is not None:
        return
    defects = view.parsed.defects
    unclean = release.has_eligible_leader_replicas
    yield RULE.finding(
        at(view, defects[0] if defects else None),
        f"{view.name} has no broker epoch: {first_of(defects) if defects else 'it is empty, as up to 3.6'}",
        effect=f"{kafka(release)} treats the shutdown as clean and registers without its old epoch."
        + (" With eligible leader replicas the controller may treat the restart as unclean." if unclean else ""),
        advice="Nothing. If you do not trust the shutdown, stop the broker and delete the file; never create it.",
        severity=Severity.WARNING if defects else Severity.INFO,
        data={"defects": defect_rows(defects)},
    )


RULE = Rule(severity=Severity.WARNING, scope=Scope.FILE, check=check, kinds=(KIND,))
