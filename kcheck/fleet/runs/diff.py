"""`kcheck fleet diff`, which finds new, missing and changed findings of a run, compared with another one.

Two findings are the same if they have one rule and one file of one directory. A finding with another place or other
words has changed. If there are several, findings at one line or position belong together. A log dir is the same
wherever it is mounted, as its directory id decides. A finding counts as "gone" only if the later run has looked there.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import chain, islice
from typing import NamedTuple

from kcheck.core.releases.releases import release
from kcheck.disk.output import scratch
from kcheck.disk.paths import join
from kcheck.fleet.lost import RULE as LOST
from kcheck.fleet.lost import UNREAD, Identities, Values, absent_by_settings, identities_of, lost_since
from kcheck.fleet.run import BrokerKey, FleetRun, data_of
from kcheck.fleet.went_back import RULE as WENT_BACK
from kcheck.fleet.went_back import went_back
from kcheck.model.depth import Depth
from kcheck.model.finding import Chosen, Severity
from kcheck.model.lost import RunView
from kcheck.model.report import Report, Row
from kcheck.rules import Scope
from kcheck.survey.rule_runner import all_rules, check_run
from kcheck.tables import changes, findings

_OF_SEGMENTS = (Scope.SEGMENT, Scope.FAULTY_SEGMENT, Scope.READ_PARTITION)
"""Rules that a run of less depth does not ask."""
_HELD_COUNT = 40_000
"""Findings of both runs that are held at once, about."""
_SHARE_COUNT_MAX = 200
_SAMPLE_COUNT = 50
"""Findings sampled from each share to choose its end."""
_NAMES = tuple(column.name for column in findings.TABLE.run_columns)
_IDENTITY = "identity"
_KEY = ("cluster", "broker", _IDENTITY, "dir", "file", "id")
_PLACE = ("cluster", "broker", "log_dir")
_SAID = ("severity", "line", "position", "message", "data")
_AT = {name: at for at, name in enumerate((*_NAMES, _IDENTITY))}

FindingKey = tuple[str, ...]


class _FindingChange(NamedTuple):
    """A finding now (None if it no longer exists), and before (None if it is new)."""

    after: Values | None
    before: Values | None
    is_covered: bool = True
    """True if the later run has looked at the place."""

    @property
    def name(self) -> str:
        """The name of the change."""
        if self.before is None:
            return "new"
        if self.after is None:
            return "gone" if self.is_covered else "unknown"
        return "changed"


class RunCoverage:
    """The coverage of a run. Missing things in it no longer exist; `before` is a run before it."""

    def __init__(self, run: FleetRun, identities: Identities, before: FleetRun) -> None:
        """Read from the tables of the run which log dirs it has, and what it could not read or lacks."""
        self._log_dirs = {(*place[:2], identity) for place, identity in identities.items()}
        self._clusters = {cluster for cluster, *_ in self._log_dirs}
        self._unread: set[Values] = set()
        self._partial = {cluster for (cluster, _), lost in lost_since(before, run, partitions=False)}
        columns = (*_PLACE, "dir", "id", "severity")
        for cluster, broker, log_dir, directory, rule, severity in run.values("findings", columns):
            if rule in UNREAD:
                self._unread.add((cluster, broker, identities.get((cluster, broker, log_dir), log_dir), directory))
            if (rule in UNREAD and severity != Severity.INFO) or (rule == LOST and severity == Severity.ERROR):
                self._partial.add(cluster)
        self._partial.update(cluster for cluster, *_ in absent_by_settings(run))
        if not run.finished and not self._partial:
            self._partial.add(None)  # The run does not show the finding that says why.
        is_shallower = [*Depth].index(Depth(run.depth)) < [*Depth].index(Depth(before.depth))
        self._unasked = {rule.id for rule in all_rules() if rule.scope in _OF_SEGMENTS} if is_shallower else set()
        self._of_replicas = {rule.id for rule in all_rules() if rule.scope is Scope.REPLICAS}

    def holds(
        self, cluster: str | None, broker: str | None, identity: str | None, directory: str | None, rule: str
    ) -> bool:
        """Return whether the run would find a finding again; `identity` is its log dir's, None without one."""
        if rule in self._unasked:
            return False
        if identity is None or rule in self._of_replicas:
            # It needs the log dirs of several brokers.
            is_there = cluster in self._clusters
            return (is_there or cluster is None) and self._partial.isdisjoint({cluster, None})
        at = (cluster, broker, identity)
        return at in self._log_dirs and self._unread.isdisjoint({(*at, None), (*at, directory)})


