"""`kcheck check`: finds what is wrong."""

import sys
import time
from typing import Annotated

import typer

from kcheck import api
from kcheck.cli.long_commands import Jobs, Nice, ShowProgress, Since, Until, at_length, parse_jobs, parse_span
from kcheck.cli.options import Common, DepthOption, Metadata, Paths, with_common


@with_common
def check(
    paths: Paths,
    common: Common,
    depth: DepthOption = "headers",
    as_kind: Annotated[
        str | None, typer.Option("--as", metavar="KIND", help="Read a file as this kind, whatever its name.")
    ] = None,
    metadata: Metadata = None,
    since: Since = None,
    until: Until = None,
    jobs: Jobs = 1,
    nice: Nice = False,
    progress: ShowProgress = None,
) -> None:
    """Find damage in log dirs and files, and show what the broker does about it."""
    from kcheck.segments.time_span import TimeSpan
    from kcheck.verbs.check import ReadOptions

    span, processes = TimeSpan(*parse_span(since, until)), parse_jobs(jobs)
    partitions, release = common.wanted(), common.release(paths)
    start = time.perf_counter()
    with at_length(progress, nice=nice, quiet=common.output_options.quiet) as shown:
        reading = ReadOptions(jobs=processes, span=span, tell=shown.tell if shown.is_on else None)
        answer = api.check(
            *paths, depth=depth, as_kind=as_kind, reading=reading, metadata=metadata or (), partitions=partitions,
            config=common.config, kafka=release,
        )  # fmt: skip
    seconds = time.perf_counter() - start

    def tell() -> None:
        """Print the throughput if every byte was read."""
        if answer.depth.verifies:
            _rate(answer.counts.bytes, seconds)

    common.write_answer(answer.report(), tell)


def _rate(size: int, seconds: float) -> None:
    """Print to stderr how many bytes were read, and how fast."""
    from kcheck.screen.page import size as in_units

    speed = in_units(int(size / max(seconds, 1e-9)))
    print(f"{in_units(size)} checked in {seconds:.1f} s, {speed}/s", file=sys.stderr)
