"""`kcheck simulate`: replay a history of one partition, or search for one that breaks a promise."""

import sys
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from kcheck.cli.long_commands import Jobs, parse_jobs
from kcheck.cli.options import with_output_options, within
from kcheck.cli.report_output import OutputOptions, end, write_answer
from kcheck.errors import UsageError

if TYPE_CHECKING:
    from kcheck.simulation.search import Budget
    from kcheck.verbs.simulate import Configuration, SearchBounds

HistoryFile = Annotated[
    str | None, typer.Argument(metavar="FILE", help="A history, one event a line, or a name from --list.")
]
Kafka = Annotated[
    str | None, typer.Option("--kafka", metavar="VERSION|all", help="Kafka release to model; all: a row per release.")
]
IbpOption = Annotated[
    str | None,
    typer.Option("--ibp", metavar="VERSION", help="inter.broker.protocol.version, or metadata.version, if older."),
]
ListWanted = Annotated[bool, typer.Option("--list", help="List the histories that kcheck ships.")]
Wanted = Annotated[bool, typer.Option("--search", help="Search for what breaks a promise, from where FILE ends.")]
BrokerCount = Annotated[int, typer.Option("--brokers", metavar="N", help="Search: number of brokers.")]
Rf = Annotated[int | None, typer.Option("--rf", metavar="N", help="Search: number of replicas; default: all brokers.")]
MinIsr = Annotated[int, typer.Option("--min-isr", metavar="N", help="Search: min.insync.replicas.")]
AcksOption = Annotated[str, typer.Option("--acks", metavar="0|1|all", help="Search: what producers wait for.")]
Unclean = Annotated[str, typer.Option("--unclean", metavar="true|false", help="Search: unclean leader election.")]
Elr = Annotated[str | None, typer.Option("--elr", metavar="true|false", help="Search: eligible leader replicas.")]
ModeOption = Annotated[
    str | None, typer.Option("--mode", metavar="kraft|zookeeper", help="Search: kind of controller.")
]
Records = Annotated[int, typer.Option("--records", metavar="N", help="Search: appends of one record.")]
Crashes = Annotated[int, typer.Option("--crashes", metavar="N", help="Search: killed processes.")]
Lossy = Annotated[int, typer.Option("--lossy-crashes", metavar="N", help="Search: power losses.")]
Fences = Annotated[int, typer.Option("--fences", metavar="N", help="Search: sessions that end while the broker runs.")]
Moves = Annotated[int, typer.Option("--moves", metavar="N", help="Search: elections of another replica in sync.")]
Shrinks = Annotated[int, typer.Option("--shrinks", metavar="N", help="Search: slow followers that leave the ISR.")]
Delays = Annotated[int, typer.Option("--delays", metavar="N", help="Search: links that hold what is sent.")]
Overtakes = Annotated[
    int, typer.Option("--overtakes", metavar="N", help="Search: late messages of a controller that uses ZooKeeper.")
]
Promise = Annotated[
    str | None,
    typer.Option("--promise", metavar="NAME,...", help="Search: only what breaks these, such as lost,leaders."),
]
DepthMax = Annotated[int | None, typer.Option("--depth", metavar="N", help="Search: most events of a history.")]
States = Annotated[int | None, typer.Option("--states", metavar="N", help="Search: most states to visit.")]
Mutant = Annotated[
    str | None, typer.Option("--mutant", metavar="NAME", help="Switch off a condition of Kafka, such as M5.")
]
WriteTo = Annotated[
    str | None,
    typer.Option("--write", metavar="DIR", help="Write every broker's log dir, as it lies after the events."),
]
Reproduce = Annotated[bool, typer.Option("--reproduce", help="Print a shell script that plays FILE on a real cluster.")]
WrittenStep = Annotated[
    int | None, typer.Option("--step", metavar="N", help="With --write: after N events; default: all.")
]


