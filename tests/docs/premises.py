"""docs/premises.md: a row for each premise, from the table that judges them; what to do is written here."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from kcheck.core.premises.premise import Premise
from kcheck.core.premises.table import PREMISES

TableWriter = Callable[[Sequence[str], Iterable[Sequence[str]]], str]


class Advice(NamedTuple):
    """What a reader of the page needs beside the table of premises."""

    against: str
    """What refutes the premise, or why it was not seen."""
    todo: str
    """What to do then."""


ADVICE = {
    "P101": Advice(
        "Another cluster.id in a meta.properties.",
        "Bring the disk of this cluster, or name the metadata of the disk's cluster.",
    ),
    "P102": Advice(
        "Another id in a meta.properties.", "Mount the disk of this broker, or correct node.id or broker.id."
    ),
    "P103": Advice("Replicas, but no id in any place.", "Set broker.id to the id in the metadata."),
    "P104": Advice("Log dirs, none of them with a meta.properties.", "Run the kafka-storage.sh command of the reason."),
    "P105": Advice(
        "Other voters. In 3.9 and later new voters leave the answer unknown.",
        "Restore controller.quorum.voters. In 3.9 and later bring the log dirs of the new voters.",
    ),
    "P106": Advice(
        "A directory.id that the metadata lists under another broker.",
        "Mount the disk of this broker. If the disk is a copy, put an empty one in and format it.",
    ),
    "P107": Advice(
        "Another directory id, and voters whose log dirs are not given: not seen.",
        "Bring the log dirs of the other voters: kcheck cluster.",
    ),
    "P108": Advice(
        "Only the role broker, but a place among the voters.",
        "Correct process.roles, or remove the node from controller.quorum.voters.",
    ),
    "P201": Advice(
        "The broker's copy has entries that the newest copy of a voter lacks.",
        "Keep the broker down. Find the controllers with its history: kcheck cluster.",
    ),
    "P202": Advice(
        "A controller has partitions, and no metadata log.",
        "Start the other controllers first. A majority of them must have the metadata log: kcheck cluster.",
    ),
    "P203": Advice(
        "The metadata log is in another log dir.", "Set metadata.log.dir, or restore the order of log.dirs."
    ),
    "P204": Advice(
        "Log dirs of a minority of the voters: not seen.", "Name the log dirs of other voters by --metadata."
    ),
    "P301": Advice(
        "A log dir is missing, or has no readable meta.properties. "
        "Without server.properties a registered directory id that no log dir has is not seen.",
        "Mount the disk. If it is lost, see [One dead disk](operations/dead-disk.md).",
    ),
    "P302": Advice(
        "A partition without a directory that the broker may lead, or that only it has. "
        "Where other brokers may have its records: not seen.",
        "Start the others first. Compare the log dirs of all brokers: kcheck elect.",
    ),
    "P303": Advice(
        "Only the broker's own copy of the metadata, or none: not seen.",
        "Name a controller's log dir by --metadata, or accept it: --allow P303.",
    ),
    "P304": Advice(
        "Epochs that begin below the first segment, and no log start in a checkpoint.",
        "Restore the first segments, or let another replica lead: kcheck elect.",
    ),
    "P401": Advice(
        "A file that the owner of most files may not use. A file of another group is not seen.",
        "Run the chown or chmod command of the reason. If the group is right: --allow P401.",
    ),
    "P402": Advice("A read-only mount. In a container: not seen.", "Mount it read-write, after a check of the disk."),
    "P403": Advice("Fewer bytes are free than the start writes.", "Make room: [Disk full](operations/disk-full.md)."),
    "P404": Advice("A lower limit on this host.", "Raise vm.max_map_count by sysctl."),
    "P405": Advice("A read-only mount. In a container: not seen.", "Mount it read-write, after a check of the disk."),
    "P501": Advice(
        "Settings without process.roles, for 4.0 and later.", "Migrate to KRaft in 3.9 first, or start the old release."
    ),
    "P502": Advice("A lower value, or a class that is gone.", "Correct the setting that the reason names."),
    "P503": Advice("A lower value in the metadata.", "Raise it by kafka-configs.sh while the old release still runs."),
    "P701": Advice(
        "A lower broker epoch in .kafka_cleanshutdown.",
        "Bring the newest disk, or start the broker after the others: kcheck elect.",
    ),
    "P801": Advice(
        "Records without key in a compacted topic that was never cleaned; at most 256 MiB are read.",
        "Set cleanup.policy=delete for the topic first, or start with log.cleaner.enable=false.",
    ),
}
"""By the id of the premise."""

HEAD = """# Premises

A premise is a condition of a green answer. If the files refute it, the broker does not start, or it loses records.
`kcheck preflight server.properties` judges every premise that applies to the broker.

| `status` | Meaning | `kcheck preflight` |
| --- | --- | --- |
| proven | The files show that it holds. | shows nothing |
| refuted | The files show that it does not hold. | reason `abort`, `offline` or `loss` |
| not-seen | The given files do not show it. `provide` names what would. | reason `unknown`, if there is a `provide` |

- `kcheck predict`, `preflight` and `elect` list them in JSON, in `premises`: `id`, `sentence`, `status`, `broker_id`,
  `log_dir`, `partition`, `evidence` (`path`, `says`) and `provide`.
- `preflight --allow ID` accepts one premise. It does not accept a reason `abort`.
- `kcheck check` reports a refuted premise as [KC315](rules.md#kc315-premise-refuted).

{notice} from `kcheck/core/premises` and `tests/docs/premises.py`:
change those, not this.
"""


def premises_page(table: TableWriter, notice: str) -> str:
    """Return docs/premises.md."""
    header = (
        "Id", "What must hold", "Where kcheck looks", "What refutes it", "What Kafka does then", "Reason", "What to do",
    )  # fmt: skip
    sources = ((premise.id, premise.kafka) for premise in PREMISES)
    return "\n".join([
        HEAD.format(notice=notice), table(header, map(row, PREMISES)),
        "## Kafka's code\n", "The classes that decide, with their releases.\n", table(("Id", "Classes"), sources),
    ])  # fmt: skip


def row(premise: Premise) -> Sequence[str]:
    """Return the line of a premise."""
    against, todo = ADVICE[premise.id]
    return premise.id, premise.sentence, premise.proof, against, premise.refutation, reason(premise), todo


def reason(premise: Premise) -> str:
    """Return the kind of reason that a refuted premise is; unknown if no files can refute it."""
    if "refuted" not in premise.judge.__code__.co_names:
        return "unknown"
    return "abort" if premise.ends_start else "offline" if premise.takes_offline else "loss"
