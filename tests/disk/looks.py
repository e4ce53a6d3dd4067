"""How often a command looks at a log dir: `python -m tests.disk.looks [LOG_DIR BROKER_ID]`, a line for each command."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from tests.cli.command import environment

BROKERS = Path(__file__).parents[2] / "fixtures" / "brokers"
COMMANDS = ("check", "", "predict", "inspect", "repair", "elect")
"""The empty one is `kcheck PATH`."""
_WATCHED = r"""
import contextlib, io, json, os, sys

at = sys.argv.pop()
seen = {"scandir": [], "open": [], "classified": 0, "heard": 0, "watched": 0}

def watch(name):
    real = getattr(os, name)
    def watched(path=".", *arguments, **more):
        seen["watched"] += isinstance(path, str) and path.startswith(at)
        folder = path if isinstance(path, int) else more.get("dir_fd")
        names = [] if isinstance(path, int) else [path]
        whole = os.path.join(os.getcwd() if folder is None else os.readlink(f"/proc/self/fd/{folder}"), *names)
        if whole.startswith(at):
            seen[name].append(whole)
        return real(path, *arguments, **more)
    setattr(os, name, watched)

def hear(event, arguments):
    path = arguments[0] if event in ("open", "os.scandir", "os.listdir") else None
    seen["heard"] += isinstance(path, str) and path.startswith(at)

from kcheck.cli.app import main
from kcheck.disk import store

def classified(path, store_of=store.store_of):
    seen["classified"] += 1
    return store_of(path)

store.store_of = classified
watch("open")
watch("scandir")
sys.addaudithook(hear)
answer, sys.stdout = sys.stdout, io.StringIO()
with contextlib.suppress(SystemExit):
    main()
print(json.dumps(seen), file=answer)
"""


class Looks(NamedTuple):
    """What a command asked for, with how often."""

    lists: Counter[str]
    """Directories that were listed."""
    opens: Counter[str]
    """Files that were opened."""
    classified: int
    """How often a command asked whether a path is on disk, in a store or in a bundle."""
    is_complete: bool
    """Whether an audit hook heard of nothing else in the log dir."""

    def again(self) -> dict[str, int]:
        """Return the files but `.log` files that were opened more than once."""
        return {path: count for path, count in self.opens.items() if count > 1 and not path.endswith(".log")}


def looks(command: str, log_dir: Path, broker_id: int) -> Looks:
    """Run a command in a process of its own."""
    named = f"{broker_id}={log_dir}" if command == "elect" else str(log_dir)
    words = [*filter(None, [command]), named, str(log_dir)]
    done = subprocess.run(
        [sys.executable, "-c", _WATCHED, *words], env=environment(), capture_output=True, text=True, check=True
    )
    seen = json.loads(done.stdout)
    opens = Counter[str](path for path in seen["open"] if not Path(path).is_dir())
    return Looks(Counter(seen["scandir"]), opens, seen["classified"], seen["heard"] == seen["watched"])


def main() -> None:
    """Print a line for each command."""
    log_dir = Path(sys.argv[1]) if sys.argv[1:] else BROKERS / "3.9.2/stopped/broker-2/data1"
    broker_id = int(sys.argv[2]) if sys.argv[2:] else 2
    for command in COMMANDS:
        seen = looks(command, log_dir.absolute(), broker_id)
        again = Counter({Path(path).name: count for path, count in seen.again().items()})
        print(
            f"{command or 'kcheck PATH':12} listed {seen.lists[str(log_dir.absolute())]}, scandir {seen.lists.total()},"
            f" open {seen.opens.total()}, classified {seen.classified};"
            f" opened again: {', '.join(f'{name} {count}' for name, count in again.most_common(5)) or 'none'}"
        )


if __name__ == "__main__":
    main()
