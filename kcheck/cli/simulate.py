"""`kcheck simulate`, which replays a history of one partition, or searches for a broken promise."""

import sys
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from kcheck.cli.command import CommandGroup, RunnableCommand
from kcheck.cli.long_commands import Jobs, parse_jobs
from kcheck.cli.options import IbpOption, with_output_options, within
from kcheck.cli.report_output import OutputOptions, end, write_answer
from kcheck.errors import UsageError

if TYPE_CHECKING:
    from kcheck.simulation.search import Budget
    from kcheck.verbs.simulate import Configuration, SearchBounds, Simulation

History = Annotated[
    str, typer.Argument(metavar="NAME|FILE", help="A history that kcheck simulate list names, or a file with one.")
]
Beginning = Annotated[
    str | None,
    typer.Argument(
        metavar="NAME|FILE", help="Search from where this history ends. [default: a new cluster]", show_default=False
    ),
]
Kafka = Annotated[
    str | None,
    typer.Option(
        "--kafka", metavar="RELEASE|all", help="Kafka release, such as 3.6; all: compare every release. [default: 4.3]"
    ),
]
OneKafka = Annotated[
    str | None, typer.Option("--kafka", metavar="RELEASE", help="Kafka release, such as 3.6. [default: 4.3]")
]
BrokerCount = Annotated[int, typer.Option("--brokers", metavar="N", help="Number of brokers.")]
Rf = Annotated[
    int | None, typer.Option("--rf", metavar="N", help="Number of replicas. [default: the number of brokers]")
]
MinIsr = Annotated[int, typer.Option("--min-isr", metavar="N", help="min.insync.replicas.")]
AcksOption = Annotated[str, typer.Option("--acks", metavar="0|1|all", help="acks of the producers.")]
Unclean = Annotated[str, typer.Option("--unclean", metavar="true|false", help="Allow unclean leader elections.")]
Elr = Annotated[
    str | None,
    typer.Option("--elr", metavar="true|false", help="Use eligible leader replicas. [default: as the release]"),
]
ModeOption = Annotated[
    str | None,
    typer.Option("--mode", metavar="kraft|zookeeper", help="Kind of controller. [default: as the release]"),
]
Appends = Annotated[int, typer.Option("--appends", metavar="N", help="Number of appends, each of one record.")]
Crashes = Annotated[int, typer.Option("--crashes", metavar="N", help="Maximum number of killed brokers.")]
Lossy = Annotated[int, typer.Option("--lossy-crashes", metavar="N", help="Maximum number of power losses.")]
Fences = Annotated[int, typer.Option("--fences", metavar="N", help="Maximum number of expired sessions.")]
Moves = Annotated[int, typer.Option("--moves", metavar="N", help="Maximum number of elections of another ISR member.")]
Shrinks = Annotated[
    int, typer.Option("--shrinks", metavar="N", help="Maximum number of slow followers that leave the ISR.")
]
Delays = Annotated[int, typer.Option("--delays", metavar="N", help="Maximum number of delayed links.")]
Overtakes = Annotated[int, typer.Option("--overtakes", metavar="N", help="Maximum number of late ZooKeeper requests.")]
Promise = Annotated[
    str | None, typer.Option("--promise", metavar="NAME,...", help="Only these promises, such as lost,leaders.")
]
EventsMax = Annotated[
    int | None, typer.Option("--max-events", metavar="N", help="Maximum number of events of a history.")
]
StatesMax = Annotated[int | None, typer.Option("--max-states", metavar="N", help="Maximum number of states to visit.")]
Mutant = Annotated[
    str | None,
    typer.Option("--mutant", metavar="NAME", hidden=True, help="Disable one of Kafka's safety checks, such as M5."),
]
WriteTo = Annotated[
    str, typer.Option("--output-dir", metavar="DIR", help="Write the log dirs of all brokers below DIR, new or empty.")
]
WrittenAfter = Annotated[int | None, typer.Option("--after", metavar="N", help="After N events. [default: all]")]


class _Simulate(CommandGroup):
    """`kcheck simulate NAME` is `kcheck simulate run NAME`."""

    default = "run"


app: typer.Typer = typer.Typer(cls=_Simulate, rich_markup_mode=None, add_completion=False, no_args_is_help=True)


@app.callback()
def simulate() -> None:
    """Replay a history of one partition in any release, or search for one that breaks a promise.

    kcheck simulate NAME is short for kcheck simulate run NAME.
    """


