"""`kcheck truncation`: where each follower would cut, and what is lost."""

from typing import Annotated

import typer

from kcheck import api
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
    within("--leader-epoch", leader_epoch, 0, INT_MAX)
    partitions, release = common.wanted(), common.release(profile)
    answer = api.truncation(
        *replicas, leader=leader, leader_epoch=leader_epoch, live=live, partitions=partitions, kafka=release
    )
    common.leave(answer.report())
