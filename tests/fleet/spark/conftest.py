"""The Spark that these tests share: one of this machine, with two tasks side by side, and two attempts for each."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn
from unittest import mock

import pytest
from pyspark.sql import SparkSession

from kcheck.fleet.spark.session import session
from tests.oracle.jars import UNVERIFIED

ROOT = Path(__file__).parents[3]
FLAGS = " ".join(("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xss4m", *UNVERIFIED))
"""What a short life is worth: no second compiler, no threads that collect, nothing verified again."""


def needs_java() -> None:
    """Skip a test, or fail it in one line where CI=true."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        no_java()


def no_java() -> NoReturn:
    """Tell that there is no Java."""
    if os.environ.get("CI") == "true":
        pytest.fail("Spark needs a Java", pytrace=False)
    pytest.skip("Spark needs a Java")


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Start Spark as the command does; its tasks find the tests beside kcheck."""
    needs_java()
    folder = tmp_path_factory.mktemp("spark")
    options = {
        "spark.driver.extraJavaOptions": f"'{FLAGS}'",
        "spark.sql.shuffle.partitions": "2",
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder),
        "spark.log.level": "FATAL",
    }
    told = " ".join(f"--conf {name}={value}" for name, value in options.items())
    changes = {"PYSPARK_SUBMIT_ARGS": f"{told} pyspark-shell", "SPARK_LOCAL_IP": "127.0.0.1", "PYTHONPATH": str(ROOT)}
    changes["KCHECK_TEST_MARKS"] = str(tmp_path_factory.mktemp("marks"))
    with mock.patch.dict(os.environ, changes), session("local[2,2]") as started:
        yield started
