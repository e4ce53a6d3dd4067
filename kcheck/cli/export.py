"""`kcheck export`: the records of logs, for a producer."""

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from kcheck import api
from kcheck.cli.options import PartitionOption, Paths, Quiet, TopicOption
from kcheck.cli.report_output import OutputOptions, write, written_line
from kcheck.errors import UsageError
from kcheck.model.report import PartitionFilter
from kcheck.renderers import Options
from kcheck.screen.options import UNWRAPPED
from kcheck.screen.page import Page
from kcheck.words import counted, offset_range, some_of

if TYPE_CHECKING:
    from kcheck.exports.write import Written
    from kcheck.verbs.export import Export

From = Annotated[int | None, typer.Option("--from", metavar="OFFSET", min=0, help="The first offset.")]
To = Annotated[int | None, typer.Option("--to", metavar="OFFSET", min=0, help="The offset after the last one.")]
Output = Annotated[
    str | None,
    typer.Option("-o", "--output", metavar="FILE|DIR", help="A new file, or a directory for a file per partition."),
]
Summary = Annotated[
    str | None, typer.Option("--summary", metavar="FILE", help="Write what was exported and left out, as JSON.")
]
ResetFile = Annotated[
    str | None,
    typer.Option("--reset-file", metavar="GROUP", help="Write the offsets of a group for kafka-consumer-groups."),
]
Offsets = Annotated[
    list[str] | None,
    typer.Option("--offsets", metavar="PATH", help="More log dirs with __consumer_offsets; repeatable."),
]
_PLACES_MAX = 10


def export(
    paths: Paths,
    topic: TopicOption = None,
    partition: PartitionOption = None,
    committed: Annotated[
        bool, typer.Option("--committed", help="Leave out transactions that were aborted, or have no end.")
    ] = False,
    start: From = None,
    end: To = None,
    format: Annotated[
        str, typer.Option("--format", metavar="ndjson|kcat|console|parquet", help="The program that reads the records.")
    ] = "ndjson",
    output: Output = None,
    summary: Summary = None,
    reset_file: ResetFile = None,
    offsets: Offsets = None,
    quiet: Quiet = False,
) -> None:
    """Write records in a form that a producer takes.

    It also reads corrupt, incomplete, deleted and stray partitions. Afterwards it lists what was left out, and why.
    """
    from kcheck.verbs.export import lacks_some

    exported = api.export(
        *paths, committed=committed, start=start, end=end, group=reset_file, offsets=offsets or (),
        partitions=PartitionFilter(topics=tuple(topic or ()), partitions=tuple(partition or ())),
    )  # fmt: skip
    _check(exported, format, output, summary, reset_file)
    logs = exported.written()
    files = _write_stdout(exported, logs, format) if output is None else _write_files(exported, logs, format, output)
    report = exported.summary(logs, format, files)
    if not quiet:
        _tell(exported, logs, format, files, output)
    if summary is not None:
        write(report, OutputOptions(format="json", output=summary, color="never", quiet=quiet))
    raise typer.Exit(3 if report.unfinished else 1 if lacks_some(logs) else 0)


def _check(exported: "Export", format: str, output: str | None, summary: str | None, group: str | None) -> None:
    """Raise UsageError for options that do not go together, before anything is read."""
    from kcheck.exports.lines import LINE_FORMATS
    from kcheck.exports.write import FORMATS, PARQUET

    if format not in FORMATS:
        raise UsageError(f"--format {format}: not one of {', '.join(FORMATS)}")
    if output is None and (format == PARQUET or group is not None):
        raise UsageError(f"{f'--format {format}' if format == PARQUET else '--reset-file'} needs -o FILE or -o DIR")
    if format in LINE_FORMATS and LINE_FORMATS[format].is_raw:
        if len(exported.logs) > 1 and (output is None or not _is_directory(output)):
            names = some_of([log.log.name for log in exported.logs])
            raise UsageError(f"--format {format} names no partition; choose one of {names}, or use -o DIR")
        if output is None and sys.stdout.isatty():
            raise UsageError(f"--format {format} writes bytes as they are; use -o FILE, or a pipe")
    if summary is not None:
        from kcheck.disk.output import keep_outside  # only for a summary

        keep_outside(exported.checked, summary, option="--summary")
        if os.path.lexists(summary):
            raise UsageError(f"--summary {summary} already exists")


