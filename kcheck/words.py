"""The words of every text (counts with their nouns, names, ranges of offsets, losses and releases).

Every text names offsets as `offsets 50-66`, both ends included, and times as ISO 8601.
"""

import re
import shlex
from collections.abc import Collection, Iterable, Sequence
from datetime import MAXYEAR, UTC, date, datetime, timedelta
from itertools import islice

from kcheck.model.entries import EpochEntries
from kcheck.model.evidence import OtherEnd, ReleaseEvidence
from kcheck.model.loss import LostRecords

NAMED_MAX = 3
"""A sentence names at most this many things of one kind, and counts the others."""
LISTED_MAX = 10
"""A finding names at most this many things of one kind, and counts the others."""

_WORD = re.compile(r"[A-Za-z][a-z]*(?:[-'][a-z]+)*[,.:;]?(?: |$)")
"""A word of English at the begin of a text."""
_NAME_SIZE_MAX = 300
_SHORT_SIZE = 60
_DIFFERENCE_COUNT = 8
_TO_CHANGE = "--kafka RELEASE to change"


def capital(text: str) -> str:
    """Return a text as the begin of a sentence. Names, such as `orders-1` or `log.dirs`, stay."""
    return f"{text[:1].upper()}{text[1:]}" if _WORD.match(text) else text


def within(text: str) -> str:
    """Return a sentence as a part of another one; the begin of `capital`."""
    return f"{text[:1].lower()}{text[1:]}" if _WORD.match(text) else text


def moment(value: object) -> str:
    """Return a time in ms since 1970 to the second; `?` if it is unknown or outside the calendar."""
    try:
        return datetime.fromtimestamp(int(str(value)) // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return "?"


def agree(count: int, one: str, many: str) -> str:
    """Return the form of a word that goes with a count: `is` or `are`."""
    return one if count == 1 else many


def counted(count: int, noun: str, many: str | None = None) -> str:
    """Return a number with its noun: `1 file`, `2 files`, `2 entries`, `2 batches`."""
    if count == 1:
        return f"1 {noun}"
    if many is None:
        many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}{'es' if noun.endswith('tch') else 's'}"
    return f"{count} {many}"


def listed(things: Iterable[object], count: int | None = None, most: int = LISTED_MAX) -> str:
    """Return `a, b and c`, or the first ten and how many more; with `count` only ten of many are read."""
    texts = [_short(str(thing)) for thing in (things if count is None else islice(things, most))]
    if (count or len(texts)) > most:
        return some_of(texts, most, count)
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def broker_names(numbers: Collection[int], most: int | None = None) -> str:
    """Return `broker 1`, or `brokers 1, 2 and 3`; `most` limits how many are named."""
    return f"{agree(len(numbers), 'broker', 'brokers')} {listed(numbers, most=most or len(numbers))}"


def _short(text: str) -> str:
    """Return a name, shortened if it is longer than any name on a file system or broker."""
    return text if len(text) <= _NAME_SIZE_MAX else f"{text[:_SHORT_SIZE]}... ({len(text)} characters)"


def some_of(things: Sequence[object], most: int = NAMED_MAX, count: int | None = None) -> str:
    """Return the first things, and how many more there are; `count` is the number of all if `things` lacks some."""
    more = (count or len(things)) - most
    return ", ".join(map(str, things[:most])) + (f" and {more} more" if more > 0 else "")


def some_names(partitions: Iterable[tuple[str, int]]) -> str:
    """Return the names of the first partitions, and how many more there are."""
    return some_of([partition_name(*partition) for partition in partitions])


def some_reasons(reasons: Sequence[str], most: int, noun: str = "") -> str:
    """Return the first reasons, as `a; b; and 2 more`; the others are counted, with a noun if there is one."""
    more = len(reasons) - most
    others = counted(more, f"more {noun}") if noun else f"{more} more"
    return "; ".join([*reasons[:most], *([f"and {others}"] if more > 0 else ())])


def partition_name(topic: object, partition: object) -> str:
    """Return `orders-0`."""
    return f"{topic}-{partition}"


def offset_range(start: int | None, end: int | None) -> str:
    """Return the offsets `[start, end)` in words; empty if they are not known."""
    if start is None:
        return ""
    if end is None:
        return f"offsets {start} and later"
    return f"offset{'' if end == start + 1 else 's'} {bare_range(start, end)}"


def bare_range(start: int, end: int) -> str:
    """Return the numbers `[start, end)` without their noun, as `50-66`, or `50`."""
    return str(start) if end == start + 1 else f"{start}-{end - 1}"


_FIRST_DAY = date(1970, 1, 1)
_DAY_MS = 24 * 3600 * 1000
_CYCLE_DAYS, _CYCLE_YEARS = 146_097, 400
"""The calendar repeats itself after this."""


def date_words(timestamp: int) -> str:
    """Return the day of a time in ms since 1970: `2027-03-01`, or `the year 58,875` beyond the year 9999."""
    day = timestamp // _DAY_MS
    cycles, rest = divmod(day, _CYCLE_DAYS)
    alike = _FIRST_DAY + timedelta(days=rest)
    year = alike.year + cycles * _CYCLE_YEARS
    return f"the year {year:,}" if year > MAXYEAR else f"{year}{alike:-%m-%d}"


DOES_NOT_START = "it does not start: "
"""The beginning of the reason for a repair without which a broker does not start."""


