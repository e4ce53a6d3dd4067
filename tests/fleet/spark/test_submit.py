"""The command that is handed to spark-submit, and what is said where there is none: nothing is started here."""

import json
import os
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path
from socketserver import BaseRequestHandler, TCPServer
from types import SimpleNamespace
from typing import Any

import pytest
from py4j.protocol import Py4JError, Py4JNetworkError

import kcheck as package
from kcheck.errors import KcheckError, UsageError
from kcheck.fleet.spark import package as pack
from kcheck.fleet.spark import session, submit
from kcheck.fleet.spark.submit import submission
from tests.cli.command import environment, kcheck, shell

LAUNCHER = str(Path(package.__file__).parent / "cli" / "launcher" / "kcheck_fleet.py")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Make a Spark whose spark-submit shows what it was given."""
    program = tmp_path / "spark" / "bin" / "spark-submit"
    program.parent.mkdir(parents=True)
    code = "import json, sys; print(json.dumps(sys.argv[1:]))"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} -c '{code}' \"$@\"\n")
    program.chmod(0o755)
    return tmp_path / "spark"


def test_it_becomes_spark_submit(home: Path, tmp_path: Path) -> None:
    """With kcheck packed, what the user said in its place, and only what the user has not set."""
    plain = {"SPARK_HOME": str(home), "XDG_CACHE_HOME": str(tmp_path / "cache"), "PYSPARK_PYTHON": "python3"}
    wanted = ("--conf", "spark.log.level=INFO", "--py-files", "more.zip", "--master", "spark://h:7077")
    scan = ("a/{broker}", "--output-dir", "o", "--depth", "crc", "--topic", "x")
    done = shell("fleet", "submit", *scan, "--", *wanted, **plain)
    assert (0, "") == (done.code, done.err)
    (packed,) = (tmp_path / "cache" / "kcheck" / "spark").iterdir()
    told = [*wanted, "--py-files", f"more.zip,{packed}", LAUNCHER, "fleet", "scan", "--engine", "spark", *scan]
    assert told == json.loads(done.out)
    shown = shell("fleet", "submit", "--print", *scan, "--", *wanted, **plain)
    assert [f"{home}/bin/spark-submit", *told] == shlex.split(shown.out)


def test_the_zip_is_kcheck_and_the_same_each_time(tmp_path: Path) -> None:
    """All that is imported stands in it; a Python that has nothing else of kcheck can import the steps."""
    first = pack.package(str(tmp_path / "a"))
    second = pack.package(str(tmp_path / "b"))
    assert Path(first).name == Path(second).name
    assert Path(first).read_bytes() == Path(second).read_bytes()
    with zipfile.ZipFile(first) as archive:
        names = set(archive.namelist())
    sources = {str(path.relative_to(pack.home())) for path in (Path(pack.home()) / "kcheck").rglob("*.py")}
    assert sources | {"kcheck/py.typed"} <= names
    assert not [name for name in names if "__pycache__" in name]
    code = "from kcheck.fleet.spark import executor_steps, package as p; print(p.home(), p.package('nowhere'))"
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", code], env={**plain, "PYTHONPATH": first}, cwd=tmp_path, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert f"{first} {first}\n" == done.stdout


@pytest.mark.parametrize(
    ("options", "around", "python"),
    [
        (("--master", "spark://h:1"), {}, {"spark.pyspark.driver.python"}),
        (("--master=local[2]",), {}, {"spark.pyspark.driver.python", "spark.pyspark.python"}),
        (("--master", "yarn", "--deploy-mode", "cluster"), {}, set()),
        (("--conf", "spark.pyspark.python=./environment/bin/python"), {}, {"spark.pyspark.driver.python"}),
        (("--conf", f"spark.pyspark.python={sys.executable}"), {}, set()),
        (("--master=local",), {"PYSPARK_PYTHON": sys.executable}, set()),
        (("--conf", "spark.pyspark.driver.python=x"), {}, set()),
        ((), {"PYSPARK_DRIVER_PYTHON": "x"}, set()),
    ],
)
def test_this_python_is_that_of_the_driver_unless_told(
    options: tuple[str, ...], around: dict[str, str], python: set[str], home: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Told is one that is here; without any, this one is that of tasks, too, where these run on this machine.

    The environment that was packed is here, too.
    """
    monkeypatch.chdir(tmp_path)
    own = tmp_path / "environment" / "bin" / "python"
    own.parent.mkdir(parents=True)
    own.symlink_to(sys.executable)
    told = submission((), options, {"SPARK_HOME": str(home), "XDG_CACHE_HOME": str(tmp_path), **around}).command
    added = told[1 : told.index("--py-files") - len(options)]
    assert {"spark.log.level=WARN", *(f"{name}={sys.executable}" for name in python)} == {*added[1::2]}