def diff(before: FleetRun, after: FleetRun, shown: Chosen, fails: Chosen) -> tuple[Report, Callable[[], bool]]:
    """Return the differences, to be read once, and a function that tells whether a finding that `fails` is new.

    Call the function after reading the differences. A changed finding that now `fails` counts as new there. KcheckError
    if a table is corrupt.
    """
    counts = dict.fromkeys(("new", "gone", "unknown", "changed", "same"), 0)
    summary = {str(severity): 0 for severity in Severity}
    failing: list[bool] = []

    def rows() -> Iterator[Row]:
        coverage = RunCoverage(after, identities_of(after), before)
        for difference in _changes(before, after, counts):
            was = difference.before
            is_gone = difference.after is None and was is not None
            change = difference._replace(is_covered=not is_gone or _is_covered(coverage, was or ()))
            is_failing, is_shown = (_any(chosen, change.after) for chosen in (fails, shown))
            failing.extend([True] * (is_failing and not _any(fails, change.before)))
            if is_shown or _any(shown, change.before):
                counts[change.name] += 1
                if change.before is None and change.after is not None:
                    summary[change.after[_AT["severity"]]] += 1
                yield _row(change)

    missing = tuple(_missing_rows(before, after))
    failing.extend(fails(str(row["id"]), Severity(str(row["severity"]))) for row in missing)
    lost = tuple(row for row in missing if shown(str(row["id"]), Severity(str(row["severity"]))))
    counts["new"] += len(lost)
    for row in lost:
        summary[str(row["severity"])] += 1
    change_counts = ({"change": name, "findings": count} for name, count in counts.items())
    body = {"before": _run_row(before), "after": _run_row(after), "changes": rows(), "counts": change_counts,
            "lost": lost}  # fmt: skip
    log_dirs = {path for (path,) in after.values("log_dirs", ("log_dir",)) if path and "\0" not in path}
    report = Report(
        verb="fleet-diff", kafka=after.kafka, body=body, table="changes", columns=changes.TABLE.columns,
        kinds={"changes": "change", "counts": "count", "lost": "lost"}, elsewhere=summary,
        checked=tuple(sorted(log_dirs)),
    )  # fmt: skip
    return report, lambda: any(failing)


def _missing_rows(before: FleetRun, after: FleetRun) -> Iterator[Row]:
    """Yield missing parts and older replicas of the later run, unless its own findings name them."""
    rules, place = {LOST, WENT_BACK}, ("cluster", "broker", "id", "log_dir", "dir")
    known = {row for row in after.values("findings", place) if row[place.index("id")] in rules}
    missing: Iterable[tuple[BrokerKey, RunView]] = lost_since(before, after, partitions=True)
    for (cluster, broker), view in chain(missing, went_back(before, after)):
        for finding in check_run(view, release()):
            where = finding.where
            if (cluster, broker, finding.id, where.log_dir, where.dir) not in known:
                yield {"cluster": cluster, "broker": broker, "id": finding.id, "severity": str(finding.severity),
                       "log_dir": where.log_dir, "dir": where.dir, "message": finding.message,
                       "data": dict(finding.data)}  # fmt: skip


def _run_row(run: FleetRun) -> Row:
    return {
        "run": run.name, "path": run.path, "kafka": run.kafka, "depth": run.depth, "ended": run.ended,
        "finished": run.finished, "findings": run.rows("findings"),
    }  # fmt: skip


def _any(chosen: Chosen, values: Values | None) -> bool:
    return values is not None and chosen(values[_AT["id"]], Severity(values[_AT["severity"]]))


def _row(change: _FindingChange) -> Row:
    shown = change.before if change.after is None else change.after
    assert shown is not None
    fields = dict(zip(_NAMES, shown[:-1], strict=True))
    was = None
    if change.after is not None and change.before is not None:
        was = {name: change.before[_AT[name]] for name in _SAID}
        was["data"] = data_of(was["data"])
    return {"change": change.name, **fields, "data": data_of(fields["data"]), "before": was}


