"""`kcheck truncation`: where each follower would cut, and what is lost."""

from typing import Annotated

import typer

from kcheck.cli.options import Common, Profile, Replicas, with_common, within
from kcheck.model.java import INT_MAX


@with_common
def truncation(
    replicas: Replicas,
    common: Common,
    leader: Annotated[
        str | None, typer.Option("--leader", metavar="BROKER|best", help="Who leads; without it, every candidate.")
    ] = None,
    leader_epoch: Annotated[
        int | None, typer.Option("--leader-epoch", help="The epoch of the election; else one above every epoch seen.")
    ] = None,
    live: Annotated[bool, typer.Option("--live", help="The brokers keep running: no start comes before.")] = False,
    profile: Profile = None,
) -> None:
    """Plan where each follower truncates, and what is lost."""
    from kcheck.replicas.truncation import Election
    from kcheck.replicas.truncation import truncation as plan

    within("--leader-epoch", leader_epoch, 0, INT_MAX)
    election = Election(leader=leader, leader_epoch=leader_epoch, live=live)
    answer = plan(replicas, election, wanted=common.wanted(), release=common.release(profile))
    common.leave(answer.report())
