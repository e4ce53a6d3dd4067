"""The JSON twin of a history."""

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn

from kcheck.errors import UsageError

_LINE_END = re.compile(r"\r\n|\n|\r")
"""As editors count lines."""
_WORD = re.compile(r"[^\s#,]+")
_SHAPE = '{"brokers": ["A", "B"], "topic": {"min.isr": 2}, "events": ["A leads", ...]}'


class PlacedLine(NamedTuple):
    """A line of a history, and what an error calls its place."""

    place: str
    text: str


def text_lines(text: str) -> list[PlacedLine]:
    """Return the lines of a text."""
    return [PlacedLine(f"line {number}", line) for number, line in enumerate(_LINE_END.split(text), 1)]


def json_lines(text: str, path: str) -> list[PlacedLine]:
    """Return the lines of a JSON document; UsageError if it is not a history."""
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise UsageError(f"{path}: line {error.lineno}, column {error.colno}: expected JSON; {error.msg}") from error
    except (ValueError, RecursionError) as error:  # A number with too many digits, or lists in lists in lists.
        raise UsageError(f"{path}: expected {_SHAPE}; {error}") from error
    reader = _TwinReader(path)
    return reader.lines(document)


class _TwinReader:
    """Reads a document field by field."""

    def __init__(self, path: str) -> None:
        self._path = path

    def _fail(self, place: str, expected: str) -> NoReturn:
        raise UsageError(f"{self._path}: {place}: expected {expected}")

    def lines(self, document: Any) -> list[PlacedLine]:
        """Return the lines of a document."""
        if not isinstance(document, dict):
            self._fail("the document", _SHAPE)
        brokers = self._list(document, "brokers")
        names = [self._word(name, f"brokers[{at}]", "a name") for at, name in enumerate(brokers)]
        lines = [PlacedLine("brokers", f"brokers {' '.join(names)}")]
        if "kafka" in document:
            lines.append(PlacedLine("kafka", f"kafka {self._word(document['kafka'], 'kafka', 'a release in quotes')}"))
        topic = document.get("topic", {})
        if not isinstance(topic, dict):
            self._fail("topic", '{"min.isr": 2}')
        if topic:
            settings = (f"{self._word(name, 'topic', 'a setting')}={self._value(name, topic[name])}" for name in topic)
            lines.append(PlacedLine("topic", f"topic {' '.join(settings)}"))
        for at, event in enumerate(self._list(document, "events")):
            if not isinstance(event, str):
                self._fail(f"events[{at}]", "a line in quotes")
            lines.append(PlacedLine(f"events[{at}]", event))
        return lines

    def _list(self, document: Mapping[str, Any], field: str) -> list[Any]:
        value = document.get(field)
        if not isinstance(value, list):
            self._fail(field, f"a list, as in {_SHAPE}")
        return value

    def _word(self, value: object, place: str, expected: str) -> str:
        if not (isinstance(value, str) and _WORD.fullmatch(value)):
            self._fail(place, f"{expected}, one word")
        return value

    def _value(self, name: str, value: object) -> str:
        if not isinstance(value, str | int):  # True and False are ints.
            self._fail(f"topic.{name[:40]}", "a number, true, false or a word in quotes")
        return self._word(
            str(value).lower() if isinstance(value, bool) else str(value), f"topic.{name[:40]}", "a value"
        )
