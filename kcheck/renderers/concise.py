"""One line a finding, for grep, editors and CI, as `PATH[:LINE]: LEVEL ID PARTITION|-: MESSAGE`.

LEVEL is info, warning, error, fatal, or loss for records that the next start loses. The lines of the next start come
first; findings follow in the order of JSON.
"""

import os
from collections.abc import Iterable, Iterator
from typing import TextIO

from kcheck.core.start.predictions import LogDirPrediction
from kcheck.core.start.preflight import ReasonKind, reasons_against
from kcheck.model.finding import Finding
from kcheck.model.report import Report
from kcheck.plans.repair import RepairPlan
from kcheck.renderers._contract import Renderer
from kcheck.screen.options import Options
from kcheck.screen.printable import printable
from kcheck.verbs.overview import Overview
from kcheck.verbs.prediction import Prediction
from kcheck.verbs.preflight import Preflight
from kcheck.words import lost_words, partition_name

_NEXT_START = "NEXT-START"


def render(report: Report, stream: TextIO, options: Options) -> None:
    """Write the lines."""
    del options
    lines = (*_of_starts(_starts(report.answer)), *map(_of_finding, report.findings()))
    stream.writelines(f"{printable(line)}\n" for line in lines)


def _starts(answer: object) -> Iterable[LogDirPrediction]:
    """Return the next starts that an answer has predicted."""
    match answer:
        case Overview():
            return answer.prediction.log_dirs
        case Prediction():
            return answer.log_dirs
        case Preflight():
            return answer.starts
        case RepairPlan():
            return answer.now
    return ()


def _of_starts(starts: Iterable[LogDirPrediction]) -> Iterator[str]:
    """Yield a line for each unloaded log dir, and for each partition that loses records or is not served."""
    for start in starts:
        for kind, partition in reasons_against(start):
            if kind in (ReasonKind.ABORT, ReasonKind.OFFLINE):
                yield f"{start.path}: fatal {_NEXT_START} -: {start.outcome}: {'; '.join(start.reasons)}"
            if partition is None:
                continue
            path = os.path.join(start.path, partition.dir)
            if kind is ReasonKind.LOSS and partition.lost is not None:
                yield f"{path}: loss {_NEXT_START} {partition.dir}: loses {lost_words(partition.lost)}"
            if kind is ReasonKind.STRAY:
                why = partition.reason or "not served"
                yield f"{path}: error {_NEXT_START} {partition.dir}: {partition.outcome}: {why}"


def _of_finding(finding: Finding) -> str:
    where = finding.where
    path = os.path.join(*(part for part in (where.log_dir or "", where.dir, where.file) if part is not None)) or "-"
    line = "" if where.line is None else f":{where.line}"
    name = "-" if where.topic is None or where.partition is None else partition_name(where.topic, where.partition)
    return f"{path}{line}: {finding.severity} {finding.id} {name}: {finding.message}"


RENDERER = Renderer(name="concise", render=render, verbs=("check", "inspect", "predict", "preflight", "plan"))
