"""Reports read to their end, as a script gets them: the JSON document."""

import io
import json
from pathlib import Path
from typing import Any

from kcheck.core.releases.releases import release
from kcheck.documents.answer import Answer
from kcheck.documents.inspection import InspectDetail
from kcheck.model.report import PartitionFilter, Report
from kcheck.renderers import Options
from kcheck.renderers.json import render
from kcheck.replicas.end_offset import EndOffsetQuery, end_offsets
from kcheck.replicas.leader_plans import Election
from kcheck.replicas.truncation import truncation
from kcheck.verbs.inspect import inspect

NEWEST = release("4.3")
EVERY = PartitionFilter()


def document(answer: Report | Answer) -> dict[str, Any]:
    """Return an answer as a JSON document."""
    report = answer.report() if isinstance(answer, Answer) else answer
    stream = io.StringIO()
    render(report, stream, Options())
    found: dict[str, Any] = json.loads(stream.getvalue())
    return found


def inspected(
    *paths: str | Path, kafka: str = "4.3", as_kind: str | None = None, wanted: PartitionFilter = EVERY, **shown: bool
) -> dict[str, Any]:
    """Return what `kcheck inspect` says."""
    texts = [str(path) for path in paths]
    return document(
        inspect(texts, as_kind=as_kind, wanted=wanted, detail=InspectDetail(**shown), release=release(kafka))
    )


def planned(
    *paths: str,
    leader: str | None = None,
    leader_epoch: int | None = None,
    live: bool = False,
    kafka: str = "4.3",
    wanted: PartitionFilter = EVERY,
) -> dict[str, Any]:
    """Return what `kcheck truncation` says."""
    election = Election(leader=leader, leader_epoch=leader_epoch, live=live)
    return document(truncation(list(paths), election, wanted=wanted, release=release(kafka)))


def partition_of(*paths: str, **how: Any) -> dict[str, Any]:
    """Return what `planned` has of its one partition."""
    (row,) = planned(*paths, **how)["partitions"]
    assert isinstance(row, dict)
    return row


def follower_of(*paths: str, **how: Any) -> dict[str, Any]:
    """Return what `planned` has of the one follower of its one partition."""
    (row,) = partition_of(*paths, **how)["followers"]
    assert isinstance(row, dict)
    return row


def answered(
    *paths: str | Path,
    epochs: tuple[int, ...] = (),
    current: int = -1,
    log_end: int | None = None,
    after_start: bool = False,
    kafka: str = "4.3",
) -> dict[str, Any]:
    """Return what `kcheck end-offset` says."""
    question = EndOffsetQuery(
        epochs=epochs, current_leader_epoch=current, log_end_offset=log_end, after_start=after_start
    )  # fmt: skip
    return document(end_offsets([str(path) for path in paths], question, wanted=EVERY, release=release(kafka)))


def ids(found: dict[str, Any]) -> list[str]:
    """Return the ids of the findings, in their order."""
    return [row["id"] for row in found["findings"]]
