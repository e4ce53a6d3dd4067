"""The Spark that runs a scan, from spark-submit, this process, or a Spark Connect server."""

import logging
import os
import re
import signal
import warnings
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from kcheck.errors import KcheckError, UsageError
from kcheck.fleet.spark.java import find_java
from kcheck.fleet.spark.package import cache, home, package, python

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

INSTALL = "pip install 'kcheck[spark]'"
_SAID_MAX = 500
_ASKED_AGAIN, _ASKED_EVERY_MS = 12, 5_000
_CALLED, _CAUSE = "An error occurred while calling ", re.compile("Caused by: ")
"""The prefixes of lines in messages from Java."""
_OLDEST, _BEYOND = (4, 1), (5,)

_SOCKETS = {"spark.python.unix.domain.socket.enabled": "true"}  # a third of the cost of a Python task
_WITHOUT_CLUSTER = {"spark.ui.enabled": "false"}  # that is half of a start
_ONE_COMPILER = "-XX:TieredStopAtLevel=1"
"""A Java that passes on bytes which Python made does not earn back what its second compiler costs."""
SQL_WISHES = {"spark.sql.parquet.compression.codec": "zstd"}
NEEDS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(8 << 20),  # a row may hold hundreds of directories
    "spark.sql.execution.arrow.maxRecordsPerBatch": "512",  # for a release that does not know the former here
    "spark.sql.parquet.columnarReaderBatchSize": "64",  # the same
}
"""Settings for the tables, and for rows of this size."""


def spark_version() -> str:
    """Return the release of pyspark; UsageError where it, or what it needs, is missing or another one is needed."""
    try:
        import pandas  # noqa: F401, ICN001 - mapInArrow asks for it, and pip does not bring it
        import pyspark
    except ImportError as error:
        raise UsageError(f"Spark needs pyspark and pandas; {error.name} is missing: {INSTALL}") from None
    version: str = pyspark.__version__
    numbers = tuple(map(int, re.findall(r"\d+", version)[:2]))
    if not _OLDEST <= numbers < _BEYOND:
        raise UsageError(f"pyspark {version} is installed; kcheck needs 4.1 and later, below 5: {INSTALL}")
    return version


@contextmanager
def session(master: str | None) -> "Iterator[SparkSession]":
    """Give a session; a session that was started here is stopped at the end.

    `master` is Spark's, `sc://...` for Spark Connect. None means spark-submit's or spark-defaults.conf's, or else
    local[*].
    """
    version = spark_version()
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    on_interrupt = signal.getsignal(signal.SIGINT)
    spark = _remote(master) if master is not None and master.startswith("sc://") else _classic(master, version)
    try:
        signal.signal(signal.SIGINT, on_interrupt)  # That of Spark calls Java while Java is called.
        logging.disable()  # py4j would print a traceback of an interrupted call; `in_a_line` reports it.
        with in_a_line():
            prepare(spark)
        _silence(spark)
        yield spark
    finally:
        # This thread may have been torn from a call, whose answer it would take for that of the next one.
        with suppress(Py4JError, PySparkException, OSError), ThreadPoolExecutor(1) as pool:
            pool.submit(spark.stop).result()
        logging.disable(logging.NOTSET)


@contextmanager
def in_a_line() -> Iterator[None]:
    """End the run if Spark fails, with its first message and the cause; its own log has the rest."""
    from py4j.protocol import Py4JError, Py4JNetworkError
    from pyspark.errors import PySparkException, PythonException

    try:
        yield
    except (Py4JNetworkError, ConnectionError) as error:
        raise KcheckError("Spark could not finish, because the Java process of its driver has ended") from error
    except (PySparkException, Py4JError) as error:
        said = str(error) or type(error).__name__
        lines = [line.strip().removeprefix(": ") for line in said.splitlines() if line.strip()]
        first, *others = lines[lines[0].startswith(_CALLED) and len(lines) > 1 :]
        causes = others[-1:] if isinstance(error, PythonException) else [*filter(_CAUSE.match, others)][:1]
        said = " ".join((first, *causes))
        raise KcheckError(f"Spark could not finish: {said[:_SAID_MAX]} (its log has the rest)") from error


