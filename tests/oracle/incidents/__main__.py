"""`python -m tests.oracle.incidents --seed N --count K --release V`: makes incidents on real brokers and asks kcheck.

Prints each incident, each answer about it that was not right, and a table of them by kind and verb at last. `--mode zk`
or `kraft` where a release has both; `--kinds a,b+c` and `--stories a,b` instead of random ones; `--dir` leaves disks,
logs and JSON there; `--keep FOLDER` packs the incidents as `fixtures/incidents` has them.
"""

import argparse
import collections
import json
import shutil
import tempfile
from pathlib import Path

from tests.oracle.incidents import lab
from tests.oracle.incidents.compare import FALSE_GREEN, FALSE_RED, OTHER, RIGHT, UNKNOWN
from tests.oracle.incidents.damages.table import BY_NAME
from tests.oracle.incidents.kept import keep

ALL = "ALL"
COLUMNS = (FALSE_GREEN, FALSE_RED, UNKNOWN, OTHER)


def line(of: lab.Incident) -> str:
    """Return an incident in a few lines: what was done, and where an answer was not right."""
    how = f"{of.shape}; {of.story}; {'+'.join(of.kinds)}; {of.course}; {of.truth.seconds} s"
    wrong = [row for row in of.verdicts if row.verdict != RIGHT]
    rows = [f"    {row.verdict:11} {row.verb:9} {row.subject:10} {row.why[:260]}" for row in wrong]
    return "\n".join([f"{of.seed} [{how}] {'; '.join(of.what)}", *rows])


def table(found: list[lab.Incident]) -> str:
    """Return counts by kind and verb; of the kinds those alone with an answer that was not right."""
    counts: dict[tuple[str, str], collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for of in found:
        for row in of.verdicts:
            for kind in (*of.kinds, ALL):
                counts[kind, row.verb][row.verdict] += 1
    rows: list[tuple[str, ...]] = [("kind", "verb", "answers", *COLUMNS)]
    rows += [
        (*key, str(of_key.total()), *(str(of_key[name]) for name in COLUMNS))
        for key, of_key in sorted(counts.items())
        if key[0] == ALL or any(of_key[name] for name in COLUMNS)
    ]
    return "\n".join(f"{row[0]:28} {row[1]:10} " + " ".join(f"{cell:>11}" for cell in row[2:]) for row in rows)


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", default="0")
    parser.add_argument("--count", type=int, default=6)
    parser.add_argument("--release", default="4.3.1")
    parser.add_argument("--mode", default=None)
    parser.add_argument("--kinds", default="")
    parser.add_argument("--stories", default="")
    parser.add_argument("--dir", default=None)
    parser.add_argument("--keep", default=None)
    asked = parser.parse_args()
    mode = asked.mode or ("zk" if asked.release < "3.9" else "kraft")
    place = Path(asked.dir or tempfile.mkdtemp())
    place.mkdir(parents=True, exist_ok=True)
    place.chmod(0o755)  # brokers of some incidents run as another user, who could not enter a temporary folder
    kinds = [tuple(BY_NAME[name] for name in of.split("+")) for of in asked.kinds.split(",") if of]
    found: list[lab.Incident] = []
    stories = [*filter(None, asked.stories.split(","))]
    for one, base in lab.several(asked.seed, asked.release, mode, place, asked.count, kinds, stories):
        found.append(one)
        (place / f"{one.seed}.json").write_text(json.dumps(lab.told(one), indent=1))
        if all(row.verdict == RIGHT for row in one.verdicts):
            shutil.rmtree(place / f"{one.seed}-run")
        if asked.keep:
            keep(one, base, Path(asked.keep))
        print(line(one), flush=True)
    print(table(found), flush=True)


if __name__ == "__main__":
    main()