def repair_title(broker_id: int, why: str) -> str:
    """Return the title of the repair of a broker, as a sentence without its period."""
    if why.startswith(DOES_NOT_START):
        return f"Broker {broker_id} cannot start until it is repaired: {why.removeprefix(DOES_NOT_START)}"
    return f"Repair broker {broker_id}; otherwise {why}"


def milliseconds_words(count: int) -> str:
    """Return a duration, as `3 s` or `1500 ms`."""
    return f"{count} ms" if count % 1000 else f"{count // 1000} s"


def time_words(timestamp: int) -> str:
    """Return a time in ms since 1970 to the second, as `2027-03-01T10:04:15Z`."""
    minutes, seconds = divmod(timestamp // 1000 % (24 * 3600), 60)
    return f"{date_words(timestamp)}T{minutes // 60:02}:{minutes % 60:02}:{seconds:02}Z"


def epoch_words(entries: EpochEntries, most: int = 100) -> str:
    """Return `epoch 3 from offset 1500` for the first entries, and how many more there are, of maybe a million."""
    named = [f"epoch {entry.epoch} from offset {entry.start_offset}" for entry in islice(entries, most)]
    return some_of(named, most, len(entries))


def record_count(records: int | None, at_least: int = 0, at_most: int | None = None) -> str:
    """Return a number of records; `records` is None if only a bound is known."""
    if records is not None:
        return counted(records, "record")
    if at_most is not None:
        return f"at most {counted(at_most, 'record')}"
    return f"at least {counted(at_least, 'record')}" if at_least else "an unknown number of records"


def lost_words(lost: LostRecords) -> str:
    """Return how many records are lost and which: `25 records (offsets 15-39)`."""
    count, which = record_count(lost.records, lost.counted, lost.at_most), offset_range(lost.start, lost.end)
    return f"{count} ({which})" if which else count


def release_words(said: ReleaseEvidence, newest: str) -> str:
    """Return for which release an answer holds, and why; `newest` is the newest release that kcheck knows."""
    return f"Kafka {said.used} ({_why(said, newest)})"


def _why(said: ReleaseEvidence, newest: str) -> str:
    """Return how the release is known."""
    lowest, highest = said.lowest, said.highest
    if lowest == highest:
        span = str(lowest)
    else:
        span = f"{lowest} and later" if highest == newest else f"{lowest} to {highest}"
    if said.given:
        by = "--kafka" if said.given_by is None else f"from {said.given_by}"
        return f"{by}; files: {span}" if said.contradicted else by
    if lowest is None:
        return f"assumed: no evidence; {_TO_CHANGE}"
    if said.agrees and lowest == highest:
        return f"detected: {said.sources or 'log dirs of the run'}"
    other = "" if said.other is None else f"; {_differences(said.other)}"
    return f"files fit {span}{'' if said.agrees else ', not one release'}; {_TO_CHANGE}{other}"


def _differences(other: OtherEnd) -> str:
    """Return how the answer differs for the other end of the range."""
    if other.differs_in is None:
        return f"{other.kafka} is not compared"
    shown = some_of(other.differs_in, _DIFFERENCE_COUNT)
    return f"{other.kafka} differs in: {shown}" if shown else f"{other.kafka} does not differ"


def other_end_words(said: ReleaseEvidence | None) -> str | None:
    """Return the differences of the answer at the other end of a range of releases; None without any."""
    other = None if said is None else said.other
    if other is None or not other.differs_in:
        return None
    shown = some_of(other.differs_in, _DIFFERENCE_COUNT)
    return f"The files also fit Kafka {other.kafka}. Its answer differs in: {shown}. The worse answer counts."


_NEAR_EDITS = 2


def near(word: str, names: Iterable[str]) -> list[str]:
    """Return the names that someone may have meant, with the word as prefix, or else within two edits."""
    known = list(dict.fromkeys(names))
    begun = [name for name in known if word and name.startswith(word)]
    if begun:
        return begun
    edits = {name: _edits(word, name) for name in known if abs(len(name) - len(word)) <= _NEAR_EDITS}
    close = [name for name, count in edits.items() if count <= min(_NEAR_EDITS, len(word) // 2)]
    return sorted(close, key=edits.__getitem__)


def _edits(a: str, b: str) -> int:
    """Return how many characters must be added, left out or replaced to make `b` of `a`."""
    row = list(range(len(b) + 1))
    for at, one in enumerate(a, start=1):
        above, row = row, [at]
        for place, other in enumerate(b):
            row.append(min(above[place] + (one != other), above[place + 1] + 1, row[place] + 1))
    return row[-1]


def shell_word(text: str) -> str:
    """Return a text as one word of a shell command; what cannot be printed is escaped as bash does it."""
    if text.isprintable():
        return shlex.quote(text)
    return "$'" + "".join(map(_shell_escaped, text)) + "'"


def shell_line(words: Iterable[str]) -> str:
    """Return the words of a command as one line."""
    return " ".join(map(shell_word, words))


def _shell_escaped(character: str) -> str:
    if character in "'\\":
        return f"\\{character}"
    if character.isprintable():
        return character
    errors = "surrogateescape" if "\udc80" <= character <= "\udcff" else "surrogatepass"
    return "".join(f"\\x{byte:02x}" for byte in character.encode(errors=errors))
