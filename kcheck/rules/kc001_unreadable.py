"""kcheck could not read a file or directory.

What is wrong: The operating system refused access, or the path is a symbolic link or a device. Or the file is far
larger than any broker writes. Findings about other files still hold. kcheck says nothing about this one and its exit
code is 3. A file or directory that disappears from a partition during the check is only information. A running broker
removes segments and partitions. A server.properties that a bundle lacks is only information too.

What the broker does: A broker that runs as this user fails too. A file that is only too large for kcheck is an
exception. An I/O error or a missing permission takes the log dir offline. If it happens while logs are loaded, the
broker does not start. The broker follows a symbolic link to a directory. kcheck follows it only if the target is inside
the log dir. A link to itself, or to a missing path, fails where the broker opens or creates the file.

What to do: Run kcheck as the broker's user. Check the kernel log for I/O errors. Pass the target of a link as its own
path. Replace a link that leads nowhere with the file.

See: operations/dead-disk.md
"""

from collections.abc import Iterator

from kcheck.model.finding import Finding, Location, Severity
from kcheck.model.release import Release
from kcheck.model.unreadable import Unreadable, UnreadableCause
from kcheck.rules._contract import Rule, Scope


def check(view: object, release: Release) -> Iterator[Finding]:
    """Find nothing: a view holds only what could be read. The scan reports what could not."""
    del view, release
    return iter(())


GONE = Unreadable(UnreadableCause.MISSING, "No such file or directory")
"""The directory listed it, so it existed."""

LINK = Unreadable(UnreadableCause.LINK, "not followed, because the symbolic link leaves the log dir")
"""The link leads to a directory."""


def finding(where: Location, why: Unreadable) -> Finding:
    """Return the finding for a file or directory that could not be read."""
    if why.cause is UnreadableCause.MISSING and where.dir is not None:
        return RULE.finding(
            where,
            "removed while kcheck was running",
            effect="None, because a running broker removes segments and partitions.",
            advice="Nothing to do.",
            severity=Severity.INFO,
        )
    effect = "A broker running as this user fails the same way; an I/O error takes its log dir offline."
    advice = "Run kcheck as the broker's user, and check the kernel log for I/O errors."
    if why.cause is UnreadableCause.LINK:
        effect = "The broker follows the link; kcheck reads nothing outside the log dir."
        advice = "Pass the target of the link as its own path."
    elif why.cause is UnreadableCause.NOWHERE:
        effect = "The broker finds no file here, and fails if it opens or creates one."
        advice = "Stop the broker and replace the link with the file; if there is no copy, remove the link."
    elif why.cause is UnreadableCause.TOO_LARGE:
        effect = "Only kcheck refuses it. A broker reads the file if its contents fit in the heap."
        advice = "Find out which program wrote it. No broker writes a file this large."
    return RULE.finding(where, f"cannot be read: {why.words}", effect=effect, advice=advice)


def settings_finding(where: Location) -> Finding:
    """Return the finding for a server.properties whose name alone is in a bundle."""
    return RULE.finding(
        where,
        "not in the bundle",
        effect="None, because the broker has the file. Only kcheck does not know its settings.",
        advice="Name the file with --config, or with kcheck capture for the next bundle.",
        severity=Severity.INFO,
    )


def log_finding(path: str, why: Unreadable) -> Finding:
    """Return the finding for a broker's log that could not be read completely. No broker needs the file."""
    return RULE.finding(
        Location(file=path),
        f"cannot be read: {why.words}",
        effect="The answer lacks the messages that could not be read.",
        advice="Name a complete file that you may read, or pipe it into kcheck explain.",
    )


RULE = Rule(severity=Severity.ERROR, scope=Scope.FILE, check=check)
