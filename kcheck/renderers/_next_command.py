"""The command to type next, for every answer. It repeats the user's paths, and the options of this command.

Its modules are imported for the answers that have them.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from kcheck.documents.next_commands import (
    FOLDER,
    PLAN_FILE,
    are_decided_together,
    explain_command,
    explain_premise,
    first_of_broker,
    keeping_command,
    next_of_broker,
    repairable_log_dirs,
)
from kcheck.model.finding import Severity
from kcheck.model.report import CommandLine, Report
from kcheck.words import shell_line

if TYPE_CHECKING:
    from kcheck.core.start.predictions import LogDirPrediction
    from kcheck.verbs.prediction import Prediction
    from kcheck.verbs.preflight import Preflight

_RELEASE = ("--kafka", "--ibp", "--message-format", "--config", "--server-log")
_PARTITIONS = ("--topic", "--partition")
_REPLICAS = (*_RELEASE, "--metadata", "--dead", "--aside")
CARRIED = {
    "check": (*_RELEASE, *_PARTITIONS, "--metadata"),
    "repair": (
        *_RELEASE,
        *_PARTITIONS,
        "--metadata",
        "--define",
        "--against",
        "--accept-loss",
        "--tidy",
        "--adopt",
        "--store",
    ),
    "predict": (*_RELEASE, *_PARTITIONS, "--metadata", "--define", "--clean", "--unclean"),
    "preflight": (*_RELEASE[:3], *_RELEASE[4:], "--metadata", "--define", "--clean", "--unclean", "--allow"),
    "elect": (*_REPLICAS, "--incomplete-ok", "--from", "--cluster", "--engine", "--master"),
    "recover": _REPLICAS,
    "simulate run": ("--ibp",),
    "simulate search": (
        "--brokers",
        "--rf",
        "--min-isr",
        "--acks",
        "--unclean",
        "--elr",
        "--mode",
        "--appends",
        "--crashes",
        "--lossy-crashes",
        "--fences",
        "--moves",
        "--shrinks",
        "--delays",
        "--overtakes",
        "--promise",
        "--max-events",
        "--max-states",
        "--jobs",
    ),
    "fleet report": ("--storage-option",),
}
"""The options that a next command repeats."""

_Decision: TypeAlias = Callable[[Report, CommandLine], str | None]


def next_command(report: Report) -> str | None:
    """Return the command to type next, the answer's own where it names one; None if nothing is left to do."""
    if "next" in report.body:
        named = report.body["next"]
        assert named is None or isinstance(named, str)
        return named
    typed = report.typed or CommandLine(report.checked)
    return _BY_VERB.get(report.verb, _of_findings)(report, typed)


def _line(command: str, typed: CommandLine, *more: str, arguments: Iterable[str] | None = None) -> str:
    """Return a command with arguments, by default the user's, and the options that it repeats."""
    named = typed.arguments if arguments is None else arguments
    return shell_line(("kcheck", *command.split(), *named, *typed.carried(CARRIED[command]), *more))


def _of_findings(report: Report, typed: CommandLine) -> str | None:
    """Return the command that explains the worst finding."""
    del typed
    return explain_command(report.findings())


def _check(report: Report, typed: CommandLine) -> str | None:
    findings = report.findings()
    if report.verb == "check" and are_decided_together(findings):
        return _line("recover", typed)
    log_dirs = repairable_log_dirs(findings)
    return _line("repair", typed, "-o", PLAN_FILE, arguments=log_dirs) if log_dirs else explain_command(findings)


def _predict(report: Report, typed: CommandLine) -> str | None:
    from kcheck.verbs.prediction import Prediction

    answer = report.answer
    assert isinstance(answer, Prediction)
    if answer.severity.rank < Severity.WARNING.rank:
        return None
    brokers = {start.broker_id for start in answer.log_dirs if any(row.replica_log for row in start.partitions)}
    if len(brokers - {None}) > 1:
        return _line("recover", typed)
    kept = None if answer.loses_otherwise else keeping_command(answer.log_dirs)
    return _of_broker("predict", typed, answer.log_dirs, answer, kept)


