"""`kcheck PATH`: what is wrong, with the verdict on the next start in front."""

import shlex
from dataclasses import dataclass

from kcheck.documents.answer import Answer
from kcheck.documents.predict import log_dir_row
from kcheck.model.depth import Depth
from kcheck.model.report import Report
from kcheck.startup.log_manager import StartOptions
from kcheck.verbs.check import CheckReport, check
from kcheck.verbs.predict import Prediction, predict_directories
from kcheck.views.log_dir import LogDirs


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview(Answer):
    """What `kcheck PATH` answers."""

    paths: tuple[str, ...]
    """The arguments."""
    check: CheckReport
    """What is wrong."""
    prediction: Prediction
    """What becomes of the log dirs at the next start."""

    def report(self) -> Report:
        """Return the report of the check, with the verdict on each log dir and the command to type next."""
        report = self.check.report()
        verdicts = tuple({**log_dir_row(log_dir), "partitions": ()} for log_dir in self.prediction.log_dirs)
        more = {"predictions": verdicts, "next": f"kcheck predict {shlex.join(self.paths)}"}
        return report._replace(body={**more, **report.body})


def overview(arguments: list[str], options: StartOptions) -> Overview:
    """Check batch headers and predict the next start; each log dir is opened once for both."""
    log_dirs = LogDirs(options.release)
    return Overview(
        paths=tuple(arguments),
        check=check(
            arguments,
            depth=Depth.HEADERS,
            as_kind=None,
            wanted=options.wanted,
            release=options.release,
            log_dirs=log_dirs,
        ),
        prediction=predict_directories(arguments, options, log_dirs),
    )
