"""Writes what each release accepts of a setting, by its own configuration classes: `python -m tests.oracle.settings`.

What a rule says is the type of a setting, what its validator accepts, and the releases that have both. Validators that
look at more than the value (versions, voters, lists of throttled replicas) are left out.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.oracle.ask import ask

VERSIONS = (
    "0.10.2.2", "0.11.0.3", "1.0.2", "1.1.1", "2.0.1", "2.1.1", "2.2.2", "2.3.1", "2.4.1", "2.5.1", "2.6.3", "2.7.2",
    "2.8.2", "3.0.2", "3.1.2", "3.2.3", "3.3.2", "3.4.1", "3.5.2", "3.6.2", "3.7.2", "3.8.1", "3.9.2", "4.0.2", "4.1.2",
    "4.2.1", "4.3.1",
)  # fmt: skip
"""The last release of each line."""
PATH = Path(__file__).parents[2] / "kcheck" / "core" / "releases" / "setting_rules.py"
KINDS = ("broker", "topic", "class")
_WIDTH = 120
_HEAD = '''"""The values of a setting that each release accepts, by Kafka's own classes.

Written by `python -m tests.oracle.settings`. A line has broker or topic, then the name, then the rules. A rule has the
type, the accepted values, its first release, and the first one without it, or `-`. `-` accepts every value of the type.
`2..9` accepts numbers, `a|b` words, and `%` words in any case. `!` accepts all but an empty text or list. `,` accepts
lists without empty entries.
With `class` the name is a setting, or the end of one, and the types are Kafka's classes.
"""

TABLE = """'''
_RANGE = re.compile(r"\[(-?[0-9]+)?,?\.\.\.,?(-?[0-9.]+)?\](?: or (-?[0-9]+))?")


def main() -> None:
    """Write the table."""
    PATH.write_text(source(), "utf-8", newline="\n")


def source() -> str:
    """Return the text of the module."""
    found = {version: set(rules_of(version)) for version in VERSIONS}
    lines = [_HEAD]
    for rule in sorted({rule for rules in found.values() for rule in rules}):
        kind, name, accepted = rule.split(" ", 2)
        for since, until in _ranges([rule in found[version] for version in VERSIONS]):
            longer = f"{lines[-1]} {accepted} {since} {until}"
            if lines[-1].startswith(f"{kind} {name} ") and (len(longer) <= _WIDTH or kind == "class"):
                lines[-1] = longer
            else:
                lines.append(f"{rule} {since} {until}")
    return "\n".join([*lines, '"""  # noqa: E501 - names of classes', ""])


def rules_of(version: str) -> Iterator[str]:
    """Yield what a release accepts, without the releases."""
    for kind, answer in zip(KINDS, ask(version, "Settings.java", KINDS), strict=True):
        for row in answer.split("\t"):
            name, of_type, validator = row.split(" ", 2)
            if kind == "class":
                yield f"{kind} {name} {of_type} -"
                continue
            yield f"{kind} {name} {of_type.lower()} {_accepted(of_type, validator)}"


def _accepted(of_type: str, validator: str) -> str:
    validator, *flags = re.split(r" (no-list|no-entry)", validator)
    whole = "!" if "no-list" in flags else ""
    words = re.fullmatch(r"(?:CaseInsensitive)?Valid(?:String|List) (?:\(case insensitive\) )?\[(.*)\]", validator)
    if words and words[1]:
        return whole + ("%" if "insensitive" in validator else "") + "|".join(words[1].split(", "))
    if flags:
        return whole + ("," if "no-entry" in flags else "")
    if validator.startswith("NonEmptyString"):
        return "!"
    numbers = _RANGE.search(validator)
    if numbers is None or of_type in ("STRING", "LIST"):
        return "-"
    low, high, other = (part or "" for part in numbers.groups())
    return f"{low}..{high.removesuffix('.0')}" + (f"|{other}" if other else "")


def _ranges(has: Iterable[bool]) -> Iterator[tuple[str, str]]:
    """Yield the first release and the first one without it, of each run of releases."""
    lines = [_line(version) for version in VERSIONS]
    since: str | None = None
    for line, present in zip(lines, has, strict=True):
        if present and since is None:
            since = line
        elif not present and since is not None:
            yield since, line
            since = None
    if since is not None:
        yield since, "-"


def _line(version: str) -> str:
    """Return the first release of a line, as `0.10.2` or `3.9`."""
    parts = version.split(".")
    return ".".join(parts[: 3 if parts[0] == "0" else 2])


if __name__ == "__main__":
    main()
