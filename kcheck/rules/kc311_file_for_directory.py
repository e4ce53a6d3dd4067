"""A plain file has the name of a partition directory.

What is wrong: A broker keeps each partition in a directory. A file has the name of one. It may be an archive that was
not unpacked, a failed copy, or misdirected output.

What the broker does: When it starts, it ignores files. But if the broker is assigned the partition and finds no
directory of it, it creates one. That fails because of the file. The broker takes the log dir offline, and halts if it
has no other one.

Many such files whose partitions no checkpoint names are one finding, with their number and the first names.

What to do: Stop the broker and move the file outside every log dir.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.names import parse_directory
from kcheck.model.release import Release
from kcheck.model.views import LogDirView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import DATA_MAX, escaped, kafka, quoted
from kcheck.words import listed

_TAKES_OFFLINE = "takes the log dir offline when it creates the directory"
_ADVICE = "Stop the broker and move the file outside every log dir."


def check(view: LogDirView, release: Release) -> Iterable[Finding]:
    """Find the files; one whose partition a checkpoint of the log dir names is needed."""
    all_needed = view.blocked_and_needed
    others = [name for name in view.blocked if name not in all_needed]
    if len(others) > DATA_MAX:
        yield _of_many(view, others, release)
    for name in view.blocked if len(others) <= DATA_MAX else sorted(all_needed):
        directory, needed = parse_directory(name), name in all_needed
        assert directory is not None
        yield RULE.finding(
            view.where._replace(file=name, topic=directory.topic, partition=directory.partition),
            f"the file {quoted(name.encode('utf-8', 'surrogateescape'))} has the name of a partition directory",
            effect=f"{kafka(release)} {_TAKES_OFFLINE}"
            + (": a checkpoint lists the partition." if needed else ", if the partition is ever placed here."),
            advice=_ADVICE,
            severity=Severity.FATAL if needed else Severity.INFO,
            data={"named_by_checkpoint": needed},
        )


def _of_many(view: LogDirView, names: list[str], release: Release) -> Finding:
    """Return one finding about all files that no checkpoint names, as a million findings would hide all others."""
    return RULE.finding(
        view.where,
        f"{len(names)} files have the names of partition directories: {listed(map(escaped, names), len(names))}",
        effect=f"{kafka(release)} {_TAKES_OFFLINE}, if one of the partitions is ever placed here.",
        advice=_ADVICE.replace("file", "files"),
        severity=Severity.INFO,
        data={"named_by_checkpoint": False, "count": len(names), "files": tuple(names[:DATA_MAX])},
    )


RULE = Rule(severity=Severity.FATAL, scope=Scope.LOG_DIR, check=check)