@app.command("run", cls=RunnableCommand)
@with_output_options
def run(
    history: History, output_options: OutputOptions, kafka: Kafka = None, ibp: IbpOption = None, mutant: Mutant = None
) -> None:
    """Replay a history, and check what it expects."""
    from kcheck.verbs import simulate as verb

    answer = verb.simulate(history, kafka=kafka, ibp=ibp, mutant=mutant)
    report = answer.report()
    write_answer(report, output_options)
    end(report, failed=isinstance(answer, verb.Simulation) and not answer.holds)


@app.command("list", cls=RunnableCommand)
@with_output_options
def list_histories(output_options: OutputOptions) -> None:
    """List the histories that kcheck ships."""
    from kcheck.verbs import simulate as verb

    write_answer(verb.HistoryList(histories=verb.histories()).report(), output_options)


@app.command("search", cls=RunnableCommand)
@with_output_options
def search(
    output_options: OutputOptions,
    file: Beginning = None,
    kafka: Kafka = None,
    brokers: BrokerCount = 2,
    rf: Rf = None,
    min_isr: MinIsr = 1,
    acks: AcksOption = "all",
    unclean: Unclean = "false",
    elr: Elr = None,
    mode: ModeOption = None,
    appends: Appends = 3,
    crashes: Crashes = 0,
    lossy: Lossy = 1,
    fences: Fences = 1,
    moves: Moves = 0,
    shrinks: Shrinks = 0,
    delays: Delays = 0,
    overtakes: Overtakes = 0,
    promise: Promise = None,
    max_events: EventsMax = None,
    max_states: StatesMax = None,
    jobs: Jobs = 1,
    mutant: Mutant = None,
) -> None:
    """Search for the shortest history that breaks a promise of Kafka."""
    from kcheck.simulation.promises import WATCHED
    from kcheck.simulation.search import DEPTH_MAX, STATES_MAX
    from kcheck.verbs import simulate as verb

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
        "--appends": appends, "--crashes": crashes, "--lossy-crashes": lossy, "--fences": fences,
        "--moves": moves, "--shrinks": shrinks, "--delays": delays, "--overtakes": overtakes,
    }  # fmt: skip
    bounds = verb.SearchBounds(
        _budget(budget),
        DEPTH_MAX if max_events is None else max_events,
        STATES_MAX if max_states is None else max_states,
        WATCHED if promise is None else tuple(promise.split(",")),
        parse_jobs(jobs),
    )
    _search(file, kafka, configuration, bounds, mutant, output_options)


@app.command("script", cls=RunnableCommand)
def script(history: History, kafka: OneKafka = None, ibp: IbpOption = None) -> None:
    """Print a shell script that plays a history on a real cluster."""
    from kcheck.handouts.reproduction import script as lines

    print(lines(_one_release(history, kafka, ibp, None).replay), end="")


@app.command("write", cls=RunnableCommand)
@with_output_options
def write(
    history: History,
    output_options: OutputOptions,
    output_dir: WriteTo,
    after: WrittenAfter = None,
    kafka: OneKafka = None,
    ibp: IbpOption = None,
    mutant: Mutant = None,
) -> None:
    """Replay a history, and write the log dir of every broker as it is afterwards."""
    from kcheck.verbs import simulate as verb

    answer = _one_release(history, kafka, ibp, mutant)
    verb.write_directories(answer.replay, output_dir, after)
    report = answer.report()
    write_answer(report, output_options)
    end(report, failed=not answer.holds)


def _one_release(history: str, kafka: str | None, ibp: str | None, mutant: str | None) -> "Simulation":
    from kcheck.verbs import simulate as verb

    answer = verb.simulate(history, kafka=kafka, ibp=ibp, mutant=mutant)
    if not isinstance(answer, verb.Simulation):
        raise UsageError(f"--kafka {kafka}: name one release, for example --kafka 3.6")
    return answer


def _budget(bounded: Mapping[str, int]) -> "Budget":
    """Return how often each kind of event may happen, by option; UsageError if that is too often."""
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


def _flag(option: str, value: str) -> bool:
    if value not in ("true", "false"):
        raise UsageError(f"{option} {value}: not one of true, false")
    return value == "true"


def _is_kraft(value: str) -> bool:
    if value not in ("kraft", "zookeeper"):
        raise UsageError(f"--mode {value}: not one of kraft, zookeeper")
    return value == "kraft"


def _progress(kafka: str, depth: int, states: int) -> None:
    if sys.stderr.isatty():
        title = f"Kafka {kafka}: " if kafka else ""
        print(f"\r\x1b[K{title}{depth} events, {states} states", end="", file=sys.stderr, flush=True)
