"""The spark-submit command for a scan, with kcheck packed for the executors, and the starting program."""

import os
import shutil
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from itertools import pairwise
from typing import NamedTuple, NoReturn

from kcheck.errors import UsageError
from kcheck.fleet.spark.java import find_java
from kcheck.fleet.spark.package import cache, home, package, python
from kcheck.fleet.spark.session import INSTALL, spark_version

_LAUNCHER = ("kcheck", "cli", "launcher", "kcheck_fleet.py")


class Submission(NamedTuple):
    """A command, and its additional environment variables."""

    command: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]


def submission(scan: Sequence[str], options: Sequence[str], environment: Mapping[str, str]) -> Submission:
    """Return the command that runs `kcheck fleet scan` with these arguments, given options of spark-submit.

    UsageError without spark-submit, or without a Java for it.
    """
    program, added = _program(environment)
    command = [program, *_default_options(options, environment), *options]
    zipped = package(cache(environment))
    command += ["--py-files", ",".join([*_values(options, "--py-files"), zipped])]
    launcher = os.path.join(home(), *_LAUNCHER)
    return Submission((*command, launcher, "fleet", "scan", "--engine", "spark", *scan), added)


def run(wanted: Submission) -> NoReturn:
    """Become spark-submit."""
    os.execve(wanted.command[0], wanted.command, {**os.environ, **dict(wanted.environment)})  # noqa: S606 - no shell


def _program(environment: Mapping[str, str]) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the spark-submit of SPARK_HOME, of the PATH or of pyspark; for the last one SPARK_HOME and the Java, too.

    Without SPARK_HOME pyspark's spark-submit asks PYSPARK_PYTHON for it, an environment that may have no pyspark.
    """
    spark_home = environment.get("SPARK_HOME")
    if spark_home:
        program = os.path.join(spark_home, "bin", "spark-submit")
        if not os.path.isfile(program):
            raise UsageError(f"SPARK_HOME {spark_home} has no bin/spark-submit")
        return program, ()
    if path := shutil.which("spark-submit", path=environment.get("PATH")):
        return path, ()
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise UsageError(f"spark-submit: no such file or directory; set SPARK_HOME, or {INSTALL}")
    java = find_java(spark_version(), cache(environment), environment)
    spark_home = os.path.dirname(spec.origin)
    added = () if java.home is None else (("JAVA_HOME", java.home),)
    return os.path.join(spark_home, "bin", "spark-submit"), (("SPARK_HOME", spark_home), *added)


def _default_options(options: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """Return defaults for options that the user has not set.

    The driver runs this Python if the Python of the executors does not exist on this machine. A relative path is
    one in the folder of an executor, as of an archive.
    """
    conf = dict(value.partition("=")[::2] for name in ("--conf", "-c") for value in _values(options, name))
    master, mode = (_values(options, name)[-1:] for name in ("--master", "--deploy-mode"))
    defaults = {"spark.log.level": "WARN"}
    executors = conf.get("spark.pyspark.python", environment.get("PYSPARK_PYTHON"))
    known = executors or ""
    is_relative = os.path.dirname(known) != "" and not os.path.isabs(known)
    is_here = not is_relative and shutil.which(known, path=environment.get("PATH")) is not None
    if not is_here and mode != ["cluster"] and "PYSPARK_DRIVER_PYTHON" not in environment:
        defaults["spark.pyspark.driver.python"] = python()
    if executors is None and master and master[0].startswith("local"):
        defaults["spark.pyspark.python"] = python()
    return [part for name, value in defaults.items() if name not in conf for part in ("--conf", f"{name}={value}")]


def _values(options: Sequence[str], name: str) -> list[str]:
    """Return the values of an option, in both ways in which it can be written."""
    after = [value for before, value in pairwise(options) if before == name]
    return [*after, *(option.partition("=")[2] for option in options if option.startswith(f"{name}="))]
