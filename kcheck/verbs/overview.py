"""`kcheck PATH`: the verdict on the next start, then what is wrong."""

import shlex
from dataclasses import dataclass, replace
from typing import Self

from kcheck.core.start.verdicts import worst_first
from kcheck.documents.answer import Answer, Outcomes
from kcheck.documents.predict import log_dir_row, partition_row
from kcheck.documents.unserved import unserved_row
from kcheck.model.depth import Depth
from kcheck.model.finding import Finding
from kcheck.model.release import Release
from kcheck.model.report import Report
from kcheck.startup.log_manager import StartOptions
from kcheck.verbs.check import CheckReport, Watch, check
from kcheck.verbs.next_starts import NextStarts
from kcheck.verbs.predict import Prediction, directories, prediction_of, with_copies
from kcheck.views.log_dir import LogDirs
from kcheck.views.targets import replica_targets


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview(Answer):
    """What `kcheck PATH` answers."""

    paths: tuple[str, ...]
    """The arguments."""
    check: CheckReport
    """The result of `kcheck check`."""
    prediction: Prediction
    """The predicted next start of the log dirs."""

    def outcomes(self) -> tuple[Self, Outcomes | None]:
        """Return those of the check and of the prediction."""
        found, predicted = self.check.outcomes()[1], self.prediction.outcomes()[1]
        return self, None if found is None or predicted is None else {**found, **predicted}

    def of_release(self, release: Release) -> Self:
        """Return the same answer with another account of its release."""
        return replace(self, check=self.check.of_release(release))

    @property
    def collected(self) -> list[Finding]:
        """The findings of the check."""
        return self.check.collected

    def report(self) -> Report:
        """Return the report of the check, with the next command to type.

        Before it come the verdict on each log dir and the partitions that cause it, worst first.
        """
        report = self.check.report()
        verdicts = tuple(
            {**log_dir_row(log_dir), "partitions": tuple(map(partition_row, worst_first(log_dir.partitions)))}
            for log_dir in self.prediction.log_dirs
        )
        rows = tuple(map(unserved_row, self.prediction.unserved))
        more = {"predictions": verdicts, "unserved": rows, "next": f"kcheck predict {shlex.join(self.paths)}"}
        return report._replace(body={**more, **report.body}, answer=self)


def overview(arguments: list[str], options: StartOptions, watch: Watch | None = None) -> Overview:
    """Check batch headers and predict the next start; both share each opened log dir."""
    log_dirs = LogDirs(options.release)
    targets = directories(arguments)
    options = with_copies(targets, options, log_dirs)
    prediction = prediction_of(targets, options, log_dirs)
    starts = NextStarts(replica_targets(arguments), lambda: options, log_dirs, named=bool(options.metadata))
    for log_dir in prediction.log_dirs:
        starts.know(log_dir.path, log_dir.partitions)
    return Overview(
        paths=tuple(arguments),
        check=check(
            arguments,
            depth=Depth.HEADERS,
            as_kind=None,
            wanted=options.wanted,
            release=options.release,
            log_dirs=log_dirs,
            starts=starts,
            watch=watch,
        ),
        prediction=prediction,
    )
