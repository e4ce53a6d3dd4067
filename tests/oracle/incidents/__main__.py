"""`python -m tests.oracle.incidents --seed N --count K --release V`: makes incidents on real brokers and asks kcheck.

Prints each incident, each answer about it that was not right, and tables of them by release, verb and kind at last.
`--mode zk` or `kraft` where a release has both; `--kinds a,b+c` and `--stories a,b` instead of random ones; `--dir`
leaves disks, logs and JSON there; `--keep FOLDER` packs the incidents as `fixtures/incidents` has them.
The tables count what is in `--dir` from earlier runs, and in each further `--dir`; `--count 0` makes nothing more.
`--again` asks about all of these once more: their disks are as they were, and what became of them is known.
"""

import argparse
import json
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.oracle.incidents import lab, sums
from tests.oracle.incidents.compare import RIGHT
from tests.oracle.incidents.damages.table import BY_NAME
from tests.oracle.incidents.kept import keep
from tests.oracle.incidents.shapes import Shape


def line(of: dict[str, Any]) -> str:
    """Return an incident, as `lab.told` tells it, in a few lines: what was done, and where an answer was not right."""
    how = f"{Shape(**of['shape'])}; {of['story']}; {'+'.join(of['kinds'])}; {of['course']}; {of['truth']['seconds']} s"
    wrong = [row for row in of["verdicts"] if row["verdict"] != RIGHT]
    rows = [f"    {row['verdict']:11} {row['verb']:9} {row['subject']:10} {row['why'][:260]}" for row in wrong]
    return "\n".join([f"{of['seed']} [{how}] {'; '.join(of['what'])}", *rows])


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", default="0")
    parser.add_argument("--count", type=int, default=6)
    parser.add_argument("--release", default="4.3.1")
    parser.add_argument("--mode", default=None)
    parser.add_argument("--kinds", default="")
    parser.add_argument("--stories", default="")
    parser.add_argument("--dir", action="append")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--keep", default=None)
    asked = parser.parse_args()
    mode = asked.mode or ("zk" if asked.release < "3.9" else "kraft")
    places = [Path(folder) for folder in asked.dir or [tempfile.mkdtemp()]]
    place = places[0]
    place.mkdir(parents=True, exist_ok=True)
    kinds = [tuple(BY_NAME[name] for name in of.split("+")) for of in asked.kinds.split(",") if of]
    stories = [*filter(None, asked.stories.split(","))]
    for one, base in lab.several(asked.seed, asked.release, mode, place, asked.count, kinds, stories):
        row = lab.told(one)
        (place / f"{one.seed}.json").write_text(json.dumps(row, indent=1))
        if all(verdict.verdict == RIGHT for verdict in one.verdicts):
            shutil.rmtree(place / f"{one.seed}-run")
        if asked.keep:
            keep(one, base, Path(asked.keep))
        print(line(row), flush=True)
    rows: Iterable[dict[str, Any]] = sums.written(places)
    if asked.again:
        rows = list(sums.again(places))
        print("\n".join(map(line, rows)))
    print(sums.tables(rows), flush=True)


if __name__ == "__main__":
    main()
