"""`kcheck recover metadata`: makes lost metadata again from the disks of brokers."""

from typing import Annotated

import typer

from kcheck import api
from kcheck.cli.examples import missing
from kcheck.cli.options import Common, with_common, within
from kcheck.cli.recover_quorum import DeadNodes, Force, QuorumOut, VoterOption
from kcheck.model.java import INT_MAX

BrokersAndController = Annotated[
    list[str] | None,
    typer.Argument(metavar="NODE=PATH...", help="Log dirs of every broker, and of a new, formatted controller."),
]
AnswersOption = Annotated[
    str | None,
    typer.Option("--answers", metavar="FILE", help="Facts that no disk has; --output-dir writes a template."),
]
Standalone = Annotated[bool, typer.Option("--standalone", help="A cluster of one broker, for reading its records.")]

Bootstrap = Annotated[
    bool,
    typer.Option(
        "--bootstrap", help="Write bootstrap.checkpoint instead of a snapshot. The controller then starts first."
    ),
]

Zookeeper = Annotated[
    bool, typer.Option("--zookeeper", help="Write znodes for an empty ZooKeeper, for brokers of 2.4 to 3.9.")
]


@with_common
def recover_metadata(
    common: Common,
    nodes: BrokersAndController = None,
    answers: AnswersOption = None,
    dead: DeadNodes = None,
    voter: VoterOption = None,
    standalone: Standalone = False,
    bootstrap: Bootstrap = False,
    zookeeper: Zookeeper = False,
    force: Force = False,
    out: QuorumOut = None,
) -> None:
    """Rebuild lost metadata from the brokers' disks."""
    for number in dead or ():
        within("--dead", number, 0, INT_MAX)
    if not nodes:
        raise missing("NODE=PATH...", "recover-metadata")
    answer = api.recover_metadata(
        *nodes, answers=answers, dead=dead or (), voter=voter, standalone=standalone, bootstrap=bootstrap,
        zookeeper=zookeeper, force=force, out=out, kafka=common.release(nodes),
    )  # fmt: skip
    common.write_answer(answer.report(), failed=lambda: bool(answer.refusals))
