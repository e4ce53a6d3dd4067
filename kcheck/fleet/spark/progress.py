"""Reports the progress of Spark jobs while they run."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from kcheck.survey.coverage import Coverage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_INTERVAL = 0.25


class SparkProgress:
    """Reports how many tasks of each named phase are done."""

    def __init__(self, spark: "SparkSession", coverage: Coverage, tell: Callable[[Coverage], None]) -> None:
        self.coverage = coverage
        self._spark = spark
        self._tell = tell

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Report the progress of the block a few times a second."""
        from pyspark.sql.utils import is_remote

        over = threading.Event()
        self._say(name)
        watching = threading.Thread(target=self._watch, args=(name, over), daemon=True)
        if not is_remote():  # Spark Connect offers no status tracker
            watching.start()
        try:
            yield
        finally:
            over.set()
            if watching.is_alive():
                watching.join()

    def _watch(self, name: str, over: threading.Event) -> None:
        from py4j.protocol import Py4JError

        with suppress(Py4JError, OSError):  # Spark is gone
            tracker = self._spark.sparkContext.statusTracker()
            while not over.wait(_INTERVAL):
                infos = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
                stages = [stage_info for stage_info in infos if stage_info is not None]
                done, count = (
                    sum(stage_info.numCompletedTasks for stage_info in stages),
                    sum(stage_info.numTasks for stage_info in stages),
                )
                self._say(f"{name}: {done} of {count} tasks" if count else name)

    def _say(self, text: str) -> None:
        self.coverage.at = text
        self._tell(self.coverage)
