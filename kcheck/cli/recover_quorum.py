"""`kcheck recover quorum`: brings the controllers back from the disks that are left."""

from typing import Annotated

import typer

from kcheck import api
from kcheck.cli.examples import missing
from kcheck.cli.options import Common, with_common, within
from kcheck.model.java import INT_MAX

Nodes = Annotated[
    list[str] | None, typer.Argument(metavar="NODE=PATH...", help="Log dirs of every controller and broker.")
]
DeadNodes = Annotated[
    list[int] | None, typer.Option("--dead", metavar="NODE", help="A node that will not come back; repeatable.")
]
VoterOption = Annotated[
    str | None, typer.Option("--voter", metavar="NODE[@HOST:PORT]", help="The controller that is to lead.")
]
WayOption = Annotated[
    str | None,
    typer.Option("--way", metavar="static|identity|copy|voters", help="The way back. [default: the gentlest]"),
]
Force = Annotated[bool, typer.Option("--force", help="Accept the refusals that name --force.")]
QuorumOut = Annotated[
    str | None, typer.Option("--output-dir", metavar="DIR", help="Write a plan for each node, and the runbook.")
]


@with_common
def recover_quorum(
    common: Common,
    nodes: Nodes = None,
    dead: DeadNodes = None,
    voter: VoterOption = None,
    way: WayOption = None,
    force: Force = False,
    out: QuorumOut = None,
) -> None:
    """Restore controllers that lost their majority."""
    for number in dead or ():
        within("--dead", number, 0, INT_MAX)
    if not nodes:
        raise missing("NODE=PATH...", "recover-quorum")
    answer = api.recover_quorum(
        *nodes, dead=dead or (), voter=voter, way=way, force=force, out=out, kafka=common.release(nodes)
    )
    common.write_answer(answer.report(), failed=lambda: bool(answer.refusals))