def test_spark_submit_is_found(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In SPARK_HOME, on the PATH, or in pyspark; without any, one line says what to install."""
    plain = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    on_path = {**plain, "PATH": str(home / "bin")}
    assert str(home / "bin" / "spark-submit") == submission((), (), on_path).command[0]
    with pytest.raises(UsageError, match=r"SPARK_HOME /nowhere has no bin/spark-submit"):
        submission((), (), {**on_path, "SPARK_HOME": "/nowhere"})
    java = tmp_path / "java" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("#!/bin/sh\necho 'openjdk version \"17\"' >&2\n")
    java.chmod(0o755)
    found = submission((), (), {**plain, "JAVA_HOME": str(tmp_path / "java"), "PATH": ""})
    assert found.command[0].endswith("pyspark/bin/spark-submit")
    spark_home = found.command[0].removesuffix("/bin/spark-submit")  # a PYSPARK_PYTHON without pyspark does not know it
    assert (("SPARK_HOME", spark_home), ("JAVA_HOME", str(tmp_path / "java"))) == found.environment
    monkeypatch.setattr(submit, "find_spec", lambda _: None)
    with pytest.raises(
        UsageError, match=r"spark-submit: no such file or directory; set SPARK_HOME, or pip install 'kcheck\[spark\]'"
    ):
        submission((), (), {**plain, "PATH": ""})


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("a",), "--output-dir DIR is missing"),
        (("a", "--output-dir", "o", "--deep"), "--deep: kcheck fleet scan has no such option"),
        (("a", "--output-dir", "o", "--engine", "spark"), "--engine and --master are not for submit"),
        (("a", "--output-dir", "o", "--master", "yarn"), "--engine and --master are not for submit"),
    ],
)
def test_what_scan_would_refuse_is_refused(arguments: tuple[str, ...], said: str) -> None:
    """Before anything is started."""
    done = kcheck("fleet", "submit", *arguments, "--", "--master", "yarn")
    assert (2, "") == (done.code, done.out)
    assert said in done.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--master", "local"), "--master local needs --engine spark"),
        (("--engine", "spark", "--jobs", "4"), "--jobs 4: not with --engine spark; use --master 'local[4]'"),
    ],
)
def test_what_makes_no_sense_is_refused(options: tuple[str, ...], said: str, tmp_path: Path) -> None:
    """Before anything is looked at."""
    done = kcheck("fleet", "scan", "a", "--output-dir", tmp_path / "out", *options)
    assert (2, "") == (done.code, done.out)
    assert f"kcheck: {said}\n" == done.err


BLOCKED = """
import sys
sys.modules[sys.argv[1]] = None
from kcheck.cli.app import main
sys.argv[:2] = ["kcheck"]
main()
"""


@pytest.mark.parametrize("missing", ["pyspark", "pandas"])
def test_without_pyspark_one_line_says_what_to_install(missing: str, tmp_path: Path) -> None:
    """Exit code 2, and nothing is written."""
    arguments = ("fleet", "scan", str(tmp_path), "--output-dir", str(tmp_path / "out"), "--engine", "spark")
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED, missing, *arguments], env=environment(), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    said = f"kcheck: Spark needs pyspark and pandas; {missing} is missing: pip install 'kcheck[spark]'\n"
    assert (2, "", said) == (done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize(
    ("version", "fits"), [("4.0.5", False), ("4.1.4", True), ("4.10.0.dev1", True), ("5.0", False)]
)
def test_only_a_known_spark_is_used(version: str, fits: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """From 4.1 on, before 5."""
    import pyspark

    monkeypatch.setattr(pyspark, "__version__", version)
    if fits:
        assert version == session.spark_version()
        return
    with pytest.raises(UsageError, match=f"pyspark {version} is installed; kcheck needs 4.1 and later, below 5"):
        session.spark_version()


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (
            ("An error occurred while calling o9.parquet.", ": java.lang.A: awaited", "\tat x", "Caused by: B: why"),
            "java.lang.A: awaited Caused by: B: why",
        ),
        ((": java.lang.A: stopped", "\tat x"), "java.lang.A: stopped"),
        (("An error occurred while calling o9.sc",), "An error occurred while calling o9.sc"),
    ],
)
def test_what_java_says_is_one_line(lines: tuple[str, ...], said: str) -> None:
    """What it was, and what was behind it."""
    with pytest.raises(KcheckError) as caught, session.in_a_line():
        raise Py4JError("\n".join(lines))
    assert f"Spark could not finish: {said} (its log has the rest)" == str(caught.value)


def test_a_socket_is_asked_for_where_its_path_is_short() -> None:
    """A container of YARN has its files below a directory with a long name."""
    socket = "spark.python.unix.domain.socket.enabled"
    masters = {master: socket in session.wishes(master) for master in ("local[2]", "spark://h:7077", "yarn")}
    assert {"local[2]": True, "spark://h:7077": True, "yarn": False} == masters


@pytest.mark.parametrize("error", [ConnectionRefusedError(111, "Connection refused"), Py4JNetworkError("Answer")])
def test_that_java_has_ended_is_said(error: Exception) -> None:
    """Not how that showed."""
    with pytest.raises(KcheckError) as caught, session.in_a_line():
        raise error
    assert "Spark could not finish, because the Java process of its driver has ended" == str(caught.value)


def test_a_server_of_pyspark_whose_java_has_ended_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """It would print a traceback beside the line of kcheck."""
    with TCPServer(("127.0.0.1", 0), BaseRequestHandler) as server:
        spark: Any = SimpleNamespace(sparkContext=SimpleNamespace(_accumulatorServer=server))
        server.handle_error(b"", "client")
        assert "Exception occurred" in capsys.readouterr().err
        session._silence(spark)
        server.handle_error(b"", "client")
        assert "" == capsys.readouterr().err
