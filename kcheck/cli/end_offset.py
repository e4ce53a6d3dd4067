"""`kcheck end-offset`: how a replica would answer OffsetsForLeaderEpoch."""

from typing import Annotated

import typer

from kcheck import api
from kcheck.cli.options import Common, Paths, ProfileOption, with_common, within
from kcheck.model.java import INT_MAX, INT_MIN, LONG_MAX


@with_common
def end_offset(
    paths: Paths,
    common: Common,
    epoch: Annotated[
        list[int] | None, typer.Option("--epoch", metavar="EPOCH", help="Requested epoch; repeatable.")
    ] = None,
    current_leader_epoch: Annotated[
        int, typer.Option("--current-leader-epoch", metavar="EPOCH", help="Current leader epoch in the request.")
    ] = -1,
    log_end_offset: Annotated[
        int | None,
        typer.Option("--log-end-offset", metavar="OFFSET", help="Log end of a bare leader-epoch-checkpoint."),
    ] = None,
    after_start: Annotated[
        bool, typer.Option("--after-start", help="Answer as the broker does after its next start.")
    ] = False,
    profile: ProfileOption = None,
) -> None:
    """Answer OffsetsForLeaderEpoch from disk, as the broker would."""
    for requested in epoch or ():
        within("--epoch", requested, INT_MIN, INT_MAX)
    within("--current-leader-epoch", current_leader_epoch, INT_MIN, INT_MAX)
    within("--log-end-offset", log_end_offset, 0, LONG_MAX)
    answer = api.end_offset(
        *paths,
        epochs=epoch or (),
        current_leader_epoch=current_leader_epoch,
        log_end_offset=log_end_offset,
        after_start=after_start,
        partitions=common.wanted(),
        kafka=common.release(paths, profile),
    )
    common.write_answer(answer.report())
