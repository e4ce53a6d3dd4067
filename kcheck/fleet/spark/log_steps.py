"""The logs of brokers on Spark. Executors look at them, read them, and write files of the table log_events."""

import json
from collections.abc import Iterator
from os.path import dirname
from typing import TYPE_CHECKING

from kcheck.arrow import batch_of, to_bytes
from kcheck.disk.paths import join
from kcheck.disk.store import mounted
from kcheck.fleet.scan.broker_logs import FleetLog, looked_at, written
from kcheck.fleet.scan.rows import findings_batch
from kcheck.fleet.spark.executor_options import ExecutorOptions
from kcheck.fleet.spark.executor_steps import require, workers_of
from kcheck.fleet.spark.transport import IDENTIFIED, own_folder, rows_of
from kcheck.model.finding import Finding

if TYPE_CHECKING:
    import pyarrow as pa

    Batches = Iterator[pa.RecordBatch]


def look_at_logs(batches: "Batches", options: ExecutorOptions) -> "Batches":
    """Yield each log with its facts about the broker, or a finding."""
    named = [(row["at"], FleetLog(*json.loads(row["text"]))) for row in rows_of(batches)]
    for _, log in named:
        require(dirname(log.path) or ".", is_there=True)
    with mounted([log.path for _, log in named], dict(options.options)), workers_of(options) as workers:
        answers = looked_at(workers, (log for _, log in named))
        yield batch_of([(at, *_answer(log)) for (at, _), log in zip(named, answers, strict=True)], IDENTIFIED)


def _answer(log: FleetLog | Finding) -> tuple[str | None, bytes | None]:
    if isinstance(log, Finding):
        return None, to_bytes(findings_batch((None, None), (log,)))
    return json.dumps(log), None


def read_all_logs(batches: "Batches", options: ExecutorOptions) -> "Batches":
    """Yield the written files for the logs in each row, and findings.

    Every attempt writes into a folder of its own. Only the files of a successful one are reported.
    """
    folder, about = options.target
    own = own_folder(folder)
    for row in rows_of(batches):
        logs = [FleetLog(*log) for log in json.loads(row["text"])]
        for log in logs:
            require(dirname(log.path) or ".", is_there=True)
        with mounted([log.path for log in logs], dict(options.options)), workers_of(options) as workers:
            for rows in written(workers, [logs], join(own, str(row["at"])), about):
                problems = [(row["at"], None, data) for data in rows.findings]
                yield batch_of([(row["at"], json.dumps(rows.parts), None), *problems], IDENTIFIED)