@with_output_options
def simulate(  # one for each option
    output_options: OutputOptions,
    file: HistoryFile = None,
    kafka: Kafka = None,
    ibp: IbpOption = None,
    listed: ListWanted = False,
    wanted: Wanted = False,
    brokers: BrokerCount = 2,
    rf: Rf = None,
    min_isr: MinIsr = 1,
    acks: AcksOption = "all",
    unclean: Unclean = "false",
    elr: Elr = None,
    mode: ModeOption = None,
    records: Records = 3,
    crashes: Crashes = 0,
    lossy: Lossy = 1,
    fences: Fences = 1,
    moves: Moves = 0,
    shrinks: Shrinks = 0,
    delays: Delays = 0,
    overtakes: Overtakes = 0,
    promise: Promise = None,
    jobs: Jobs = 1,
    depth: DepthMax = None,
    states: States = None,
    mutant: Mutant = None,
    write: WriteTo = None,
    step: WrittenStep = None,
    reproduce: Reproduce = False,
) -> None:
    """Replay a history of one partition, in any release."""
    from kcheck.simulation.promises import WATCHED
    from kcheck.simulation.search import DEPTH_MAX, STATES_MAX
    from kcheck.verbs import simulate as verb

    if listed:
        write_answer(verb.HistoryList(histories=verb.histories()).report(), output_options)
        return
    if not wanted:
        _replay(file, kafka, ibp, mutant, write, step, output_options, reproduce=reproduce)
        return
    within("--brokers", brokers, 1, 9)
    configuration = verb.Configuration(
        brokers=brokers,
        rf=rf,
        min_isr=min_isr,
        acks=acks,
        unclean=_flag("--unclean", unclean),
        elr=None if elr is None else _flag("--elr", elr),
        kraft=None if mode is None else _is_kraft(mode),
    )
    budget = {
        "--records": records, "--crashes": crashes, "--lossy-crashes": lossy, "--fences": fences,
        "--moves": moves, "--shrinks": shrinks, "--delays": delays, "--overtakes": overtakes,
    }  # fmt: skip
    bounds = verb.SearchBounds(
        _budget(budget),
        DEPTH_MAX if depth is None else depth,
        STATES_MAX if states is None else states,
        WATCHED if promise is None else tuple(promise.split(",")),
        parse_jobs(jobs),
    )
    _search(file, kafka, configuration, bounds, mutant, output_options)


def _budget(bounded: Mapping[str, int]) -> "Budget":
    """Return how often each kind of event may happen, by the option that says it; UsageError if that is too often."""
    from kcheck.simulation.search import BUDGET_MAX, Budget

    for option, number in bounded.items():
        within(option, number, 0, BUDGET_MAX)
    return Budget(*bounded.values())


def _search(
    file: str | None,
    kafka: str | None,
    configuration: "Configuration",
    bounds: "SearchBounds",
    mutant: str | None,
    output_options: OutputOptions,
) -> None:
    from kcheck.verbs import simulate as verb

    beginning = configuration.beginning() if file is None else verb.text_at(file)
    name = "the options" if file is None else file
    if kafka == verb.ALL:
        compared = verb.search_all(beginning, name, bounds, mutant=mutant, progress=_progress)
        report, failed = compared.report(), not compared.holds
    else:
        progress = partial(_progress, kafka or "")
        searched = verb.search(beginning, name, bounds, kafka=kafka, mutant=mutant, progress=progress)
        report, failed = searched.report(), searched.scenario is not None
    write_answer(report, output_options)
    end(report, failed=failed)


def _replay(
    file: str | None,
    kafka: str | None,
    ibp: str | None,
    mutant: str | None,
    write: str | None,
    step: int | None,
    output_options: OutputOptions,
    *,
    reproduce: bool,
) -> None:
    from kcheck.verbs import simulate as verb

    if file is None:
        raise UsageError("name a history: a file, or a name from kcheck simulate --list")
    answer = verb.simulate(file, kafka=kafka, ibp=ibp, mutant=mutant)
    if step is not None and write is None:
        raise UsageError("--step says what --write writes: name a directory with --write")
    if (write is not None or reproduce) and not isinstance(answer, verb.Simulation):
        raise UsageError("--write and --reproduce are for one release: name it with --kafka")
    if reproduce and isinstance(answer, verb.Simulation):
        from kcheck.handouts.reproduction import script

        print(script(answer.replay), end="")
        return
    if write is not None and isinstance(answer, verb.Simulation):
        verb.write_directories(answer.replay, write, step)
    report = answer.report()
    write_answer(report, output_options)
    end(report, failed=isinstance(answer, verb.Simulation) and not answer.holds)


def _flag(option: str, value: str) -> bool:
    if value not in ("true", "false"):
        raise UsageError(f"invalid {option} {value}; use true or false")
    return value == "true"


def _is_kraft(value: str) -> bool:
    if value not in ("kraft", "zookeeper"):
        raise UsageError(f"invalid --mode {value}; use kraft or zookeeper")
    return value == "kraft"


def _progress(kafka: str, depth: int, states: int) -> None:
    if sys.stderr.isatty():
        title = f"Kafka {kafka}: " if kafka else ""
        print(f"\r\x1b[K{title}{depth} events, {states} states", end="", file=sys.stderr, flush=True)
