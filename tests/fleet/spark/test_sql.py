"""The views of `kcheck fleet sql spark` answer in Spark as those for DuckDB do."""

from pathlib import Path

from pyspark.sql import SparkSession

from tests.fleet.runs.test_sql import ANSWERS, QUERIES, statements


def test_spark_answers(spark: SparkSession, tmp_path: Path) -> None:
    session = spark.newSession()
    for statement in statements("spark", tmp_path):
        session.sql(statement)
    assert ANSWERS == {name: [tuple(row) for row in session.sql(query).collect()] for name, query in QUERIES.items()}
