"""A partition.metadata is damaged so that the broker cannot read it.

What is wrong: the file has two lines, `version: 0` and `topic_id: ` with 22 characters. A line is missing or
malformed, or the id is not one. An empty file is what a full disk or a power failure leaves behind.

What the broker does, from 2.8 on (older ones do not look):

- A line is missing (also: the file is empty), or the id is not 16 bytes in base64: the whole broker does not start,
  because of this one file in one partition.
- Anything else (a malformed line, a version that is not known, an id of only zeros): it takes the log dir offline
  from 3.2.1 on, and does not start from 2.8.0 to 3.2.0.

The file is read in -delete and -stray directories too.

What to do: stop the broker, and copy partition.metadata from another partition of the same topic, on this broker or
another: all partitions of a topic have the same id. Never invent an id. Do not delete the file on a KRaft broker: the
partition would be taken for a stray one and served no more. With ZooKeeper it may be deleted.
"""

from collections.abc import Iterable

from kcheck.core.startup import IO_ERRORS
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
    offline = view.refusal in IO_ERRORS and release.outlives_bad_partition_files
    what = (
        f"{LOG_DIR_OFFLINE}{OPEN_TRANSACTION}"
        if offline
        else "does not start: one such file, in one partition, aborts the start of the whole broker"
    )
    yield RULE.finding(
        at(view, refused[0] if refused else None),
        f"{view.name} is unreadable: {first_of(refused) if refused else 'this release does not know its version'}",
        effect=f"{kafka(release)} {what} ({view.refusal}).",
        advice="Stop the broker and copy the file from another partition of the same topic. Never invent an id, and do "
        "not delete the file on a KRaft broker.",
        data={"error": view.refusal, "defects": defect_rows(refused)},
    )


RULE = Rule(
    id="KC111",
    name="partition-metadata-unreadable",
    severity=Severity.FATAL,
    scope=Scope.FILE,
    check=check,
    page=__doc__,
    kinds=(KIND,),
)
