"""An export of znodes as JSON, for a ZooKeeper without access to its files.

It has one of three forms. These are an object of paths and data, an array of `{"path", "data", "dataVersion"}`, or one
object a line. Data is a string, or the JSON object in it. No defect quotes the text, because it can be a secret.
"""

import json
import re
from collections.abc import Iterator

from kcheck.model.java import INT_MAX, java_bytes, java_int
from kcheck.model.parsed import DEFECT_COUNT_MAX, Defect, Parsed
from kcheck.model.znodes import Znode

_DIGITS_MAX = 20
_STAT, _VERSION = (
    re.compile(rb"^cZxid = ", re.MULTILINE),
    re.compile(rb"^dataVersion = ([0-9]{1,10})\s*$", re.MULTILINE),
)
_EXPORT = re.compile(r"""\s*(?:\[\s*)?\{(?:\s*"/|.*?"path"\s*:\s*"/)""", re.DOTALL)


def is_export(begin: str) -> bool:
    """Return whether a text that begins like this is an export."""
    return _EXPORT.match(begin) is not None


def parse(data: bytes) -> Parsed[dict[str, Znode]]:
    """Return the znodes by path, and a defect for each of the first invalid entries."""
    znodes: dict[str, Znode] = {}
    defects: list[Defect] = []
    for line, entry in _entries(data.decode("utf-8-sig", "replace")):
        try:
            path, znode = _znode(entry)
            znodes[path] = znode
        except ValueError as error:
            if len(defects) < DEFECT_COUNT_MAX:
                defects.append(Defect(str(error), 0, line, 1))
    return Parsed(znodes, tuple(defects))


def of_file(data: bytes) -> Znode:
    """Return the only znode of a file, with its data, and after it the stat if zkCli printed both."""
    stat = _STAT.search(data)
    version = None if stat is None else _VERSION.search(data, stat.start())
    number = None if version is None else java_int(version[1].decode())
    return Znode(data[: len(data) if stat is None else stat.start()].rstrip(b"\r\n"), version=number)


def _entries(text: str) -> Iterator[tuple[int, object]]:
    """Yield the entries, each with its line."""
    whole = _json(text)
    if isinstance(whole, dict) and "path" not in whole:
        yield from ((1, {"path": path, "data": value}) for path, value in whole.items())
    elif isinstance(whole, list):
        yield from ((1, entry) for entry in whole)
    else:
        yield from ((number, _json(line)) for number, line in enumerate(text.splitlines(), 1) if line.strip())


def _json(text: str) -> object:
    try:
        return json.loads(text, parse_int=_number)
    except (ValueError, RecursionError):
        return None


def _number(digits: str) -> float:
    """Return a number. A longer one than any that Kafka writes loses digits, and so only its own znode is a problem."""
    return int(digits) if len(digits) <= _DIGITS_MAX else float(digits)


def _znode(entry: object) -> tuple[str, Znode]:
    if not isinstance(entry, dict):
        raise ValueError("this is no JSON object with a path and data")  # noqa: TRY004  the data is wrong
    path, value, version = entry.get("path"), entry.get("data"), entry.get("dataVersion")
    if not isinstance(path, str) or not path.startswith("/"):
        raise ValueError("the path does not begin with /")
    if version is not None and (type(version) is not int or not -1 <= version <= INT_MAX):
        raise ValueError("the dataVersion is no version")
    if value is not None and not isinstance(value, str):
        value = json.dumps(value)
    return java_bytes(path).decode(), Znode(None if value is None else java_bytes(value), version=version)
