"""The layout of `kcheck predict` (the verdict on each log dir, then the partitions that change)."""

from collections.abc import Iterable, Sequence

from kcheck.core.start.predictions import LogDirPrediction, PartitionPrediction
from kcheck.core.start.startup import LOADS_ALONE, NEXT_STARTS, Mode, Outcome
from kcheck.core.start.unserved import Unserved
from kcheck.core.start.verdicts import removes_marker
from kcheck.disk.paths import join
from kcheck.documents.premises import loses, notes, open_words
from kcheck.documents.unserved import unserved_words
from kcheck.model.names import DirectoryState
from kcheck.model.premises import JudgedPremise
from kcheck.model.report import Report
from kcheck.screen.page import Page, cell, loss_text, size
from kcheck.verbs.prediction import Prediction
from kcheck.words import agree, counted, some_of

_STYLES = {Outcome.REPAIRED: "yellow", Outcome.STRAY: "red"}
"""The colors of outcomes; all others are the worst."""
_FILE_COUNT = 12
"""Number of file names shown of each kind."""
_NAME_COUNT = 3
"""Number of named partitions with the same reason."""
_MODES = {Mode.KRAFT: "KRaft", Mode.ZOOKEEPER: "ZooKeeper"}


def predict(report: Report, page: Page) -> None:
    """Write the prediction for each log dir."""
    answer = report.answer
    assert isinstance(answer, Prediction)
    losing_lines(answer, answer.premises, page)
    for number, start in enumerate(answer.log_dirs):
        page.line() if number else None
        verdict_on(start, page)
        _log_dir(start, page)
    if answer.unserved:
        page.line()
    unserved_lines(answer.unserved, page)
    if any(open_words(premise) for premise in answer.premises) or notes(answer.premises):
        page.line()
    premise_lines(answer.premises, page)


def losing_lines(answer: Prediction, premises: Iterable[JudgedPremise], page: Page) -> None:
    """Write the premises without which a broker that starts loses, as verdict on a single broker, and an empty line."""
    rows = [*filter(loses, premises)]
    verdict = "should not start: " if len({start.broker for start in answer.log_dirs}) == 1 else ""
    for premise in rows:
        page.wrapped(f"{verdict}{premise.sentence}", hanging="    ", style="bold red")
    if rows:
        page.line()


def premise_lines(premises: Iterable[JudgedPremise], page: Page) -> None:
    """Write what the given files do not show."""
    premises = tuple(premises)
    for words in dict.fromkeys(map(open_words, premises)):
        if words is not None:
            page.wrapped(words, hanging="    ")
    for note in notes(premises):
        page.wrapped(note, hanging="    ")


def unserved_lines(unserved: Iterable[Unserved], page: Page) -> None:
    """Write what the directories hold that the brokers do not serve."""
    for row in unserved:
        page.wrapped(unserved_words(row), hanging="    ", style="bold red")


def verdict_on(start: LogDirPrediction, page: Page) -> None:
    """Write the verdict on a log dir, and its reasons."""
    broker = f"   {start.node}" if start.node else ""
    words = start.verdict
    style = "bold" if words in (NEXT_STARTS[Outcome.OK], LOADS_ALONE) else "bold red"
    place = join(start.path, start.partitions[0].dir) if start.alone else start.path
    page.wrapped(f"{cell(place)}{broker}: {words}", hanging="    ", style=style)
    for reason in start.reasons:
        page.wrapped(reason, indent="  ", hanging="    ", style="red")


def worst_partitions(partitions: Iterable[PartitionPrediction], reasons: Sequence[str], page: Page) -> None:
    """Write why the verdict on a log dir is not good, by partition with a loss, and else by reason."""
    same: dict[tuple[Outcome, str], list[str]] = {}
    for partition in partitions:
        reason = (partition.reason or "").split("; ")[0]
        if partition.outcome is Outcome.DELETED and partition.directory.state is DirectoryState.DELETED:
            continue  # One sentence tells of all of them.
        if partition.lost is not None:
            text = f"{cell(partition.dir)} loses {loss_text(partition.lost)}: {reason}"
            page.wrapped(text, indent="  ", hanging="    ")
        elif f"{partition.dir}: {partition.reason}" not in reasons:
            same.setdefault((partition.outcome, reason), []).append(partition.dir)
    for (outcome, reason), names in same.items():
        page.wrapped(f"{_first(names)}: {outcome}, {reason}", indent="  ", hanging="    ")


def _first(names: Sequence[str]) -> str:
    return some_of([*map(cell, names[:_NAME_COUNT])], _NAME_COUNT, len(names))


def _log_dir(start: LogDirPrediction, page: Page) -> None:
    partitions = start.partitions
    facts = [
        "after a clean shutdown" if start.clean else "after an unclean shutdown",
        _MODES[start.mode],
    ]
    if partitions or start.outcome is not Outcome.ABORT:
        facts.append(counted(len(partitions), "partition"))
        facts.append(f"{size(sum(partition.scan_bytes for partition in partitions))} of segments to scan")
    page.wrapped(" · ".join(facts), indent="  ", hanging="    ")
    if start.uncertain:
        page.wrapped(f"Uncertain: {start.uncertain}.", indent="  ", hanging="    ", style="yellow")
    if start.outcome is Outcome.OFFLINE:
        page.wrapped("The broker halts if it has no other log dir.", indent="  ")
    if removes_marker(start):
        page.wrapped("The failed start removes .kafka_cleanshutdown, so the next start runs log recovery.", indent="  ")
    if start.outcome is Outcome.ABORT:  # Nothing becomes of the partitions of a broker that does not start.
        for partition in (partition for partition in partitions if partition.outcome is Outcome.ABORT):
            _partition(partition, page)
        return
    changed = [partition for partition in partitions if partition.outcome is not Outcome.OK]
    for partition in changed:
        _partition(partition, page)
    rest = len(partitions) - len(changed)
    if rest:
        page.wrapped(
            f"{counted(rest, 'partition')} {agree(rest, 'loads', 'load')} without losing records.", indent="  "
        )


def _partition(partition: PartitionPrediction, page: Page) -> None:
    page.line(f"  {partition.dir}: {partition.outcome}", _STYLES.get(partition.outcome, "bold red"))
    if partition.reason:
        for reason in partition.reason.split("; "):
            page.wrapped(reason, indent="    ", hanging="      ")
    if partition.uncertain:
        page.wrapped(f"Uncertain: {partition.uncertain}.", indent="    ", hanging="      ", style="yellow")
    if partition.lost is not None:
        page.wrapped(f"LOST {loss_text(partition.lost)}", indent="    ", hanging="      ", style="bold red")
    log, changes = partition.log, partition.changes
    if log is not None:
        offsets = (
            f"log start {log.log_start_offset}, high watermark {partition.high_watermark}, log end"
            f" {log.log_end_offset}, recovery point {log.recovery_point}"
        )
        entries = ", ".join(f"{entry.epoch} @ {entry.start_offset}" for entry in log.leader_epochs) or "none"
        page.wrapped(f"{offsets}; epochs {entries}", indent="    ", hanging="      ")
    for word, names in (
        ("created", changes.created),
        ("changed", changes.changed),
        ("removed", changes.removed),
        ("unknown", changes.unknown),
        ("renamed", [f"{old} to {new}" for old, new in changes.renamed]),
    ):
        if names:
            page.wrapped(f"{word}: {_names(names)}", indent="    ", hanging="      ")


def _names(names: Sequence[str]) -> str:
    return some_of([*map(cell, names[:_FILE_COUNT])], _FILE_COUNT, len(names))