def _is_directory(output: str) -> bool:
    return output.endswith(os.sep) or os.path.isdir(output)


def _write_stdout(exported: "Export", logs: "list[Written]", format: str) -> dict[str, str]:
    """Write to stdout; a closed pipe is no error."""
    sys.stdout.flush()
    try:
        exported.write(logs, format, sys.stdout.buffer.write)
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes at exit.
        if isinstance(error, BrokenPipeError):
            raise typer.Exit(0) from None
        raise UsageError(f"cannot write to stdout: {error.strerror}") from error
    return {}


def _write_files(exported: "Export", logs: "list[Written]", format: str, output: str) -> dict[str, str]:
    """Write one file, or one for each log; return where each log is, by its path. No file stays if one fails."""
    from kcheck.cli.arrow import without_pandas
    from kcheck.disk.new_files import NewFiles
    from kcheck.exports.write import PARQUET
    from kcheck.verbs.export import reset_file

    if format == PARQUET:
        without_pandas()
    one_a_log = _is_directory(output)
    folder, name = (output, "") if one_a_log else os.path.split(output)
    parts = [([log], f"{log.export.log.name}.{format}") for log in logs] if one_a_log else [(logs, name)]
    for file in (*(file for _, file in parts), *([_reset_name(name)] if exported.group is not None else [])):
        if os.path.lexists(os.path.join(folder, file)):  # Nobody waits hours for that.
            raise UsageError(f"{os.path.join(folder, file)} already exists")
    files: dict[str, str] = {}
    with NewFiles(folder or ".", (), apart_from=filter(os.path.isdir, exported.checked)) as new:
        for part, file in parts:
            new.begin(file)
            files |= {log.export.log.path: os.path.join(folder, file) for log in part}
            exported.write(part, format, new.write)
        if exported.group is not None:
            new.begin(_reset_name(name))
            new.write(reset_file(logs))
    return files


def _reset_name(name: str) -> str:
    """Return the name of the file with the offsets of a group."""
    return f"{name}.reset-offsets.csv" if name else "reset-offsets.csv"


def _tell(exported: "Export", logs: "list[Written]", format: str, files: dict[str, str], output: str | None) -> None:
    """Print to stderr which records were exported and which were not, and the next step."""
    from kcheck.survey.refused_paths import path_of

    lines = [line for log in logs for line in _lines(log, exported)]
    lines += [f"Not exported: {skipped.path}: {skipped.why}" for skipped in exported.skipped]
    lines += [f"Not read: {path_of(finding.where)}: {finding.message}" for finding in exported.collected]
    if exported.group is not None and not exported.knows_offsets:
        lines.append(f"Not all of __consumer_offsets could be read, so group {exported.group} may have newer offsets.")
    if output is not None:
        lines.append(written_line(output))
    page = Page(sys.stderr, Options(width=UNWRAPPED))
    for line in lines:
        page.line(line)
    commands = [str(row["produce"]) for row in exported.rows(logs, format, files) if row["produce"] is not None]
    if exported.group is not None and output is not None:
        from kcheck.exports.lines import reset_command

        folder, name = (output, "") if _is_directory(output) else os.path.split(output)
        file = os.path.join(folder, _reset_name(name))
        commands.append(reset_command(exported.group, file))
    page.next_commands(commands)


def _lines(log: "Written", exported: "Export") -> Iterator[str]:
    """Yield what is said of one log."""
    export = log.export
    span = offset_range(log.start, log.end)
    yield f"{export.log.name}: {counted(log.records, 'record')}{f' ({span})' if span else ''} from {export.log.path}"
    yield from (f"  left out: {row}" for row in export.left_out.rows())
    yield from (f"  damaged: {place}" for place in export.damage[:_PLACES_MAX])
    if len(export.damage) > _PLACES_MAX:
        yield f"  other corrupt places: {len(export.damage) - _PLACES_MAX}; --summary FILE lists them"
    if export.transactional and not exported.wanted.committed:
        number = counted(export.transactional, "record")
        yield f"  of transactions: {number}; --committed leaves out what was not committed"
    if log.committed is not None:
        yield f"  group {exported.group}: offset {log.committed} becomes {log.before} in an empty partition"
