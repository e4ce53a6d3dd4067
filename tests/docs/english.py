"""Counts the English of pages, texts and docstrings: `python -m tests.docs.english` writes lower limits.

A pattern finds a way to write that reads like a translation. The limits in `english.tsv` only fall: a limit is the
count of the last landing and 5 % of it, so that the branches of one day can land. `python -m tests.docs.english P8`
prints the texts that a pattern finds.
"""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
LIMITS = Path(__file__).with_name("english.tsv")
AREAS = ("pages", "texts", "docstrings")
OTHER_LANGUAGES = (
    "kcheck/core/releases/setting_rules.py",
    "kcheck/fleet/runs/sql.py",
    "kcheck/handouts/reproduction.py",
    "kcheck/renderers/_html/script.py",
    "kcheck/renderers/_html/style.py",
    "kcheck/schemas/",
)
"""Modules whose strings are tables, SQL, shell, JavaScript or CSS: only their docstrings are English."""
LONG = {"over 20 words": 20, "over 25 words": 25}

PATTERNS = {
    "P1": r"\b(?:Return|[Ss]ee|knows?|says?|of|by|with|for|to|in|from|is|are|:|,) (?:what|whom|whose|who) ",
    "P2": r"\b(?:that|those) of\b|\b(?:those|ones?) (?:that|who|with)\b",
    "P3": r"\b(?:metadata|files?|logs?|lines?|segments?|bundles?|settings?|options?|run|plan|header|marker|image)"
    r" (?:say|tell|know|decide|hold|prove)s?\b",
    "P4": r"\b(?:[Aa]|[Tt]he|[Ii]ts|[Tt]hat|[Ee]ach|[Ee]very) start\b(?!-| (?:order|offset))"
    r"|\bat (?:its|the) (?:next )?start\b",
    "P5": r"(?:[\w\"'(][^\s.!?|:`]*\s+){3}[^\s.!?|:`]*[a-z)]: [a-z]",
    "P6": r"\bsuch (?:a|an)\b|\b(?:with|of|one|any|all) such\b",
    "P7": r"\b(?:[Nn]obody|[Ss]omebody|[Aa]nybody|whom|[Ww]hoever)\b|\bno \w+ but\b|\bnothing but\b",
    "P8": r"(?<!-)\b(?:stands?|stood|lies?|beside|behind|goes? on|takes? for|held against|holds? against|anew)\b(?!-)",
    "P9": r"\bnone of\b|\b(?:is|are|it is) none\b",
    "P10": r"(?:^|[.:] )(?:Here|There)\b|\bat hand\b|\bat home\b",
    "P11": r"(?<!-)\b(?:cuts?|cutting|drops?|dropped|gone)\b(?!-)",
    "P12": r"\bup to \d+\.\d|\bsince \d+\.\d|\bbefore \d+\.\d|\bfrom \d+\.[\d.]+ on\b|\d+\.\d+ or later\b",
    "P13": r"\bmetadata (?:are|were|have|say|tell|list|name|know|lack|hold|prove)\b",
    "P14": r"\bset[s-]? ?aside\b|\bout of (?:the|every) log dirs?\b|\btaken? out\b",
    "P15": r"(?<!-)\b(?:damaged?|faulty|torn|bad|broken|whole)\b(?!-)",
    "P16": r"\b(?:colours?|behaviours?|licence|catalogue|initialis\w+|recognis\w+|summaris\w+|normalis\w+|favour\w*"
    r"|grey|centre)\b",
    "P18": r"\b[Ii]t\b",
    "P20": r"\bNothing yet\b|\bSomebody else\b|\bRules that send here\b",
    "clause first": r"\A(?:What|Who|Where|How|Why|Whether|Which)\b|\AReturn (?:what|who|where)\b",
}
"""P5 is a colon between two sentences. A label of up to three words and a value in code are none: `Needs: a broker`.
P4 is not the start order, nor an offset; P8, P11 and P15 are not a part of a name such as stray-beside-current. A name
in code is no English, so pages are read without it."""
COMPILED = {name: re.compile(pattern, re.MULTILINE) for name, pattern in PATTERNS.items()}

_NOT_PROSE = re.compile(r"^ *```.*?^ *```$|<!--.*?-->", re.MULTILINE | re.DOTALL)
_SENTENCE = re.compile(r"\n\s*(?:[-*|>#]|\d+\.) |\n\s*\n|(?<=[.!?])\s+|\s\|\s")


