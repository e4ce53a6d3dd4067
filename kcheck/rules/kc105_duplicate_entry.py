"""An offset checkpoint lists a partition more than once.

What is wrong: Two lines name the same topic and partition. No broker writes a file like this. Files were edited or
joined by hand, or two directory names such as `orders-0` and `orders-00` mean one partition.

What the broker does: In 0.11 and later it counts both lines and silently uses the last one. In 0.10.2 and earlier the
number of different partitions differs from the count, and the broker cannot read the file (KC101).

What to do: Stop the broker, and copy the file to a place outside every log dir. Then keep one of the lines. If you
cannot tell which one is right, keep the lower value. That is safe in recovery-point-offset-checkpoint,
replication-offset-checkpoint and cleaner-offset-checkpoint. In log-start-offset-checkpoint a lower value makes removed
records readable again. A value above the log end deletes the partition (KC211).
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import FileView
from kcheck.rules._checkpoints import OFFSET_CHECKPOINT_KIND
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._entries import escaped_name, line_of, offset_entries, offset_texts, on_line, readable, repeated
from kcheck.rules._words import DATA_MAX, and_further, kafka
from kcheck.words import listed


def check(view: FileView, release: Release) -> Iterable[Finding]:
    """Find the partitions that a readable checkpoint lists more than once."""
    if not readable(view):
        return
    keys = repeated(view)
    if not keys:
        return
    entries = offset_entries(view)
    (topic, partition), indexes = next(iter(keys.items()))
    yield RULE.finding(
        on_line(view, indexes[1]),
        f"{view.name} lists {escaped_name(topic, partition)} {len(indexes)} times: "
        f"{listed(offset_texts(view, indexes))}{and_further(len(keys), 'partition')}",
        effect=f"{kafka(release)} silently uses the last line: {entries[indexes[-1]].offset}.",
        advice="Stop the broker, copy the file to a place outside every log dir, and keep one line for each "
        "partition. The lower value is safe, except in log-start-offset-checkpoint.",
        data={
            "partitions": tuple(
                {
                    "topic": key[0],
                    "partition": key[1],
                    "lines": tuple(line_of(index) for index in lines[:DATA_MAX]),
                    "offsets": tuple(entries[index].offset for index in lines[:DATA_MAX]),
                }
                for key, lines in list(keys.items())[:DATA_MAX]
            )
        },
    )


RULE = Rule(severity=Severity.WARNING, scope=Scope.FILE, check=check, kinds=(OFFSET_CHECKPOINT_KIND,))
