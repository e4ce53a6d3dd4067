"""The commands that look closer at a row of a report.

They run on the host of its broker, or on the tables of the run. Log dirs are named as in the scan.
"""

from collections import defaultdict
from typing import Any

from kcheck.fleet.lost import RULE as LOST
from kcheck.fleet.run import BrokerKey, FleetRun
from kcheck.fleet.went_back import RULE as WENT_BACK
from kcheck.model.evidence import AUTO
from kcheck.rules import Scope
from kcheck.survey.rule_runner import all_rules
from kcheck.words import partition_name, shell_line

_OF_BROKER = (Scope.BROKER, Scope.CLUSTER)
"""Rules that look at all log dirs of a broker."""


class RunCommands:
    """Makes the commands for a run; it knows the log dirs of each broker."""

    def __init__(self, run: FleetRun) -> None:
        """Read the table of the log dirs."""
        self._run = run
        self._log_dirs: dict[BrokerKey, list[str]] = defaultdict(list)
        for cluster, broker, path in run.values("log_dirs", ("cluster", "broker", "log_dir")):
            if path:
                self._log_dirs[cluster, broker].append(path)
        self._recover: dict[object, str] = dict(run.values("clusters", ("cluster", "recover")))
        self._release = [] if run.kafka == AUTO else ["--kafka", run.kafka]
        self._scopes = {rule.id: rule.scope for rule in all_rules()}

    def check(self, row: Any, *options: str) -> str:
        """Return the command that checks all log dirs of a broker as the scan did.

        For a lost broker it is the command of its cluster.
        """
        log_dirs = self._of(row)
        return self._check([*options, *log_dirs]) if log_dirs else self.lost(row)

    def predict(self, row: Any) -> str:
        """Return the command that predicts the next start of a broker, or of one partition.

        The row of a partition names its log dir.
        """
        options = [] if row.get("topic") is None else ["--partition", _partition(row)]
        return _command("predict", *self._release, *options, *self._of(row))

    def elect(self, row: Any) -> str:
        """Return the command that names the best leader of a partition, from the tables of the run."""
        cluster = () if row["cluster"] is None else ("--cluster", str(row["cluster"]))
        return _command("elect", "--from", self._run.path, *cluster, "--partition", _partition(row))

    def finding(self, row: Any) -> str:
        """Return the command that finds a finding again, in all replicas if its rule compares them.

        Otherwise it looks in the directory of the finding.
        """
        scope = self._scopes.get(row["id"])
        if scope is Scope.RUN:
            return self.lost(row, row["id"])
        is_of_partition = row["topic"] is not None and row["partition"] is not None
        if scope is Scope.REPLICAS and is_of_partition:
            return self.elect(row)
        options = [] if scope is None else ["--select", row["id"]]
        if scope in _OF_BROKER or not row["log_dir"]:
            return self.check(row, *options)
        options += ["--partition", _partition(row)] if is_of_partition and row["dir"] is not None else []
        return self._check([*options, row["log_dir"]])

    def lost(self, row: Any, rule: str = LOST) -> str:
        """Return the command that decides by the disks of a cluster, given a finding about the run; or the help."""
        return self._recover.get(row["cluster"]) or _command("help", "old-copy" if rule == WENT_BACK else "dead-disk")

    def _check(self, words: list[str]) -> str:
        return _command("check", "--depth", self._run.depth, *self._release, *words)

    def _of(self, row: Any) -> list[str]:
        return self._log_dirs.get((row["cluster"], row["broker"]), [])


def _command(*words: str) -> str:
    return shell_line(["kcheck", *words])


def _partition(row: Any) -> str:
    return partition_name(row["topic"], row["partition"])