_MARKUP = re.compile(r"</?[a-z][^>]*>|<!DOCTYPE[^>]*>")
_PROGRAM = re.compile(r"\ASELECT |\A\"use strict\"|\A#!/bin/sh|[{;] [-a-z]+: [^;]+;")
"""Tags in a string are no words; a query, a script or a style is no English."""
_NAME_IN_CODE = re.compile(r"`[^`\n]+`")
_ADDRESS = re.compile(r"\]\([^)]*\)")
_CODE = re.compile(r"`[^`]*`(?:,? (?:and|or) `[^`]*`|, `[^`]*`)*")


class Text(NamedTuple):
    """A text that people read."""

    area: str
    source: str
    text: str


def pages() -> Iterator[Text]:
    """Yield the prose of README and of the pages, without blocks of code and comments, and without decisions."""
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        if "adr" not in path.parts:
            prose = _NOT_PROSE.sub("", path.read_text("utf-8"))
            yield Text("pages", str(path.relative_to(ROOT)), _NAME_IN_CODE.sub("`X`", prose))


def of_modules() -> Iterator[Text]:
    """Yield the docstrings of kcheck, fields included, and the other strings of three words and more."""
    for path in sorted((ROOT / "kcheck").rglob("*.py")):
        source = str(path.relative_to(ROOT))
        for area, text in _strings(ast.parse(path.read_text("utf-8"))):
            if area == "docstrings" or not source.startswith(OTHER_LANGUAGES):
                yield Text(area, source, text)


def _strings(node: ast.AST) -> Iterator[tuple[str, str]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant) and isinstance(child.value.value, str):
            yield "docstrings", child.value.value
        elif isinstance(child, ast.JoinedStr):
            parts = [str(part.value) if isinstance(part, ast.Constant) else "X" for part in child.values]
            yield from _long_enough("".join(parts))
        elif isinstance(child, ast.Constant) and isinstance(child.value, str):
            yield from _long_enough(child.value)
        else:
            yield from _strings(child)


def _long_enough(text: str) -> Iterator[tuple[str, str]]:
    prose = _MARKUP.sub(" ", text)
    if len(prose.split()) > 2 and not _PROGRAM.search(prose):
        yield "texts", prose


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences, list items and cells of a text."""
    return (part for part in _SENTENCE.split(text) if part)


def found(name: str, text: str) -> list[str]:
    """Return the places of a text that a pattern or a limit of words finds."""
    if name in LONG:
        return [part for part in sentences(text) if len(_read(part).split()) > LONG[name]]
    return [match.group() for match in COMPILED[name].finditer(text)]


def _read(sentence: str) -> str:
    """Return a sentence as people read it: a command, a link's address or a list of names in code is one word."""
    return _CODE.sub("X", _ADDRESS.sub("]", sentence))


def counts() -> Counter[tuple[str, str]]:
    """Return how often each pattern is found in each area."""
    total: Counter[tuple[str, str]] = Counter()
    for area, _, text in (*pages(), *of_modules()):
        for name in (*PATTERNS, *LONG):
            total[area, name] += len(found(name, text))
    return total


def limits() -> dict[tuple[str, str], int]:
    """Return the limits of the file."""
    rows = [line.split("\t") for line in LIMITS.read_text("utf-8").splitlines()[1:]]
    return {(area, row[0]): int(limit) for row in rows for area, limit in zip(AREAS, row[1:], strict=True)}


def write() -> None:
    """Write the limits that have fallen."""
    before, now = limits() if LIMITS.exists() else {}, counts()
    lines = ["\t".join(("pattern", *AREAS))]
    for name in (*PATTERNS, *LONG):
        allowed = {area: -(-now[area, name] * 105 // 100) for area in AREAS}
        lines.append("\t".join([name, *(str(min(before.get((area, name), n), n)) for area, n in allowed.items())]))
    LIMITS.write_text("\n".join(lines) + "\n", "utf-8")
    for name in (*PATTERNS, *LONG):
        print(name, *(now[area, name] for area in AREAS), sep="\t")


def main(*names: str) -> None:
    """Write the limits, or print what a pattern finds."""
    if not names:
        write()
    for name in names:
        for area, source, text in (*pages(), *of_modules()):
            for place in found(name, text):
                print(area, source, " ".join(place.split()), sep="\t")


if __name__ == "__main__":
    main(*sys.argv[1:])
