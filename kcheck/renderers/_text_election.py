"""The layout of `kcheck elect`: the verdict, the ways to go on, the worst partitions; one partition in full."""

from typing import TYPE_CHECKING

from kcheck.core.election.plans import Candidate, PartitionElection, is_at_stake
from kcheck.core.election.scenarios import harm
from kcheck.documents.election_words import (
    SEAT_LEGEND,
    UNTIL_RESCUE,
    brokers_of,
    course_words,
    gap_words,
    nothing_at_stake,
)
from kcheck.model.report import Report
from kcheck.renderers._election_rows import (
    CLUSTER_TITLES,
    LOSS_TITLES,
    PARTITION_TITLES,
    SCENARIO_TITLES,
    Election,
    candidate_table,
    cluster_cells,
    compares_leaders,
    extent,
    interrupted,
    legend,
    log_lines,
    loss_cells,
    partition_cells,
    repair_commands,
    scenario_rows,
    warnings,
    worst,
)
from kcheck.renderers._text_truncation import follower
from kcheck.replicas.elect import ClusterElection
from kcheck.screen.page import Page, cell
from kcheck.words import counted, other_end_words, partition_name, shell_word

if TYPE_CHECKING:
    from kcheck.fleet.runs.elect import RunElection
    from kcheck.fleet.runs.elect_clusters import RunElections

_WORST_COUNT = 5
_PICTURE_WIDTH = 44
_MARKS = {"lost": "x", "kept": "=", "fetched": "."}


def elect(report: Report, page: Page) -> None:
    """Write who should lead; a single partition in full."""
    answer = report.answer
    if isinstance(answer, ClusterElection):
        _election(answer, page)
        return
    from kcheck.fleet.runs.elect import RunElection  # only for a run
    from kcheck.fleet.runs.elect_clusters import RunElections

    if isinstance(answer, RunElections):
        _clusters(answer, page)
    else:
        assert isinstance(answer, RunElection)
        _election(answer, page)


def _election(answer: Election, page: Page) -> None:
    partitions, left_out = answer.partitions, 0 if isinstance(answer, ClusterElection) else answer.left_out
    page.line(f"{_controller(kraft=answer.kraft)} controller", "bold")
    for words in warnings(answer):
        page.wrapped(words, hanging="  ", style="yellow")
    page.line()
    interrupted(answer, page)
    page.wrapped(answer.verdict, style="bold")
    if isinstance(answer, ClusterElection) and answer.if_lost is not None:
        page.wrapped(answer.if_lost.sentence)
    page.line()
    for command in (steps := [*repair_commands(answer)]):
        page.line(f"  {command}")
    if steps:
        page.line()
    page.table(SCENARIO_TITLES, scenario_rows(answer))
    _losses(answer, page) if not isinstance(answer, ClusterElection) else _saved(answer, page)
    if answer.written:
        page.line()
        page.wrapped(f"Written: {', '.join(map(cell, answer.written))}. Read plan.md first.", hanging="  ")
    if len(partitions) == 1 and not left_out:
        page.line()
        _whole(partitions[0], page)
        return
    at_stake = sorted(filter(is_at_stake, partitions), key=harm)
    if not partitions:
        return
    if not at_stake:
        page.line()
        page.wrapped(nothing_at_stake(partitions) if answer.rescue is None else UNTIL_RESCUE)
        if not page.every or not partitions:
            return
    rows = sorted(partitions, key=harm) if page.every else at_stake
    shown, more = worst(rows, left_out, every=page.every)
    page.line()
    page.table(
        PARTITION_TITLES, [partition_cells(partition, is_compared=compares_leaders(answer)) for partition in shown]
    )
    page.wrapped(legend(answer))
    page.line()
    page.wrapped(f"{more}{' ' if more else ''}Add --partition {shell_word(shown[0].name)} to see one in full.")


