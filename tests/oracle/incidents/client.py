"""A client of a cluster that stays: a line is a command of Lab.java, its answer is lines."""

import subprocess
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.oracle.jars import java_command

RELEASE = "4.3.1"
"""Of the client: it talks to brokers of 2.1 and later."""
LAB = Path(__file__).parents[1] / "java" / "Lab.java"


class Client:
    """One JVM, ended by a `with` block."""

    def __init__(self, bootstrap: str) -> None:
        self.said: list[str] = []
        """What went wrong."""
        self._process = subprocess.Popen(
            java_command(RELEASE, LAB, bootstrap), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def ask(self, command: str) -> list[list[str]]:
        """Return the lines of the answer, each as its words."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{command}\n")
        self._process.stdin.flush()
        rows: list[list[str]] = []
        for line in self._process.stdout:
            if line == ".\n":
                return rows
            if line.startswith("!"):
                self.said.append(line.strip())
            else:
                rows.append(line.split())
        raise RuntimeError(f"the client ended at {command}")
