"""The directories of a run whose records no election counts, from the table `replicas`."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from kcheck.core.start.predictions import LogDirPrediction, PartitionPrediction
from kcheck.core.start.startup import Mode, Outcome
from kcheck.core.start.unserved import Unserved, lost_in_starts
from kcheck.errors import KcheckError
from kcheck.fleet.run import FleetRun
from kcheck.fleet.runs.cluster import RunCluster
from kcheck.model.cluster import TopicImage
from kcheck.model.loss import LostRecords
from kcheck.model.names import parse_directory

_COLUMNS = ("cluster", "broker_id", "log_dir", "dir", "outcome", "held")


def unserved_of(run: FleetRun, cluster: RunCluster) -> tuple[Unserved, ...]:
    """Return the directories that brokers remove, or that belong to no topic. KcheckError if the table is corrupt."""
    log_dirs: dict[tuple[int, str], list[PartitionPrediction]] = {}
    for row in _rows(run, cluster.name):
        directory = parse_directory(row["dir"])
        if directory is not None and row["broker_id"] in cluster.brokers:
            of_log_dir = log_dirs.setdefault((row["broker_id"], row["log_dir"]), [])
            of_log_dir.append(
                PartitionPrediction(row["dir"], directory, Outcome(row["outcome"]), None, whole=_whole(run, row))
            )
    if not log_dirs:
        return ()
    starts = [
        LogDirPrediction(path, number, Outcome.OK, (), clean=True, mode=Mode.KRAFT, uncertain=None,
                         partitions=tuple(rows), broker=number)
        for (number, path), rows in sorted(log_dirs.items())
    ]  # fmt: skip
    image = cluster.image
    if image is not None:
        names = run.values("cluster_partitions", ("cluster", "topic", "topic_id"), cluster.name)
        topics = {topic: TopicImage(topic, topic_id, {}) for name, topic, topic_id in names if name == cluster.name}
        image = image._replace(topics=topics)
    return tuple(lost_in_starts(starts, image, None))


def _rows(run: FleetRun, name: str | None) -> Iterator[Mapping[str, Any]]:
    from pyarrow import compute

    for batch in run.batches("replicas", _COLUMNS, name):
        for row in batch.filter(compute.is_valid(batch.column("held"))).to_pylist():
            if row["cluster"] == name and row["outcome"] is not None:
                yield row


def _whole(run: FleetRun, row: Mapping[str, Any]) -> LostRecords:
    try:
        loss = json.loads(row["held"])
        return LostRecords(
            loss["from"], loss["to"], loss["records"], loss["bytes"], loss["below_high_watermark"], loss["at_least"]
        )
    except (ValueError, TypeError, KeyError) as error:
        raise KcheckError(f"{run.path}: invalid records of {row['dir']} in the table replicas: {error}") from error
