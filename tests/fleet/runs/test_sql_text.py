"""Texts of SQL have printable characters alone, and say what they said."""

import duckdb
import pytest

from kcheck.fleet.runs.sql_text import duckdb_files, duckdb_text, spark_files, spark_text

TEXTS = ("", "plain", "it's", "a\x1b[2J\nb", "\u202e'", "\\n")


@pytest.mark.parametrize("text", TEXTS)
def test_duckdb_reads_the_text(text: str) -> None:
    assert duckdb_text(text).isprintable()
    assert [(text,)] == duckdb.connect().execute(f"SELECT {duckdb_text(text)}").fetchall()


def test_a_path_is_no_pattern() -> None:
    assert "'/r[[]1]/run=[*]/t/*.parquet'" == duckdb_files("/r[1]/run=*", "t")
    assert "'./~/run=r/t/*.parquet'" == duckdb_files("~/run=r", "t")
    assert r"/r\[1\]\{\*\?\\/run={a,b}/t" == spark_files("/r[1]{*?\\/run=", ("a", "b"), "t")


def test_spark_reads_escapes() -> None:
    """As `unescapeSQLString` of ParserUtils does (4.3)."""
    assert ["''", "'plain'", r"'it\'s'", r"'a\U0000001b[2J\U0000000ab'", r"'\U0000202e\''", r"'\\n'"] == [
        *map(spark_text, TEXTS)
    ]
