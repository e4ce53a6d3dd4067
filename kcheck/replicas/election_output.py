"""Saves the records that the election of a candidate would remove."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from kcheck.core.election.plans import CopyState, lost_ranges
from kcheck.core.election.start_losses import RemovedAtStart
from kcheck.disk.new_files import NewFiles
from kcheck.disk.tree import tree_of
from kcheck.errors import UsageError
from kcheck.model.report import EVERY_PARTITION, PartitionFilter
from kcheck.replicas.elect import ClusterElection
from kcheck.replicas.saved_records import SavedReplica, in_bundle, save_lost, save_runs
from kcheck.words import partition_name, shell_word


def require_whole(wanted: PartitionFilter, out: str | None) -> None:
    """Raise UsageError for a plan of some partitions. Its steps would be about the others, too."""
    if out is not None and wanted != EVERY_PARTITION:
        raise UsageError(
            "--output-dir: a plan is of every partition; leave out --topic and --partition, or run "
            f"kcheck recover BROKER=PATH... --output-dir {shell_word(out)}"
        )


def with_saved(answer: ClusterElection, out: str) -> ClusterElection:
    """Return the answer after saving, below a directory, the records that the election of any candidate would remove.

    UsageError if a file exists already or cannot be written, or if the directory is in a log dir. UsageError also if a
    replica is in a bundle, which has no records.
    """
    if answer.interrupted is not None:
        return answer
    with NewFiles(out, (), apart_from=answer.checked) as files:
        return replace(answer, saved=tuple(saved_replicas(answer, files, "", skips_bundles=False)), saved_in=out)


def saved_replicas(
    answer: ClusterElection, files: NewFiles, folder: str, *, skips_bundles: bool
) -> Iterator[SavedReplica]:
    """Save the records that any candidate's election would remove, in a folder of new files.

    UsageError as `with_saved`, for a replica in a bundle only if those are not skipped.
    """
    for election in answer.partitions:
        ranges = lost_ranges(election)
        copies = answer.copies(election.topic, election.partition) if ranges else ()
        logs = {copy.state.broker_id: copy.state.logs for copy in copies if copy.role is CopyState.CURRENT}
        for broker_id, (start, end) in ranges.items():
            if skips_bundles and in_bundle(logs[broker_id]):
                continue
            records = save_lost(files, folder, election.name, broker_id, logs[broker_id], start, end)
            yield SavedReplica(election.topic, election.partition, broker_id, records)


def saved_at_start(answers: Iterable[ClusterElection], files: NewFiles, folder: str) -> Iterator[SavedReplica]:
    """Save the readable records that brokers truncate for good when they start, of some answers for the same disks.

    Answers with fewer brokers truncate more of a log. UsageError as `with_saved`, without bundles.
    """
    most: dict[tuple[str, int, int], tuple[RemovedAtStart, ClusterElection]] = {}
    for answer in answers:
        for row in answer.removed:
            key = row.topic, row.partition, row.broker_id
            if row.readable and not tree_of(row.path).is_bundle and (key not in most or row.end < most[key][0].end):
                most[key] = row, answer
    seen: dict[tuple[str, int], set[int]] = {}
    for (topic, partition, broker_id), (row, answer) in sorted(most.items()):
        name = partition_name(topic, partition)
        kept = seen.setdefault((topic, partition), set())
        records = save_runs(files, folder, name, row, answer.disk_of(row), kept)
        yield SavedReplica(topic, partition, broker_id, records)


def write_texts(files: NewFiles, texts: Mapping[str, str]) -> tuple[str, ...]:
    """Write texts as new files; return their paths. UsageError as `with_saved`."""
    written = []
    for name, text in texts.items():
        written.append(files.begin(name))
        files.write(text.encode(errors="backslashreplace"))
    return tuple(written)
