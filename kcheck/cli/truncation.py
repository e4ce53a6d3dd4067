"""`kcheck truncation`: where each follower would truncate, and what it would lose."""

from typing import Annotated

import typer

from kcheck import api
from kcheck.cli.options import Common, Metadata, ProfileOption, ReplicaArguments, with_common, within
from kcheck.model.finding import Severity, parse_severity
from kcheck.model.java import INT_MAX


@with_common
def truncation(
    replicas: ReplicaArguments,
    common: Common,
    leader: Annotated[
        str | None, typer.Option("--leader", metavar="BROKER|best", help="The leader. [default: every candidate]")
    ] = None,
    leader_epoch: Annotated[
        int | None,
        typer.Option(
            "--leader-epoch",
            metavar="EPOCH",
            help="Leader epoch of the election. [default: highest epoch found + 1]",
        ),
    ] = None,
    live: Annotated[
        bool, typer.Option("--live", help="Treat the brokers as running; do not simulate a restart.")
    ] = False,
    metadata: Metadata = None,
    profile: ProfileOption = None,
) -> None:
    """Show where followers truncate under each leader, and what they lose."""
    within("--leader-epoch", leader_epoch, 0, INT_MAX)
    partitions, release = common.wanted(), common.release(replicas, profile)
    answer = api.truncation(
        *replicas, leader=leader, leader_epoch=leader_epoch, live=live, metadata=metadata or (), partitions=partitions,
        kafka=release,
    )  # fmt: skip
    fail_on = parse_severity(common.judging.fail_on)
    common.write_answer(
        answer.report(),
        failed=lambda: bool(answer.losing or not answer.is_proven) and fail_on.rank <= Severity.ERROR.rank,
    )
