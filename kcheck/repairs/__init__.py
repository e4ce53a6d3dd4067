"""The repairs of findings, with one module for each repair, named `<verb>_<noun>`.

In: a site (a partition directory or a log dir as edited so far) and its findings. Out: steps, refusals with a reason,
or findings that other steps settled. A module sets `REPAIR`, and `registry.discover` finds it without a list.
docs/contributing.md says how to add a repair.

Modules that repairs share:

- `_contract`: What must a repair provide, and what can it read and edit?
- `_files`: Which files does a site have, and which rules are about its batches?
- `_entries`: How do the lines of a partition in the offset checkpoints change?
- `_epochs`: How is leader-epoch-checkpoint written, and how are epochs put in words?
- `_nothing`: Which rules have no repair, and why?
"""

from kcheck.repairs._contract import (
    AsideEdit,
    CutEdit,
    Edit,
    EntryEdit,
    Evidence,
    Image,
    Impact,
    LogDirSite,
    Owner,
    PartitionSite,
    PatchEdit,
    RecoveryCut,
    Refused,
    RenameEdit,
    Repair,
    RepairOutcome,
    RepairScope,
    RepairStep,
    Settled,
    WriteEdit,
)
from kcheck.repairs._entries import serialized
from kcheck.repairs._files import DAMAGE, RECORDS, bases
from kcheck.repairs._nothing import WITHOUT

__all__ = (
    "DAMAGE",
    "RECORDS",
    "WITHOUT",
    "AsideEdit",
    "CutEdit",
    "Edit",
    "EntryEdit",
    "Evidence",
    "Image",
    "Impact",
    "LogDirSite",
    "Owner",
    "PartitionSite",
    "PatchEdit",
    "RecoveryCut",
    "Refused",
    "RenameEdit",
    "Repair",
    "RepairOutcome",
    "RepairScope",
    "RepairStep",
    "Settled",
    "WriteEdit",
    "bases",
    "serialized",
)
