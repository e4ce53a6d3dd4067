"""The step of a scan of a fleet that judges the log dirs of a broker together."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from kcheck.arrow import batch_of, from_bytes, to_bytes
from kcheck.core.premises.facts import LogFacts
from kcheck.core.premises.table import NAMED_BY_RULES
from kcheck.core.start.predictions import LogDirPrediction, PartitionPrediction
from kcheck.core.start.startup import Mode, settings
from kcheck.disk.paths import join
from kcheck.disk.refusals import Refusals
from kcheck.disk.tree import tree_of
from kcheck.fleet.scan.both_ends import worse_findings, worse_premises
from kcheck.fleet.scan.cluster_metadata import (
    log_dir_detector,
    with_strays_placed,
)
from kcheck.fleet.scan.identify import Identified, ScanOptions
from kcheck.fleet.scan.lost import empty_findings, is_empty
from kcheck.fleet.scan.predictions import log_dir_row, worse_row
from kcheck.fleet.scan.premises import broker_premises, premise_row
from kcheck.fleet.scan.remembered_brokers import broker_signature, keep_broker, remembered_broker
from kcheck.fleet.scan.rows import (
    findings_batch,
    light_of,
)
from kcheck.fleet.scan.steps import context_of_mode, settled
from kcheck.model.depth import Depth
from kcheck.model.finding import Finding
from kcheck.model.premises import JudgedPremise
from kcheck.model.release import Release
from kcheck.model.views import LogDir, LogDirView, PartitionView
from kcheck.startup.log_manager import combined_starts, log_dir_start, mode_of_log_dir
from kcheck.survey.recheck import has_left, remaining
from kcheck.survey.refused_paths import refused_findings
from kcheck.survey.rule_runner import check_broker, topic_ids_of, with_evidence
from kcheck.survey.survey import checked_log_dir, concerns, whole_log_dir
from kcheck.tables import checkpoints, log_dirs, predictions, premises
from kcheck.verbs.premises import as_judged, refuted_findings
from kcheck.views.log_dir import open_log_dir, report_links, wanted_directories

if TYPE_CHECKING:
    import pyarrow as pa

    from kcheck.core.cluster.copies import MetadataCopy

_ENTRY_COUNT = 65_536
"""Checkpoint entries in a batch, at most."""
_NO_OTHER: str | None = None
"""No other end of a range of releases."""


def look_at_broker(
    log_dirs_seen: Sequence[tuple[Identified, Sequence[bytes]]], how: ScanOptions
) -> tuple[tuple[str, bytes], ...]:
    """Return rows of tables for the log dirs of one broker, given the results of the partitions of each.

    If nothing of the broker has changed since an earlier run, they are the remembered rows.
    """
    how = how.of(log_dirs_seen[0][0].used, log_dirs_seen[0][0].lowest)
    signature = broker_signature(log_dirs_seen, how)
    known = None if signature is None else remembered_broker(signature, how)
    if known is not None:
        return known
    rows, is_complete = _look_at_broker(log_dirs_seen, how)
    if signature is not None and is_complete:
        keep_broker(signature, rows, how)
    return rows


class _BrokerAt(NamedTuple):
    """A broker under a release, with its log dirs, their single starts and their views."""

    release: Release
    opened: list[tuple[Identified, LogDir]]
    starts: list[LogDirPrediction]
    views: list[LogDirView]

    def add(
        self, log_dir: Identified, opened: LogDir, seen: list[PartitionView], unread: set[str],
        starts: tuple[PartitionPrediction, ...],
    ) -> list[Finding]:  # fmt: skip
        """Add a log dir and return the findings of its rules; `starts` belong to the directories in `seen`."""
        self.opened.append((log_dir, opened))
        self.starts.append(_judged(log_dir, opened, starts, self.release))
        self.views.append(whole_log_dir(opened, seen))
        ids: dict[str, set[str]] = {}
        for view in seen:
            ids.setdefault(view.topic, set()).update(topic_ids_of(view))
        found = settled(checked_log_dir(self.views[-1], unread, seen, self.release), starts, self.release)
        return [with_evidence(finding, ids) for finding in found]

    def judged(self, logs: Iterable[LogFacts], *, reads_keys: bool) -> "_JudgedBroker":
        """Return the premises of the broker, its starts and its findings."""
        rows = broker_premises(self.opened, logs, self.release, reads_keys=reads_keys)
        named = (premise for premise in rows if premise.id not in NAMED_BY_RULES)
        refuted = refuted_findings(named, [view.where for view in self.views], self.release)
        compared = check_broker(tuple(map(remaining, self.views)), self.release, _copy_in)
        found = [*(with_evidence(finding, {}) for finding in compared), *refuted]
        found.extend(empty_findings([opened for _, opened in self.opened], found, self.release))
        combined = combined_starts(self.starts, self.release, has_left)
        return _JudgedBroker(rows, as_judged(combined, {self.opened[0][0].group: rows}), found)


class _JudgedBroker(NamedTuple):
    """Premises, next starts of log dirs, and findings of a broker."""

    premises: Sequence[JudgedPremise]
    starts: Sequence[LogDirPrediction]
    findings: Sequence[Finding]


def _look_at_broker(
    log_dirs_seen: Sequence[tuple[Identified, Sequence[bytes]]], how: ScanOptions
) -> tuple[tuple[tuple[str, bytes], ...], bool]:
    """Return rows of tables, and whether all of the log dirs could be read."""
    is_complete = True
    rows: list[tuple[str, pa.RecordBatch]] = []
    ours = _BrokerAt(how.release, [], [], [])
    theirs = None if how.other is None else _BrokerAt(how.other, [], [], [])
    logs: list[LogFacts] = []
    for log_dir, seen in log_dirs_seen:
        with Refusals() as refused:
            opened = open_log_dir(tree_of(log_dir.path), log_dir.path, log_dir.broker_id, how.release)
            report_links(opened, how.wanted)
        opened.findings.extend(refused_findings(refused, opened.findings))
        is_complete = is_complete and not opened.findings
        light = [row for data in seen for batch in from_bytes(data) for row in light_of(batch, opened.view.where)]
        partitions = with_strays_placed([view for view, *_ in light], log_dir.metadata, opened.view)
        unread = {finding.where.dir for finding in opened.findings if finding.where.dir is not None}
        unread.update(view.where.dir or "" for view, complete, *_ in light if not complete)
        known_starts = tuple(row.start for row in light if row.start is not None)
        logs.extend(row.log for row in light if row.log is not None)
        place = (log_dir.cluster, log_dir.broker)
        kafka = (how.release.name, None, None, None) if log_dir.kafka is None else log_dir.kafka.row
        problems: Iterable[Finding] = ours.add(log_dir, opened, partitions, unread, known_starts)
        if theirs is not None:
            again = open_log_dir(tree_of(log_dir.path), log_dir.path, log_dir.broker_id, theirs.release)
            of_other = theirs.add(log_dir, again, partitions, unread, known_starts)
            problems = worse_findings((how.release, problems), (theirs.release, of_other))
        rows.append(("findings", findings_batch(place, [*_sorted(problems, how), *opened.findings])))
        directories = len(wanted_directories(opened, how.wanted)) + len(opened.links)
        row = log_dirs.row(
            ours.views[-1], directories, str(ours.starts[-1].mode), kafka, opened.unlisted,
            metadata_log=log_dir.holds_metadata,
        )  # fmt: skip
        rows.append(("log_dirs", batch_of([(*place, *row)], log_dirs.TABLE.run_columns)))
        entries = ((*place, *row) for row in checkpoints.rows(ours.views[-1]))
        for part in iter(lambda entries=entries: list(islice(entries, _ENTRY_COUNT)), []):  # type: ignore[misc]  # a default binds the variable
            rows.append(("checkpoints", batch_of(part, checkpoints.TABLE.run_columns)))
    rows.extend(_rows_of_broker(ours, theirs, logs, how))
    return tuple((name, to_bytes(batch)) for name, batch in rows), is_complete


def _rows_of_broker(
    ours: _BrokerAt, theirs: _BrokerAt | None, logs: Sequence[LogFacts], how: ScanOptions
) -> "Iterator[tuple[str, pa.RecordBatch]]":
    """Yield the rows about a broker, the worse ones of two releases."""
    reads_keys = how.depth is Depth.RECORDS
    first = ours.opened[0][0]
    place = (first.cluster, first.broker)
    judged = ours.judged(logs, reads_keys=reads_keys)
    of_log_dirs = [(log_dir_row(start), _NO_OTHER) for start in judged.starts]
    of_premises = [(premise, _NO_OTHER) for premise in judged.premises]
    problems: Iterable[Finding] = judged.findings
    if theirs is not None:
        again = theirs.judged(logs, reads_keys=reads_keys)
        ends = zip(judged.starts, again.starts, strict=True)
        of_log_dirs = [worse_row((ours.release, one), (theirs.release, other)) for one, other in ends]
        of_premises = worse_premises((ours.release, judged.premises), (theirs.release, again.premises))
        problems = worse_findings((ours.release, problems), (theirs.release, again.findings))
    of_starts = [
        (*place, differs, log_dir.broker_id, log_dir.path, *row)
        for (log_dir, _), (row, differs) in zip(ours.opened, of_log_dirs, strict=True)
    ]
    yield "predictions", batch_of(of_starts, predictions.TABLE.run_columns)
    rows = [(*place, differs, *premise_row(premise)) for premise, differs in of_premises]
    yield "premises", batch_of(rows, premises.TABLE.run_columns)
    yield "findings", findings_batch(place, _sorted(problems, how))


def _copy_in(view: LogDirView, name: str) -> "MetadataCopy | None":
    from kcheck.views.metadata_copy import complete_copy  # imports the decoders: only if a broker may migrate

    path = join(view.where.log_dir or "", name)
    return complete_copy(tree_of(path), path, view.where.broker_id)


def _judged(
    log_dir: Identified, opened: LogDir, starts: tuple[PartitionPrediction, ...], release: Release
) -> LogDirPrediction:
    detector = log_dir_detector(log_dir.metadata, opened.view)
    mode = mode_of_log_dir(opened, settings({}, release), release, detector)
    context = context_of_mode(mode, release)._replace(stray_detector=detector if mode is Mode.KRAFT else None)
    start = log_dir_start(log_dir.path, opened, starts, clean=opened.view.clean_shutdown, context=context)
    return start._replace(broker=log_dir.group, unread=start.unread or is_empty(opened))


def _sorted(unsorted: Iterable[Finding], how: ScanOptions) -> list[Finding]:
    return sorted((finding for finding in unsorted if concerns(finding, how.wanted)), key=Finding.sort_key)
