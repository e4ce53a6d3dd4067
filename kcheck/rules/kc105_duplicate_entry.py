"""An offset checkpoint lists one partition more than once.

What is wrong: two lines name the same topic and partition. No broker writes that; somebody edited or joined files, or
two directory names such as `orders-0` and `orders-00` mean one partition.

What the broker does: from 0.11 on both lines count, and the last one wins without a word. Up to 0.10.2 the number of
different partitions does not agree with the count, and the whole file is unreadable (KC101).

What to do: stop the broker, keep a copy of the file outside of every log dir, and keep one of the lines. If you
cannot tell which is right, the lower value is the safe one in recovery-point, replication-offset and
cleaner-offset-checkpoint. In log-start-offset-checkpoint a lower value makes removed records readable again, and a
value above the log end deletes the partition (KC211).
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import FileView
from kcheck.rules._checkpoints import OFFSET_CHECKPOINT_KIND
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._entries import line_of, offset_entries, offsets_in_words, on_line, partition_name, readable, repeated
from kcheck.rules._words import DATA_MAX, and_further, kafka, listed


def check(view: FileView, release: Release) -> Iterable[Finding]:
    """Find the partitions that are listed more than once in a file that the broker reads all the same."""
    if not readable(view):
        return
    keys = repeated(view)
    if not keys:
        return
    entries = offset_entries(view)
    (topic, partition), indexes = next(iter(keys.items()))
    yield RULE.finding(
        on_line(view, indexes[1]),
        f"{view.name} lists {partition_name(topic, partition)} {len(indexes)} times: "
        f"{listed(offsets_in_words(view, indexes))}{and_further(len(keys), 'partition')}",
        effect=f"{kafka(release)} uses the last line, here {entries[indexes[-1]].offset}, and says nothing.",
        advice="Stop the broker, keep a copy of the file outside of every log dir, and leave one line for each "
        "partition. The lower value is the safe one, except in log-start-offset-checkpoint.",
        data={
            "partitions": tuple(
                {
                    "topic": key[0],
                    "partition": key[1],
                    "lines": tuple(line_of(index) for index in found[:DATA_MAX]),
                    "offsets": tuple(entries[index].offset for index in found[:DATA_MAX]),
                }
                for key, found in list(keys.items())[:DATA_MAX]
            )
        },
    )


RULE = Rule(severity=Severity.WARNING, scope=Scope.FILE, check=check, kinds=(OFFSET_CHECKPOINT_KIND,))
