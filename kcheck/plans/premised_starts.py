"""The next starts without a plan and with it, as the premises of their brokers let them be."""

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from kcheck.core.premises.batches import OWN_BATCHES, OWN_KEYS, READABLE
from kcheck.core.premises.table import BY_ID, UNCOUNTED
from kcheck.core.start.predictions import LogDirPrediction
from kcheck.model.finding import Finding
from kcheck.model.premises import JudgedPremise
from kcheck.plans.edited_log_dir import EditedLogDir
from kcheck.repairs import DAMAGE
from kcheck.startup.options import StartOptions
from kcheck.verbs.premises import judge, missing_log_dirs, refuted_findings
from kcheck.views.log_dir import LogDirs
from kcheck.views.targets import Target


class PremisedStarts(NamedTuple):
    """The next starts of the log dirs of a plan, which `kcheck predict` says too."""

    premises: tuple[JudgedPremise, ...]
    """The assumptions about the next start without the plan."""
    now: tuple[LogDirPrediction, ...]
    """The starts without the plan."""
    then: tuple[LogDirPrediction, ...]
    """The starts with it."""
    left: tuple[Finding, ...]
    """Findings about premises that are refuted with the plan too, so that an operator has to act."""
    missing: frozenset[str]
    """The log dirs that do not exist. Only a premise says so, no other finding."""


def premised_starts(
    targets: tuple[Target, ...], edited: Sequence[EditedLogDir], options: StartOptions, log_dirs: LogDirs,
    *, starts: tuple[Sequence[LogDirPrediction], Sequence[LogDirPrediction]], is_changed: bool,
) -> PremisedStarts:  # fmt: skip
    """Judge the combined starts without a plan and with it.

    `edited` are the log dirs with the plan, if it changes them.
    """
    before, after = starts
    now, premises = then, premises_then = judge(targets, before, options, log_dirs)
    if is_changed:
        with_edits = log_dirs.edited({log_dir.path: log_dir.opened() for log_dir in edited})
        then, premises_then = judge(targets, after, options, with_edits)
    # A plan brings no record back: it only changes the files that show what is gone. It mends what is unreadable.
    gone = (judged for judged in premises if not _is_of_files(judged))
    by_place = {
        (judged.id, judged.broker_id, judged.log_dir, judged.partition): judged for judged in chain(gone, premises_then)
    }
    places = [log_dir.view.where for log_dir in edited]
    mended = {(of.path, name) for of in edited for name, partition in of.by_dir.items() if partition.version}
    damaged = {
        (of.path, name)
        for of in edited
        for name, partition in of.by_dir.items()
        if any(finding.id in DAMAGE for finding in partition.findings)
    }  # fmt: skip
    # A refusal names the batch itself.
    settled = {READABLE: damaged - mended, **dict.fromkeys(UNCOUNTED - {OWN_BATCHES, OWN_KEYS}, mended)}
    rows = (row for row in by_place.values() if (row.log_dir, row.partition) not in settled.get(row.id, ()))
    left = tuple(refuted_findings(rows, places, options.release))
    return PremisedStarts(premises, now, then, left, frozenset(missing_log_dirs(targets, premises)))


def _is_of_files(judged: JudgedPremise) -> bool:
    """Return whether a premise depends on the files after the plan, as it does before it."""
    premise = BY_ID[judged.id]
    return premise.ends_start or premise.takes_offline or judged.id == READABLE
