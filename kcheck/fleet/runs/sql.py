"""`kcheck fleet sql`: the tables of complete runs as views, for DuckDB and Spark SQL, and some questions as views."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from kcheck.disk.paths import join, split
from kcheck.errors import UsageError
from kcheck.fleet.run import FleetRun, newest
from kcheck.fleet.run_output import run_tables
from kcheck.fleet.runs.sql_text import duckdb_files, duckdb_text, spark_text
from kcheck.words import counted

_PREFIX = "run="


class _Dialect(NamedTuple):
    """SQL of an engine for a view of Parquet files, and for a number in a JSON text.

    `view` gets the view's name, the folder and names of the runs, and the table's name. `text` quotes a text.
    """

    before: str
    create: str
    view: Callable[[str, str, Sequence[str]], str]
    number: Callable[[str, str], str]
    text: Callable[[str], str]


def _duckdb(table: str, folder: str, runs: Sequence[str]) -> str:
    paths = ",\n    ".join(duckdb_files(join(folder, _PREFIX + run), table) for run in runs)
    source = f"read_parquet([\n    {paths}\n], hive_partitioning = true, hive_types = {{'run': VARCHAR}},"
    return f"CREATE OR REPLACE VIEW {table} AS FROM {source} union_by_name = true);"


def _spark(table: str, folder: str, runs: Sequence[str]) -> str:
    path = f"{join(folder, _PREFIX)}{{{','.join(runs)}}}/{table}"
    return (
        f"CREATE OR REPLACE TEMPORARY VIEW {table} USING parquet OPTIONS (\n    path {spark_text(path)},"
        f"\n    basePath {spark_text(folder)}, mergeSchema 'true'\n);"
    )


DIALECTS: Mapping[str, _Dialect] = {
    "duckdb": _Dialect(
        "", "CREATE OR REPLACE VIEW", _duckdb, lambda column, name: f"({column}->>'{name}')::BIGINT", duckdb_text,
    ),
    "spark": _Dialect(
        "SET spark.sql.sources.partitionColumnTypeInference.enabled = false;\n", "CREATE OR REPLACE TEMPORARY VIEW",
        _spark, lambda column, name: f"CAST(get_json_object({column}, '$.{name}') AS BIGINT)", spark_text,
    ),
}  # fmt: skip

_QUESTIONS: Mapping[str, str] = {
    "worst_findings": """\
SELECT cluster, broker, severity, id, name, log_dir, dir, file, line, position, message, effect, advice
FROM findings WHERE run = {run} AND severity IN ('fatal', 'error')
ORDER BY severity DESC, id, cluster, broker, log_dir, dir, file""",
    "at_risk": """\
SELECT cluster, topic, partition, broker AS best_leader, lost_below_high_watermark, at_risk_below_high_watermark
FROM replica_sets WHERE run = {run}
    AND (lost_below_high_watermark > 0 OR (at_risk_below_high_watermark > 0 AND replicas_of_topic > 1))
ORDER BY lost_below_high_watermark DESC, at_risk_below_high_watermark DESC, cluster, topic, partition""",
    "behind": """\
SELECT cluster, topic, partition, broker, longest - log_end_offset AS behind FROM (
    SELECT cluster, topic, partition, broker, log_end_offset,
        max(log_end_offset) OVER (PARTITION BY cluster, topic, partition) AS longest
    FROM partitions WHERE run = {run} AND state = 'current'
) AS replicas WHERE longest > log_end_offset
ORDER BY behind DESC, cluster, topic, partition, broker""",
    "losing_brokers": """\
SELECT cluster, broker, count(*) AS partitions,
    CASE WHEN count(*) = count({records}) THEN sum({records}) END AS records,
    sum({committed}) AS committed
FROM predictions WHERE run = {run} AND lost IS NOT NULL
GROUP BY cluster, broker ORDER BY partitions DESC, cluster, broker""",
}
"""Questions about the newest run; `fatal` sorts after `error`. An unknown number of records makes the sum null."""


def views(engine: str, runs: Sequence[FleetRun]) -> Iterator[str]:
    """Yield statements that make a view of each table, with the column `run`, and of each question.

    UsageError if the engine has no views, or if runs are not in directories `run=ID` of one folder.
    """
    if engine not in DIALECTS:
        raise UsageError(f"{engine}: not one of {', '.join(DIALECTS)}")
    dialect = DIALECTS[engine]
    folders = {split(run.path)[0] for run in runs}
    if len(folders) > 1 or any(split(run.path)[1] != f"{_PREFIX}{run.name}" for run in runs):
        raise UsageError(f"{runs[0].path}: its name is not run={runs[0].name}, as fleet scan names it")
    (folder,) = folders
    yield f"-- {counted(len(runs), 'complete run')}; write the views again after the next scan.\n"
    yield dialect.before
    for table in sorted(run_tables()):
        names = sorted(run.name for run in runs if table in run.parts)
        if names:
            yield f"{dialect.view(table, folder or '.', names)}\n"
    known = {"run": dialect.text(newest(runs).name)}
    known |= {name: dialect.number("lost", field) for name, field in _NUMBERS}
    for name, query in _QUESTIONS.items():
        yield f"{dialect.create} {name} AS\n{query.format(**known)};\n"


_NUMBERS = (("records", "records"), ("committed", "below_high_watermark"))
