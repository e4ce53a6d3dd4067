"""A plain file has the name of a partition directory.

What is wrong: a broker keeps each partition in a directory. Here a file has the name of one: an archive that was not
unpacked, a failed copy, or misdirected output.

What the broker does: at its start it ignores files. But if the broker is assigned the partition and finds no directory
of it, it creates one. That fails because of the file. The broker takes the log dir offline, and halts if it has no
other one.

What to do: stop the broker and move the file out of the log dir.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.names import OFFSET_CHECKPOINTS, parse_directory
from kcheck.model.release import Release
from kcheck.model.views import LogDirView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import kafka, quoted


def check(view: LogDirView, release: Release) -> Iterable[Finding]:
    """Find the files; one whose partition a checkpoint of the log dir names is needed."""
    blocked = [(name, directory) for name in view.blocked if (directory := parse_directory(name)) is not None]
    topics = {directory.topic for _, directory in blocked}
    checkpoints = [view.files[name].parsed.value for name in OFFSET_CHECKPOINTS if topics and name in view.files]
    checkpointed = [offset_checkpoint.by_topic(topics) for offset_checkpoint in checkpoints]
    for name, directory in blocked:
        needed = any(directory.partition in offsets.get(directory.topic, {}) for offsets in checkpointed)
        yield RULE.finding(
            view.where._replace(file=name, topic=directory.topic, partition=directory.partition),
            f"the file {quoted(name.encode('utf-8', 'surrogateescape'))} has the name of a partition directory",
            effect=f"{kafka(release)} takes the log dir offline when it creates the directory"
            + (": a checkpoint lists the partition." if needed else ", if the partition is ever placed here."),
            advice="Stop the broker and move the file out of the log dir.",
            severity=Severity.FATAL if needed else Severity.INFO,
            data={"named_by_checkpoint": needed},
        )


RULE = Rule(severity=Severity.FATAL, scope=Scope.LOG_DIR, check=check)