def _of_broker(
    verb: str,
    typed: CommandLine,
    starts: Sequence["LogDirPrediction"],
    answer: "Prediction | Preflight",
    kept: str | None = None,
) -> str:
    def options(command: str) -> tuple[str, ...]:
        return typed.carried(CARRIED[command])

    first = first_of_broker(typed.arguments, options, answer.premises, answer.others)
    if first is not None:
        return first
    return next_of_broker(verb, typed.arguments, options, starts, answer.premises, answer.others, kept)


def _preflight(report: Report, typed: CommandLine) -> str | None:
    from kcheck.verbs.preflight import Preflight

    answer = report.answer
    assert isinstance(answer, Preflight)
    if answer.may_start is True:
        return None
    is_named = any(name.endswith(".properties") for name in typed.arguments)  # predict takes no other without log dirs
    if not is_named and not any(start.partitions for start in answer.starts):
        return explain_premise(answer.premises)
    options = tuple(option for option in typed.options if option[0] != "--config")  # the argument is the same file
    typed = typed._replace(options=options)
    return _of_broker("preflight", typed, answer.starts, answer)


def _truncation(report: Report, typed: CommandLine) -> str | None:
    from kcheck.replicas.truncation import Truncation

    answer = report.answer
    assert isinstance(answer, Truncation)
    return _line("elect", typed) if answer.losing or answer.truncated else explain_command(report.findings())


def _elect(report: Report, typed: CommandLine) -> str | None:
    from kcheck.core.election.plans import is_at_stake
    from kcheck.replicas.elect import ClusterElection

    answer = report.answer
    if not isinstance(answer, ClusterElection):
        from kcheck.fleet.runs.elect import RunElection
        from kcheck.fleet.runs.elect_clusters import RunElections

        if isinstance(answer, RunElections):
            name = answer.clusters[0].cluster.name if answer.clusters else None
            return None if name is None else _line("elect", typed, "--cluster", name)
        assert isinstance(answer, RunElection)
        if answer.by_disks.are_first:
            return answer.by_disks.command
    elif answer.rescue is not None:
        return answer.rescue.command
    if answer.written:
        folder = dict(typed.options).get("--output-dir") or FOLDER
        return shell_line(("less", f"{folder.rstrip('/')}/plan.md"))
    is_decided = answer.is_safe and not any(map(is_at_stake, answer.partitions))
    return None if is_decided else _line("elect", typed, "--output-dir", FOLDER)


def _cluster(report: Report, typed: CommandLine) -> str | None:
    """Return the command that brings the metadata back, if that comes first."""
    from kcheck.verbs.cluster import ClusterReport

    del typed
    answer = report.answer
    assert isinstance(answer, ClusterReport)
    return explain_command(report.findings()) if answer.rescue is None else answer.rescue.command


def _verify(report: Report, typed: CommandLine) -> str | None:
    from kcheck.replicas.verification import Verification

    answer = report.answer
    assert isinstance(answer, Verification)
    if answer.is_as_planned:
        return None
    own = () if any(name == "--metadata" for name, _ in typed.options) else answer.plan.metadata
    named = (word for path in own for word in ("--metadata", path))
    return _line("recover", typed, *named, arguments=typed.arguments[1:])


def _plan(report: Report, typed: CommandLine) -> str | None:
    """Return the command that applies a plan or looks at its result; without a plan, the one for another way."""
    from kcheck.core.start.verdicts import log_dir_severity
    from kcheck.plans.plan_report import PlanOutcome
    from kcheck.plans.repair import RepairPlan

    answer = report.answer
    if isinstance(answer, PlanOutcome):
        return None if answer.changed is None else _line("check", typed, arguments=map(_near, answer.plan.log_dirs))
    assert isinstance(answer, RepairPlan)
    if not answer.plan.operations:
        refused = max(answer.not_planned, key=lambda row: row.severity.rank, default=None)
        if any(log_dir_severity(start).rank >= Severity.ERROR.rank for start in answer.now):
            return _without_repair(answer.now, typed)
        return None if refused is None else f"kcheck explain {refused.finding}"
    file = dict(typed.options).get("--output")
    if file is None:
        return _line("repair", typed, "-o", PLAN_FILE)
    return shell_line(("kcheck", "apply", file, "--backup", FOLDER))


