"""What can be done about a finding; one module for each repair, found by its constant REPAIR."""

from kcheck.repairs._contract import (
    AsideEdit,
    CutEdit,
    Edit,
    EntryEdit,
    Evidence,
    Image,
    Impact,
    LogDirSite,
    PartitionSite,
    PatchEdit,
    RecoveryCut,
    Refused,
    Repair,
    RepairOutcome,
    RepairScope,
    RepairStep,
    Settled,
    WriteEdit,
)
from kcheck.repairs._entries import serialized
from kcheck.repairs._epochs import in_words
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
    "PartitionSite",
    "PatchEdit",
    "RecoveryCut",
    "Refused",
    "Repair",
    "RepairOutcome",
    "RepairScope",
    "RepairStep",
    "Settled",
    "WriteEdit",
    "bases",
    "in_words",
    "serialized",
)
