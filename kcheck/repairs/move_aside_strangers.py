"""What stands in a log dir under a name that keeps the broker from its work is moved out of it.

A directory that is no partition's aborts the start of the whole broker, a file in the place of a partition directory
takes the log dir offline. `lost+found` belongs to the file system and stays: use a directory below it as log dir.
"""

from collections.abc import Iterator

from kcheck.model.finding import Finding, Severity
from kcheck.model.names import CLEAN_SHUTDOWN, LOST_FOUND, parse_directory
from kcheck.repairs._contract import Answer, Aside, Evidence, LogDirSite, Refused, Repair, Scope, Step


def plan(site: LogDirSite, findings: tuple[Finding, ...]) -> Iterator[Answer]:
    """Yield what is moved."""
    del site
    for finding in findings:
        name = finding.where.file or finding.where.dir or ""
        if name == LOST_FOUND:
            yield Refused(finding, "it belongs to the file system: use a directory below this one as log dir")
        elif name == CLEAN_SHUTDOWN and finding.severity is Severity.INFO:
            yield Refused(finding, "it counts as the mark of a clean shutdown, and the broker removes it")
        elif finding.where.file is None and parse_directory(name) is not None:
            yield Refused(finding, "it holds a partition that a newer broker reads: its records may be wanted")
        else:
            what = "no broker writes or reads anything under this name"
            evidence = (Evidence(name, None, crc_verified=None, what=what),)
            yield Step(finding, (Aside(name),), "the log dir holds what a broker reads", evidence)


REPAIR = Repair(
    name="move-aside-strangers",
    rank=15,
    scope=Scope.LOG_DIR,
    rules=("KC301", "KC311"),
    plan=plan,
    page=__doc__,
)
