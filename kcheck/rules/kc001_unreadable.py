"""A file or directory could not be read.

The operating system refused it, it is a symbolic link or a device, or it is far larger than any broker writes. What
kcheck says about the rest holds; about this one it says nothing, and it ends with exit code 3. What vanished from a
partition while kcheck looked is an information: a broker that runs removes segments and partitions.

What the broker will do: the same user meets the same refusal, but for a file that is too large for kcheck. An I/O
error or a missing permission takes the log dir offline, or ends the start when it is met while logs are loaded. A
symbolic link to a directory is followed by the broker, not by kcheck, unless it stays inside of the log dir.

What to do: run kcheck as the user of the broker; look into the kernel's log for I/O errors; name the target of a link
as a path of its own.
"""

from collections.abc import Iterator

from kcheck.model.finding import Finding, Location, Severity
from kcheck.model.release import Release
from kcheck.model.unreadable import Unreadable, UnreadableCause
from kcheck.rules._contract import Rule, Scope


def check(view: object, release: Release) -> Iterator[Finding]:
    """Nothing: a view is made of what could be read. The scan makes the finding where it was refused."""
    del view, release
    return iter(())


GONE = Unreadable(UnreadableCause.MISSING, "No such file or directory")
"""It was listed, so it was there."""

LINK = Unreadable(UnreadableCause.LINK, "a link out of the log dir: not followed")
"""It leads to a directory."""


def finding(where: Location, why: Unreadable) -> Finding:
    """Return the finding for a file or directory that could not be read."""
    if why.cause is UnreadableCause.MISSING and where.dir is not None:
        return RULE.finding(
            where,
            "it was removed while kcheck looked",
            effect="None: a broker that runs removes segments and partitions.",
            advice="Nothing.",
            severity=Severity.INFO,
        )
    effect = "A broker under the same user meets the same; an I/O error takes its log dir offline."
    advice = "Run kcheck as the broker's user, and look into the kernel's log for I/O errors."
    if why.cause is UnreadableCause.LINK:
        effect = "The broker follows it; kcheck looks at nothing that stands elsewhere."
        advice = "Name what it leads to as a path of its own."
    elif why.cause is UnreadableCause.TOO_LARGE:
        effect = "Only kcheck refuses it: a broker reads the file where its heap has room for what stands in it."
        advice = "Find out what wrote it: no broker writes so much."
    return RULE.finding(where, f"cannot be read: {why.words}", effect=effect, advice=advice)


RULE = Rule(id="KC001", name="unreadable", severity=Severity.ERROR, scope=Scope.FILE, check=check, page=__doc__)
