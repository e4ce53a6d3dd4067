"""Makes `kcheck help TOPIC` of the pages of docs/operations: plain text of 80 columns, part of the package."""

import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent, wrap

from kcheck.documents.next_commands import incident_topic
from tests.docs.examples import ROOT

FOLDER = "kcheck/cli/topics/"
_LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")
_TABLE_HEAD = re.compile(r"^\|[^|\n]*\|[^|\n]*\|\n(?=\|[- ]+\|[- ]+\|\n)", re.MULTILINE)
"""The head of a table of two columns, which reads as a list of names."""
_PAGES = {path.stem: incident_topic(path.stem) for path in (ROOT / "docs" / "operations").glob("[a-z]*.md")}


def topic_files() -> dict[str, str]:
    """Return the text of each topic by its path from the root."""
    folder = ROOT / "docs" / "operations"
    return {f"{FOLDER}{name}.txt": plain((folder / f"{page}.md").read_text("utf-8")) for page, name in _PAGES.items()}


def plain(page: str) -> str:
    """Return a page without markup; commands and screens are indented and never wrapped."""
    parts = re.split(
        r"^ *```\w*\n(.*?)^ *```$", re.sub(r"<!--.*?-->\n?", "", page, flags=re.DOTALL), flags=re.MULTILINE | re.DOTALL
    )
    lines: list[str] = []
    for at, part in enumerate(parts):
        lines += [f"  {line}".rstrip() for line in dedent(part).splitlines()] if at % 2 else _prose(part)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"


def _prose(text: str) -> Iterator[str]:
    for block in re.split(r"\n{2,}", _TABLE_HEAD.sub("", _LINK.sub(_named, text))):
        for item in re.split(r"\n(?=- |\d+\. |\|)", block.strip()):
            words = " ".join(item.replace("`", "").replace("**", "").split())
            hanging = "  " if re.match(r"- |\d+\. ", words) else ""
            if words.startswith("#"):
                yield words.lstrip("# ")
            elif not re.fullmatch(r"[|\- ]+", words):
                cells = "; ".join(cell.strip() for cell in words.strip("|").split(" | ")) if words[:1] == "|" else words
                if words[:1] == "|" and words.count(" | ") == 1:
                    cells, hanging = cells.replace("; ", ": ", 1), "  "
                yield from wrap(cells, 80, subsequent_indent=hanging, break_long_words=False, break_on_hyphens=False)
        yield ""


def _named(link: re.Match[str]) -> str:
    """Return the title of a link; of an incident also the command that shows it."""
    name = _PAGES.get(Path(link[2].partition("#")[0]).stem)
    return link[1] if name is None else f"{link[1]} (kcheck help {name})"
