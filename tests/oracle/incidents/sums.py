"""What many incidents add up to: by release and mode, by verb, by kind and verb; and asking their disks once more."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.oracle.incidents.asked import ask
from tests.oracle.incidents.compare import FALSE_GREEN, FALSE_RED, OTHER, RIGHT, UNKNOWN, verdicts
from tests.oracle.incidents.shapes import Shape
from tests.oracle.incidents.truth import Truth

ALL = "ALL"
COLUMNS = (RIGHT, FALSE_GREEN, FALSE_RED, UNKNOWN, OTHER)
TITLES = {"cluster": ("release", "mode"), "verb": ("verb",), "kind": ("kind", "verb")}
"""The tables, with the columns of their keys."""


def written(places: Iterable[Path]) -> Iterator[dict[str, Any]]:
    """Yield the incidents in folders, as `lab.told` tells them."""
    return (json.loads(path.read_text()) for path in _files(places))


def again(places: Iterable[Path]) -> Iterator[dict[str, Any]]:
    """Ask about the disks in folders once more, write what is said now, and yield these incidents."""
    for path in _files(places):
        row = json.loads(path.read_text())
        answers = list(ask(path.with_suffix(""), Shape(**row["shape"])))
        judged = verdicts(answers, Truth(**row["truth"]), row["course"])
        row |= {"answers": [one._asdict() for one in answers], "verdicts": [one._asdict() for one in judged]}
        path.write_text(json.dumps(row, indent=1))
        yield row


def _files(places: Iterable[Path]) -> Iterator[Path]:
    return (path for place in places for path in sorted(place.glob("*.json")))


def tables(incidents: Iterable[dict[str, Any]]) -> str:
    """Return the tables; of the kinds those alone with an answer that was not right."""
    made: Counter[tuple[str, ...]] = Counter()
    counts: dict[str, dict[tuple[str, ...], Counter[str]]] = {name: defaultdict(Counter) for name in TITLES}
    for row in incidents:
        clusters = [(row["shape"]["release"], row["shape"]["mode"]), (ALL, ALL)]
        made.update(clusters)
        for one in row["verdicts"]:
            verb, verdict = one["verb"], one["verdict"]
            for name, keys in (
                ("cluster", clusters),
                ("verb", [(verb,), (ALL,)]),
                ("kind", [(kind, verb) for kind in dict.fromkeys(row["kinds"])]),
            ):
                for key in keys:
                    counts[name][key][verdict] += 1
    return "\n\n".join(
        _laid_out(
            [
                (*key, *([str(made[key])] if name == "cluster" else []), *_cells(of_key))
                for key, of_key in sorted(counts[name].items())
                if name != "kind" or of_key[RIGHT] < of_key.total()
            ],
            (*titles, *(["incidents"] if name == "cluster" else [])),
        )
        for name, titles in TITLES.items()
    )


def _cells(of: Counter[str]) -> tuple[str, ...]:
    """Return the number of answers and of each verdict; of the unknown ones also the share."""
    share = f"{of[UNKNOWN]} ({100 * of[UNKNOWN] / of.total():.1f} %)"
    return str(of.total()), *(share if name == UNKNOWN else str(of[name]) for name in COLUMNS)


def _laid_out(rows: Sequence[tuple[str, ...]], titles: tuple[str, ...]) -> str:
    lines = [(*titles, "answers", *COLUMNS), *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in lines
    )
