"""What the Python of an executor loads first, where a test puts this folder on its path: a disk that hangs once.

The first task of a scan that gets here with something to look at writes its process id into the folder
KCHECK_TEST_MARKS and never ends: a second copy of it has to.
"""

import importlib.util
import os
import sys
import time
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from itertools import chain, islice
from pathlib import Path
from types import ModuleType
from typing import Any

_STAGES = "kcheck.fleet.spark.executor_steps"


def _slowed(stages: ModuleType) -> None:
    original = stages.scan_all

    def scan_all(batches: Any, options: Any) -> Iterator[Any]:
        filled = filter(lambda batch: batch.num_rows, batches)
        batches = [*islice(filled, 1)]
        if not batches:
            return  # A task without anything to look at may end.
        batches = chain(batches, filled)
        mark = Path(os.environ["KCHECK_TEST_MARKS"]) / "straggler"
        try:
            mark.touch(exist_ok=False)
        except FileExistsError:
            yield from original(batches, options)
            return
        mark.write_text(str(os.getpid()))
        time.sleep(3600)

    stages.scan_all = scan_all  # type: ignore[attr-defined]  # what is found there by its name


class _Slow:
    """Finds the module of the steps, and has them slowed when it is loaded."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Tell of that module alone."""
        del path, target
        if name != _STAGES:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        assert spec is not None
        loader: Any = spec.loader
        load = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            del loader.exec_module  # the modules of a folder in a zip share one loader
            load(module)
            _slowed(module)

        loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, _Slow())
