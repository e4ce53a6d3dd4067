"""The functions that write a bundle, apply a plan, and undo it."""

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from kcheck.api.answers import Path, texts_of

if TYPE_CHECKING:
    from kcheck.capture.write import Captured
    from kcheck.plans.plan_report import PlanOutcome
    from kcheck.plans.repair import RepairPlan


def apply(plan: "Path | RepairPlan", *, backup: Path, mapped: Iterable[str] = ()) -> "PlanOutcome":
    """Apply a plan, and back up every file that it replaces: `kcheck apply --yes`.

    `plan` is a plan file or an answer of repair. `backup` is a directory outside every log dir. `mapped` are texts
    `NAME=PATH`: where a log dir of the plan is on this machine. The brokers must be stopped. An exception of
    `kcheck.errors` says that nothing is changed, or what is; `undo` takes that back.
    """
    from kcheck.disk.apply import apply as carry_out
    from kcheck.disk.plan_here import plan_here
    from kcheck.model.plan_json import parse_plan
    from kcheck.plans.plan_report import PlanOutcome, plan_file

    folder = os.fspath(backup)
    written = plan_file(os.fspath(plan)) if isinstance(plan, (str, os.PathLike)) else plan.plan_bytes()
    data = plan_here(written, [*mapped], folder)
    return PlanOutcome(plan=parse_plan(data), changed=carry_out(data, folder).changed)


def undo(backup: Path) -> "PlanOutcome":
    """Restore what apply changed, byte for byte: `kcheck undo`. `backup` is the directory that apply was given."""
    from kcheck.disk.apply import undo as take_back
    from kcheck.plans.plan_report import PlanOutcome

    done = take_back(os.fspath(backup))
    return PlanOutcome(plan=done.plan, changed=done.changed, is_undone=True)


def write_bundle(
    *paths: Path,
    output: Path,
    pseudonyms: Path | None = None,
    server_logs: Iterable[Path] = (),
    offsets: bool = False,
    records: bool = True,
    digests: bool = True,
    size_max: int | None = None,
) -> "Captured":
    """Pack the evidence for a support ticket into a bundle, without any record: `kcheck capture`.

    `output` is a new file whose name ends in .kcheck. `pseudonyms` is a file for the key of the pseudonyms that replace
    the names of topics. `offsets` adds the committed offsets of groups. `records=False` does not check records,
    `digests=False` leaves out the SHA-256 of files, and `size_max` limits the bundle, in bytes.
    """
    from kcheck.capture import pseudonyms as names
    from kcheck.capture.tree import captured_paths, items
    from kcheck.capture.write import capture as verb
    from kcheck.capture.write import check_output

    texts, out = texts_of(paths), os.fspath(output)
    listed = [*items(texts, offsets=offsets)]
    check_output(out, captured_paths(texts))
    key_file = None if pseudonyms is None else os.fspath(pseudonyms)
    known = None if key_file is None else names.load(key_file, create=True)
    logs = texts_of(server_logs)
    captured = verb(listed, out, decode=records, digests=digests, limit=size_max, pseudonyms=known, logs=logs)
    if known is not None and key_file is not None:
        names.save(key_file, known)
    return captured
