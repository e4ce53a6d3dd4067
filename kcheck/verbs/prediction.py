"""The answer of `kcheck predict`; this module imports nothing that predicts."""

from dataclasses import dataclass
from typing import Self

from kcheck.core.start.predictions import LogDirPrediction
from kcheck.core.start.unserved import Unserved
from kcheck.core.start.verdicts import log_dir_severity
from kcheck.documents.answer import COMPARED_COUNT_MAX, COMPARED_SIZE_MAX, BrokerAnswer, Outcomes
from kcheck.documents.predict import log_dir_row, partition_row
from kcheck.documents.unserved import unserved_row
from kcheck.model.finding import Severity
from kcheck.model.premises import JudgedPremise
from kcheck.model.report import Report
from kcheck.tables import predictions as predictions_table

OUTCOME = ("outcome", "log_start_offset", "log_end_offset", "leader_epochs", "lost")
"""The fields of a partition's row that matter to an operator; the others are words and names of files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction(BrokerAnswer):
    """The answer of `kcheck predict`."""

    log_dirs: tuple[LogDirPrediction, ...]
    """The prediction for each log dir, in the order of the arguments."""
    premises: tuple[JudgedPremise, ...]
    """The premises of the answer."""
    unserved: tuple[Unserved, ...]
    """The directories with records that the brokers do not serve."""
    others: tuple[int, ...] = ()
    """The other brokers of the cluster by its metadata."""

    @property
    def verdicts(self) -> tuple[str, ...]:
        """The verdict on each log dir, in the order of `log_dirs`, in the words of JSON and of the screen."""
        return tuple(start.verdict for start in self.log_dirs)

    @property
    def severity(self) -> Severity:
        """The worst severity of all log dirs, an error if a broker starts and loses by a premise, or may.

        A controller without a majority of the others is one, because they can elect another history. A warning if only
        the disks of the other brokers show whether records are lost.
        """
        worst = max(map(log_dir_severity, self.log_dirs), default=Severity.INFO, key=lambda severity: severity.rank)
        if worst.rank < Severity.ERROR.rank and (self.loses_otherwise or self.may_lose_history):
            return Severity.ERROR
        return Severity.WARNING if worst.rank < Severity.WARNING.rank and self._needs_every_disk else worst

    @property
    def _needs_every_disk(self) -> bool:
        if not self.premises:
            return False
        from kcheck.documents.premises import needs_every_disk  # not to check a file

        return any(map(needs_every_disk, self.premises))

    @property
    def may_lose_history(self) -> bool:
        """True if a node is one of several controllers, and no majority of them is known."""
        return any(row.may_lose_history for row in self.premises)

    @property
    def badness(self) -> tuple[float, ...]:
        """Return the worst severity as a sort key."""
        return (self.severity.rank,)

    @property
    def loses_otherwise(self) -> bool:
        """True if a broker starts and loses by a refuted premise, or may lose by an unclean election.

        True also if the broker may not serve all of its log dirs.
        """
        if not self.premises:
            return False
        from kcheck.documents.premises import loses, may_cut, may_not_serve  # not to check a file

        return any(loses(premise) or may_cut(premise) or may_not_serve(premise) for premise in self.premises)

    def outcomes(self) -> tuple[Self, Outcomes | None]:
        """Return the outcome of each log dir and partition, unless they are many or recovery reads much."""
        partitions = [(start.path, partition) for start in self.log_dirs for partition in start.partitions]
        scanned = sum(partition.scan_bytes for _, partition in partitions)
        if len(partitions) > COMPARED_COUNT_MAX or scanned > COMPARED_SIZE_MAX:
            return self, None
        of_log_dirs = {(f"predict {start.path}",): str(start.outcome) for start in self.log_dirs}
        rows = ((path, partition_row(partition)) for path, partition in partitions)
        return self, of_log_dirs | {
            (f"predict {row['dir']}", path): [row[name] for name in OUTCOME] for path, row in rows
        }

    def report(self) -> Report:
        """Return the answer as rows."""
        from kcheck.documents.premises import premise_rows  # not to check a file

        return self.document(
            "predict",
            body={
                "log_dirs": map(log_dir_row, self.log_dirs),
                "premises": premise_rows(self.premises),
                "unserved": tuple(map(unserved_row, self.unserved)),
            },
            table="log_dirs.partitions",
            columns=predictions_table.TABLE.columns,
            kinds={"log_dirs": "log-dir", "partitions": "partition", "premises": "premise", "unserved": "unserved"},
        )