def _near(path: str) -> str:
    """Return the path of a log dir as the user would type it, without the working directory."""
    here = f"{os.getcwd()}{os.sep}"
    return path.removeprefix(here)


def _without_repair(starts: "Iterable[LogDirPrediction]", typed: CommandLine) -> str:
    """Return the command for brokers that lose records or do not start, if no repair helps."""
    if all(start.broker_id is not None for start in starts):
        return _line("recover", typed)
    return "kcheck help power-loss"


def _fleet_scan(report: Report, typed: CommandLine) -> str | None:
    return _line("fleet report", typed, arguments=(str(report.body["path"]),))


def _fleet_report(report: Report, typed: CommandLine) -> str | None:
    """Return the command of the first thing to do."""
    del typed
    actions = report.body["actions"]
    assert isinstance(actions, tuple)
    return next((str(row["command"]) for row in actions), None)


def _later_run(report: Report, typed: CommandLine) -> str | None:
    """Return the report of the last run; None if a comparison shows nothing new in it."""
    runs = report.body.get("runs", (report.body.get("after"),))
    assert isinstance(runs, tuple)
    is_same = report.verb == "fleet-diff" and not report.body["lost"] and not any(report.summary().values())
    return None if is_same else _line("fleet report", typed, arguments=(runs[-1]["path"],))


def _recover_run(report: Report, typed: CommandLine) -> str | None:
    """Return the command that reads the disks of the worst cluster."""
    from kcheck.fleet.runs.recover import RunRecovery

    del typed
    answer = report.answer
    assert isinstance(answer, RunRecovery)
    return next((decision.command for decision in answer.clusters), None)


def _export(report: Report, typed: CommandLine) -> str | None:
    """Return the command that produces the first file."""
    del typed
    rows = report.body["partitions"]
    assert isinstance(rows, tuple)
    return next((row["produce"] for row in rows if row["produce"] is not None), None)


def _simulate(report: Report, typed: CommandLine) -> str | None:
    """Return the command for the log dirs of a history, or for the releases in which it loses records."""
    from kcheck.simulation.verdict import Verdict
    from kcheck.verbs.simulate import HistoryList, ReleasesCompared, Searched, SearchesCompared, Simulation

    options = dict(typed.options)
    match report.answer:
        case HistoryList(histories=(first, *_)):
            return f"kcheck simulate {first.name} --kafka all"
        case Simulation() if "--output-dir" in options:
            return shell_line(("kcheck", str(options["--output-dir"])))
        case Simulation() as answer if typed.arguments:
            is_open = not answer.holds or (answer.replay.verdict != Verdict() and "--kafka" not in options)
            return _line("simulate run", typed, "--kafka", "all") if is_open else None
        case ReleasesCompared(replays=replays) if typed.arguments:
            losing = (replay.rules.release.name for replay in replays if replay.verdict != Verdict())
            return next((_line("simulate run", typed, "--kafka", name) for name in losing), None)
        case Searched(scenario=str()) if report.typed is not None and "--kafka" not in options:
            return _line("simulate search", typed, "--kafka", "all")
        case SearchesCompared(searches=searches) if report.typed is not None:
            broken = (search.kafka for search in searches if search.scenario is not None)
            return next((_line("simulate search", typed, "--kafka", name) for name in broken), None)
    return None


_BY_VERB: Mapping[str, _Decision] = {
    "check": _check, "inspect": _check, "predict": _predict, "preflight": _preflight, "truncation": _truncation,
    "elect": _elect, "cluster": _cluster, "verify": _verify, "plan": _plan, "recover-run": _recover_run,
    "export": _export, "simulate": _simulate, "fleet-scan": _fleet_scan, "fleet-report": _fleet_report,
    "fleet-diff": _later_run, "fleet-history": _later_run,
}  # fmt: skip