def _clusters(answer: "RunElections", page: Page) -> None:
    """Write a row for each cluster, the worst first, then what to do in each."""
    page.line(f"elections of {counted(len(answer.clusters), 'cluster')}, the worst first", "bold")
    page.line()
    page.table(CLUSTER_TITLES, [cluster_cells(election) for election in answer.clusters])
    for election in answer.clusters:
        cluster = election.cluster
        page.line()
        page.line(
            f"cluster {cell(cluster.name)}, Kafka {cluster.release.name} ({_controller(kraft=cluster.kraft)})", "bold"
        )
        for words in filter(None, (other_end_words(cluster.release.evidence), *map(gap_words, election.gaps))):
            page.wrapped(words, indent="  ", hanging="    ", style="yellow")
        page.wrapped(election.verdict, indent="  ")
    page.line()
    page.wrapped("Add --cluster NAME to see the partitions of one. Clusters start independently of each other.")


def _controller(*, kraft: bool) -> str:
    return "KRaft" if kraft else "ZooKeeper"


def _saved(answer: ClusterElection, page: Page) -> None:
    if answer.saved:
        records = answer.saved_count
        if records is None:
            records = sum(saved.records.records or 0 for saved in answer.saved)
        replicas = counted(len(answer.saved), "replica")
        page.line()
        page.wrapped(f"Saved {counted(records, 'record')} of {replicas} that elections would lose.")


def _losses(answer: "RunElection", page: Page) -> None:
    """Write what goes with each broker, and the replicas in sync that lack committed records."""
    if answer.broker_losses:
        page.line()
        page.table(LOSS_TITLES, [loss_cells(loss) for loss in answer.broker_losses])
    if answer.lacking:
        page.line()
        count = counted(answer.lacking_count, "replica")
        page.line(f"{count} in the ISR without all committed records", "bold")
        shown = answer.lacking if page.every else answer.lacking[:_WORST_COUNT]
        page.table(
            ("partition", "broker", "log end", "high watermark"),
            [(partition_name(topic, number), *rest) for topic, number, *rest in shown],
        )


def _whole(partition: PartitionElection, page: Page) -> None:
    """Write one partition, with its metadata, every candidate, the logs side by side, and the followers."""
    page.line(partition.name, "bold")
    registered = partition.registration
    if registered is not None:
        places = {"replicas": registered.replicas, "ISR": registered.isr, "ELR": registered.elr}
        seats = ", ".join(f"{name} {brokers_of(ids)}" for name, ids in places.items())
        epoch, mark = cell(registered.leader_epoch), cell(partition.high_watermark)
        page.wrapped(f"{seats}, leader epoch {epoch}; highest high watermark {mark}", indent="  ")
        moved = {"adds": registered.adding, "removes": registered.removing}
        under_way = " and ".join(f"{verb} {brokers_of(ids)}" for verb, ids in moved.items() if ids)
        if under_way:
            page.wrapped(f"A reassignment is under way. It {under_way}.", indent="  ")
        page.wrapped(course_words(partition), indent="  ")
        if partition.kafka_unclean != partition.kafka_now:
            page.wrapped(f"With unclean elections on, Kafka elects {_elected(partition.kafka_unclean)}.", indent="  ")
    page.line()
    page.table(*candidate_table(partition))
    if registered is not None:
        page.wrapped(SEAT_LEGEND)
    for candidate in partition.candidates:
        if candidate.problem:
            page.wrapped(f"broker {candidate.broker_id}: {candidate.problem}", hanging="  ", style="yellow")
    best = partition.recommended
    if best is not None:
        page.line()
        page.line(f"under broker {best.broker_id}: = kept, x lost, . fetched")
        _picture(partition, best, page)
        assert best.plan is not None
        for part in best.plan.followers:
            follower(part, best.plan, page)


def _picture(partition: PartitionElection, best: Candidate, page: Page) -> None:
    """Draw the logs side by side, each from the lowest log start to the highest log end."""
    logs = log_lines(partition, best)
    start, end = extent(logs)
    for log in logs:
        marks = ""
        for column in range(_PICTURE_WIDTH):
            first = start + column * (end - start) // _PICTURE_WIDTH
            last = max(first, start + (column + 1) * (end - start) // _PICTURE_WIDTH - 1)
            marks += next((_MARKS[part.kind] for part in log.parts if part.covers(first, last)), " ")
        page.line(f"  {f'broker {log.broker_id}':<10} |{marks}| {log.words}")


def _elected(broker: int | None) -> str:
    return "nobody" if broker is None else f"broker {broker}"
