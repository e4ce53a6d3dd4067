"""The building blocks of the text layouts (lines, columns and findings), on a terminal or a pipe."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple, TextIO, TypeAlias

from kcheck.model.finding import Finding, Severity
from kcheck.model.loss import LostRecords
from kcheck.model.mapped import Mapped
from kcheck.screen.options import Options
from kcheck.screen.printable import printable
from kcheck.words import lost_words, some_of

STYLES = {"info": "", "warning": "yellow", "error": "red", "fatal": "bold red"}

_ALIKE_MAX = 3
"""Text shows more findings of one rule as one block."""
_SOME_COUNT = 1000
"""Number of rows laid out at once."""
_FEW_COUNT = 8
"""It is faster to go through fewer rows one by one than by columns."""

Cells: TypeAlias = tuple[str, ...]


def cell(value: object) -> str:
    """Return the text of a table value; `?` if it is unknown."""
    if type(value) is int:  # the usual case; numbers are printable
        return str(value)
    if type(value) is str and value.isprintable():
        return value
    return "?" if value is None else printable(value)


def bound_cell(count: int | None, at_most: int | None) -> str:
    """Return a count, or else its upper bound; `?` if both are unknown."""
    return f"at most {at_most}" if count is None and at_most is not None else cell(count)


def known(value: object) -> object:
    """Return a value, or `-` for None."""
    return "-" if value is None else value


def size(count: object) -> str:
    """Return a size in human-readable form: 243 KiB."""
    if not isinstance(count, int):
        return "?"
    amount, unit = float(count), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB", "PiB"):
        if amount < 1024:
            break
        amount, unit = amount / 1024, larger
    return f"{amount:.0f} {unit}" if amount >= 10 or unit == "B" else f"{amount:.1f} {unit}"


def _place(finding: Finding) -> str:
    """Return the place of a finding below its log dir."""
    return "/".join(part for part in (finding.where.dir, finding.where.file) if part is not None)


def _places(findings: Iterable[Finding]) -> str:
    """Return the places of findings, some of many."""
    return some_of([*dict.fromkeys(map(_place, findings))])


class _Text(NamedTuple):
    """The content of a finding, wherever it is."""

    severity: Severity
    message: str
    effect: str
    advice: str


def loss_text(lost: LostRecords) -> str:
    """Return which records are lost, their size, and how many of them are committed."""
    below = lost.below_high_watermark
    committed = "" if below is None else f", {below} of them below the high watermark"
    return f"{lost_words(lost)}, {size(lost.bytes)}{committed}"


def _styled(text: str, style: str) -> str:
    from rich.color import ColorSystem  # only for colour output
    from rich.style import Style

    return Style.parse(style).render(text, color_system=ColorSystem.STANDARD)


def wrap(text: str, width: int, indent: str, hanging: str) -> Iterator[str]:
    """Yield the lines of printable text, split at spaces only; a word longer than a line stays in one piece."""
    begin, text, at = indent, text.rstrip(" "), 0
    while at < len(text):
        room = width - len(begin)
        if len(text) - at <= room:
            yield begin + text[at:]
            return
        end = text.rfind(" ", at, at + room + 1)
        if end < 0:
            end = text.find(" ", at)
            end = len(text) if end < 0 else end
        line = text[at:end].rstrip(" ")
        at = end
        while at < len(text) and text[at] == " ":
            at += 1
        if line:
            yield begin + line
            begin = hanging


def _some(rows: Iterable[Cells]) -> Iterator[list[Cells]]:
    """Yield the rows in groups."""
    remaining = iter(rows)
    while some := list(islice(remaining, _SOME_COUNT)):
        yield some


class TableLayout(NamedTuple):
    """The layout of rows as tables."""

    titles: tuple[str, ...]
    indent: str
    length: int
    """Number of rows per table."""


@lru_cache
def _padded(widths: tuple[int, ...]) -> str:
    return "  ".join(f"%-{width}s" for width in widths)


class Page:
    """A stream of lines of a given width; it escapes unprintable characters."""

    def __init__(self, stream: TextIO, options: Options) -> None:
        """Take the stream and the layout options."""
        self.width: int = options.width
        self.every: bool = options.every
        self._stream = stream
        self._color = options.color
        self._title = ""

    def begin(self, title: str) -> None:
        """Write a text above the first line; an answer that fails before its first line shows nothing."""
        self._title = title

    def write_title(self) -> None:
        """Write the title and an empty line if nothing is written yet."""
        title, self._title = self._title, ""
        if title:
            self.wrapped(title, hanging="    ")
            self._stream.write("\n")

    def line(self, text: str = "", style: str | None = None) -> None:
        """Write one line of any length; an empty one after the title is there already."""
        if self._title and not text:
            self.write_title()
            return
        self._write(printable(text), style)

    def _write(self, shown: str, style: str | None = None) -> None:
        self.write_title()
        self._stream.write((_styled(shown, style) if style and self._color else shown) + "\n")

    def next_commands(self, commands: Sequence[str]) -> None:
        """Write the commands to type next, each alone on its line, whatever the width."""
        if not commands:
            return
        self.line()
        self.line("Next:")
        for command in commands:
            self.line(f"  {command}", "cyan")

    def write(self, lines: str) -> None:
        """Write lines that are printable and no wider than the page."""
        self.write_title()
        self._stream.write(lines)

    @property
    def room(self) -> int:
        """The width of wrapped lines."""
        return max(self.width, 40)

    def wrapped(self, text: str, *, indent: str = "", hanging: str | None = None, style: str | None = None) -> None:
        """Write text wrapped to the width; words longer than a line stay in one piece."""
        for line in wrap(printable(text), self.room, indent, indent if hanging is None else hanging):
            self._write(line, style)

    def table(self, header: Sequence[str], rows: Iterable[Sequence[object]], *, indent: str = "") -> None:
        """Write columns. If they are too wide, the first gets a line of its own, and no header; then rows are blocks.

        `Mapped` rows are cells already, and are read twice.
        """
        cells = rows if isinstance(rows, Mapped) else [tuple(map(cell, row)) for row in rows]
        widths = list(map(len, header))
        if not isinstance(cells, Mapped) and len(cells) < _FEW_COUNT:
            for row in cells:
                widths = [*map(max, widths, map(len, row))]
        else:
            for some in _some(cells):
                widths = [
                    max(widest, *map(len, column))
                    for widest, column in zip(widths, zip(*some, strict=True), strict=True)
                ]
        room = self.width - len(indent)
        if sum(widths) + 2 * (len(widths) - 1) <= room:
            self._aligned(header, cells, widths, indent)
        elif sum(widths[1:]) + 2 * (len(widths) - 1) <= room:
            self._under_names(header, cells, widths[1:], indent)
        else:
            self._blocks(header, cells, indent)

    def head(self, header: Sequence[str], widths: tuple[int, ...], indent: str) -> str:
        """Return the line above aligned columns."""
        head = ((indent + _padded(widths)) % tuple(header)).rstrip()
        return (_styled(head, "bold") if self._color else head) + "\n"

    def _aligned(self, header: Sequence[str], rows: Iterable[Cells], widths: list[int], indent: str) -> None:
        padded = indent + _padded(tuple(widths))
        self.write(self.head(header, tuple(widths), indent))
        for some in _some(rows):
            self._stream.write("".join([(padded % row).rstrip() + "\n" for row in some]))

    def _under_names(self, header: Sequence[str], rows: Iterable[Cells], widths: list[int], indent: str) -> None:
        padded = indent + "  " + _padded(tuple(widths))
        self.line((padded % tuple(header[1:])).rstrip(), "bold")
        for row in rows:
            self.line(indent + row[0])
            self.line((padded % row[1:]).rstrip())

    def _blocks(self, header: Sequence[str], rows: Iterable[Cells], indent: str) -> None:
        for row in rows:
            self.line(indent + row[0])
            pairs = " · ".join(f"{name} {value}" for name, value in zip(header[1:], row[1:], strict=True) if value)
            self.wrapped(pairs, indent=indent + "    ")

    def findings(self, findings: Iterable[Finding], nodes: Mapping[str, str] = {}) -> None:
        """Write the findings below their log dirs, worst first.

        `nodes` has the nodes of log dirs, as `controller 100`; others are of brokers.

        Those of one text are one block, and are named again in other log dirs. Many of one rule are one block too, with
        the first of them as an example.
        """
        by_log_dir: dict[str | None, list[Finding]] = {}
        for finding in findings:
            by_log_dir.setdefault(finding.where.log_dir, []).append(finding)
        above: dict[_Text, tuple[str, str]] = {}
        for log_dir, own in by_log_dir.items():
            if log_dir is not None:
                self.line()
                node = nodes.get(log_dir) or f"broker {cell(own[0].where.broker_id)}"
                self.wrapped(f"{cell(log_dir)}   {node}", hanging="    ", style="bold")
            by_rule: dict[tuple[int, str], list[Finding]] = {}
            for finding in own:
                by_rule.setdefault((-finding.severity.rank, finding.id), []).append(finding)
            for _, alike in sorted(by_rule.items(), key=lambda item: item[0][0]):
                self._alike(alike, above, indent="" if log_dir is None else "  ")

    def _alike(self, alike: list[Finding], above: "dict[_Text, tuple[str, str]]", indent: str) -> None:
        """Write the findings of one rule in one log dir.

        `above` are the texts of earlier log dirs, each with its first log dir and its directories there.
        """
        if self.every:
            for finding in alike:
                self.finding(finding, indent=indent)
            return
        by_text: dict[_Text, list[Finding]] = {}
        for finding in alike:
            text = _Text(finding.severity, finding.message, finding.effect, finding.advice)
            by_text.setdefault(text, []).append(finding)
        if len(alike) > _ALIKE_MAX:
            first = alike[0]
            self._first_line(first, f"{first.name}, {len(alike)} times: {_places(alike)}; --all shows each", indent)
            indent, by_text = indent + "  ", {next(iter(by_text)): [first]}
        for text, equal in by_text.items():
            if text in above:
                own, (log_dir, others) = _places(equal), above[text]
                same = "as in" if own == others else f"as {others} in"
                self._first_line(equal[0], f"{own or equal[0].name}: {same} {log_dir}", indent)
            else:
                self.finding(*equal, indent=indent)
                if equal[0].where.log_dir is not None:
                    above[text] = equal[0].where.log_dir, _places(equal)

    def _first_line(self, finding: Finding, words: str, indent: str) -> None:
        label, style = f"{finding.severity} {finding.id}", STYLES[finding.severity]
        lines = wrap(printable(f"{label} {words}"), self.room, indent, indent + "  ")
        begin = indent + label
        colored = indent + _styled(label, style) if style and self._color else begin
        for number, line in enumerate(lines):
            self._write(line if number else colored + line.removeprefix(begin))

    def finding(self, finding: Finding, *others: Finding, indent: str = "") -> None:
        """Write a finding: the message in the color of its severity, then the effect and the advice.

        `others` are findings of the same text in the same log dir.
        """
        where, places = finding.where, _places((finding, *others))
        named = f"{places}: " if places else ""
        if finding.message.startswith(str(where.file)):  # The message names the file.
            named = "" if where.dir is None else f"{where.dir}/"
            if others:
                named = f"{some_of([str(equal.where.dir) for equal in (finding, *others)])}: "
        self._first_line(finding, f"{named}{finding.message}", indent)
        for words in (finding.effect, "" if finding.severity is Severity.INFO else finding.advice):
            if words:
                self.wrapped(words, indent=indent + "  ")