def _silence(spark: "SparkSession") -> None:
    """Let a thread of pyspark print no traceback where its Java ends: `in_a_line` reports that."""
    from pyspark.sql.utils import is_remote

    server: Any = None if is_remote() else getattr(spark.sparkContext, "_accumulatorServer", None)
    if server is not None:
        server.handle_error = lambda *_: None


def prepare(spark: "SparkSession") -> None:
    """Set the settings of a scan, and ship kcheck to the executors, unless they find it on this machine."""
    from pyspark.sql.utils import is_remote

    conf = None if is_remote() else spark.sparkContext.getConf()
    wishes = {} if conf is None else {name: value for name, value in SQL_WISHES.items() if not conf.contains(name)}
    for name, value in {**NEEDS, **wishes}.items():
        spark.conf.set(name, value)
    if conf is None or not _is_one_process(str(conf.get("spark.master"))):
        ship(spark)


def wishes(master: str) -> Mapping[str, str]:
    """Return the settings before Spark starts, unless the user sets them.

    A socket has a path of at most 108 bytes, and the directory of a YARN task is longer.
    """
    sockets = {} if master == "yarn" else _SOCKETS
    return {**sockets, **_WITHOUT_CLUSTER} if _is_one_process(master) else sockets


def _is_one_process(master: str) -> bool:
    return master == "local" or master.startswith("local[")


def ship(spark: "SparkSession") -> None:
    """Hand kcheck to the executors, unless spark-submit has done that."""
    if os.path.isdir(home()):
        spark.addArtifacts(package(cache(os.environ)), pyfile=True)


def _remote(server: str) -> "SparkSession":
    """Return a session of a Spark Connect server; without an answer it retries for a minute, not for ten."""
    from pyspark.sql import SparkSession
    from pyspark.sql.connect.client.retries import DefaultPolicy

    spark = SparkSession.builder.remote(server).getOrCreate()
    warnings.filterwarnings("ignore", module=r"pyspark\.sql\.connect")  # `in_a_line` reports what fails
    spark.client.set_retry_policies([DefaultPolicy(max_retries=_ASKED_AGAIN, max_backoff=_ASKED_EVERY_MS)])
    return spark


def _classic(master: str | None, version: str) -> "SparkSession":
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    with _environment(master, version), in_a_line():
        SparkContext._ensure_initialized()  # a SparkConf has the user's settings only after this
        conf = SparkConf()
        if master is not None:
            conf.setMaster(master)
        where = conf.get("spark.master", None)
        if where is None:
            conf.setMaster(where := "local[*]")
        for name, value in {**wishes(where), "spark.app.name": "kcheck"}.items():
            conf.setIfMissing(name, value)
        conf.set("spark.ui.showConsoleProgress", "false")  # kcheck draws its own
        return SparkSession.builder.config(conf=conf).getOrCreate()


@contextmanager
def _environment(master: str | None, version: str) -> Iterator[None]:
    """Let Spark start with a usable Java, and with this Python if its tasks run on this machine."""
    if "PYSPARK_GATEWAY_PORT" in os.environ:  # spark-submit has started it already
        yield
        return
    java = find_java(version, cache(os.environ), os.environ)
    changes = {} if java.home is None else {"JAVA_HOME": java.home}
    if master is None or master.startswith("local"):  # local-cluster as well: its tasks are on this machine
        paths = (os.environ.get("PYTHONPATH"), home())
        changes["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
        changes["SPARK_SUBMIT_OPTS"] = " ".join((_ONE_COMPILER, os.environ.get("SPARK_SUBMIT_OPTS", ""))).strip()
        changes["PYSPARK_PYTHON"] = os.environ.get("PYSPARK_PYTHON", python())
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
