"""An export of znodes as JSON, for a ZooKeeper whose files are out of reach.

Three forms: an object of paths and data; an array of `{"path", "data", "dataVersion"}`; such objects, one a line. Data
is a string, or the JSON object in it. No defect quotes the text: it can be a secret.
"""

import json
from collections.abc import Iterator

from kcheck.model.java import INT_MAX, java_bytes
from kcheck.model.parsed import Defect, Parsed
from kcheck.model.znodes import Znode

_DIGITS_MAX = 20


def parse(data: bytes) -> Parsed[dict[str, Znode]]:
    """Return the znodes by path, and a defect for each entry that is none."""
    znodes: dict[str, Znode] = {}
    defects = []
    for line, entry in _entries(data.decode("utf-8-sig", "replace")):
        try:
            path, znode = _znode(entry)
            znodes[path] = znode
        except ValueError as error:
            defects.append(Defect(str(error), 0, line, 1))
    return Parsed(znodes, tuple(defects))


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
