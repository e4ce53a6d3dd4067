"""A running process holds this log dir, so the results may be inconsistent.

What is wrong: Nothing, if the broker is meant to run. But kcheck reads files while the broker writes them. A segment
can be longer than its index shows, a checkpoint older than the log, a batch incomplete. So kcheck reads each partition
that looks wrong a second time, and reports only what is wrong both times.

What the broker does: It keeps running. kcheck only reads, and takes no lock.

What to do: Treat findings about log ends, indexes and checkpoints as hints. Check again after the broker has stopped.
Change nothing in the directory while the process runs. kcheck refuses to repair a log dir that is in use.
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
    holder = f"process {view.locked_by}" if view.locked_by else "a process outside this container or machine"
    yield RULE.finding(
        view.where,
        f"{holder} holds .lock: the log dir is in use, and the results may be inconsistent",
        effect=f"{kafka(release)} keeps running; a second broker on this log dir does not start.",
        advice="Check again after the process has stopped, and change nothing here while it runs.",
        data={"process": view.locked_by},
    )


RULE = Rule(severity=Severity.WARNING, scope=Scope.LOG_DIR, check=check)
