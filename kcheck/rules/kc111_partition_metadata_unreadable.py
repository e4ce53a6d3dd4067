"""The broker cannot read a corrupt partition.metadata.

What is wrong: The file must have two lines: `version: 0` and `topic_id: ` with 22 characters. A line is missing or
malformed, or the id is invalid. A full disk or a power failure leaves an empty file.

What the broker does, in 2.8 and later (older releases do not read the file):

- A line is missing (also in an empty file), or the id is not 16 bytes in base64: The broker does not start, because of
  this one file in one partition.
- A line is malformed, the version is unknown, or the id is all zeros: In 3.2.1 and later the log dir goes offline. From
  2.8.0 to 3.2.0 it does not start.

The broker also reads the file in -delete and -stray directories.

What to do: Stop the broker, and copy partition.metadata from another partition of the same topic, on any broker. All
partitions of a topic have the same id. Never invent an id. Do not delete the file on a KRaft broker. The broker would
treat the partition as stray and stop serving it. With ZooKeeper you may delete it.
"""

from collections.abc import Iterable

from kcheck.core.start.startup import Outcome, failed_read
from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import FileView
from kcheck.rules._checkpoints import LOG_DIR_OFFLINE, OPEN_TRANSACTION
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import at, defect_rows, first_of, kafka

KIND = "partition-metadata"


def check(view: FileView, release: Release) -> Iterable[Finding]:
    """Find the partition.metadata whose reader fails."""
    if view.refusal is None:
        return
    refused = [defect for defect in view.parsed.defects if not defect.accepted]
    offline = failed_read(view.name, view.refusal, release).outcome is Outcome.OFFLINE
    what = (
        f"{LOG_DIR_OFFLINE}{OPEN_TRANSACTION}"
        if offline
        else "does not start: one such file in one partition aborts the start of the whole broker"
    )
    yield RULE.finding(
        at(view, refused[0] if refused else None),
        f"{view.name} is unreadable: {first_of(refused) if refused else 'this release does not know its version'}",
        effect=f"{kafka(release)} {what} ({view.refusal}).",
        advice="Stop the broker and copy the file from another partition of the same topic. Never invent an id. Do not "
        "delete the file on a KRaft broker.",
        data={"error": view.refusal, "defects": defect_rows(refused)},
    )


RULE = Rule(severity=Severity.FATAL, scope=Scope.FILE, check=check, kinds=(KIND,))
