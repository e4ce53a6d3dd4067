"""Move aside files and directories in a log dir that stop the broker.

A directory that is not a partition directory keeps the broker from starting. A file with the name of a partition
directory takes the log dir offline. `lost+found` belongs to the file system and stays. Use a directory below it as log
dir.
"""

from collections.abc import Iterator

from kcheck.model.finding import Finding, Severity
from kcheck.model.names import CLEAN_SHUTDOWN, LOST_FOUND, STRANGERS_MAX, parse_directory
from kcheck.repairs._contract import (
    AsideEdit,
    Evidence,
    Impact,
    LogDirSite,
    Refused,
    Repair,
    RepairOutcome,
    RepairScope,
    RepairStep,
)


def plan(log_dir: LogDirSite, findings: tuple[Finding, ...]) -> Iterator[RepairOutcome]:
    """Yield what is moved."""
    for finding in findings:
        name = finding.where.file or finding.where.dir or ""
        if not name:
            yield _blocking(log_dir, finding)
        elif name == LOST_FOUND:
            yield Refused(finding, "the directory belongs to the file system; use a directory below the log dir")
        elif name == CLEAN_SHUTDOWN and finding.severity is Severity.INFO:
            yield Refused(finding, "the directory counts as the clean shutdown marker, and the broker removes it")
        elif finding.where.file is None and parse_directory(name) is not None:
            yield Refused(finding, "the directory is a partition of a newer release, and you may need its records")
        else:
            yield _aside(finding, [name], "move aside an entry that no broker reads")


def _blocking(log_dir: LogDirSite, finding: Finding) -> RepairStep:
    """Move the first of many files with the names of partition directories; a plan after this one moves the next."""
    needed = log_dir.view.blocked_and_needed
    names = [name for name in log_dir.view.blocked if name not in needed]
    more = f", {STRANGERS_MAX} of {len(names)}" if len(names) > STRANGERS_MAX else ""
    return _aside(finding, names[:STRANGERS_MAX], f"move aside files that no broker reads{more}")


def _aside(finding: Finding, names: list[str], reason: str) -> RepairStep:
    what = "no broker writes or reads anything under this name"
    evidence = (Evidence(names[0], None, crc_verified=None, what=what),)
    return RepairStep(finding, tuple(map(AsideEdit, names)), reason, evidence)


REPAIR = Repair(
    name="move-aside-strangers",
    rank=15,
    scope=RepairScope.LOG_DIR,
    rules=("KC301", "KC311"),
    plan=plan,
    impact=Impact.INDEX,
    page=__doc__,
)
