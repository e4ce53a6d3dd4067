"""A running process holds this log dir, so what kcheck shows may be torn.

What is wrong: nothing, if the broker is meant to run. But kcheck reads files while the broker writes them: a segment
can be longer than its index says, a checkpoint older than the log, a batch half written. So it looks a second time at
each partition in which something seems wrong, and tells what is still so.

What the broker does: it goes on. kcheck only reads, and takes no lock.

What to do: take findings about log ends, indexes and checkpoints as hints, and look again after the broker has
stopped. Change nothing in the directory while the process runs. kcheck refuses to repair a log dir that is in use.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import LogDirView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import kafka


def check(view: LogDirView, release: Release) -> Iterable[Finding]:
    """Find a log dir whose lock is held."""
    if view.locked_by is None:
        return
    holder = f"process {view.locked_by}" if view.locked_by else "a process outside of this container or machine"
    yield RULE.finding(
        view.where,
        f"{holder} holds .lock: the log dir is in use, and this picture of it may be torn",
        effect=f"{kafka(release)} goes on; a second broker on this log dir does not start.",
        advice="Look again when the process has stopped, and change nothing here while it runs.",
        data={"process": view.locked_by},
    )


RULE = Rule(severity=Severity.WARNING, scope=Scope.LOG_DIR, check=check)
