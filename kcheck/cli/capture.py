"""`kcheck capture`: evidence for a support ticket, without records."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from kcheck.cli.examples import missing
from kcheck.cli.long_commands import ShowProgress
from kcheck.cli.options import Quiet
from kcheck.cli.progress import RedrawnLine
from kcheck.cli.report_output import typed_command, width_of
from kcheck.errors import UsageError
from kcheck.model.names import BUNDLE_SUFFIX
from kcheck.renderers import Options
from kcheck.screen.page import Page, size
from kcheck.screen.printable import printable
from kcheck.words import shell_line, shell_word

if TYPE_CHECKING:
    from kcheck.capture.pseudonyms import Pseudonyms
    from kcheck.capture.tree import CapturedPath
    from kcheck.capture.write import Captured

_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}

KeyFile = Annotated[
    str | None,
    typer.Option("--pseudonyms", metavar="KEYFILE", help="Replace topic names; the key stays in KEYFILE."),
]
Translate = Annotated[
    str | None,
    typer.Option("--translate", metavar="KEYFILE", help="Copy stdin to stdout with the topic names of KEYFILE."),
]
WithLogs = Annotated[
    list[str] | None,
    typer.Option(
        "--with-server-log", metavar="FILE", help="Add the messages of a server.log that explain knows, redacted."
    ),
]
Share = Annotated[
    bool,
    typer.Option("--share", help="Replace topic names and write the key to FILE.key. For bundles that you send away."),
]
NoRecords = Annotated[
    bool,
    typer.Option(
        "--no-records", help="Do not check records. Faster, but check --depth records will not work on the bundle."
    ),
]


def capture(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATH...", help="Log dirs, a server.properties, partitions or files; also BROKER=PATH."),
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="The bundle; its name ends in .kcheck.")
    ] = None,
    show: Annotated[bool, typer.Option("--dry-run", help="List what would be packed, and why; write nothing.")] = False,
    pseudonyms: KeyFile = None,
    share: Share = False,
    translate: Translate = None,
    with_logs: WithLogs = None,
    with_offsets: Annotated[
        bool, typer.Option("--with-offsets", help="Add the committed offsets of groups, with the names of groups.")
    ] = False,
    limit: Annotated[
        str | None, typer.Option("--max-size", metavar="SIZE", help="Maximum size of the bundle, such as 50M.")
    ] = None,
    no_records: NoRecords = False,
    no_digests: Annotated[
        bool, typer.Option("--no-digests", help="Leave out the SHA-256 of files, which repair needs.")
    ] = False,
    progress: ShowProgress = None,
    quiet: Quiet = False,
) -> None:
    """Pack the evidence for a support ticket: no records, secrets or host names.

    Commands read the bundle as they read the directories, but save no records from it. --dry-run lists the contents
    first.
    """
    from kcheck.capture import pseudonyms as names
    from kcheck.capture.tree import captured_paths, items
    from kcheck.capture.write import capture as verb
    from kcheck.capture.write import check_output

    if translate is not None:
        _print_translated(names.load(translate, create=False))
        return
    if not paths:
        raise missing("PATH...", "capture")
    listed = [*items(paths, offsets=with_offsets)]
    if show:
        page = Page(sys.stdout, Options(width=width_of(sys.stdout)))
        _print_list(page, listed, digests=not (no_digests or pseudonyms or share))
        page.next_commands((_packing(output),))
        return
    if output is None:
        raise missing("-o FILE.kcheck", "capture")
    check_output(output, captured_paths(paths))
    key_file = pseudonyms or (f"{output}.key" if share else None)
    known = None if key_file is None else names.load(key_file, create=True)
    size_max = _bytes(limit)
    total = size(sum(item.size for item in listed))
    with RedrawnLine(progress, quiet=quiet) as line:
        captured = verb(
            listed,
            output,
            decode=not no_records,
            digests=not no_digests,
            limit=size_max,
            pseudonyms=known,
            logs=with_logs or (),
            tell=lambda at: line.show(f"{size(at.done)} of {total}  {at.name}"),
        )
    if known is not None and key_file is not None:
        names.save(key_file, known)
    if not quiet:
        _print_end(captured, output, key_file)
    raise typer.Exit(130 if captured.interrupted else 3 if captured.refused else 0)


def _print_translated(at_home: "Pseudonyms") -> None:
    """Copy stdin to stdout with the names of topics on this host."""
    for line in sys.stdin:
        sys.stdout.write(at_home.translated(line))


def _packing(output: str | None) -> str:
    """Return the command that packs what --dry-run lists."""
    typed = typed_command()
    options = typed.carried({name for name, _ in typed.options} - {"--dry-run"})
    file = () if output else ("-o", f"FILE{BUNDLE_SUFFIX}")
    return shell_line(("kcheck", "capture", *typed.arguments, *options, *file))


def _print_list(page: Page, listed: Sequence["CapturedPath"], *, digests: bool) -> None:
    """Print what would go in, and why."""
    for item in listed:
        if item.kind == "directory" and item.error is None:
            continue
        why = item.error[1] if item.error else item.content.why if item.content else "name only"
        lines = [f"{size(item.size):>9}  {item.name}", f"{'':>9}  {why}"]
        one = f"{lines[0]}  {why}"
        for line in [one] if len(printable(one)) <= page.width else lines:
            page.line(line)
    unless = " (no SHA-256 of server.properties)" * any(item.log_dirs is not None for item in listed)
    page.line()
    page.wrapped(
        f"Also: the mode, time and SHA-256 of each file{unless}. --no-digests leaves out the SHA-256."
        if digests
        else "Also: the mode and time of each file. No SHA-256."
    )


def _print_end(captured: "Captured", output: str, key_file: str | None) -> None:
    """Print what was written, and what was not."""
    for refusal in captured.refused:
        print(f"kcheck: {printable(refusal)}", file=sys.stderr)
    end = "" if captured.complete else "; incomplete: manifest.json lists the missing files"
    print(f"Wrote {printable(output)}: {size(captured.size)}, sha256 {captured.digest}{end}", file=sys.stderr)
    if key_file is not None:
        key = shell_word(key_file)
        print(f"Keep {key}: kcheck capture --translate {key} < ANSWER", file=sys.stderr)
    Page(sys.stderr, Options()).next_commands((shell_line(("kcheck", output)),))


def _bytes(text: str | None) -> int | None:
    if text is None:
        return None
    digits, unit = (text[:-1], text[-1].upper()) if text[-1:].isalpha() else (text, "")
    if not digits.isascii() or not digits.isdigit() or (unit and unit not in _UNITS):
        raise UsageError(f"--max-size {text}: not a size; for example 50M")
    return int(digits) * _UNITS.get(unit, 1)