def _changes(before: FleetRun, after: FleetRun, counts: dict[str, int]) -> Iterator[_FindingChange]:
    """Yield the differences in the order of their places; what is the same is only counted."""
    identities = {run.path: identities_of(run) for run in (before, after)}
    total = before.rows("findings") + after.rows("findings")
    shares = min(1 + total // _HELD_COUNT, _SHARE_COUNT_MAX)
    if shares == 1:
        was, now = (_identified(run.values("findings", _NAMES), identities[run.path]) for run in (before, after))
        yield from _compared(was, now, counts)
        return
    step = max(total // (shares * _SAMPLE_COUNT), 1)
    sample = sorted(
        _key_of(row)
        for run in (before, after)
        for row in _identified(islice(run.values("findings", _NAMES), 0, None, step), identities[run.path])
    )
    ends = sorted({sample[len(sample) * share // shares] for share in range(1, shares)})
    with scratch() as folder:
        for name, run in (("before", before), ("after", after)):
            _spread(run, identities[run.path], ends, join(folder, name))
        for share in range(len(ends) + 1):
            was, now = (
                _identified(_read(join(folder, f"{name}{share}")), identities[run.path])
                for name, run in (("before", before), ("after", after))
            )
            yield from _compared(was, now, counts)


def _is_covered(coverage: RunCoverage, was: Values) -> bool:
    cluster, broker, log_dir, directory, identity, rule = (was[_AT[name]] for name in (*_PLACE, "dir", _IDENTITY, "id"))
    return coverage.holds(cluster, broker, None if log_dir is None else identity, directory, rule)


def _identified(rows: Iterable[Values], identities: Identities) -> Iterator[Values]:
    """Yield the rows, each followed by the identity of its log dir."""
    at = tuple(_AT[name] for name in _PLACE)
    for row in rows:
        place = tuple(row[number] for number in at)
        yield (*row, identities.get(place, place[-1]))


def _spread(run: FleetRun, identities: Identities, ends: Sequence[FindingKey], path: str) -> None:
    """Write each finding to the file of its share."""
    import pyarrow as pa

    schema = next((batch.schema for batch in run.batches("findings", _NAMES)), None)
    with ExitStack() as stack:
        writers = []
        for share in range(len(ends) + 1 if schema is not None else 0):
            file = stack.enter_context(pa.OSFile(f"{path}{share}", "wb"))
            writers.append(stack.enter_context(pa.ipc.new_stream(file, schema)))
        for batch in run.batches("findings", _NAMES):
            of_share: dict[int, list[int]] = defaultdict(list)
            rows = zip(*(column.to_pylist() for column in batch.columns), strict=True)
            for at, row in enumerate(_identified(rows, identities)):
                of_share[bisect_right(ends, _key_of(row))].append(at)
            for share, numbers in of_share.items():
                writers[share].write_batch(batch.take(pa.array(numbers, pa.int64())))


def _read(path: str) -> Iterator[Values]:
    import pyarrow as pa

    from kcheck.disk.tree import tree_of

    if tree_of(path).exists(path):
        with pa.OSFile(path, "rb") as file, pa.ipc.open_stream(file) as reader:
            for batch in reader:
                yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _compared(before: Iterable[Values], after: Iterable[Values], counts: dict[str, int]) -> Iterator[_FindingChange]:
    """Yield the differences between findings, in order."""
    compared_names = (*_KEY, *_SAID)
    were: dict[Values, list[Values]] = defaultdict(list)
    for row in before:
        were[tuple(row[_AT[name]] for name in compared_names)].append(row)
    groups: dict[FindingKey, tuple[list[Values], list[Values]]] = defaultdict(lambda: ([], []))
    for row in after:
        same = were.get(tuple(row[_AT[name]] for name in compared_names))
        if same:
            same.pop()
            counts["same"] += 1
        else:
            groups[_key_of(row)][1].append(row)
    for rows in were.values():
        for row in rows:
            groups[_key_of(row)][0].append(row)
    for _, group in sorted(groups.items()):
        yield from _paired(*group)


def _key_of(row: Values) -> FindingKey:
    return tuple("" if row[_AT[name]] is None else row[_AT[name]] for name in _KEY)


def _paired(before: list[Values], after: list[Values]) -> Iterator[_FindingChange]:
    """Yield the differences between findings about the same file, by line and position."""
    changes = []
    waiting: dict[Values, list[Values]] = defaultdict(list)
    for row in sorted(before, key=_order, reverse=True):
        waiting[_order(row)[:2]].append(row)
    unpaired = []
    for row in sorted(after, key=_order):
        same = waiting[_order(row)[:2]]
        if same:
            changes.append(_FindingChange(row, same.pop()))
        else:
            unpaired.append(row)
    gone = [row for rows in waiting.values() for row in rows]
    if len(gone) == len(unpaired) == 1:
        changes.append(_FindingChange(unpaired[0], gone[0]))
    else:
        changes += [*(_FindingChange(row, None) for row in unpaired), *(_FindingChange(None, row) for row in gone)]
    yield from sorted(changes, key=lambda change: (_order(change.after or change.before or ()), change.name))


def _order(row: Values) -> Values:
    line, position = (-1 if row[_AT[name]] is None else row[_AT[name]] for name in ("line", "position"))
    return (line, position, *(str(row[_AT[name]]) for name in ("severity", "message", "data")))
