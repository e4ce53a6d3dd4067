"""`kcheck dump`: the contents of a file, header by header, record by record."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from kcheck import api
from kcheck.cli.options import with_output_options
from kcheck.cli.report_output import OutputOptions, write_answer
from kcheck.errors import UsageError
from kcheck.screen.printable import printable

if TYPE_CHECKING:
    from kcheck.dumps.filter import DumpDetail
    from kcheck.verbs.dump import Dump


@with_output_options
def dump(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...", help="Files: .log, .index, .timeindex, .txnindex, .snapshot, KRaft .checkpoint."
        ),
    ],
    output_options: OutputOptions,
    offset: Annotated[
        str | None,
        typer.Option(
            "--offset", metavar="FROM..TO", help="Only batches and entries with these offsets, both ends included."
        ),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option("--time", metavar="FROM..TO", help="Only batches and entries of this time: ISO 8601 (UTC) or ms."),
    ] = None,
    epoch: Annotated[
        int | None, typer.Option("--epoch", metavar="EPOCH", help="Only batches of this leader epoch.")
    ] = None,
    producer_id: Annotated[
        int | None, typer.Option("--producer-id", metavar="N", help="Only batches of this producer id.")
    ] = None,
    records: Annotated[bool, typer.Option("--records", help="Also show the records of each batch.")] = False,
    print_data: Annotated[
        str | None,
        typer.Option("--print-data", metavar="utf8|hex|base64", help="Also show record keys, values and headers."),
    ] = None,
    decode: Annotated[
        str | None,
        typer.Option(
            "--decode",
            metavar="KIND",
            help="Decode the records of an internal topic: offsets, transactions, metadata, share-groups, remote-log.",
        ),
    ] = None,
    only_damaged: Annotated[
        bool, typer.Option("--only-damaged", help="Show only corrupt or incomplete batches and entries.")
    ] = False,
    as_kind: Annotated[
        str | None, typer.Option("--as", metavar="KIND", help="Read the files as this kind, whatever their names.")
    ] = None,
) -> None:
    """Show the batches, records or entries of a file.

    --format kafka prints the lines of kafka-dump-log.
    """
    from kcheck.disk.store import mounted
    from kcheck.dumps.filter import Filter, parse_offsets, parse_times

    wanted = Filter(
        offsets=None if offset is None else parse_offsets(offset),
        times=None if time is None else parse_times(time),
        epoch=epoch,
        producer_id=producer_id,
        only_damaged=only_damaged,
    )
    shown = _shown(records=records, data=print_data, decode=decode, java=output_options.format == "kafka")
    with mounted(files, {}):
        _write(api.dump(*files, as_kind=as_kind, rows=wanted, detail=shown), output_options)


def _write(answer: "Dump", output_options: OutputOptions) -> None:
    """Write the rows, which are read now, and end the process."""
    report, damage = answer.report(), answer.damage

    def tell() -> None:
        """Print to stderr what does not fit in the output format."""
        if output_options.format in ("csv", "kafka", "parquet"):
            for problem in (*damage, *(f"{finding.where.file}: {finding.message}" for finding in report.findings())):
                print(printable(problem), file=sys.stderr)

    write_answer(report, output_options, tell)
    raise typer.Exit(3 if report.unfinished else 1 if damage else 0)


def _shown(*, records: bool, data: str | None, decode: str | None, java: bool) -> "DumpDetail":
    """Return which parts of a batch to show."""
    from kcheck.dumps.filter import DumpDetail
    from kcheck.dumps.records import DATA

    if data is not None and data not in DATA:
        raise UsageError(f"--print-data {data}: not one of {', '.join(DATA)}")
    shown = DumpDetail(records=records or data is not None, data=data, java=java)
    if decode is None:
        return shown
    from kcheck.dumps.decode import with_decoded

    return with_decoded(shown, decode)
