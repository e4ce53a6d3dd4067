"""Two directories of one broker are the same partition, so the broker does not start.

What is wrong: A partition may have one directory on a broker. It may have one `-future` directory too, while the broker
moves it to another log dir. This partition has two of the same kind, in one log dir (`orders-0` and `orders-00`) or in
two. A directory may have been copied from one disk to another. Or a disk came back after the broker had recreated its
partitions elsewhere. Or a broker was killed while the moved replica took the place of the old one.

What the broker does: It does not start, for all log dirs. Its log contains "Duplicate log directories".

What to do: Find the right directory, with the higher log end and the later leader epochs (`kcheck inspect`). Move the
other outside every log dir. Keep it until you are sure. Do not merge files of the two.

See: operations/moved-by-hand.md
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.names import DirectoryState
from kcheck.model.release import Release
from kcheck.model.views import LogDirView, PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._entries import escaped_name
from kcheck.rules._partition import served
from kcheck.rules._words import DATA_MAX, kafka
from kcheck.words import counted, listed


def check(views: tuple[LogDirView, ...], release: Release) -> Iterable[Finding]:
    """Find the partitions with two directories of a kind."""
    by_partition: dict[tuple[str, int, DirectoryState], list[PartitionView]] = {}
    for view in views:
        for partition in view.partitions:
            if served(partition):
                by_partition.setdefault((partition.topic, partition.partition, partition.state), []).append(partition)
    for key in sorted(by_partition):
        if len(by_partition[key]) > 1:
            yield _finding(by_partition[key], release)


def _finding(twins: list[PartitionView], release: Release) -> Finding:
    first, second = twins[0], twins[1]
    kind = "-future directories" if first.state is DirectoryState.FUTURE else "directories"
    where = listed(f"{p.where.dir} in {p.where.log_dir}" + _log_end(p) for p in twins)
    metadata = first.is_metadata_log
    rule = (
        "it accepts the metadata log only in its metadata log dir" if metadata else "it finds a duplicate log directory"
    )
    return RULE.finding(
        second.where,
        f"{escaped_name(first.topic, first.partition)} has {counted(len(twins), kind, kind)}: {where}",
        effect=f"{kafka(release)} does not start, with any of its log dirs: {rule}.",
        advice=_ADVICE
        if _is_alike(twins)
        else "Find the right directory (higher log end, later leader epochs). Move the"
        " other outside every log dir. Keep it until you are sure.",
        data={
            "dirs": tuple(
                {"log_dir": p.where.log_dir, "dir": p.where.dir, "log_end_offset": p.log_end_offset, "size": p.size}
                for p in twins[:DATA_MAX]
            )
        },
    )


def _is_alike(twins: list[PartitionView]) -> bool:
    """Return whether topic id, log end and the sizes of all segments agree, as they do in a copy."""
    facts = {(p.topic_id, p.log_end_offset, tuple((row.base_offset, row.size) for row in p.segments)) for p in twins}
    return len(facts) == 1 and twins[0].log_end_offset is not None and twins[0].size > 0


def _log_end(partition: PartitionView) -> str:
    return "" if partition.log_end_offset is None else f" (log end {partition.log_end_offset})"


_ADVICE = (
    "One may be a copy of the other, because segment sizes and log end are equal. kcheck repair compares every batch."
    " If one holds every batch of the other, the plan moves the other aside."
)
RULE = Rule(severity=Severity.FATAL, scope=Scope.BROKER, check=check)
